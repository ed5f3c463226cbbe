// The shares of a sweep, and the parts that they have of rows which lie in several of them; see spmm_walk.cuh.
#pragma once

#include "kernels/cuda/launch.hpp"
#include "kernels/cuda/spmm_walk.cuh"

#include <cstdint>

namespace gnnplan::kernels::cuda {

// Shares are of a multiple of so many steps. For each multiple a prepared matrix knows where it is.
inline constexpr std::int64_t share_unit = 64;

// A place in a panel: rows before `row` have ended, and entries before `entry` were taken.
struct Place {
    std::int64_t row, entry;
};

// Where a sweep is after so many steps: the rows whose end comes before the nonzero that would be next.
__device__ inline Place place_after(const Csr& a, std::int64_t steps) {
    const std::int64_t begin = start_of(a, 0);
    std::int64_t low = larger<std::int64_t>(0, steps - (start_of(a, a.rows) - begin));
    std::int64_t high = smaller(steps, a.rows);
    while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (start_of(a, middle + 1) - begin <= steps - middle - 1) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return {low, begin + steps - low};
}

// Some shares of a panel that follow each other, and memory for the parts of their rows.
struct Shares {
    std::int64_t steps;             // of each share
    std::int64_t first, count;      // which of the panel's
    const std::int32_t* known_row;  // Place::row after every multiple of share_unit steps; null: it is looked for
    float* parts;                   // of each share two, one after the other: see Part
    int together = 1;               // that a group of a sweep has, one after the other

    // Where share `i` of the panel begins, which is the end of the panel if there is no such share.
    __device__ Place place(const Csr& a, std::int64_t i) const {
        const std::int64_t all = a.rows + start_of(a, a.rows) - start_of(a, 0);
        const std::int64_t before = i * steps;
        if (before >= all) return {a.rows, start_of(a, a.rows)};
        if (known_row == nullptr) return place_after(a, before);
        const std::int64_t row = known_row[before / share_unit];
        return {row, start_of(a, 0) + before - row};
    }
};

// A share's parts of rows that lie in others, too: the end of the one that it begins in, or the beginning or the
// middle of the one that it ends in.
enum class Part { of_first_row = 0, of_last_row = 1 };

// Where a lane's vectors of a part are.
template <int width, int vectors>
__device__ Pack<width>* part_of(const Shares& shares, std::int64_t share, Part part, const Lane<width, vectors>& lane,
                                int results, int r, int k) {
    const std::int64_t number = 2 * (share - shares.first) + static_cast<int>(part);
    const std::int64_t vector = ((number * results + r) * vectors + k) * lane.lanes + lane.index;
    return reinterpret_cast<Pack<width>*>(shares.parts + vector * width);
}

template <int width, int vectors, int results>
__device__ void save_part(const Shares& shares, std::int64_t share, Part part, const Lane<width, vectors>& lane,
                          const Held<width, vectors, results>& held) {
    GNNPLAN_UNROLL
    for (int r = 0; r < results; ++r) {
        GNNPLAN_UNROLL
        for (int k = 0; k < vectors; ++k) {
            Pack<width> pack;
            GNNPLAN_UNROLL
            for (int v = 0; v < width; ++v) pack.x[v] = held.x[r][k][v];
            *part_of<width, vectors>(shares, share, part, lane, results, r, k) = pack;
        }
    }
}

template <int width, int vectors, int results>
__device__ Held<width, vectors, results> saved_part(const Shares& shares, std::int64_t share, Part part,
                                                    const Lane<width, vectors>& lane) {
    Held<width, vectors, results> held;
    GNNPLAN_UNROLL
    for (int r = 0; r < results; ++r) {
        GNNPLAN_UNROLL
        for (int k = 0; k < vectors; ++k) {
            const Pack<width> pack = *part_of<width, vectors>(shares, share, part, lane, results, r, k);
            GNNPLAN_UNROLL
            for (int v = 0; v < width; ++v) held.x[r][k][v] = pack.x[v];
        }
    }
    return held;
}

// The row that a group is at, and what it has of it.
template <int width, int vectors, class Sweep>
struct CurrentRow {
    std::int64_t row, begin, end;  // its entries
    std::int64_t next_end;         // of the row after it, read ahead
    typename Sweep::template OfRow<width, vectors> of_row;
    Held<width, vectors, Sweep::results> held;

