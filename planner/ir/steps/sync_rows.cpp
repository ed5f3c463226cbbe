#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/peers.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/shared_clones.hpp>
#include <gnnplan/ir/work.hpp>

#include <algorithm>

namespace gnnplan {

namespace {

// Rows that are sent are packed, and those that arrive are added, or put in place.
RankWork exchange_work(const SyncRowsStep& step, const SharedClones& shared, std::int64_t columns) {
    const bool to_owners = step.part == SyncPart::to_owners, rounds = step.wire == Wire::bfloat16;
    const std::int64_t sent = columns * (to_owners ? shared.of_others : shared.elsewhere);
    const std::int64_t received = columns * (to_owners ? shared.elsewhere : shared.of_others);
    RankWork work;
    if (rounds) {
        work.narrowed_bytes = rounded_bytes(wire_bytes(step.wire, sent));
        const std::int64_t arrived = wire_bytes(step.wire, received);
        work.widened_bytes = to_owners ? added_bytes(arrived) : rounded_bytes(arrived);
    } else {
        work.streamed_bytes = 4 * (2 * sent + (to_owners ? 3 : 2) * received);
    }
    // Self loops are taken off floats, which are packed before they are rounded.
    if (step.own) work.streamed_bytes += sent * (rounds ? 24 : 16);
    return work;
}

}  // namespace

void SyncRowsStep::check(const StepCheck& step) const {
    step.dense(rows), step.with_role(rows, {Role::transient, Role::cached}), step.in_layout(rows, layout_c());
    const bool of_clones = of_groups(step.schedule(), step.at(rows).space) && shares_clones(step.schedule());
    step.require(of_clones, "its rows are not those of clones that get sums of each other's");
    const bool later = shares_later(step.schedule());
    step.require(later || part != SyncPart::adjoint, "without a delay nothing is left to scale");
    step.require(in_flight.has_value() == (later && sends()), "rows are in flight just where they are used later");
    step.require(sends() || wire == Wire::fp32, "what is not sent is not rounded");
    step.require(own.has_value() == (later && part == SyncPart::to_owners), "owners need what a late product has read");
    if (own) step.typed(*own, DType::f32), step.same_shape(*own, rows), step.in_layout(*own, layout_c());
    if (!in_flight) return;
    step.with_role(*in_flight, {Role::in_flight});
    step.require(step.at(*in_flight).columns == step.at(rows).columns, "rows in flight have other columns");
}

std::vector<int> SyncRowsStep::peers(const Schedule& schedule, int rank) const {
    return sends() ? peers_along(schedule.grid, Axis::x, rank) : std::vector<int>{};
}

// Owners that have heard of nobody yet send nothing.
Message SyncRowsStep::between(const Schedule& schedule, const GraphStats& graph, int from, int to) const {
    const CloneTurn turn = turn_of(schedule);
    const int sender = schedule.grid.coordinate(from, Axis::x), receiver = schedule.grid.coordinate(to, Axis::x);
    std::int64_t count = 0;
    if (part == SyncPart::to_owners) count = graph.shared_clones(sender, receiver, turn.bin);
    if (part == SyncPart::to_clones && turn.owners_know) count = graph.shared_clones(receiver, sender, turn.bin);
    return one_message(from, to, wire_bytes(wire, count * block_of(schedule, rows, from).columns.size()));
}

// All rows that are sent and received at once; with a delay these have a place, and what is taken off them is staged,
// beside the floats of which the rows are made if they are rounded.
Staging SyncRowsStep::staging(const Schedule& schedule, const GraphStats& graph, int rank) const {
    Staging staging;
    if (!sends() || (in_background() && !own)) return staging;
    const std::int64_t columns = block_of(schedule, rows, rank).columns.size();
    const std::int64_t floats = columns * (wire == Wire::bfloat16 ? 8 : 4);
    const std::int64_t row_bytes = in_background() ? floats : wire_bytes(wire, columns);
    for (int bin = 0; bin < bins_of(schedule.numbering.delay); ++bin) {
        const SharedClones shared = shared_clones(schedule, graph, rank, bin);
        const bool to_owners = part == SyncPart::to_owners;
        const std::int64_t sent = to_owners ? shared.of_others : shared.elsewhere;
        staging.send_bytes = std::max(staging.send_bytes, row_bytes * sent);
        if (in_background()) continue;
        staging.receive_bytes = row_bytes * (to_owners ? shared.elsewhere : shared.of_others);
    }
    return staging;
}

// With a delay, clones of all other bins are scaled.
RankWork SyncRowsStep::work(const Schedule& schedule, const GraphStats& graph, int rank) const {
    const std::int64_t columns = block_of(schedule, rows, rank).columns.size();
    const int bin = turn_of(schedule).bin;
    RankWork work;
    if (sends()) work = exchange_work(*this, shared_clones(schedule, graph, rank, bin), columns);
    if (!shares_later(schedule) || part == SyncPart::to_owners) return work;
    for (int other = 0; other < bins_of(schedule.numbering.delay); ++other) {
        if (other == bin) continue;
        const SharedClones scaled = shared_clones(schedule, graph, rank, other);
        work.streamed_bytes += 8 * columns * (scaled.of_others + scaled.owned);
    }
    return work;
}

}  // namespace gnnplan
