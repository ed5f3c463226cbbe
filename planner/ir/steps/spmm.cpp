// Reading guide: what a distributed product sends, stages and computes follows from its pieces (ir/pieces.hpp); the
// pieces of others come one after the other, dense rows over x, nonzeros over y.
#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/peers.hpp"
#include "planner/ir/steps/pieces_between.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/work.hpp>

#include <algorithm>
#include <array>

namespace gnnplan {

namespace {

// Lists as long as the program's, whose tensors are different ones wherever something is written.
void check_lists(const StepCheck& step, const SpmmStep& product) {
    const OperandKinds kinds = product.kinds();
    step.require(product.column_operands.size() == kinds.columns.size() &&
                     product.row_operands.size() == kinds.rows.size() && product.results.size() == kinds.results.size(),
                 "the program has other numbers of operands and results");
    for (std::size_t i = 0; i < product.results.size(); ++i) {
        for (const TensorId in : product.column_operands) step.distinct(in, product.results[i]);
        for (const TensorId in : product.row_operands) step.distinct(in, product.results[i]);
        for (std::size_t j = 0; j < i; ++j)
            step.require(product.results[j] != product.results[i], "two results are the same tensor");
    }
}

// The layout of what has the rows of the matrix.
Layout result_layout(const Grid& grid, const Tensor& matrix) {
    Layout layout{matrix.layout.rows, dense_layout(matrix).columns, {}};
    const std::optional<Axis> axis = contraction_axis(grid, matrix);
    if (axis) layout.partial = Axes::parse(*axis == Axis::y ? "y" : "z");
    return layout;
}

// One side of a product: the rows or the columns of its matrix.
struct Side {
    Layout layout;  // of wide operands
    std::int64_t rows;
    std::optional<int> space;
    Axes partial = {};  // over which values of nonzeros are partial sums
};

class OperandCheck {
public:
    OperandCheck(const StepCheck& step, const SpmmStep& product)
        : step_(step),
          matrix_(product.matrix),
          heads_(product.attending.heads),
          width_(step.at(product.program == Program::dot ? product.column_operands.front() : product.results.front())
                     .columns) {
        if (!product.attends()) return;
        step.require(heads_ > 0 && width_ % heads_ == 0, "its heads do not share the columns");
        cut_ = cuts_heads(step.grid(), heads_);
    }

    void operand(TensorId id, OperandKind kind, const Side& side) const {
        if (kind == OperandKind::edges) return step_.edges(id, matrix_, {});
        if (kind == OperandKind::edges_by_heads) return edges_by_heads(id);
        if (kind == OperandKind::vertices) {
            step_.with_role(id, {Role::vertices});
        } else if (kind == OperandKind::wide) {
            step_.dense(id);
        } else {
            step_.typed(id, DType::f32), step_.written(id);
        }
        placed(id, kind, side, kind == OperandKind::by_heads);
    }
    void result(TensorId id, OperandKind kind, const Side& side) const {
        if (kind == OperandKind::edges) return step_.edges(id, matrix_, side.partial);
        if (kind == OperandKind::edges_by_heads) return edges_by_heads(id);
        step_.typed(id, DType::f32), step_.written(id), placed(id, kind, side, false);
    }

private:
    // Every rank has those of its own heads, as it has columns of matrices by heads.
    void edges_by_heads(TensorId id) const {
        const Axes heads = cut_ ? Axes() : dense_layout(step_.at(matrix_)).columns;
        step_.edges(id, matrix_, {}, heads_);
        step_.require(step_.at(id).layout.columns == heads, "values of edges are of other heads");
    }
    void placed(TensorId id, OperandKind kind, const Side& side, bool may_be_sum) const {
        Layout layout = side.layout;
        const bool whole_rows = kind == OperandKind::vertices || (kind != OperandKind::wide && cut_);
        if (whole_rows) layout.columns = {};
        if (kind == OperandKind::summand_by_heads && cut_) layout.partial = Axes::parse("y");
        const std::int64_t columns = kind == OperandKind::wide ? width_ : kind == OperandKind::vertices ? 1 : heads_;
        step_.require(may_be_sum ? step_.sum_placed(id, layout) : step_.placed(id, layout),
                      "an operand is in the wrong layout");
        step_.shaped(id, side.rows, columns);
        step_.require(step_.at(id).space == side.space, "operands are not about the rows and columns of the matrix");
    }

