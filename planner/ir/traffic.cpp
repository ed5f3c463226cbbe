#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/overloaded.hpp>
#include <gnnplan/ir/classes.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <algorithm>

namespace gnnplan {
namespace {

// The peers of one step: the ranks of this rank's groups along some axes, or its neighbours in a ring.
class Peers {
public:
    Peers(const Grid& grid, int rank) : grid_(grid), rank_(rank) {}

    std::vector<int> take() { return std::move(peers_); }
    void along(Axis axis) {
        for (int i = 0; i < grid_.extent(axis); ++i) add(grid_.neighbour(rank_, axis, i));
    }
    void ring(Axis axis) {
        const int own = grid_.coordinate(rank_, axis);
        const int extent = grid_.extent(axis);
        add(grid_.neighbour(rank_, axis, (own + 1) % extent));
        if (extent > 2) add(grid_.neighbour(rank_, axis, (own + extent - 1) % extent));
    }
    void ring() {
        const int ranks = grid_.size();
        add((rank_ + 1) % ranks);
        if (ranks > 2) add((rank_ + ranks - 1) % ranks);
    }

private:
    void add(int peer) {
        if (peer != rank_) peers_.push_back(peer);
    }

    const Grid& grid_;
    int rank_;
    std::vector<int> peers_;
};

// The messages of one pair of different ranks, known to be peers.
class Pair {
public:
    Pair(const Schedule& schedule, const GraphStats& graph, int from, int to)
        : schedule_(schedule), grid_(schedule.grid), graph_(graph), from_(from), to_(to) {}

    Message redistribution(const RedistributeStep& step) const {
        const Tensor& source = tensor_of(schedule_, step.in);
        if (same_placement(source.layout, layout_f(), grid_)) return none();
        const Block common = intersect(block_of(schedule_, step.in, from_), block_of(schedule_, step.out, to_));
        return one(bytes_of(source.dtype, common.count()));
    }

    Message product(const SpmmStep& step) const {
        const Tensor& matrix = tensor_of(schedule_, step.matrix);
        const Range own = block_of(schedule_, step.matrix, to_).rows;
        Message message = none();
        const bool same_column = grid_.coordinate(from_, Axis::y) == grid_.coordinate(to_, Axis::y);
        if (same_column && step.exchange != Exchange::none) {
            const std::int64_t width = block_of(schedule_, step.in, to_).columns.size();
            for_pieces(matrix, from_, to_, [&](const Piece& piece) {
                if (piece.dense_root == from_) add(message, 4 * width * rows_of(piece, matrix, own, step.exchange));
            });
        } else if (!same_column && gathers_matrix(grid_, matrix)) {
            for_pieces(matrix, from_, to_, [&](const Piece& piece) {
                if (piece.matrix_root != from_) return;
                const std::int64_t nonzeros = graph_.block_nonzeros(matrix.transposed, own, piece.columns);
                add(message, sparse_bytes(matrix, own, piece.columns, nonzeros));
            });
        }
        return message;
    }

    // Requests go the other way than rows.
    Message indices(const IndexStep& step) const {
        const Tensor& matrix = tensor_of(schedule_, step.matrix);
        const Range own = block_of(schedule_, step.matrix, from_).rows;
        Message message = none();
        for_pieces(matrix, to_, from_, [&](const Piece& piece) {
            if (piece.dense_root == to_) add(message, 4 * rows_of(piece, matrix, own, Exchange::rows));
        });
        return message;
    }

    Message reduce_scatter(const ReduceScatterStep& step) const {
        const Tensor& tensor = tensor_of(schedule_, step.in);
        const Axis axis = partial_axis(tensor);
        const int extent = grid_.extent(axis);
        const int own = grid_.coordinate(from_, axis);
        if (grid_.neighbour(from_, axis, (own + 1) % extent) != to_) return none();
        const Block whole = block_of(schedule_, step.in, from_);
        const std::int64_t kept = balanced_block(whole.rows, own, extent).size();
        if (whole.columns.empty()) return none();
        const std::int64_t full = std::min<std::int64_t>(extent, whole.rows.size());
        return several(bytes_of(tensor.dtype, (whole.rows.size() - kept) * whole.columns.size()),
                       full - (kept > 0 ? 1 : 0));
    }

