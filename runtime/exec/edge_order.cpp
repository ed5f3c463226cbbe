#include "runtime/exec/edge_order.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace gnnplan::exec {
namespace {

// Calls visit(row, column, entry) for the nonzeros of some rows of a block, row by row, whatever its panels.
template <class Visit>
void visit_by_rows(const kernels::Csr& block, Range rows, const Visit& visit) {
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        for (std::int64_t p = 0; p < block.panels; ++p) {
            const std::int64_t* start = block.row_start + p * block.panel_stride + row;
            for (std::int64_t entry = start[0]; entry < start[1]; ++entry) visit(row, block.column[entry], entry);
        }
    }
}

// The rows of `to` that a root of `from` has as columns, in the order in which it walks them: source panel after source
// panel of one piece after the other.
std::vector<Range> panels_of(const Grid& grid, const Tensor& from, int rank, int root) {
    std::vector<Range> panels;
    std::int64_t first = 0;
    for (const Piece& piece : pieces_of(grid, from, rank, root)) {
        const std::int64_t count = panel_count(piece.columns.size(), from.storage.panel_columns);
        const Range rows{first, first + piece.columns.size()};
        for (std::int64_t p = 0; p < count; ++p) panels.push_back(balanced_block(rows, p, count));
        first = rows.end;
    }
    return panels;
}

// Blocks of the columns that one root has as rows, one after the other. Nonzeros of one panel and column follow each
// other in the order of their rows.
std::vector<std::vector<std::int32_t>> orders_of(const std::vector<data::LocalBlock>& blocks,
                                                 const std::vector<Range>& panels) {
    std::vector<std::vector<std::int32_t>> orders;
    std::vector<std::int64_t> first_column{0};
    for (const data::LocalBlock& block : blocks) {
        orders.emplace_back(static_cast<std::size_t>(block.nonzeros()));
        first_column.push_back(first_column.back() + block.columns);
    }
    std::vector<std::int32_t> next(static_cast<std::size_t>(first_column.back() + 1));
    std::int32_t before = 0;
    for (const Range& panel : panels) {
        std::fill(next.begin(), next.end(), 0);
        next.front() = before;
        const auto column_of = [&](std::size_t i, std::int32_t column) {
            return static_cast<std::size_t>(first_column[i] + column);
        };
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            visit_by_rows(blocks[i].view(), panel,
                          [&](std::int64_t /*row*/, std::int32_t column, std::int64_t /*entry*/) {
                              ++next[column_of(i, column) + 1];
                          });
        }
        for (std::size_t c = 1; c < next.size(); ++c) next[c] += next[c - 1];
        before = next.back();
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            visit_by_rows(blocks[i].view(), panel, [&](std::int64_t /*row*/, std::int32_t column, std::int64_t entry) {
                orders[i][static_cast<std::size_t>(entry)] = next[column_of(i, column)]++;
            });
        }
    }
    return orders;
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
            rows_.push_back(matrix_rows(grid, matrix, peer));
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

    // Returns, for each nonzero of a block of all rows of the group and these columns, its place among edges().
    std::vector<std::int32_t> order_of(const kernels::Csr& block, Range columns) const {
        const std::vector<std::int64_t> panel = panels_in(columns);
        const auto panels = static_cast<std::int64_t>(panel.empty() ? 0 : panel.back() + 1);
        const std::vector<std::int64_t> owner = owners();
        const auto list = [&](std::int64_t row, std::int32_t column) {
            return static_cast<std::size_t>(owner[static_cast<std::size_t>(row)] * panels +
                                            panel[static_cast<std::size_t>(column)]);
        };
        std::vector<std::int64_t> next(rows_.size() * static_cast<std::size_t>(panels), 0);
        visit_by_rows(block, {0, block.rows},
                      [&](std::int64_t row, std::int32_t column, std::int64_t) { ++next[list(row, column)]; });
        counts_to_starts(next, columns, panels);
        std::vector<std::int32_t> order(static_cast<std::size_t>(block.nonzeros()));
        visit_by_rows(block, {0, block.rows}, [&](std::int64_t row, std::int32_t column, std::int64_t entry) {
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
    const Range rows = matrix_rows(grid, to, rank);
    std::optional<Dealt> dealt;
    if (deals_rows(from)) {
        dealt.emplace(grid, from, rank, counts);
        dealt_ = dealt->edges();
        check_count(std::accumulate(dealt_.begin(), dealt_.end(), std::int64_t{0}), to);
    }
    const std::vector<Piece> pieces = pieces_of(grid, to, rank);
    std::int64_t bytes = 0;
    for (std::size_t first = 0, next = 0; first < pieces.size(); first = next) {
        const int root = pieces[first].dense_root;
        std::vector<data::LocalBlock> blocks;
        std::int64_t nonzeros = 0, cut = 0;
        for (next = first; next < pieces.size() && pieces[next].dense_root == root; ++next) {
            blocks.push_back(data::build_block(graph, to.matrix(), rows, pieces[next].columns, scales,
                                               data::cutting_order(graph, counts), {false, to.storage.panel_columns}));
            nonzeros += blocks.back().nonzeros();
            cut += blocks.back().bytes();
        }
        check_count(nonzeros, to);
        const Charge on_host = charge_until_uploaded(tracker, cut + 4 * nonzeros);
        std::vector<std::vector<std::int32_t>> orders;
        if (dealt) {
            orders.push_back(dealt->order_of(blocks.front().view(), pieces[first].columns));
        } else {
            orders = orders_of(blocks, panels_of(grid, from, rank, root));
        }
        for (std::vector<std::int32_t>& order : orders) stages_.push_back(kernels::take(device, std::move(order)));
        bytes += 4 * nonzeros;
    }
    charge_ = Charge(tracker, bytes, Holder::tensors);
}

}  // namespace gnnplan::exec
