// Reading guide: in the order of positions, those pieces of a slice that lie in one rank's rows are consecutive, and so
// are those that lie in one rank's nonzeros.
#include "planner/ir/sharded.hpp"

#include "planner/ir/needed_rows.hpp"

#include "planner/ir/steps/pieces_between.hpp"
#include "planner/ir/steps/relay_rows.hpp"

#include <gnnplan/ir/pieces.hpp>

#include <algorithm>

namespace gnnplan {
namespace {

// A number for each of a slice's pieces: sums within a range of them, and the largest outside it.
class Figures {
public:
    explicit Figures(const std::vector<std::int64_t>& values)
        : sums_(values.size() + 1, 0), before_(values.size() + 1, 0), from_(values.size() + 1, 0) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            sums_[i + 1] = sums_[i] + values[i];
            before_[i + 1] = std::max(before_[i], values[i]);
        }
        for (std::size_t i = values.size(); i > 0; --i) from_[i - 1] = std::max(from_[i], values[i - 1]);
    }

    std::int64_t at(std::int64_t i) const { return sum({i, i + 1}); }
    std::int64_t sum(Range range) const { return of(sums_, range.end) - of(sums_, range.begin); }
    std::int64_t outside(Range range) const { return sums_.back() - sum(range); }
    std::int64_t largest_outside(Range range) const { return std::max(of(before_, range.begin), of(from_, range.end)); }

private:
    static std::int64_t of(const std::vector<std::int64_t>& figures, std::int64_t i) {
        return figures[static_cast<std::size_t>(i)];
    }

    std::vector<std::int64_t> sums_;    // of the first pieces
    std::vector<std::int64_t> before_;  // the largest of the first pieces
    std::vector<std::int64_t> from_;    // the largest from a piece on
};

// Returns the range of pieces that belongs to each of `count` roots.
template <class RootOf>
std::vector<Range> ranges_of(const std::vector<Piece>& pieces, int count, RootOf root_of) {
    std::vector<Range> ranges;
    std::int64_t next = 0;
    for (int i = 0; i < count; ++i) {
        const std::int64_t first = next;
        while (next < std::ssize(pieces) && root_of(pieces[static_cast<std::size_t>(next)]) == i) ++next;
        ranges.push_back({first, next});
    }
    return ranges;
}

// Bytes of each piece's nonzeros in some rows, as the ranks along y store and fetch them.
std::vector<SliceNonzeros> count_nonzeros(const Blocking& blocking, const Tensor& matrix, Range rows,
                                          const std::vector<Piece>& pieces, const std::vector<Range>& of_y,
                                          const GraphStats& graph) {
    std::vector<std::int64_t> bytes;
    bytes.reserve(pieces.size());
    for (const Piece& piece : pieces) {
        const std::int64_t nonzeros = graph.block_nonzeros(matrix.matrix(), rows, piece.columns);
        bytes.push_back(sparse_bytes(blocking, matrix, rows, piece.columns, nonzeros));
    }
    const Figures figures(bytes);
    std::vector<SliceNonzeros> counted;
    counted.reserve(of_y.size());
    for (const Range& own : of_y)
        counted.push_back({figures.sum(own), figures.outside(own), figures.largest_outside(own)});
    return counted;
}

// Rows of each piece of the dense operand that a product with some rows of the matrix gets.
Figures count_rows(const Tensor& matrix, Range rows, const std::vector<Piece>& pieces, Exchange exchange,
                   const GraphStats& graph) {
    std::vector<std::int64_t> counts;
    counts.reserve(pieces.size());
    for (const Piece& piece : pieces) counts.push_back(rows_sent(graph, matrix.matrix(), piece, rows, exchange));
    return Figures(counts);
}

// The rows that each rank along x fetches and serves; `own` are the pieces in its own rows.
std::vector<SliceRows> rows_of_ranks(const std::vector<std::size_t>& kind_of, const std::vector<Figures>& rows_of_kind,
                                     const std::vector<Range>& own) {
    std::vector<std::int64_t> ranks_of_kind(rows_of_kind.size(), 0);
    for (const std::size_t kind : kind_of) ++ranks_of_kind[kind];
    std::vector<SliceRows> rows;
    rows.reserve(kind_of.size());
    for (std::size_t ix = 0; ix < kind_of.size(); ++ix) {
        const Figures& needed = rows_of_kind[kind_of[ix]];
        std::int64_t served = -needed.sum(own[ix]);
        for (std::size_t kind = 0; kind < rows_of_kind.size(); ++kind)
            served += ranks_of_kind[kind] * rows_of_kind[kind].sum(own[ix]);
        rows.push_back({needed.outside(own[ix]), served, needed.largest_outside(own[ix]), 0});
    }
    return rows;
}

