#include <gnnplan/ir/shared_clones.hpp>

#include <algorithm>

namespace gnnplan {

CloneTurn turn_of(const Schedule& schedule) {
    return schedule.turn ? turn_of(schedule.numbering, *schedule.turn) : CloneTurn{};
}

CloneTurn turn_of(const Numbering& numbering, std::int64_t epoch) {
    const std::int64_t delay = numbering.delay.value_or(0);
    return {static_cast<int>(epoch % bins_of(numbering.delay)), epoch >= delay, epoch >= 2 * delay};
}

Schedule at_turn(Schedule schedule, std::int64_t epoch) {
    const std::int64_t all = turns_until_all_repeat(schedule), bins = bins_of(schedule.numbering.delay);
    schedule.turn = epoch < all ? epoch : all - bins + epoch % bins;
    return schedule;
}

SharedClones shared_clones(const Schedule& schedule, const GraphStats& graph, int rank, int bin) {
    const int group = schedule.grid.coordinate(rank, Axis::x);
    SharedClones shared{0, 0, graph.shared_clones(group, group, bin)};
    for (int other = 0; other < schedule.grid.x; ++other) {
        if (other == group) continue;
        shared.of_others += graph.shared_clones(group, other, bin);
        shared.elsewhere += graph.shared_clones(other, group, bin);
    }
    return shared;
}

namespace {

// In what rows of a tensor are in flight; where steps differ, in the wider.
Wire wire_in_flight(const Schedule& schedule, TensorId id) {
    const auto travels_in = [&](Wire wire) {
        return std::ranges::any_of(schedule.steps, [&](const Step& step) {
            const auto* sync = std::get_if<SyncRowsStep>(&step.operation);
            return sync != nullptr && sync->in_flight == id && wire_of(step.operation) == wire;
        });
    };
    return travels_in(Wire::bfloat16) && !travels_in(Wire::fp32) ? Wire::bfloat16 : Wire::fp32;
}

// Rows that the rank sends and receives in one direction, of all bins.
std::int64_t rows_in_flight(const Schedule& schedule, const GraphStats& graph, int rank) {
    std::int64_t rows = 0;
    for (int bin = 0; bin < bins_of(schedule.numbering.delay); ++bin) {
        const SharedClones shared = shared_clones(schedule, graph, rank, bin);
        rows += shared.of_others + shared.elsewhere;
    }
    return rows;
}

}  // namespace

std::int64_t floats_in_flight(const Schedule& schedule, TensorId id, const GraphStats& graph, int rank) {
    const std::int64_t columns = block_of(schedule, id, rank).columns.size();
    const std::int64_t elements = rows_in_flight(schedule, graph, rank) * columns;
    return (wire_bytes(wire_in_flight(schedule, id), elements) + 3) / 4;
}

std::int64_t shared_clone_bytes(const Schedule& schedule, const GraphStats& graph, int rank) {
    if (!shares_clones(schedule)) return 0;
    std::int64_t bytes = 0;
    for (int bin = 0; bin < bins_of(schedule.numbering.delay); ++bin) {
        const SharedClones shared = shared_clones(schedule, graph, rank, bin);
        bytes += 4 * (shared.of_others + shared.elsewhere);
        if (shares_later(schedule)) bytes += 8 * (shared.of_others + shared.owned);
    }
    return bytes;
}

}  // namespace gnnplan