    // Patarasuk & Yuan 2009: in the reduce-scatter rank r sends every block but (r + 1) mod g, which it ends up owning;
    // in the all-gather every block but (r + 2) mod g; all to its neighbour r + 1.
    Message ring(const AllReduceStep& step) const {
        const Tensor& tensor = tensor_of(schedule_, step.tensor);
        const std::int64_t elements = checked_multiply(tensor.rows, tensor.columns);
        const int g = grid_.size();
        if ((from_ + 1) % g != to_) return none();
        const auto block = [&](int i) { return balanced_block({0, elements}, i % g, g).size(); };
        const std::int64_t sent = 2 * elements - block(from_ + 1) - block(from_ + 2);
        return several(bytes_of(tensor.dtype, sent), std::min(2 * (static_cast<std::int64_t>(g) - 1), sent));
    }

    Message row_statistics(const LossStep& step) const {
        return one(8 * block_of(schedule_, step.logits, from_).rows.size());
    }

private:
    Message none() const { return {from_, to_, 0, 0}; }
    Message several(std::int64_t bytes, std::int64_t count) const {
        return bytes > 0 ? Message{from_, to_, bytes, count} : none();
    }
    Message one(std::int64_t bytes) const { return several(bytes, 1); }
    static void add(Message& message, std::int64_t bytes) {
        if (bytes == 0) return;
        message.bytes += bytes;
        ++message.count;
    }

    // The pieces of `user` that `root` may have a part in; where each is one rank's block, that of `root`.
    template <class Visit>
    void for_pieces(const Tensor& matrix, int root, int user, Visit visit) const {
        const std::vector<Piece> pieces =
            gathers_matrix(grid_, matrix) ? pieces_of(grid_, matrix, user) : pieces_of(grid_, matrix, root, user);
        for (const Piece& piece : pieces) {
            if (!piece.columns.empty()) visit(piece);
        }
    }

    std::int64_t rows_of(const Piece& piece, const Tensor& matrix, Range own, Exchange exchange) const {
        return exchange == Exchange::rows ? graph_.distinct_columns(matrix.transposed, own, piece.columns)
                                          : piece.columns.size();
    }