// The most rows of its own block that each rank along x serves at one stage: each peer begins with another of the
// pieces. Whatever the coordinate along y, the same stages come in another order.
void add_most_at_once(const Grid& grid, int iz, const std::vector<std::size_t>& kind_of,
                      const std::vector<Figures>& rows_of_kind, const std::vector<Range>& own, std::int64_t pieces,
                      std::vector<SliceRows>& rows) {
    std::vector<std::int64_t> firsts;
    for (int ix = 0; ix < grid.x; ++ix) {
        const int rank = grid.rank_at(ix, 0, iz);
        firsts.push_back(static_cast<std::int64_t>(first_piece(grid, static_cast<std::size_t>(pieces), rank)));
    }
    std::vector<std::int64_t> served(static_cast<std::size_t>(pieces), 0);  // by stage
    for (std::size_t ix = 0; ix < rows.size(); ++ix) {
        std::fill(served.begin(), served.end(), 0);
        for (std::size_t peer = 0; peer < rows.size(); ++peer) {
            if (peer == ix) continue;
            for (std::int64_t piece = own[ix].begin; piece < own[ix].end; ++piece) {
                const std::int64_t stage = piece - firsts[peer] + (piece < firsts[peer] ? pieces : 0);
                served[static_cast<std::size_t>(stage)] += rows_of_kind[kind_of[peer]].at(piece);
            }
        }
        for (const std::int64_t at_once : served) rows[ix].most_at_once = std::max(rows[ix].most_at_once, at_once);
    }
}

}  // namespace

ShardedSlice::ShardedSlice(const Schedule& schedule, TensorId matrix, Exchange exchange, const GraphStats& graph,
                           int iz) {
    const Grid& grid = schedule.grid;
    const Tensor& m = tensor_of(schedule, matrix);
    // The first rank begins with the first piece.
    const std::vector<Piece> pieces = pieces_of(grid, m, grid.rank_at(0, 0, iz));
    const std::vector<Range> of_y =
        ranges_of(pieces, grid.y, [&](const Piece& p) { return grid.coordinate(p.matrix_root, Axis::y); });
    std::map<std::vector<std::int64_t>, std::size_t> kinds;
    std::vector<Figures> rows_of_kind;
    for (int ix = 0; ix < grid.x; ++ix) {
        const Range rows = block_of(schedule, matrix, grid.rank_at(ix, 0, iz)).rows;
        std::vector<std::int64_t> marks = graph.marks_of_rows(m.matrix(), rows);
        marks.push_back(rows.size());
        const auto [kind, is_new] = kinds.try_emplace(std::move(marks), kinds.size());
        kind_of_.push_back(kind->second);
        if (!is_new) continue;
        nonzeros_.push_back(count_nonzeros(schedule.blocking, m, rows, pieces, of_y, graph));
        rows_of_kind.push_back(count_rows(m, rows, pieces, exchange, graph));
    }
    const std::vector<Range> of_x =
        ranges_of(pieces, grid.x, [&](const Piece& p) { return grid.coordinate(p.dense_root, Axis::x); });
    rows_ = rows_of_ranks(kind_of_, rows_of_kind, of_x);
    if (exchange == Exchange::rows) add_most_at_once(grid, iz, kind_of_, rows_of_kind, of_x, std::ssize(pieces), rows_);
}

const ShardedSlice& ShardedSlices::slice(TensorId matrix, Exchange exchange, int rank) {
    if (exchange != Exchange::rows) exchange = Exchange::panels;  // if there is anybody to send rows to
    const int iz = schedule_.grid.coordinate(rank, Axis::z);
    const auto known = slices_.find({matrix, exchange, iz});
    if (known != slices_.end()) return known->second;
    return slices_.emplace(std::tuple(matrix, exchange, iz), ShardedSlice(schedule_, matrix, exchange, graph_, iz))
        .first->second;
}

std::optional<TensorId> ShardedSlices::matrix_of(const Step& step) const {
    const SpmmStep* product = product_of(step.operation);
    const std::optional<TensorId> matrix = product != nullptr ? product->matrix : requested_rows(step.operation);
    return matrix && gathered(*matrix) ? matrix : std::nullopt;
}

