// Rows of many nonzeros, which all groups of a device share; see spmm_walk.cuh.
#pragma once

#include "kernels/cuda/launch.hpp"
#include "kernels/cuda/spmm_walk.cuh"

#include <cstdint>

namespace gnnplan::kernels::cuda {

// A unit of a row; a negative row is none.
struct Unit {
    std::int64_t row;
    std::int64_t number;  // in its row
};

// The units that are computed apart, in any order but for those of a row, which follow each other. Lies in the scratch,
// with room for the results of `capacity` units.
struct UnitList {
    unsigned long long* asked;  // how many units groups wanted to list
    Unit* units;
    float* results;
    std::int64_t capacity;

    __device__ std::int64_t size() const { return smaller(static_cast<std::int64_t>(*asked), capacity); }

    // Lists all units of a row, or none where they do not fit. Who asks is alone with the row.
    __device__ bool list(std::int64_t row, std::int64_t count) const {
        const auto first = static_cast<std::int64_t>(atomicAdd(asked, static_cast<unsigned long long>(count)));
        const bool fits = first + count <= capacity;
        for (std::int64_t u = 0; u < count && first + u < capacity; ++u) units[first + u] = {fits ? row : -1, u};
        return fits;
    }
};

// A list of units whose results are so many floats each, in this scratch.
inline UnitList unit_list(std::span<std::byte> scratch, std::int64_t result_floats) {
    constexpr std::int64_t line = 256;
    const std::int64_t unit_bytes = std::int64_t{sizeof(Unit)} + std::int64_t{sizeof(float)} * result_floats;
    const std::int64_t capacity = (static_cast<std::int64_t>(scratch.size()) - 2 * line) / unit_bytes;
    std::byte* const units = scratch.data() + line;
    std::byte* const results = units + ceil_divide(capacity * std::int64_t{sizeof(Unit)}, line) * line;
    return {reinterpret_cast<unsigned long long*>(scratch.data()), reinterpret_cast<Unit*>(units),
            reinterpret_cast<float*>(results), capacity};
}

__device__ inline std::int64_t entries_of(const Csr& a, std::int64_t row) {
    return a.row_start[row + 1] - a.row_start[row];
}

// Each group has a row: it lists the units of a long one, or computes them.
template <int width, int vectors, class Sweep>
__global__ void __launch_bounds__(block_threads) sweep_rows(Csr a, Sweep sweep, int lanes, UnitList list) {
    const Lane<width, vectors> lane = {static_cast<int>(threadIdx.x) & (lanes - 1), lanes,
                                       static_cast<int>(sweep.columns())};
    const std::int64_t row = thread_number() / lanes;
    std::int64_t begin = row < a.rows ? a.row_start[row] : 0;
    const std::int64_t end = row < a.rows ? a.row_start[row + 1] : 0;
    int listed = 0;
    if (lane.index == 0 && end - begin > unit_entries)
        listed = list.list(row, (end - begin + unit_entries - 1) / unit_entries) ? 1 : 0;
    listed = __shfl_sync(all_lanes, listed, 0, lanes);
    const bool here = row < a.rows && listed == 0 && (begin < end || !sweep.accumulate);
    bool something = sweep.accumulate;
    auto held = sweep.template old<width, vectors>(lane, row, here && something);
    if (!here) begin = end;
    do {
        const std::int64_t stop = smaller(end, begin + unit_entries);
        const auto result = sweep_unit(a, sweep, lane, row, begin, stop);
        if (begin < stop) sweep.join(held, result, row, something), something = true;
        begin = stop;
    } while (__any_sync(all_lanes, begin < end));
    if (here) sweep.keep(lane, held, row);
}

// Where a lane's vectors of a unit's result are.
template <int width, int vectors>
__device__ Pack<width>* result_of(const UnitList& list, std::int64_t at, const Lane<width, vectors>& lane, int results,
                                  int r, int k) {
    const std::int64_t vector = ((at * results + r) * vectors + k) * lane.lanes + lane.index;
    return reinterpret_cast<Pack<width>*>(list.results + vector * width);
}

// Each group computes one of the listed units after the other.
template <int width, int vectors, class Sweep>
__global__ void __launch_bounds__(block_threads) sweep_units(Csr a, Sweep sweep, int lanes, UnitList list) {
    const Lane<width, vectors> lane = {static_cast<int>(threadIdx.x) & (lanes - 1), lanes,
                                       static_cast<int>(sweep.columns())};
    const std::int64_t size = list.size();
    for (std::int64_t at = thread_number() / lanes; __any_sync(all_lanes, at < size); at += thread_count() / lanes) {
        const Unit unit = at < size ? list.units[at] : Unit{-1, 0};
        std::int64_t begin = 0, end = 0;
        if (unit.row >= 0) {
            begin = a.row_start[unit.row] + unit.number * unit_entries;
            end = smaller(begin + unit_entries, a.row_start[unit.row + 1]);
        }
        const auto result = sweep_unit(a, sweep, lane, unit.row, begin, end);
        for (int r = 0; unit.row >= 0 && r < Sweep::results; ++r) {
            for (int k = 0; k < vectors; ++k) {
                Pack<width> pack;
                for (int v = 0; v < width; ++v) pack.x[v] = result.x[r][k][v];
                *result_of<width, vectors>(list, at, lane, Sweep::results, r, k) = pack;
            }
        }
    }
}

// Each group adds the results of the units of one row after the other.
template <int width, int vectors, class Sweep>
__global__ void __launch_bounds__(block_threads) join_units(Csr a, Sweep sweep, int lanes, UnitList list) {
    const Lane<width, vectors> lane = {static_cast<int>(threadIdx.x) & (lanes - 1), lanes,
                                       static_cast<int>(sweep.columns())};
    for (std::int64_t first = thread_number() / lanes; first < list.size(); first += thread_count() / lanes) {
        const Unit unit = list.units[first];
        if (unit.row < 0 || unit.number > 0) continue;
        auto held = sweep.template old<width, vectors>(lane, unit.row, sweep.accumulate);
        const std::int64_t units = (entries_of(a, unit.row) + unit_entries - 1) / unit_entries;
        for (std::int64_t u = 0; u < units; ++u) {
            Held<width, vectors, Sweep::results> result;
            for (int r = 0; r < Sweep::results; ++r) {
                for (int k = 0; k < vectors; ++k) {
                    const Pack<width> pack = *result_of<width, vectors>(list, first + u, lane, Sweep::results, r, k);
                    for (int v = 0; v < width; ++v) result.x[r][k][v] = pack.x[v];
                }
            }
            sweep.join(held, result, unit.row, sweep.accumulate || u > 0);
        }
        sweep.keep(lane, held, unit.row);
    }
}

}  // namespace gnnplan::kernels::cuda
