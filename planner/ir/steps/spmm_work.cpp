// The work of a rank in a product over nonzeros, and how the result comes back to the rows of its dense operand.
#include "planner/ir/dealt_blocks.hpp"
#include "planner/ir/steps/product_work.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/work.hpp>

#include <array>
#include <numeric>
#include <vector>

namespace gnnplan {
namespace {

std::int64_t divided_up(std::int64_t total, std::int64_t parts) { return (total + parts - 1) / parts; }

// Some of a rank's pieces, which are about equal.
struct AlikePieces {
    std::int64_t columns = 0;
    std::int64_t count = 0;
};

// Those of a rank: its own block of the columns, which stays whole where those of others are split, and the others.
std::array<AlikePieces, 2> alike_pieces(const Schedule& schedule, const Tensor& matrix, int rank) {
    std::array<AlikePieces, 2> kinds;
    for (const EqualPieces& pieces : equal_pieces(schedule.grid, matrix, rank)) {
        AlikePieces& kind = kinds[matrix.storage.splits > 1 && !pieces.own ? 1 : 0];
        kind.columns += pieces.columns * pieces.count;
        kind.count += pieces.count;
    }
    return kinds;
}

// The columns in which rows of a rank may have nonzeros: all, or those of their group.
Range met_columns(const Schedule& schedule, TensorId id, int rank) {
    const Tensor& matrix = tensor_of(schedule, id);
    return matrix.in_groups() ? block_of(schedule, id, rank).columns : Range{0, matrix.columns};
}

}  // namespace

std::int64_t multiplied_nonzeros(const Schedule& schedule, TensorId id, const GraphStats& graph, int rank) {
    const Tensor& matrix = tensor_of(schedule, id);
    const Range rows = block_of(schedule, id, rank).rows;
    if (matrix.cut() || !contraction_axis(schedule.grid, matrix))
        return graph.block_nonzeros(matrix.matrix_on(schedule.grid, rank), rows, met_columns(schedule, id, rank));
    // The pieces within a block of the dense operand follow each other, and so do blocks that are not split over z.
    std::vector<Range> blocks;
    const auto add = [&](int root) {
        const Range block = dense_rows(schedule.grid, matrix, root);
        if (!blocks.empty() && blocks.back().end == block.begin)
            blocks.back().end = block.end;
        else
            blocks.push_back(block);
    };
    if (matrix.in_groups()) {
        for (const int root : dense_roots(schedule.grid, matrix, rank)) add(root);
    } else {
        const Range dealt = block_distributed(matrix) ? hand_of(schedule.grid, rank) : Range{0, schedule.grid.x};
        for (std::int64_t ix = dealt.begin; ix < dealt.end; ++ix)
            add(schedule.grid.neighbour(rank, Axis::x, static_cast<int>(ix)));
    }
    const std::vector<std::int64_t> nonzeros = graph.block_nonzeros_of(matrix.matrix(), rows, blocks);
    return std::accumulate(nonzeros.begin(), nonzeros.end(), std::int64_t{0});
}

RankWork product_work(const Schedule& schedule, const SpmmStep& product, const GraphStats& graph, int rank,
                      std::int64_t nonzeros) {
    RankWork work;
    work.sparse_width = product.travelling_columns(schedule, rank);
    work.sparse_flops = 2.0 * static_cast<double>(nonzeros) * static_cast<double>(work.sparse_width);
    if (const std::optional<TensorId> scores = product.stored_scores())
        work.streamed_bytes = 4 * elements_of(schedule, *scores, graph, rank);
    return work;
}

RankWork SpmmStep::work(const Schedule& schedule, const GraphStats& graph, int rank) const {
    return product_work(schedule, *this, graph, rank, multiplied_nonzeros(schedule, matrix, graph, rank));
}

SpmmReuse reuse_of_matrix(const Schedule& schedule, TensorId id, const GraphStats& graph, int rank,
                          std::int64_t nonzeros) {
    const Tensor& matrix = tensor_of(schedule, id);
    const Range rows = block_of(schedule, id, rank).rows;
    const std::array<AlikePieces, 2> kinds = alike_pieces(schedule, matrix, rank);
    const std::int64_t columns = kinds[0].columns + kinds[1].columns;
    SpmmReuse reuse;
    reuse.rows = static_cast<double>(stored_rows(schedule, id, graph, rank));
    const MatrixId which = matrix.matrix_on(schedule.grid, rank);
    if (columns == 0 || rows.empty()) return reuse;
    reuse.columns = columns;
    const Range met = met_columns(schedule, id, rank);
    reuse.pieces = 0;
    for (const AlikePieces& kind : kinds) {
        if (kind.count == 0) continue;
        const std::int64_t each = divided_up(kind.columns, kind.count);
        const std::int64_t panel = divided_up(each, panel_count(each, matrix.storage.panel_columns));
        const double weight = static_cast<double>(kind.columns) / static_cast<double>(columns);
        ReuseHistogram histogram = graph.reuse(which, rows, met, panel);
        // Rows without a nonzero of the part are not stored, and so not walked.
        if (!rows.empty()) histogram.row_sweeps *= reuse.rows / static_cast<double>(rows.size());
        reuse.histogram.add(histogram, weight);
        reuse.pieces += weight * static_cast<double>(met.size()) / static_cast<double>(each);
    }
    const auto all = static_cast<double>(graph.block_nonzeros(which, rows, met));
    if (all > 0) reuse.share = static_cast<double>(nonzeros) / all;
    return reuse;
}

void pack_for(const Schedule& schedule, const SpmmStep& step, int rank, SpmmReuse& reuse) {
    reuse.packed = reuse.columns > 0 ? packed_panel(schedule, step, rank) : PackedPanel{};
    reuse.packing_bytes = 0;
    if (reuse.packed.rows == 0) return;
    const std::int64_t elements = reuse.columns * step.travelling_columns(schedule, rank);
    reuse.packing_bytes = (4 + reuse.packed.element_bytes) * elements;
}

SpmmReuse reuse_of(const Schedule& schedule, const SpmmStep& step, const GraphStats& graph, int rank,
                   std::int64_t nonzeros) {
    SpmmReuse reuse = reuse_of_matrix(schedule, step.matrix, graph, rank, nonzeros);
    pack_for(schedule, step, rank, reuse);
    return reuse;
}

}  // namespace gnnplan
