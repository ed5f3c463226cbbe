// How the rows of a sparse matrix are split over threads: they take chunks of about equal numbers of nonzeros as they
// come, and every row is the work of one of them.
#pragma once

#include <algorithm>
#include <cstdint>

#include <gnnplan/base/range.hpp>

#include "kernels/look.hpp"
#include "kernels/parallel.hpp"
#include "kernels/views.hpp"

namespace gnnplan::kernels::cpu {

inline constexpr std::int64_t chunks_of_thread = 32;

// First row of part i of `parts` with equal shares of rows + nonzeros: counting rows too keeps long runs of empty rows
// from landing in one part.
inline std::int64_t first_row_of(const Csr& panel, std::int64_t i, std::int64_t parts) {
    const std::int64_t total = panel.rows + panel.nonzeros();
    const std::int64_t share = total / parts * i + total % parts * i / parts;
    std::int64_t low = 0;
    std::int64_t high = panel.rows;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (middle + panel.row_start[middle] - panel.row_start[0] < share) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// body(rows) for chunks of the rows of a panel; `work` estimates the operations for an entry, which are two flops each.
template <class Body>
void in_chunks(const Csr& panel, std::int64_t work, const Body& body) {
    const std::int64_t all = (panel.rows + panel.nonzeros()) * work;
    const std::int64_t looks = panel.look != nullptr ? 2 * all / panel.look->flops() : 0;
    const std::int64_t parts = std::min(panel.rows, std::max(chunks_of_thread * max_threads(), looks));
    parallel_for(parts, all, LoopSchedule::dynamic, [&](std::int64_t i) {
        const std::int64_t first = first_row_of(panel, i, parts);
        const std::int64_t last = i + 1 == parts ? panel.rows : first_row_of(panel, i + 1, parts);
        if (first < last) body(Range{first, last});
        if (panel.look != nullptr && leads_team()) panel.look->after(2 * all / parts);
    });
}

}  // namespace gnnplan::kernels::cpu