    const StepCheck& step_;
    TensorId matrix_;
    std::int64_t heads_, width_;
    bool cut_ = false;
};

void check_operands(const StepCheck& step, const SpmmStep& product) {
    const Tensor& m = step.at(product.matrix);
    Side columns{dense_layout(m), m.columns, m.column_space};
    Side rows{result_layout(step.grid(), m), m.rows, m.space};
    // Products of whole rows need no sum over y.
    const bool whole_rows = product.program == Program::dot && step.at(product.results.front()).layout.partial.empty();
    if (whole_rows) columns.layout.columns = rows.layout.columns = {};
    if (product.program == Program::dot && !whole_rows) rows.partial = Axes::parse("y");
    const OperandKinds kinds = product.kinds();
    const OperandCheck check(step, product);
    for (std::size_t i = 0; i < kinds.columns.size(); ++i)
        check.operand(product.column_operands[i], kinds.columns[i], columns);
    for (std::size_t i = 0; i < kinds.rows.size(); ++i) check.operand(product.row_operands[i], kinds.rows[i], rows);
    for (std::size_t i = 0; i < kinds.results.size(); ++i) check.result(product.results[i], kinds.results[i], rows);
}

}  // namespace

void SpmmStep::check(const StepCheck& step) const {
    step.with_role(matrix, {Role::adjacency});
    const Tensor& m = step.at(matrix);
    check_lists(step, *this);
    step.require(program == Program::sum || !contraction_axis(step.grid(), m),
                 "its program is no sum over ranks: it needs the whole contraction side on every rank");
    check_operands(step, *this);
    step.require((exchange != Exchange::none) == gathers_rows(step.grid(), m), "the exchange does not fit the grid");
    const bool gathers = gathers_rows(step.grid(), m) || gathers_matrix(step.grid(), m);
    step.require(gathers || !overlap, "there is nothing to overlap the product with");
    step.require(can_round() || !bf16, "only sums round to bf16, and with overlap or needed rows no panel is packed");
}

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
    if (gathers_matrix(schedule.grid, m)) add_peers_along(schedule.grid, Axis::y, rank, peers);
    return peers;
}

Message SpmmStep::between(const Schedule& schedule, const GraphStats& graph, int from, int to) const {
    const Grid& grid = schedule.grid;
    const Tensor& m = tensor_of(schedule, matrix);
    const Range own = block_of(schedule, matrix, to).rows;
    Message message{from, to, 0, 0};
    const bool sends_rows = deals_rows(m) || grid.coordinate(from, Axis::y) == grid.coordinate(to, Axis::y);
    if (sends_rows && exchange != Exchange::none) {
        for (const TensorId in : column_operands) {
            const std::int64_t width = block_of(schedule, in, to).columns.size();
            for_pieces_between(grid, m, from, to, [&](const Piece& piece) {
                if (piece.dense_root == from) message.add(4 * width * rows_sent(graph, m, piece, own, exchange));
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
    return exchange == Exchange::rows || gathers_matrix(schedule.grid, tensor_of(schedule, matrix));
}

Staging SpmmStep::staging(const Schedule& schedule, const GraphStats& graph, int rank) const {
    const SpmmBuffers buffers = spmm_buffers(schedule, *this, graph, rank);
    return {buffers.packs * buffers.pack, buffers.received_bytes()};
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

}  // namespace

SpmmBuffers spmm_buffers(const Schedule& schedule, const SpmmStep& step, const GraphStats& graph, int rank) {
    const Tensor& matrix = tensor_of(schedule, step.matrix);
    const std::int64_t width = step.travelling_columns(schedule, rank);
    const bool needed_rows = step.exchange == Exchange::rows;
    const auto own_rows = [&](int of) { return block_of(schedule, step.matrix, of).rows; };
    const auto dense_bytes = [&](int of, Range columns) {
        return 4 * width *
               (needed_rows ? graph.distinct_columns(matrix.matrix(), own_rows(of), columns) : columns.size());
    };
    SpmmBuffers buffers;
    const PackedPanel packed = packed_panel(schedule, step, rank);
    buffers.panel = aligned(packed.bytes());
    buffers.slice_columns = packed.stride;
    if (!gathers_rows(schedule.grid, matrix) && !gathers_matrix(schedule.grid, matrix)) return buffers;
    buffers.packs = step.overlap ? matrix.storage.pieces_ahead() : 1;
    buffers.copies = step.overlap ? matrix.storage.pieces_ahead() + 1 : 1;
    for (const Piece& piece : pieces_of(schedule.grid, matrix, rank)) {
        if (piece.dense_root != rank) buffers.dense = std::max(buffers.dense, dense_bytes(rank, piece.columns));
        if (piece.matrix_root == rank) continue;
        const Range rows = own_rows(rank);
        const std::int64_t nonzeros = graph.block_nonzeros(matrix.matrix(), rows, piece.columns);
        const std::int64_t bytes = sparse_bytes(schedule.blocking, matrix, rows, piece.columns, nonzeros);
        buffers.nonzeros = std::max(buffers.nonzeros, bytes);
    }
    if (needed_rows) buffers.pack = packed_rows(schedule, matrix, rank, dense_bytes);
    buffers.pack = aligned(buffers.pack);
    buffers.dense = aligned(buffers.dense);
    buffers.nonzeros = aligned(buffers.nonzeros);
    return buffers;
}

}  // namespace gnnplan
