#include "runtime/exec/edge_order.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
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

void check_count(std::int64_t nonzeros, const Tensor& to) {
    if (nonzeros > std::numeric_limits<std::int32_t>::max()) {
        throw Error(ErrorCode::usage, "a rank keeps values of more than 2^31 - 1 edges that others have",
                    "tensor " + to.name, "use more ranks, on a grid with more of them along x");
    }
}

// The nonzeros of the ranks of a y-group, which have been dealt its rows: of each rank, piece after piece.
class Dealt {
public:
    Dealt(const Grid& grid, const Tensor& matrix, int rank, const data::NumberedCounts& counts)
        : panel_columns_(matrix.storage.panel_columns) {
        std::int64_t start = 0;
        for (int y = 0; y < grid.y; ++y) {
            const int peer = grid.neighbour(rank, Axis::y, y);
            rows_.push_back(split_block(matrix.rows, matrix.layout.rows, grid, peer));
            const std::int64_t first = start;
            for (const Piece& piece : pieces_of(grid, matrix, peer)) {
                if (!piece.columns.empty()) pieces_.push_back({rows_.size() - 1, piece.columns, start});
                start += counts.block_nonzeros(matrix.matrix(), rows_.back(), piece.columns);
            }
            edges_.push_back(start - first);
        }
        std::sort(pieces_.begin(), pieces_.end(),
                  [](const DealtPiece& a, const DealtPiece& b) { return a.columns.begin < b.columns.begin; });
    }

    const std::vector<std::int64_t>& edges() const { return edges_; }

    // Which of them the nonzeros of a block of all rows of the group and these columns are.
    std::vector<std::int32_t> order_of(const kernels::Csr& block, Range columns) const {
        const std::vector<std::int64_t> panel = panels_in(columns);
        const auto panels = static_cast<std::int64_t>(panel.empty() ? 0 : panel.back() + 1);
        const std::vector<std::int64_t> owner = owners();
        const auto list = [&](std::int64_t row, std::int32_t column) {
            return static_cast<std::size_t>(owner[static_cast<std::size_t>(row)] * panels +
                                            panel[static_cast<std::size_t>(column)]);
        };
        std::vector<std::int64_t> next(rows_.size() * static_cast<std::size_t>(panels), 0);
        visit_by_rows(block, [&](std::int64_t row, std::int32_t column, std::int64_t) { ++next[list(row, column)]; });
        counts_to_starts(next, columns, panels);
        std::vector<std::int32_t> order(static_cast<std::size_t>(block.nonzeros()));
        visit_by_rows(block, [&](std::int64_t row, std::int32_t column, std::int64_t entry) {
            order[static_cast<std::size_t>(entry)] = static_cast<std::int32_t>(next[list(row, column)]++);
        });
        return order;
    }

private:
    struct DealtPiece {
        std::size_t owner;
        Range columns;
        std::int64_t start;  // of its nonzeros
    };

    // The source panel of each column, of all panels of the pieces there, whose columns are the same for every owner.
    std::vector<std::int64_t> panels_in(Range columns) const {
        std::vector<std::int64_t> panel;
        std::int64_t before = 0;
        for (const DealtPiece& piece : pieces_) {
            if (piece.owner != 0 || !lies_in(piece.columns, columns)) continue;
            const std::int64_t count = panel_count(piece.columns.size(), panel_columns_);
            for (std::int64_t p = 0; p < count; ++p) {
                const Range range = balanced_block(piece.columns, p, count);
                panel.insert(panel.end(), static_cast<std::size_t>(range.size()), before + p);
            }
            before += count;
        }
        return panel;
    }
    static bool lies_in(Range part, Range whole) { return intersect(part, whole) == part; }

    std::vector<std::int64_t> owners() const {
        std::vector<std::int64_t> owner;
        for (std::size_t y = 0; y < rows_.size(); ++y)
            owner.insert(owner.end(), static_cast<std::size_t>(rows_[y].size()), static_cast<std::int64_t>(y));
        return owner;
    }

    // How many nonzeros an owner has in each panel becomes where the first of them lies.
    void counts_to_starts(std::vector<std::int64_t>& counts, Range columns, std::int64_t panels) const {
        std::vector<std::int64_t> done(rows_.size(), 0);
        for (const DealtPiece& piece : pieces_) {
            if (!lies_in(piece.columns, columns)) continue;
            std::int64_t start = piece.start;
            const std::int64_t count = panel_count(piece.columns.size(), panel_columns_);
            for (std::int64_t p = 0; p < count; ++p) {
                const auto at = static_cast<std::int64_t>(piece.owner) * panels + done[piece.owner]++;
                start += std::exchange(counts[static_cast<std::size_t>(at)], start);
            }
        }
    }

    std::int64_t panel_columns_;
    std::vector<Range> rows_;          // of each rank of the group
    std::vector<DealtPiece> pieces_;   // in the order of their columns
    std::vector<std::int64_t> edges_;  // of each rank
};

}  // namespace

EdgeOrder::EdgeOrder(const Grid& grid, const Tensor& from, const Tensor& to, int rank, const data::Graph& graph,
                     const data::DegreeScales& scales, const data::NumberedCounts& counts, kernels::Device& device,
                     MemoryTracker& tracker) {
    const Range rows = split_block(to.rows, to.layout.rows, grid, rank);
    const std::int64_t panels = panel_count(rows.size(), from.storage.panel_columns);
    std::optional<Dealt> dealt;
    if (deals_rows(from)) {
        dealt.emplace(grid, from, rank, counts);
        dealt_ = dealt->edges();
        check_count(std::accumulate(dealt_.begin(), dealt_.end(), std::int64_t{0}), to);
    }
    std::int64_t bytes = 0;
    for (const Stage& stage : stages_of(grid, to, rank)) {
        const Range columns = stage.piece ? stage.piece->columns : Range{};
        const data::LocalBlock block =
            data::build_block(graph, to.matrix(), rows, columns, scales, data::cutting_order(graph, counts),
                              {false, to.storage.panel_columns});
        check_count(block.nonzeros(), to);
        const Charge on_host = charge_until_uploaded(tracker, block.bytes() + 4 * block.nonzeros());
        stages_.push_back(
            kernels::take(device, dealt ? dealt->order_of(block.view(), columns) : order_of(block.view(), panels)));
        bytes += static_cast<std::int64_t>(stages_.back()->size());
    }
    charge_ = Charge(tracker, bytes, Holder::tensors);
}

}  // namespace gnnplan::exec
