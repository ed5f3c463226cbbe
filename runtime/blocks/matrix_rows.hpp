// Rows of a matrix, numbered as some order of the vertices has them.
#pragma once

#include "runtime/graph/csr.hpp"
#include "runtime/graph/order.hpp"

#include <gnnplan/base/range.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace gnnplan::data {

// The entries of rows within a range of columns, of one part where the matrix is that of a part of the order's cut.
// Rows and columns count in `order`; null or the identity: that of the file.
class MatrixRows {
public:
    MatrixRows(const Graph& graph, MatrixId which, Range columns, const VertexOrder* order)
        : matrix_(graph.matrix(which)),
          columns_(columns),
          order_(order != nullptr && !order->identity() ? order : nullptr),
          part_(which.part),
          parts_(parts_of_nonzeros(order, which)) {}

    // The user's vertex at a position.
    std::int64_t vertex(std::int64_t position) const {
        return order_ == nullptr ? position : order_->vertex[static_cast<std::size_t>(position)];
    }

    // The columns of one row; the span holds until the next call.
    std::span<const std::int32_t> any_order(std::int64_t row) {
        if (order_ == nullptr) return in_file_order(row);
        found_.clear();
        const auto all = whole(vertex(row));
        for (const std::int32_t& c : all) {
            const std::int32_t position = order_->position[static_cast<std::size_t>(c)];
            if (position >= columns_.begin && position < columns_.end && has(&c)) found_.push_back(position);
        }
        return found_;
    }

    std::span<const std::int32_t> ascending(std::int64_t row) {
        if (matrix_.weighted()) return ascending_with_weights(row);
        const auto entries = any_order(row);
        if (order_ != nullptr) std::sort(found_.begin(), found_.end());
        return entries;
    }

    // The weights of what ascending() returned last, in its order; none where edges have none.
    std::span<const float> weights() const { return weights_; }

private:
    std::span<const std::int32_t> ascending_with_weights(std::int64_t row) {
        if (order_ == nullptr) {
            const auto entries = in_file_order(row);
            weights_ = {matrix_.weight.data() + (entries.data() - matrix_.column.data()), entries.size()};
            return entries;
        }
        pairs_.clear();
        const auto all = whole(vertex(row));
        const float* weight = matrix_.weight.data() + (all.data() - matrix_.column.data());
        for (const std::int32_t& c : all) {
            const std::int32_t position = order_->position[static_cast<std::size_t>(c)];
            if (position >= columns_.begin && position < columns_.end && has(&c))
                pairs_.emplace_back(position, *weight);
            ++weight;
        }
        std::sort(pairs_.begin(), pairs_.end());
        found_.clear();
        found_weights_.clear();
        for (const auto& [position, of_position] : pairs_) {
            found_.push_back(position);
            found_weights_.push_back(of_position);
        }
        weights_ = found_weights_;
        return found_;
    }

    std::span<const std::int32_t> whole(std::int64_t row) const {
        const std::int64_t here = row - matrix_.first_row;
        const std::int64_t begin = matrix_.row_start[static_cast<std::size_t>(here)];
        return {matrix_.column.data() + begin, static_cast<std::size_t>(matrix_.degree(here))};
    }

    std::span<const std::int32_t> in_file_order(std::int64_t row) const {
        const auto all = whole(row);
        if (columns_.begin <= 0 && columns_.end >= matrix_.vertices) return all;
        const auto low = std::lower_bound(all.begin(), all.end(), columns_.begin);
        return {low, std::lower_bound(low, all.end(), columns_.end)};
    }

    bool has(const std::int32_t* column) const {
        return parts_ == nullptr || parts_[column - matrix_.column.data()] == part_;
    }

    const Csr& matrix_;
    Range columns_;
    const VertexOrder* order_;
    int part_;
    const std::int16_t* parts_;  // of each nonzero; null: all are asked for
    std::vector<std::int32_t> found_;
    std::vector<std::pair<std::int32_t, float>> pairs_;  // of a row, while it is sorted
    std::vector<float> found_weights_;
    std::span<const float> weights_;
};

}  // namespace gnnplan::data
