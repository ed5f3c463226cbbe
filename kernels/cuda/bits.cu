#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/elements.cuh"

namespace gnnplan::kernels::cuda {
namespace {

// A warp makes four bytes of the mask at a time, a bit in each lane.
__global__ void __launch_bounds__(block_threads) pack_positive(ConstMatrix h, std::uint8_t* bits) {
    const std::int64_t count = h.rows * h.columns;
    const int lane = lane_of_warp();
    for (std::int64_t first = thread_number() - lane; first < count; first += thread_count()) {
        const std::int64_t at = first + lane;
        bool positive = false;
        if (at < count) {
            const std::int64_t row = quotient(at, h.columns);
            positive = row_of(h, row)[at - row * h.columns] > 0;
        }
        const unsigned word = __ballot_sync(all_lanes, positive);
        const std::int64_t byte = first / 8 + lane;
        if (lane < 4 && byte * 8 < count) bits[byte] = static_cast<std::uint8_t>(word >> (8 * lane));
    }
}

struct ApplyMask : InPlace {
    const std::uint8_t* bits;
    float scale;

    template <int width>
    __device__ void change(float (&x)[width], const Run& at) const {
        const std::int64_t first = at.row * matrix.columns + at.column;
        for (int k = 0; k < width; ++k) {
            const std::int64_t bit = first + k;
            const bool kept = k < at.last && (bits[bit / 8] >> (bit % 8) & 1) != 0;
            x[k] = kept ? x[k] * scale : 0.0F;
        }
    }
};

// A rectangle of bits inside two matrices of them, whose rows have no gaps.
struct BitBlock {
    const std::uint8_t* source;
    std::int64_t source_first, source_columns;
    std::uint8_t* target;
    std::int64_t target_first, target_columns;
    std::int64_t rows, columns;

    // The end of the block in the target, one behind its last element.
    __host__ __device__ std::int64_t target_end() const { return target_first + (rows - 1) * target_columns + columns; }
};

// A thread has a byte of the target at a time, so that no two write the same.
__global__ void __launch_bounds__(block_threads) copy_block(BitBlock block) {
    const std::int64_t first_byte = block.target_first / 8;
    for (std::int64_t byte = first_byte + thread_number(); byte * 8 < block.target_end(); byte += thread_count()) {
        const std::int64_t begin = larger(byte * 8, block.target_first) - block.target_first;
        std::int64_t row = quotient(begin, block.target_columns);
        std::int64_t column = begin - row * block.target_columns;
        unsigned taken = 0, value = 0;
        for (std::int64_t bit = begin; bit < byte * 8 + 8 - block.target_first && row < block.rows; ++bit) {
            if (column < block.columns) {
                const std::int64_t from = block.source_first + row * block.source_columns + column;
                const auto place = static_cast<unsigned>((block.target_first + bit) % 8);
                taken |= 1U << place;
                value |= (block.source[from / 8] >> (from % 8) & 1U) << place;
            }
            if (++column == block.target_columns) column = 0, ++row;
        }
        if (taken != 0) block.target[byte] = static_cast<std::uint8_t>((block.target[byte] & ~taken) | value);
    }
}

}  // namespace

void positive_mask(ConstMatrix h, std::uint8_t* bits) {
    launch("positive_mask", blocks_for(h.rows * h.columns), pack_positive, h, bits);
}

void apply_mask(Matrix g, const std::uint8_t* bits, float scale) {
    const ApplyMask body = {{g}, bits, scale};
    if (is_aligned(g)) {
        change_in_runs<4>("apply_mask", g.rows, g.columns, 0, true, body);
    } else {
        change_in_runs<1>("apply_mask", g.rows, g.columns, 0, true, body);
    }
}

void copy_bits(const std::uint8_t* source, std::int64_t source_columns, std::int64_t source_row,
               std::int64_t source_column, std::uint8_t* target, std::int64_t target_columns, std::int64_t target_row,
               std::int64_t target_column, std::int64_t rows, std::int64_t columns) {
    if (rows == 0 || columns == 0) return;
    const BitBlock block = {source,
                            source_row * source_columns + source_column,
                            source_columns,
                            target,
                            target_row * target_columns + target_column,
                            target_columns,
                            rows,
                            columns};
    const std::int64_t bytes = ceil_divide(block.target_end(), 8) - block.target_first / 8;
    launch("copy_bits", blocks_for(bytes), copy_block, block);
}

}  // namespace gnnplan::kernels::cuda
