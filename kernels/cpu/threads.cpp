// Reading guide: where the system refuses a thread, OpenMP's library ends the process with a code of its own. That is
// why set_threads() makes the team, after it has tried to start as many threads with the same stack size.
#include "kernels/table.hpp"

#ifdef _OPENMP
#include <gnnplan/base/out_of_memory.hpp>

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <vector>
#endif

namespace gnnplan::kernels {

#ifdef _OPENMP
namespace {

// The bytes that "64M" means; without a letter the unit is KiB, as in OpenMP. 0: nothing is given, or nothing valid.
std::size_t bytes_of(const char* text) {
    if (text == nullptr) return 0;
    char* end = nullptr;
    const unsigned long long count = std::strtoull(text, &end, 10);
    while (std::isspace(static_cast<unsigned char>(*end)) != 0) ++end;
    const int letter = std::tolower(static_cast<unsigned char>(*end));
    const int shift = letter == 'b' ? 0 : letter == 'm' ? 20 : letter == 'g' ? 30 : 10;
    return count > (std::numeric_limits<std::size_t>::max() >> shift) ? 0 : std::size_t{count} << shift;
}

// Threads that wait until all are there.
class Tried {
public:
    explicit Tried(int count) {
        std::size_t stack = bytes_of(std::getenv("OMP_STACKSIZE"));
        if (stack == 0) stack = bytes_of(std::getenv("GOMP_STACKSIZE"));
        pthread_attr_t attributes;
        if (pthread_attr_init(&attributes) != 0) return;
        if (stack > 0) pthread_attr_setstacksize(&attributes, stack);
        gate_.lock();
        const auto wait = [](void* gate) -> void* {
            const std::lock_guard lock(*static_cast<std::mutex*>(gate));
            return nullptr;
        };
        threads_.reserve(static_cast<std::size_t>(count));
        for (pthread_t thread{}; made() < count && pthread_create(&thread, &attributes, wait, &gate_) == 0;)
            threads_.push_back(thread);
        pthread_attr_destroy(&attributes);
        gate_.unlock();
    }
    Tried(const Tried&) = delete;
    Tried& operator=(const Tried&) = delete;
    ~Tried() {
        for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
    }
    int made() const { return static_cast<int>(threads_.size()); }

private:
    std::mutex gate_;
    std::vector<pthread_t> threads_;
};

void make_team(int threads) {
    static std::mutex one_at_a_time;  // so that ranks as threads do not take the room from each other
    const std::lock_guard lock(one_at_a_time);
    const int others = std::min(threads, omp_get_thread_limit()) - 1;
    if (Tried(others).made() < others) throw thread_error();
    int there = 0;
#pragma omp parallel num_threads(threads) reduction(+ : there)
    there += 1;
}

}  // namespace

void set_threads(int threads) {
    thread_local int team = 1;
    threads = std::max(1, threads);
    if (threads > 1 && threads != team) make_team(threads);
    team = threads;
    omp_set_num_threads(threads);
}

#else

void set_threads(int) {}

#endif

}  // namespace gnnplan::kernels
