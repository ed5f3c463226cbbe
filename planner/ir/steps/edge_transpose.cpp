#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/peers.hpp"
#include "planner/ir/steps/streamed.hpp"

#include <gnnplan/ir/steps/edge_transpose.hpp>

namespace gnnplan {

std::pair<TensorId, TensorId> EdgeTransposeStep::reordered_edges(const Schedule& schedule) const {
    return {*tensor_of(schedule, in).structure, *tensor_of(schedule, out).structure};
}

// A symmetric matrix may stand for its transpose.
void EdgeTransposeStep::check(const StepCheck& step) const {
    step.with_role(in, {Role::edges}), step.with_role(out, {Role::edges}), step.distinct(in, out);
    const auto [from, to] = reordered_edges(step.schedule());
    const Tensor &a = step.at(from), &b = step.at(to);
    const std::int64_t columns = step.at(in).columns;
    step.edges(in, from, {}, columns), step.edges(out, to, {}, columns);
    step.require(step.at(in).layout.columns == step.at(out).layout.columns, "ranks have other values of the result");
    const bool fits = a.rows == b.columns && a.columns == b.rows && a.space == b.column_space &&
                      a.column_space == b.space && (from == to || a.transposed != b.transposed);
    step.require(fits, "the matrix of the result is not the transpose of that of the operand");
    step.require(step.at(out).layout.partial.empty(), "the result is no sum");
}

std::vector<int> EdgeTransposeStep::peers(const Schedule& schedule, int rank) const {
    return depends_on_graph(schedule) ? peers_along(schedule.grid, Axis::x, rank) : std::vector<int>{};
}

Message EdgeTransposeStep::between(const Schedule& schedule, const GraphStats& graph, int from, int to) const {
    const auto [source, target] = reordered_edges(schedule);
    const Range rows = block_of(schedule, source, from).rows, columns = block_of(schedule, target, to).rows;
    const std::int64_t values = block_of(schedule, in, from).columns.size();
    return one_message(from, to,
                       4 * values * graph.block_nonzeros(tensor_of(schedule, source).matrix(), rows, columns));
}

// The receive buffer for all peers; nothing is packed to be sent, because the values are contiguous.
Staging EdgeTransposeStep::staging(const Schedule& schedule, const GraphStats& graph, int rank) const {
    Staging staging;
    for (const int peer : peers(schedule, rank)) staging.receive_bytes += between(schedule, graph, peer, rank).bytes;
    return staging;
}

// The order is read besides.
RankWork EdgeTransposeStep::work(const Schedule& schedule, const GraphStats& graph, int rank) const {
    RankWork work =
        streamed(schedule, *this, rank, ElementwiseKind::edge_transpose, staging(schedule, graph, rank), &graph);
    work.streamed_bytes += 4 * edges_of(schedule, *tensor_of(schedule, out).structure, graph, rank);
    return work;
}

bool EdgeTransposeStep::depends_on_graph(const Schedule& schedule) const {
    return schedule.grid.x > 1 && !tensor_of(schedule, reordered_edges(schedule).first).in_groups();
}

}  // namespace gnnplan