    __device__ void enter(const Csr& a, const Sweep& sweep, const Lane<width, vectors>& lane) {
        next_end = row + 1 < a.rows ? start_of(a, row + 2) : end;
        of_row = sweep.template of_row<width, vectors>(lane, row, row < a.rows && begin < end);
        held = sweep.template start<width, vectors>();
    }
    // Ends the row, all of whose entries were taken here.
    __device__ void keep(const Sweep& sweep, const Lane<width, vectors>& lane) const {
        if (sweep.accumulate && begin == end) return;
        auto all = sweep.template old<width, vectors>(lane, row, sweep.accumulate);
        sweep.join(all, held, row, sweep.accumulate);
        sweep.keep(lane, all, row);
    }
    __device__ void advance(const Csr& a, const Sweep& sweep, const Lane<width, vectors>& lane) {
        ++row, begin = end, end = next_end;
        enter(a, sweep, lane);
    }
};

// How many blocks a multiprocessor has at least. The compiler keeps to the registers that this leaves to each: by
// itself it sometimes takes so many that fewer blocks fit, and sometimes so few that some of its numbers lie in memory.
template <int vectors, class Sweep>
inline constexpr int resident_blocks = vectors == 1 ? Sweep::blocks : 2;

struct Nonzero {
    std::int32_t column = 0;
    float weight = 0;
};

template <class Sweep>
__device__ Nonzero nonzero_before(std::int64_t end, const Csr& a, std::int64_t entry) {
    Nonzero nonzero;
    if (entry < end) {
        nonzero.column = read_once(a.column + entry);
        if constexpr (Sweep::weighted) nonzero.weight = weight_of(a, entry, nonzero.column);
    }
    return nonzero;
}

// Takes the `count` nonzeros from `entry` on, of which each lane of the group has one; ends rows by end_row().
template <int width, int vectors, class Sweep, class EndRow>
__device__ void take_batch(const Sweep& sweep, const Lane<width, vectors>& lane, const Nonzero& own, std::int64_t entry,
                           int count, CurrentRow<width, vectors, Sweep>& at, const EndRow& end_row) {
    for (int t = 0; __any_sync(all_lanes, t < count); t += entries_at_once) {
        std::int32_t columns[entries_at_once];
        float weights[entries_at_once] = {};
        GNNPLAN_UNROLL
        for (int s = 0; s < entries_at_once; ++s) {
            columns[s] = __shfl_sync(all_lanes, own.column, t + s, lane.lanes);
            if constexpr (Sweep::weighted) weights[s] = __shfl_sync(all_lanes, own.weight, t + s, lane.lanes);
        }
        const auto fetched = sweep.fetch(lane, columns, count - t);
        GNNPLAN_UNROLL
        for (int s = 0; s < entries_at_once; ++s) {
            if (t + s >= count) continue;
            while (at.end <= entry + t + s) end_row();
            sweep.take(at.of_row, fetched, s, weights[s], at.held);
        }
    }
}

// Each group has a share, or several that follow each other.
template <int width, int vectors, class Sweep>
__global__ void __launch_bounds__(block_threads, resident_blocks<vectors, Sweep>)
    sweep_shares(Csr a, Sweep sweep, int lanes, Shares shares) {
    const Lane<width, vectors> lane = {static_cast<int>(threadIdx.x) & (lanes - 1), lanes,
                                       static_cast<int>(sweep.columns())};
    int left = choices::shares_by_lanes ? shares.together : 1;
    const std::int64_t end = shares.first + shares.count;
    std::int64_t share = shares.first + thread_number() / lanes * left;
    Place from = share < end ? shares.place(a, share) : Place{a.rows, 0};

    CurrentRow<width, vectors, Sweep> at;
    at.row = from.row;
    at.begin = start_of(a, from.row);
    at.end = from.row < a.rows ? start_of(a, from.row + 1) : at.begin;
    at.enter(a, sweep, lane);
    const auto end_row = [&] {
        if (at.row == from.row && at.begin < from.entry) {
            save_part(shares, share, Part::of_first_row, lane, at.held);
        } else {
            at.keep(sweep, lane);
        }
        at.advance(a, sweep, lane);
    };

    for (; left > 0; --left, ++share) {
        const Place to = share < end ? shares.place(a, share + 1) : from;
        const auto nonzero = [&](std::int64_t entry) { return nonzero_before<Sweep>(to.entry, a, entry + lane.index); };
        Nonzero next = choices::loads_ahead ? nonzero(from.entry) : Nonzero{};
        for (std::int64_t entry = from.entry; __any_sync(all_lanes, entry < to.entry); entry += lanes) {
            const Nonzero own = choices::loads_ahead ? next : nonzero(entry);
            if constexpr (choices::loads_ahead) next = nonzero(entry + lanes);
            const auto count = static_cast<int>(smaller<std::int64_t>(lanes, to.entry - entry));
            take_batch(sweep, lane, own, entry, count, at, end_row);
        }
        while (at.row < to.row) end_row();
        if (share < end && at.begin < to.entry) {
            save_part(shares, share, Part::of_last_row, lane, at.held);
            at.held = sweep.template start<width, vectors>();
        }
        from = to;
    }
}

}  // namespace gnnplan::kernels::cuda
