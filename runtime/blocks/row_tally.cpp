#include "runtime/blocks/row_tally.hpp"

#include <gnnplan/base/at.hpp>

#include <algorithm>
#include <utility>

namespace gnnplan::data {
namespace {

bool holds_loop(const Csr& matrix, std::int64_t v) {
    const auto begin = matrix.column.begin() + matrix.row_start[at(v)];
    return std::binary_search(begin, begin + matrix.degree(v), static_cast<std::int32_t>(v));
}

class RowTally {
public:
    RowTally(const Graph& graph, MatrixId which, const OffDiagonal& off, Range rows, const VertexOrder& order,
             ColumnTally& tally)
        : matrix_(graph.matrix(which)),
          off_(off),
          rows_(rows),
          order_(order),
          tally_(tally),
          part_(which.part),
          parts_(parts_of_nonzeros(&order, which)) {}

    // Where rows are many and lie anywhere in the file, it takes less time to pass all of them in the file's order.
    void add_all() {
        constexpr std::int64_t rows_passed_for_one = 16;
        if (off_.few) {
            for (const std::int32_t v : off_.rows) add_if_asked(v);
        } else if (order_.identity() || rows_.size() < matrix_.vertices / rows_passed_for_one) {
            for (std::int64_t i = rows_.begin; i < rows_.end; ++i) add(order_.vertex_at(i));
        } else {
            for (std::int64_t v = 0; v < matrix_.vertices; ++v) add_if_asked(v);
        }
    }

private:
    std::int32_t position(std::int64_t v) const { return static_cast<std::int32_t>(order_.position_of(v)); }
    void add_if_asked(std::int64_t v) {
        const std::int32_t row = position(v);
        if (row >= rows_.begin && row < rows_.end) add(v);
    }
    void add(std::int64_t v) {
        for (std::int64_t k = matrix_.row_start[at(v)]; k < matrix_.row_start[at(v + 1)]; ++k) {
            const std::int32_t column = matrix_.column[at(k)];
            if (parts_ != nullptr && parts_[k] != part_) continue;
            if (column != v || !off_.full_diagonal) tally_.add(position(column));
        }
    }

    const Csr& matrix_;
    const OffDiagonal& off_;
    Range rows_;
    const VertexOrder& order_;
    ColumnTally& tally_;
    int part_;
    const std::int16_t* parts_;  // of each nonzero; null: all are asked for
};

}  // namespace

OffDiagonal::OffDiagonal(const Csr& matrix) {
    constexpr std::int64_t rows_for_one = 8;
    std::int64_t loops = 0;
    std::vector<std::int32_t> others;
    for (std::int64_t v = 0; v < matrix.vertices; ++v) {
        const std::int64_t loop = holds_loop(matrix, v) ? 1 : 0;
        loops += loop;
        const bool listed = matrix.degree(v) > loop && std::ssize(others) <= matrix.vertices / rows_for_one;
        if (listed) others.push_back(static_cast<std::int32_t>(v));
    }
    full_diagonal = loops == matrix.vertices;
    // Listed rows have to be all that hold anything to count.
    few = std::ssize(others) <= matrix.vertices / rows_for_one && (full_diagonal || loops == 0);
    if (few) rows = std::move(others);
}

void tally_rows(const Graph& graph, MatrixId which, const OffDiagonal& off, Range rows, const VertexOrder& order,
                ColumnTally& tally) {
    RowTally(graph, which, off, rows, order, tally).add_all();
}

}  // namespace gnnplan::data
