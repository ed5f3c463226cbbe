#include "tools/common/memory_limit.hpp"

#include "planner/catalog/host.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <cstdint>

namespace gnnplan::tools {
namespace {

[[maybe_unused]] std::int64_t stack_bytes() {
    pthread_attr_t attributes;
    std::size_t bytes = 0;
    if (pthread_attr_init(&attributes) != 0) return 0;
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_destroy(&attributes);
    return static_cast<std::int64_t>(bytes);
}

}  // namespace

void limit_memory(int threads) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    static_cast<void>(threads);  // their shadows are larger than any memory
#else
    rlimit limit{};
    if (::getrlimit(RLIMIT_DATA, &limit) != 0) return;
    const auto most = static_cast<rlim_t>(catalog::read_host().memory_bytes + threads * stack_bytes());
    if (limit.rlim_cur <= most) return;
    limit.rlim_cur = most;
    ::setrlimit(RLIMIT_DATA, &limit);  // where it is refused the system decides, as before
#endif
}

}  // namespace gnnplan::tools