    const Schedule& schedule_;
    const Grid& grid_;
    const GraphStats& graph_;
    int from_, to_;
};

}  // namespace

StepMessages::StepMessages(const Schedule& schedule, const Step& step, const GraphStats& graph)
    : schedule_(schedule), operation_(step.operation), graph_(graph) {}

std::vector<int> StepMessages::peers(int rank) const {
    Peers peers(schedule_.grid, rank);
    const auto of_product = [&](const SpmmStep& s) {
        if (s.exchange != Exchange::none) peers.along(Axis::x);
        if (gathers_matrix(schedule_.grid, tensor_of(schedule_, s.matrix))) peers.along(Axis::y);
    };
    std::visit(Overloaded{
                   [&](const RedistributeStep&) { peers.along(Axis::y); },
                   [&](const SpmmStep& s) { of_product(s); },
                   [&](const IndexStep&) { peers.along(Axis::x); },
                   [&](const ReduceScatterStep& s) { peers.ring(partial_axis(tensor_of(schedule_, s.in))); },
                   [&](const AllReduceStep&) { peers.ring(); },
                   [&](const LossStep& s) {
                       if (column_parallel(schedule_, s)) peers.along(Axis::y);
                   },
                   [](const GemmStep&) {},
                   [](const WeightGradStep&) {},
                   [](const MapStep&) {},
                   [](const ScoreStep&) {},
                   [](const UpdateStep&) {},
               },
               operation_);
    return peers.take();
}

Message StepMessages::between(int from, int to) const {
    const Pair pair(schedule_, graph_, from, to);
    const Message none{from, to, 0, 0};
    return std::visit(Overloaded{
                          [&](const RedistributeStep& s) { return pair.redistribution(s); },
                          [&](const SpmmStep& s) { return pair.product(s); },
                          [&](const IndexStep& s) { return pair.indices(s); },
                          [&](const ReduceScatterStep& s) { return pair.reduce_scatter(s); },
                          [&](const AllReduceStep& s) { return pair.ring(s); },
                          [&](const LossStep& s) { return pair.row_statistics(s); },
                          [&](const GemmStep&) { return none; },
                          [&](const WeightGradStep&) { return none; },
                          [&](const MapStep&) { return none; },
                          [&](const ScoreStep&) { return none; },
                          [&](const UpdateStep&) { return none; },
                      },
                      operation_);
}

std::vector<Message> messages_of(const Schedule& schedule, const Step& step, const GraphStats& graph) {
    const StepMessages all(schedule, step, graph);
    std::vector<Message> messages;
    for (int from = 0; from < schedule.grid.size(); ++from) {
        for (const int to : all.peers(from)) {
            const Message message = all.between(from, to);
            if (message.count > 0) messages.push_back(message);
        }
    }
    return messages;
}

std::vector<RankTraffic> traffic_of(const Schedule& schedule, const Step& step, const GraphStats& graph) {
    std::vector<RankTraffic> traffic(static_cast<std::size_t>(schedule.grid.size()));
    for (const Message& message : messages_of(schedule, step, graph)) {
        traffic[static_cast<std::size_t>(message.from)].sent_bytes += message.bytes;
        traffic[static_cast<std::size_t>(message.to)].received_bytes += message.bytes;
    }
    return traffic;
}

RankTraffic traffic_of(const Schedule& schedule, const Step& step, const GraphStats& graph, int rank) {
    const StepMessages all(schedule, step, graph);
    RankTraffic traffic;
    for (const int peer : all.peers(rank)) {
        traffic.sent_bytes += all.between(rank, peer).bytes;
        traffic.received_bytes += all.between(peer, rank).bytes;
    }
    return traffic;
}

TrafficTotal total_traffic(const Schedule& schedule, Phase phase, const GraphStats& graph) {
    const RankClasses classes = rank_classes(schedule);
    std::vector<RankTraffic> sums(static_cast<std::size_t>(schedule.grid.size()));
    const auto add = [](RankTraffic& sum, const RankTraffic& traffic) {
        sum.sent_bytes += traffic.sent_bytes;
        sum.received_bytes += traffic.received_bytes;
    };
    std::vector<RankTraffic> of_class(classes.representative.size());
    for (const Step& step : schedule.steps) {
        if (step.phase != phase) continue;
        // What statistics expect of a graph is the same for ranks of the same sizes, but for rounding.
        const bool counted = graph.exact() && depends_on_graph(schedule, step);
        const bool by_rank = counted || std::holds_alternative<AllReduceStep>(step.operation);
        if (by_rank) {
            for (int rank = 0; rank < schedule.grid.size(); ++rank) {
                add(sums[static_cast<std::size_t>(rank)], traffic_of(schedule, step, graph, rank));
            }
            continue;
        }
        for (std::size_t c = 0; c < of_class.size(); ++c) {
            add(of_class[c], traffic_of(schedule, step, graph, classes.representative[c]));
        }
    }
    TrafficTotal total;
    for (std::size_t rank = 0; rank < sums.size(); ++rank) {
        RankTraffic sum = sums[rank];
        add(sum, of_class[static_cast<std::size_t>(classes.class_of[rank])]);
        total.total_bytes += sum.sent_bytes;
        total.max_rank_bytes = std::max({total.max_rank_bytes, sum.sent_bytes, sum.received_bytes});
    }
    return total;
}

bool depends_on_graph(const Schedule& schedule, const Step& step) {
    if (std::holds_alternative<IndexStep>(step.operation)) return true;
    const auto* spmm = std::get_if<SpmmStep>(&step.operation);
    return spmm != nullptr &&
           (spmm->exchange == Exchange::rows || gathers_matrix(schedule.grid, tensor_of(schedule, spmm->matrix)));
}

bool depends_on_graph(const Schedule& schedule) {
    return std::any_of(schedule.steps.begin(), schedule.steps.end(),
                       [&](const Step& step) { return depends_on_graph(schedule, step); });
}

}  // namespace gnnplan
