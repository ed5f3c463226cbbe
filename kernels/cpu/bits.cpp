// Kernels on packed bit matrices. Rows share bytes, so work is cut where a byte of the written matrix begins: at rows
// that are multiples of eight.
#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/cpu/bits.hpp"
#include "kernels/cpu/cpu.hpp"
#include "kernels/parallel.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// Through a buffer that closes the gaps between rows.
void pack_apart(const VectorKernels& kernels, ConstMatrix h, std::uint8_t* bits, std::int64_t first,
                std::int64_t last) {
    std::array<float, 1024> buffer;
    constexpr std::int64_t capacity = std::tuple_size_v<decltype(buffer)>;
    std::uint8_t* out = bits + first * h.columns / 8;
    std::int64_t filled = 0;
    for (std::int64_t i = first; i < last; ++i) {
        for (std::int64_t j = 0; j < h.columns;) {
            const std::int64_t count = std::min(capacity - filled, h.columns - j);
            std::memcpy(buffer.data() + filled, h.row(i) + j, static_cast<std::size_t>(count) * sizeof(float));
            filled += count;
            j += count;
            if (filled == capacity) {
                kernels.pack_positive(buffer.data(), capacity, out);
                out += capacity / 8;
                filled = 0;
            }
        }
    }
    kernels.pack_positive(buffer.data(), filled, out);
}

// Bits of a byte that belong to bit positions first .. last - 1, 0 <= first <= last <= 8.
unsigned byte_mask(std::int64_t first, std::int64_t last) { return (0xffU << first & 0xffU) & (0xffU >> (8 - last)); }

// The eight bits from bit `at` of a run that ends at bit `end`; bits from `end` on are unspecified, and their bytes not
// read.
unsigned byte_at(const std::uint8_t* bits, std::int64_t at, std::int64_t end) {
    const std::int64_t byte = at / 8;
    const auto shift = static_cast<unsigned>(at % 8);
    const unsigned next = shift != 0 && (byte + 1) * 8 < end ? bits[byte + 1] : 0U;
    return (bits[byte] | next << 8U) >> shift & 0xffU;
}

// Copies `count` bits from bit `from` of source to bit `to` of target: a partial byte, whole bytes, a partial byte.
void copy_bit_run(const std::uint8_t* source, std::int64_t from, std::uint8_t* target, std::int64_t to,
                  std::int64_t count) {
    const std::int64_t end = from + count;
    const auto blend = [&](unsigned value, std::int64_t first, std::int64_t last) {
        const unsigned mask = byte_mask(first, last);
        std::uint8_t& byte = target[to / 8];
        byte = static_cast<std::uint8_t>((byte & ~mask) | (value & mask));
    };
    if (to % 8 != 0) {
        const std::int64_t head = std::min(8 - to % 8, count);
        blend(byte_at(source, from, end) << to % 8, to % 8, to % 8 + head);
        from += head;
        to += head;
    }
    const std::int64_t whole = (end - from) / 8;
    if (from % 8 == 0) {
        if (whole > 0) std::memcpy(target + to / 8, source + from / 8, static_cast<std::size_t>(whole));
    } else {
        for (std::int64_t k = 0; k < whole; ++k) {
            target[to / 8 + k] = static_cast<std::uint8_t>(byte_at(source, from + 8 * k, end));
        }
    }
    from += 8 * whole;
    to += 8 * whole;
    if (from < end) blend(byte_at(source, from, end), 0, end - from);
}

}  // namespace

void pack_rows(const VectorKernels& kernels, ConstMatrix h, std::uint8_t* bits, std::int64_t first, std::int64_t last) {
    if (h.stride == h.columns) {
        kernels.pack_positive(h.row(first), (last - first) * h.columns, bits + first * h.columns / 8);
    } else {
        pack_apart(kernels, h, bits, first, last);
    }
}

void positive_mask(ConstMatrix h, std::uint8_t* bits) {
    if (h.rows == 0 || h.columns == 0) return;
    const VectorKernels& kernels = best_kernels();
    parallel_chunks(h.rows, rows_per_chunk(h.columns), h.rows * h.columns,
                    [&](std::int64_t first, std::int64_t last) { pack_rows(kernels, h, bits, first, last); });
}

void apply_mask(Matrix g, const std::uint8_t* bits, float scale) {
    const VectorKernels& kernels = best_kernels();
    parallel_chunks(g.rows, rows_per_chunk(g.columns), g.rows * g.columns, [&](std::int64_t first, std::int64_t last) {
        if (g.stride == g.columns) {
            kernels.apply_bits(g.row(first), (last - first) * g.columns, bits, first * g.columns, scale);
            return;
        }
        for (std::int64_t i = first; i < last; ++i) {
            kernels.apply_bits(g.row(i), g.columns, bits, i * g.columns, scale);
        }
    });
}

void copy_bits(const std::uint8_t* source, std::int64_t source_columns, std::int64_t source_row,
               std::int64_t source_column, std::uint8_t* target, std::int64_t target_columns, std::int64_t target_row,
               std::int64_t target_column, std::int64_t rows, std::int64_t columns) {
    if (rows == 0 || columns == 0) return;
    const std::int64_t row_offset = source_row - target_row;
    const std::int64_t end = target_row + rows;
    // Chunks of the target's rows, so that their bounds are byte bounds of the target.
    parallel_chunks(end, rows_per_chunk(columns), rows * columns / 8, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = std::max(first, target_row); i < last; ++i) {
            copy_bit_run(source, (i + row_offset) * source_columns + source_column, target,
                         i * target_columns + target_column, columns);
        }
    });
}

}  // namespace gnnplan::kernels::cpu
