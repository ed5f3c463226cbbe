#include "runtime/comm/room.hpp"

#include <gnnplan/base/out_of_memory.hpp>

#include <sys/mman.h>

namespace gnnplan::comm {

bool has_room(std::size_t bytes) {
    // Only memory that may be written counts against all limits.
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return memory != MAP_FAILED && ::munmap(memory, bytes) == 0;
}

void require_room(std::size_t bytes) {
    if (!has_room(bytes)) throw OutOfMemory(bytes);
}

}  // namespace gnnplan::comm
