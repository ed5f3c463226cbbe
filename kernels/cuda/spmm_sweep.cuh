// Starts the kernels that sweep over one panel of a sparse matrix, for one slice of columns: a kernel that computes as
// many shares as the scratch has room for the parts of, and one that joins the parts, in turn.
#pragma once

#include "kernels/cuda/prepared.hpp"
#include "kernels/cuda/spmm_join.cuh"
#include "kernels/cuda/spmm_shares.cuh"

#include <gnnplan/base/blocking.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace gnnplan::kernels::cuda {

// How many columns a group has at most, with vectors of so many floats.
constexpr std::int64_t most_columns(int width) { return std::int64_t{2} * warp_lanes * width; }

// One panel of a matrix, and how sweeps over it are shared out.
struct Panel {
    Csr a;
    std::int64_t share_steps;
    std::int64_t most_shares;
    const std::int32_t* known_row;  // see Shares
};

inline constexpr std::int64_t most_share_steps = 8 * share_unit;

// Shares are small enough to keep the device busy, and otherwise so large that their parts of rows cost little.
inline std::int64_t share_steps_of(const Csr& a) {
    constexpr std::int64_t groups = 256;  // that a multiprocessor has room for
    const std::int64_t steps = a.rows + a.most_nonzeros / a.panels;
    const std::int64_t each = steps / (groups * queue().processors) / share_unit * share_unit;
    return std::clamp(each, share_unit, most_share_steps);
}

inline Panel panel_of(const Csr& a, std::int64_t p) {
    ensure(a.most_nonzeros >= 0, "nobody said how many nonzeros a matrix of the GPU has");
    const auto* known = static_cast<const PreparedMatrix*>(a.prepared);
    const std::int64_t steps = a.rows + (known != nullptr ? known->nonzeros(p) : a.most_nonzeros);
    const std::int64_t each = share_steps_of(a);
    return {a.panel(p), each, ceil_divide(steps, each), known != nullptr ? known->known_row(p) : nullptr};
}

// How many shares a group of so many lanes has, where a multiprocessor has so many blocks: the more lanes, the fewer
// groups fit, and the more steps each can have before any has nothing to do. Rows are cut at the same places whatever
// the groups are, so that results have the same bits.
inline int shares_together(const Panel& panel, int lanes, int blocks) {
    if (!choices::shares_by_lanes) return 1;
    const std::int64_t groups = std::int64_t{blocks} * block_threads / lanes * queue().processors;
    const std::int64_t shares = panel.most_shares / groups, most = most_share_steps / panel.share_steps;
    return static_cast<int>(std::clamp<std::int64_t>(shares, 1, most));
}

template <int width, int vectors, class Sweep>
void sweep_with(const char* what, const Panel& panel, const Sweep& sweep, int lanes) {
    const std::span<std::byte> scratch = queue().scratch;
    const std::int64_t part_bytes = std::int64_t{sizeof(float)} * Sweep::results * lanes * vectors * width;
    const std::int64_t at_once = static_cast<std::int64_t>(scratch.size()) / (2 * part_bytes);
    const std::int64_t all = panel.most_shares;
    const int together = shares_together(panel, lanes, resident_blocks<vectors, Sweep>);
    for (std::int64_t first = 0; first < all; first += at_once) {
        const Shares shares = {panel.share_steps,
                               first,
                               std::min(at_once, all - first),
                               panel.known_row,
                               reinterpret_cast<float*>(scratch.data()),
                               together};
        const std::int64_t groups = ceil_divide(shares.count, together);
        launch(what, ceil_divide(groups * lanes, block_threads), sweep_shares<width, vectors, Sweep>, panel.a, sweep,
               lanes, shares);
        const std::int64_t blocks = ceil_divide(shares.count * lanes, block_threads);
        if (all > 1) launch(what, blocks, join_parts<width, vectors, Sweep>, panel.a, sweep, lanes, shares);
    }
}

// The sweep has at most most_columns(width) columns.
template <int width, class Sweep>
void sweep_panel(const char* what, const Panel& panel, const Sweep& sweep) {
    const std::int64_t vectors = ceil_divide(sweep.columns(), width);
    int lanes = entries_at_once;
    while (lanes < warp_lanes && lanes < vectors) lanes *= 2;
    if (vectors <= warp_lanes) {
        sweep_with<width, 1>(what, panel, sweep, lanes);
    } else {
        sweep_with<width, 2>(what, panel, sweep, lanes);
    }
}

// The largest vector, in floats, that all dense operands allow: their rows begin with one and are made of them.
inline int vector_width(std::initializer_list<ConstMatrix> operands) {
    for (const std::int64_t width : {4, 2}) {
        const auto fits = [&](const ConstMatrix& m) {
            const std::uintptr_t bytes = sizeof(float) * static_cast<std::uintptr_t>(width);
            return reinterpret_cast<std::uintptr_t>(m.data) % bytes == 0 && m.stride % width == 0 &&
                   m.columns % width == 0;
        };
        if (std::ranges::all_of(operands, fits)) return static_cast<int>(width);
    }
    return 1;
}

// The slices of so many columns that kernels multiply with vectors of `width` floats: those that leave `rows` gathered
// rows in the L2, or, where nothing is to be left there, the widest that a group can have.
inline ColumnSlices cached_slices(std::int64_t rows, std::int64_t columns, int width) {
    Blocking blocking = queue().blocking;
    blocking.slice_columns = std::min(blocking.slice_columns, most_columns(width));
    return column_slices(blocking, rows, columns, sizeof(float));
}
inline ColumnSlices widest_slices(std::int64_t columns, std::int64_t most) {
    return column_slices({.unit_bytes = queue().blocking.unit_bytes, .slice_columns = most}, 0, columns, sizeof(float));
}

// body(first, count) for each slice.
template <class Body>
void for_slices(const ColumnSlices& slices, std::int64_t columns, const Body& body) {
    for (std::int64_t first = 0; first < columns; first += slices.columns)
        body(first, std::min(slices.columns, columns - first));
}

template <class T>
Dense<T> columns_of(Dense<T> whole, std::int64_t first, std::int64_t count) {
    return {whole.data + first, whole.rows, count, whole.stride};
}

// body(std::integral_constant<int, width>) for a width that is known when it runs.
template <class Body>
void with_width(int width, const Body& body) {
    switch (width) {
        case 4: return body(std::integral_constant<int, 4>());
        case 2: return body(std::integral_constant<int, 2>());
        default: return body(std::integral_constant<int, 1>());
    }
}

}  // namespace gnnplan::kernels::cuda
