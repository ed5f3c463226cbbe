#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/peers.hpp"
#include "planner/ir/steps/streamed.hpp"

#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/steps/edge_gather.hpp>

namespace gnnplan {

std::pair<TensorId, TensorId> EdgeGatherStep::reordered_edges(const Schedule& schedule) const {
    return {*tensor_of(schedule, in).structure, *tensor_of(schedule, out).structure};
}

void EdgeGatherStep::check(const StepCheck& step) const {
    step.with_role(in, {Role::edges}), step.with_role(out, {Role::edges});
    const auto [from, to] = reordered_edges(step.schedule());
    const Tensor &dealt = step.at(from), &whole = step.at(to);
    step.edges(in, from, {}), step.edges(out, to, {});
    const bool same = dealt.rows == whole.rows && dealt.columns == whole.columns && dealt.space == whole.space &&
                      dealt.column_space == whole.column_space && dealt.matrix() == whole.matrix();
    step.require(same, "the matrices of operand and result are different ones");
    step.require(deals_rows(dealt) && !deals_rows(whole), "there are no rows dealt over ranks to gather");
    step.require(dealt.storage.splits == 1 && whole.storage.splits == 1, "values are gathered in whole blocks");
    step.require(step.at(out).layout.partial.empty(), "the result is no sum");
}

std::vector<int> EdgeGatherStep::peers(const Schedule& schedule, int rank) const {
    return peers_along(schedule.grid, Axis::y, rank);
}

Message EdgeGatherStep::between(const Schedule& schedule, const GraphStats& graph, int from, int to) const {
    return one_message(from, to, 4 * elements_of(schedule, in, graph, from));
}

// All values of the group, rank after rank; what is sent lies together.
Staging EdgeGatherStep::staging(const Schedule& schedule, const GraphStats& graph, int rank) const {
    return {0, 4 * elements_of(schedule, out, graph, rank)};
}

// The order is read besides.
RankWork EdgeGatherStep::work(const Schedule& schedule, const GraphStats& graph, int rank) const {
    RankWork work =
        streamed(schedule, *this, rank, ElementwiseKind::edge_transpose, staging(schedule, graph, rank), &graph);
    work.streamed_bytes += 4 * elements_of(schedule, out, graph, rank);
    return work;
}

}  // namespace gnnplan
