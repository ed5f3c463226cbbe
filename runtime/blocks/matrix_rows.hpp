// Rows of a pattern, numbered as some order of the vertices has them.
#pragma once

#include "runtime/graph/csr.hpp"
#include "runtime/graph/order.hpp"

#include <gnnplan/base/range.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace gnnplan::data {

// The entries of rows within a range of columns. Rows and columns count in `order`; null or the identity: that of the
// file.
class MatrixRows {
public:
    MatrixRows(const Csr& matrix, Range columns, const VertexOrder* order)
        : matrix_(matrix), columns_(columns), order_(order != nullptr && !order->identity() ? order : nullptr) {}

    // The user's vertex at a position.
    std::int64_t vertex(std::int64_t position) const {
        return order_ == nullptr ? position : order_->vertex[static_cast<std::size_t>(position)];
    }

    // The columns of one row; the span holds until the next call.
    std::span<const std::int32_t> any_order(std::int64_t row) {
        if (order_ == nullptr) return in_file_order(row);
        found_.clear();
        for (const std::int32_t c : whole(vertex(row))) {
            const std::int32_t position = order_->position[static_cast<std::size_t>(c)];
            if (position >= columns_.begin && position < columns_.end) found_.push_back(position);
        }
        return found_;
    }

    std::span<const std::int32_t> ascending(std::int64_t row) {
        const auto entries = any_order(row);
        if (order_ != nullptr) std::sort(found_.begin(), found_.end());
        return entries;
    }

private:
    std::span<const std::int32_t> whole(std::int64_t row) const {
        const std::int64_t begin = matrix_.row_start[static_cast<std::size_t>(row)];
        return {matrix_.column.data() + begin, static_cast<std::size_t>(matrix_.degree(row))};
    }

    std::span<const std::int32_t> in_file_order(std::int64_t row) const {
        const auto all = whole(row);
        if (columns_.begin <= 0 && columns_.end >= matrix_.vertices) return all;
        const auto low = std::lower_bound(all.begin(), all.end(), columns_.begin);
        return {low, std::lower_bound(low, all.end(), columns_.end)};
    }

    const Csr& matrix_;
    Range columns_;
    const VertexOrder* order_;
    std::vector<std::int32_t> found_;
};

}  // namespace gnnplan::data