// Statistics tell few ranks apart: these are looked at one by one.
std::optional<TensorId> ShardedSlices::whole_matrix_of(const Step& step) const {
    if (!graph_.exact()) return std::nullopt;
    const SpmmStep* product = product_of(step.operation);
    const auto* request = std::get_if<RowRequestStep>(&step.operation);
    const bool asks = request != nullptr && !request->targets && !request->relayed;
    if (product != nullptr ? product->exchange != Exchange::rows : !asks) return std::nullopt;
    const TensorId id = product != nullptr ? product->matrix : request->matrix;
    const Tensor& matrix = tensor_of(schedule_, id);
    return has_whole_slices(schedule_.grid, matrix) && !matrix.in_groups() ? std::optional(id) : std::nullopt;
}

const SliceRows& ShardedSlices::needed_rows_of(TensorId matrix, int rank) {
    const auto [entry, is_new] = needed_.try_emplace(matrix);
    if (is_new) entry->second = rows_of_whole_slices(schedule_, matrix, graph_);
    return entry->second[static_cast<std::size_t>(rank)];
}

RankTraffic ShardedSlices::traffic(const Step& step, int rank) {
    const std::optional<TensorId> matrix = matrix_of(step);
    if (const std::optional<TensorId> whole = whole_matrix_of(step)) {
        const SliceRows& rows = needed_rows_of(*whole, rank);
        const SpmmStep* of = product_of(step.operation);
        if (of == nullptr) return {4 * rows.fetched, 4 * rows.served};  // requests go to those who send the rows
        const std::int64_t row_bytes = of->travelling_bytes(schedule_, rank);
        return {row_bytes * rows.served, row_bytes * rows.fetched};
    }
    if (!matrix) return traffic_of(schedule_, step, graph_, rank);
    const Grid& grid = schedule_.grid;
    const int ix = grid.coordinate(rank, Axis::x), iy = grid.coordinate(rank, Axis::y);
    const SpmmStep* product = product_of(step.operation);
    if (product == nullptr) {
        const SliceRows& rows = slice(*matrix, Exchange::rows, rank).rows(ix);
        return {4 * rows.fetched, 4 * rows.served};
    }
    const ShardedSlice& counted = slice(*matrix, product->exchange, rank);
    const SliceNonzeros& nonzeros = counted.nonzeros(ix, iy);
    RankTraffic traffic{(grid.y - 1) * nonzeros.stored, nonzeros.fetched};
    if (product->exchange == Exchange::none) return traffic;
    const std::int64_t row_bytes = product->travelling_bytes(schedule_, rank);
    const std::int64_t served = product->exchange == Exchange::relay ? RelayRows(schedule_, *product).totals(rank).first
                                                                     : counted.rows(ix).served;
    traffic.sent_bytes += row_bytes * served;
    traffic.received_bytes += row_bytes * counted.rows(ix).fetched;
    return traffic;
}

SpmmBuffers ShardedSlices::buffers(const SpmmStep& product, int rank) {
    const Grid& grid = schedule_.grid;
    const int ix = grid.coordinate(rank, Axis::x), iy = grid.coordinate(rank, Axis::y);
    const std::int64_t row_bytes = product.travelling_bytes(schedule_, rank);
    const int ahead = tensor_of(schedule_, product.matrix).storage.pieces_ahead();
    SpmmBuffers buffers;
    buffers.packs = product.overlap ? ahead : 1;
    buffers.copies = product.overlap ? ahead + 1 : 1;
    const auto with_rows = [&](const SliceRows& rows) {
        buffers.pack = aligned(row_bytes * rows.most_at_once), buffers.dense = row_bytes * rows.largest;
        add_rounded(schedule_, product, rank, buffers);
        buffers.dense = aligned(buffers.dense);
        return buffers;
    };
    if (!gathered(product.matrix)) return with_rows(needed_rows_of(product.matrix, rank));
    const ShardedSlice& counted = slice(product.matrix, product.exchange, rank);
    if (product.exchange == Exchange::relay) buffers.kept = PanelRelay(schedule_, product).kept(rank);
    buffers.nonzeros = aligned(counted.nonzeros(ix, iy).largest);
    return with_rows(counted.rows(ix));
}

std::int64_t ShardedSlices::adjacency_bytes(TensorId matrix, bool needed_rows, int rank) {
    const Tensor& m = tensor_of(schedule_, matrix);
    const int ix = schedule_.grid.coordinate(rank, Axis::x), iy = schedule_.grid.coordinate(rank, Axis::y);
    const ShardedSlice& counted = slice(matrix, needed_rows ? Exchange::rows : Exchange::panels, rank);
    const std::int64_t stored = m.structure ? 0 : counted.nonzeros(ix, iy).stored;
    if (!m.storage.factored) return stored;
    const std::int64_t own = dense_rows(schedule_.grid, m, rank).size();
    return stored + 4 * (block_of(schedule_, matrix, rank).rows.size() + own + counted.rows(ix).fetched);
}

}  // namespace gnnplan
