// Joins the parts of rows that lie in several shares of a sweep, in the order of the shares; see spmm_walk.cuh.
#pragma once

#include "kernels/cuda/launch.hpp"
#include "kernels/cuda/spmm_shares.cuh"

#include <cstdint>

namespace gnnplan::kernels::cuda {

// How many parts of so many floats a lane has in registers at a time.
__host__ __device__ constexpr int parts_ahead(int floats) {
    return floats > 16 ? 1 : floats > 8 ? 2 : floats > 4 ? 4 : 8;
}

// join(load(s)) for s from `begin` to `end`. The row of a hub has parts in hundreds of shares: some are loaded before
// the first of them is joined.
template <int ahead, class Load, class Join>
__device__ void join_in_order(std::int64_t begin, std::int64_t end, const Load& load, const Join& join) {
    for (std::int64_t s = begin; s < end; s += ahead) {
        decltype(load(s)) parts[ahead];
        GNNPLAN_UNROLL
        for (int u = 0; u < ahead; ++u) {
            if (s + u < end) parts[u] = load(s + u);
        }
        GNNPLAN_UNROLL
        for (int u = 0; u < ahead; ++u) {
            if (s + u < end) join(parts[u]);
        }
    }
}

// Each group has a share, and joins the parts of the row that begins to be cut there.
template <int width, int vectors, class Sweep>
__global__ void __launch_bounds__(block_threads) join_parts(Csr a, Sweep sweep, int lanes, Shares shares) {
    constexpr int results = Sweep::results;
    const Lane<width, vectors> lane = {static_cast<int>(threadIdx.x) & (lanes - 1), lanes,
                                       static_cast<int>(sweep.columns())};
    const std::int64_t share = shares.first + thread_number() / lanes;
    const std::int64_t end = shares.first + shares.count;
    if (share >= end) return;
    const Place from = shares.place(a, share);
    const Place to = shares.place(a, share + 1);
    // Earlier calls have joined the parts of the row that their last share ended in.
    const bool continues = from.entry > start_of(a, from.row);
    if (share == shares.first && continues && to.row > from.row) {
        auto held = sweep.template old<width, vectors>(lane, from.row, true);
        sweep.join(held, saved_part<width, vectors, results>(shares, share, Part::of_first_row, lane), from.row, true);
        sweep.keep(lane, held, from.row);
    }
    const std::int64_t row = to.row;
    if (row == a.rows || to.entry == start_of(a, row)) return;  // the last row that it has ends here
    const bool in_middle = continues && row == from.row;
    if (in_middle && share > shares.first) return;
    bool something = sweep.accumulate || in_middle;
    auto held = sweep.template old<width, vectors>(lane, row, something);
    const std::int64_t steps_before_end = row + start_of(a, row + 1) - start_of(a, 0);
    const std::int64_t last = steps_before_end / shares.steps;  // the share that the row ends in
    const auto load = [&](std::int64_t s) {
        return saved_part<width, vectors, results>(shares, s, s < last ? Part::of_last_row : Part::of_first_row, lane);
    };
    const auto join = [&](const Held<width, vectors, results>& part) {
        sweep.join(held, part, row, something);
        something = true;
    };
    join_in_order<parts_ahead(width * vectors * results)>(share, smaller(last + 1, end), load, join);
    sweep.keep(lane, held, row);
}

}  // namespace gnnplan::kernels::cuda
