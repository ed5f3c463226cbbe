// Loops that do nothing but read, write, copy or gather floats, with the widest vectors that the processor has.
#pragma once

#include <cstdint>

namespace gnnplan::bench {

// Reads so many floats. The result, here and below, depends on all that was read.
float read(const float* data, std::int64_t floats);

// Writes so many floats, a multiple of 4, past the caches; then `data` is aligned to 16 bytes. Or as memset does.
void fill_streamed(float* data, std::int64_t floats);
void fill(float* data, std::int64_t floats);

// Copies so many floats to where they do not overlap; streamed with the conditions of fill_streamed.
void copy_streamed(const float* from, float* to, std::int64_t floats);
void copy_plain(const float* from, float* to, std::int64_t floats);

// `rows`, a power of two, of `width` floats, one behind the other.
struct RowTable {
    const float* data = nullptr;
    std::int64_t rows = 0, width = 0;
};
// Reads `count` rows in an order without pattern that begins at `first` and meets each of the table's rows once
// before one comes again. The row that is `ahead` further on is prefetched; 0: none is.
float read_rows(const RowTable& table, std::int64_t first, std::int64_t count, int ahead);

// Keeps a value from being left out by the compiler.
inline void use(float value) { asm volatile("" : : "x"(value)); }

}  // namespace gnnplan::bench
