#include "runtime/exec/edge_order.hpp"

#include <gnnplan/base/error.hpp>

#include <limits>
#include <utility>

namespace gnnplan::exec {
namespace {

// Calls visit(row, column, entry) for the nonzeros of a block in the order of its rows, whatever its panels.
template <class Visit>
void visit_by_rows(const kernels::Csr& block, const Visit& visit) {
    for (std::int64_t row = 0; row < block.rows; ++row) {
        for (std::int64_t p = 0; p < block.panels; ++p) {
            const std::int64_t* start = block.row_start + p * block.panel_stride + row;
            for (std::int64_t entry = start[0]; entry < start[1]; ++entry) visit(row, block.column[entry], entry);
        }
    }
}

// The source panel of each row of a block, when it is a column of the transpose in so many panels.
std::vector<std::int64_t> panels_of(std::int64_t rows, std::int64_t panels) {
    std::vector<std::int64_t> panel(static_cast<std::size_t>(rows));
    for (std::int64_t p = 0; p < panels; ++p) {
        const Range range = balanced_block({0, rows}, p, panels);
        for (std::int64_t row = range.begin; row < range.end; ++row) panel[static_cast<std::size_t>(row)] = p;
    }
    return panel;
}

// Nonzeros with equal panel and column follow each other in the order of their rows.
std::vector<std::int32_t> order_of(const kernels::Csr& block, std::int64_t panels_of_transpose) {
    const std::vector<std::int64_t> panel = panels_of(block.rows, panels_of_transpose);
    std::vector<std::int32_t> next(static_cast<std::size_t>(panels_of_transpose * block.columns + 1), 0);
    const auto list = [&](std::int64_t row, std::int32_t column) {
        return static_cast<std::size_t>(panel[static_cast<std::size_t>(row)] * block.columns + column);
    };
    visit_by_rows(block, [&](std::int64_t row, std::int32_t column, std::int64_t) { ++next[list(row, column) + 1]; });
    for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
    std::vector<std::int32_t> order(static_cast<std::size_t>(block.nonzeros()));
    visit_by_rows(block, [&](std::int64_t row, std::int32_t column, std::int64_t entry) {
        order[static_cast<std::size_t>(entry)] = next[list(row, column)]++;
    });
    return order;
}

}  // namespace

EdgeOrder::EdgeOrder(const Grid& grid, const Tensor& from, const Tensor& to, int rank, const data::Graph& graph,
                     const data::DegreeScales& scales, const data::NumberedCounts& counts, kernels::Device& device,
                     MemoryTracker& tracker) {
    const Range rows = split_block(to.rows, to.layout.rows, grid, rank);
    const std::int64_t panels = panel_count(rows.size(), from.storage.panel_columns);
    std::int64_t bytes = 0;
    for (const Stage& stage : stages_of(grid, to, rank)) {
        const Range columns = stage.piece ? stage.piece->columns : Range{};
        const data::LocalBlock block =
            data::build_block(graph, to.matrix(), rows, columns, scales, data::cutting_order(graph, counts),
                              {false, to.storage.panel_columns});
        if (block.nonzeros() > std::numeric_limits<std::int32_t>::max()) {
            throw Error(ErrorCode::usage, "a rank keeps values of more than 2^31 - 1 edges of another one",
                        "tensor " + to.name, "use more ranks, on a grid with more of them along x");
        }
        const Charge on_host = charge_until_uploaded(tracker, block.bytes() + 4 * block.nonzeros());
        stages_.push_back(kernels::take(device, order_of(block.view(), panels)));
        bytes += static_cast<std::int64_t>(stages_.back()->size());
    }
    charge_ = Charge(tracker, bytes, Holder::tensors);
}

}  // namespace gnnplan::exec
