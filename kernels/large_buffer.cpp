#include "kernels/large_buffer.hpp"

#include <gnnplan/base/out_of_memory.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

namespace gnnplan::kernels {
namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;

}  // namespace

std::byte* allocate_large(std::size_t bytes) {
    const bool large = bytes >= 2 * huge_page;
    void* data = nullptr;
    if (posix_memalign(&data, large ? huge_page : cache_line, std::max(bytes, cache_line)) != 0)
        throw OutOfMemory(bytes);
    if (large) madvise(data, bytes, MADV_HUGEPAGE);  // advice: may be refused
    return static_cast<std::byte*>(data);
}

void free_large(std::byte* data) { std::free(data); }

}  // namespace gnnplan::kernels
