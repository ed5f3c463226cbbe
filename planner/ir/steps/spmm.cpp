// Reading guide: what a distributed product sends, stages and computes follows from its pieces (ir/pieces.hpp); the
// pieces of others come one after the other, dense rows over x, nonzeros over y.
#include "planner/ir/dealt_blocks.hpp"
#include "planner/ir/steps/peers.hpp"
#include "planner/ir/steps/pieces_between.hpp"
#include "planner/ir/steps/relay_rows.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/row_relay.hpp>
#include <gnnplan/ir/work.hpp>

#include <algorithm>

namespace gnnplan {

namespace {

struct KindLister {
    OperandKinds kinds;

    template <class T>
    void column(OperandKind kind, const T& member) {
        add(kinds.columns, kind, member);
    }
    template <class T>
    void row(OperandKind kind, const T& member) {
        add(kinds.rows, kind, member);
    }
    template <class T>
    void result(OperandKind kind, const T& member) {
        add(kinds.results, kind, member);
    }

private:
    static void add(std::vector<OperandKind>& list, OperandKind kind, TensorId) { list.push_back(kind); }
    static void add(std::vector<OperandKind>& list, OperandKind kind, const std::optional<TensorId>& member) {
        if (member) list.push_back(kind);
    }
};

template <class Operands>
OperandKinds listed(const Operands& operands) {
    KindLister lister;
    Operands::fields(operands, lister);
    return std::move(lister.kinds);
}

}  // namespace

std::size_t SpmmStep::evaluation_results() {
    static const std::size_t count = listed(AttendOperands<TensorId>{}).results.size();
    return count;
}

template <class Operands>
OperandKinds SpmmStep::kinds_of() const {
    return listed(expected<Operands>());
}

OperandKinds SpmmStep::kinds() const {
    switch (program) {
        case Program::sum: break;
        case Program::max: return kinds_of<MaxOperands<TensorId>>();
        case Program::max_back: return kinds_of<MaxBackOperands<TensorId>>();
        case Program::attend: return kinds_of<AttendOperands<TensorId>>();
        case Program::attend_back: return kinds_of<AttendBackOperands<TensorId>>();
        case Program::dot: return kinds_of<DotOperands<TensorId>>();
        case Program::edge_sum: return kinds_of<EdgeSumOperands<TensorId>>();
    }
    return kinds_of<SumOperands<TensorId>>();
}

void SpmmStep::follow(const Switches& switches, const Grid& grid, const Tensor& of_matrix) {
    const bool rows = gathers_rows(grid, of_matrix);
    exchange = rows ? switches.exchange : Exchange::none;
    if (exchange == Exchange::relayed_rows && !relays_rows(grid, of_matrix)) exchange = Exchange::rows;
    overlap = switches.overlap && (rows || gathers_matrix(grid, of_matrix));
    bf16 = switches.bf16 && can_round();
}

std::optional<TensorId> SpmmStep::uses_up(const Schedule& schedule) const {
    if (program != Program::attend_back) return std::nullopt;
    const TensorId inner = named<AttendBackOperands<TensorId>>().inner;
    const bool summand = !tensor_of(schedule, inner).layout.partial.empty();
    return summand ? std::optional(inner) : std::nullopt;
}

std::optional<TensorId> SpmmStep::stored_scores() const {
    if (!attending.stored) return std::nullopt;
    return program == Program::attend ? named<AttendOperands<TensorId>>().scores
                                      : named<AttendBackOperands<TensorId>>().scores;
}

std::int64_t SpmmStep::local_heads(const Schedule& schedule, int rank) const {
    if (!attends()) return 0;
    const TensorId by_heads = program == Program::attend ? named<AttendOperands<TensorId>>().source
                                                         : named<AttendBackOperands<TensorId>>().log_total;
    return block_of(schedule, by_heads, rank).columns.size();
}

std::int64_t SpmmStep::travelling_columns(const Schedule& schedule, int rank) const {
    std::int64_t columns = 0;
    for (const TensorId in : column_operands) columns += block_of(schedule, in, rank).columns.size();
    return columns;
}

std::vector<int> SpmmStep::peers(const Schedule& schedule, int rank) const {
    std::vector<int> peers;
    const Tensor& m = tensor_of(schedule, matrix);
    if (exchange != Exchange::none) peers = dense_peers(schedule.grid, m, rank);
    if (exchange == Exchange::relay) add_relay_neighbours(schedule, *this, rank, peers);
    if (gathers_matrix(schedule.grid, m)) add_peers_along(schedule.grid, Axis::y, rank, peers);
    return peers;
}

Message SpmmStep::between(const Schedule& schedule, const GraphStats& graph, int from, int to) const {
    const Grid& grid = schedule.grid;
    const Tensor& m = tensor_of(schedule, matrix);
    const Range own = block_of(schedule, matrix, to).rows;
    Message message{from, to, 0, 0};
    const bool sends_rows =
        deals_rows(m) || block_distributed(m) || grid.coordinate(from, Axis::y) == grid.coordinate(to, Axis::y);
    if (sends_rows && relays(exchange)) {
        const SentRows sent = exchange == Exchange::relay ? RelayRows(schedule, *this).between(from, to)
                                                          : RowRelay(schedule, m).sent(graph, from, to);
        for (const TensorId in : column_operands) {
            const std::int64_t width = block_of(schedule, in, to).columns.size();
            if (width == 0) continue;
            message.bytes += wire_bytes(wire, width * sent.rows), message.count += sent.messages;
        }
    } else if (sends_rows && exchange != Exchange::none) {
        for (const TensorId in : column_operands) {
            const std::int64_t width = block_of(schedule, in, to).columns.size();
            for_pieces_between(grid, m, from, to, [&](const Piece& piece) {
                if (piece.dense_root == from)
                    message.add(
                        wire_bytes(wire, width * rows_sent(graph, m.matrix_on(grid, to), piece, own, exchange)));
            });
        }
    } else if (!sends_rows && gathers_matrix(grid, m)) {
        for_pieces_between(grid, m, from, to, [&](const Piece& piece) {
            if (piece.matrix_root != from) return;
            const std::int64_t nonzeros = graph.block_nonzeros(m.matrix(), own, piece.columns);
            message.add(sparse_bytes(schedule.blocking, m, own, piece.columns, nonzeros));
        });
    }
    return message;
}

bool SpmmStep::depends_on_graph(const Schedule& schedule) const {
    return by_need(exchange) || gathers_matrix(schedule.grid, tensor_of(schedule, matrix));
}

Staging SpmmStep::staging(const Schedule& schedule, const GraphStats& graph, int rank) const {
    const SpmmBuffers buffers = spmm_buffers(schedule, *this, graph, rank);
    return {buffers.packs * buffers.pack, buffers.bytes() - buffers.packs * buffers.pack};
}

namespace {

// The most that one stage packs; bytes(peer, columns) of the rows that a peer needs of a piece.
template <class Bytes>
std::int64_t packed_rows(const Schedule& schedule, const Tensor& matrix, int rank, Bytes bytes) {
    const Grid& grid = schedule.grid;
    std::int64_t most = 0;
    const bool one_peer_each = !gathers_matrix(grid, matrix) && contraction_axis(grid, matrix) != Axis::y;
    if (one_peer_each) {
        for (const int peer : dense_peers(grid, matrix, rank)) {
            for (const Piece& piece : pieces_of(grid, matrix, rank, peer))
                most = std::max(most, bytes(peer, piece.columns));
        }
        return most;
    }
    for (const Stage& stage : stages_of(grid, matrix, rank)) {
        std::int64_t packed = 0;
        for (const Stage::Service& served : stage.rows) packed += bytes(served.rank, served.columns);
        most = std::max(most, packed);
    }
    return most;
}

// The most rows that one stage packs where rows are relayed: all that the ranks which come to their piece then get of
// this one.
std::int64_t most_relayed(const Schedule& schedule, const Tensor& matrix, const GraphStats& graph, int rank) {
    const RowRelay relay(schedule, matrix);
    std::vector<std::int64_t> packed(static_cast<std::size_t>(piece_count(schedule.grid, matrix, rank)), 0);
    for (const int peer : dense_peers(schedule.grid, matrix, rank)) {
        std::size_t stage = relay.first_stage(peer, rank);
        for (const Piece& piece : pieces_of(schedule.grid, matrix, rank, peer))
            packed[stage++] += relay.straight(graph, peer, piece);
    }
    for (const int peer : relay.to(rank)) {
        std::size_t stage = 0;
        for (const Piece& piece : pieces_of(schedule.grid, matrix, peer))
            packed[stage++] += relay.passed(graph, rank, peer, piece);
    }
    return *std::max_element(packed.begin(), packed.end());
}

}  // namespace

void add_rounded(const Schedule& schedule, const SpmmStep& step, int rank, SpmmBuffers& buffers) {
    if (step.wire == Wire::fp32) return;
    buffers.widened = aligned(2 * buffers.dense);
    if (by_need(step.exchange)) return;
    const Range rows = block_of(schedule, step.column_operands.front(), rank).rows;
    buffers.own = aligned(step.travelling_bytes(schedule, rank) * rows.size());
}

SpmmBuffers spmm_buffers(const Schedule& schedule, const SpmmStep& step, const GraphStats& graph, int rank) {
    const Tensor& matrix = tensor_of(schedule, step.matrix);
    const std::int64_t row_bytes = step.travelling_bytes(schedule, rank);
    const bool needed_rows = by_need(step.exchange);
    const auto own_rows = [&](int of) { return block_of(schedule, step.matrix, of).rows; };
    const auto dense_bytes = [&](int of, Range columns) {
        return row_bytes * (needed_rows
                                ? graph.distinct_columns(matrix.matrix_on(schedule.grid, of), own_rows(of), columns)
                                : columns.size());
    };
    SpmmBuffers buffers;
    const PackedPanel packed = packed_panel(schedule, step, rank);
    buffers.panel = aligned(packed.bytes());
    buffers.slice_columns = packed.stride;
    if (!gathers_rows(schedule.grid, matrix) && !gathers_matrix(schedule.grid, matrix)) return buffers;
    buffers.packs = step.overlap ? matrix.storage.pieces_ahead() : 1;
    buffers.copies = step.overlap ? matrix.storage.pieces_ahead() + 1 : 1;
    if (step.exchange == Exchange::relay) buffers.kept = PanelRelay(schedule, step).kept(rank);
    if (step.exchange == Exchange::relayed_rows) buffers.kept = RowRelay(schedule, matrix).kept(rank, step.overlap);
    for (const Piece& piece : pieces_of(schedule.grid, matrix, rank)) {
        if (piece.dense_root != rank) buffers.dense = std::max(buffers.dense, dense_bytes(rank, piece.columns));
        if (piece.matrix_root == rank) continue;
        const Range rows = own_rows(rank);
        const std::int64_t nonzeros = graph.block_nonzeros(matrix.matrix(), rows, piece.columns);
        const std::int64_t bytes = sparse_bytes(schedule.blocking, matrix, rows, piece.columns, nonzeros);
        buffers.nonzeros = std::max(buffers.nonzeros, bytes);
    }
    if (step.exchange == Exchange::rows) buffers.pack = packed_rows(schedule, matrix, rank, dense_bytes);
    if (step.exchange == Exchange::relayed_rows) buffers.pack = row_bytes * most_relayed(schedule, matrix, graph, rank);
    add_rounded(schedule, step, rank, buffers);
    buffers.pack = aligned(buffers.pack);
    buffers.dense = aligned(buffers.dense);
    buffers.nonzeros = aligned(buffers.nonzeros);
    return buffers;
}

}  // namespace gnnplan
