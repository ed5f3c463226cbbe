// Products that copy the rows of a dense operand which a panel meets to where they lie well, a slice of columns at a
// time.
#pragma once

#include "kernels/cuda/spmm_sweep.cuh"
#include "kernels/table.hpp"

#include <gnnplan/base/range.hpp>

#include <algorithm>
#include <cstdint>

namespace gnnplan::kernels::cuda {

// Copies a matrix as it is, or scaled row by row, or rounded to bfloat16. In spmm.cu.
void pack(ConstMatrix from, const float* scale, Dense<float> to);
void pack(ConstMatrix from, const float* scale, Dense<Bf16> to);

template <class Element>
struct PackedSlice {
    std::int64_t first;         // column
    std::int64_t panel;         // whose entries meet the rows
    Dense<const Element> rows;  // called what they are in the operand; vectors of four can be loaded
};

// body(PackedSlice) for each of the slices that there is room for, and each panel. `scale`: of all rows of b, or null.
template <class Element, class Body>
void for_packed(const Csr& a, ConstMatrix b, const float* scale, const PanelRoom& room, const Body& body) {
    const std::int64_t columns = b.columns, most = std::min(room.slice_columns, most_columns(4));
    for_slices(widest_slices(columns, most), columns, [&](std::int64_t first, std::int64_t count) {
        constexpr std::int64_t sector = 32 / sizeof(Element);
        const std::int64_t stride = ceil_divide(count, sector) * sector;
        auto* const to = reinterpret_cast<Element*>(room.memory.data());
        for (std::int64_t p = 0; p < a.panels; ++p) {
            const Range met = balanced_block({0, a.columns}, p, a.panels);
            const ConstMatrix from = {b.row(met.begin) + first, met.size(), count, b.stride};
            pack(from, scale != nullptr ? scale + met.begin : nullptr, Dense<Element>{to, met.size(), count, stride});
            body(PackedSlice<Element>{first, p, {to - met.begin * stride, b.rows, count, stride}});
        }
    });
}

}  // namespace gnnplan::kernels::cuda
