#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/peers.hpp"
#include "planner/ir/steps/pieces_between.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/row_relay.hpp>
#include <gnnplan/ir/work.hpp>

namespace gnnplan {

void RowRequestStep::check(const StepCheck& step) const {
    step.with_role(matrix, {Role::adjacency});
    step.require(gathers_rows(step.grid(), step.at(matrix)), "the grid has no rows to ask for");
    step.require(!targets || step.at(matrix).cut(), "only parts of a cut have rows that other ranks add up");
    step.require(!relayed || relays_rows(step.grid(), step.at(matrix)), "its rows are not passed on from rank to rank");
    step.require(!step.at(matrix).structure, "the matrix uses another one's nonzeros, whose rows are asked for");
}

std::vector<int> RowRequestStep::peers(const Schedule& schedule, int rank) const {
    return dense_peers(schedule.grid, tensor_of(schedule, matrix), rank);
}

// Requests go the other way than rows.
Message RowRequestStep::between(const Schedule& schedule, const GraphStats& graph, int from, int to) const {
    const Tensor& m = tensor_of(schedule, matrix);
    if (targets) {
        const Range theirs = dense_rows(schedule.grid, m, to);
        return one_message(from, to, 4 * targets_in(schedule, matrix, graph, from, theirs));
    }
    const Range own = block_of(schedule, matrix, from).rows;
    Message message{from, to, 0, 0};
    const RowRelay relay(schedule, m);
    for_pieces_between(schedule.grid, m, to, from, [&](const Piece& piece) {
        if (piece.dense_root != to) return;
        message.add(4 * (relayed ? relay.straight(graph, from, piece)
                                 : rows_sent(graph, m.matrix_on(schedule.grid, from), piece, own, Exchange::rows)));
    });
    return message;
}

std::int64_t RowRequestStep::passed_bytes(const Schedule& schedule, const GraphStats& graph, int rank) const {
    if (!relayed) return 0;
    const RowRelay relay(schedule, tensor_of(schedule, matrix));
    std::int64_t rows = 0;
    for (const int peer : relay.from(rank)) rows += relay.passed(graph, peer, rank).rows;
    for (const int peer : relay.to(rank)) rows += relay.passed(graph, rank, peer).rows;
    return 4 * rows;
}

Staging RowRequestStep::staging(const Schedule& /*schedule*/, const GraphStats& /*graph*/, int /*rank*/) const {
    return {};
}

RankWork RowRequestStep::work(const Schedule& /*schedule*/, const GraphStats& /*graph*/, int /*rank*/) const {
    return {};
}

}  // namespace gnnplan
