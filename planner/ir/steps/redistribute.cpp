#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/peers.hpp"
#include "planner/ir/steps/streamed.hpp"

#include <algorithm>
#include <set>

namespace gnnplan {

namespace {

// The first of the y-group that is the i-th in the order of rows.
int first_of_group(const Grid& grid, std::int64_t i) { return grid.rank_of_block(static_cast<int>(i * grid.y)); }

// The groups of ranks along y whose rows of a matrix of `whole` rows meet `rows`, in the order of rows.
Range groups_meeting(const Grid& grid, std::int64_t whole, Range rows) {
    const std::int64_t groups = std::int64_t{grid.x} * grid.z;
    // The first of which `holds` is true, as it then is of all behind it.
    const auto first = [&](const auto& holds) {
        std::int64_t low = 0, high = groups;
        while (low < high) {
            const std::int64_t middle = (low + high) / 2;
            const Range of = split_block(whole, layout_f().rows, grid, first_of_group(grid, middle));
            holds(of) ? high = middle : low = middle + 1;
        }
        return low;
    };
    const std::int64_t begin = first([&](const Range& of) { return of.end > rows.begin; });
    return {begin, std::max(begin, first([&](const Range& of) { return of.begin >= rows.end; }))};
}

bool to_columns(const Schedule& schedule, const RedistributeStep& step) {
    return tensor_of(schedule, step.out).layout == layout_columns();
}

// The other ranks if `rank` has some of the columns split over all, those that have some if it has none.
std::vector<int> peers_over_all(const Grid& grid, std::int64_t columns, int rank) {
    const auto has_some = [&](int one) { return split_block(columns, layout_columns().columns, grid, one).size() > 0; };
    const bool all = has_some(rank);
    std::vector<int> peers;
    for (int other = 0; other < grid.size(); ++other) {
        if (other != rank && (all || has_some(other))) peers.push_back(other);
    }
    return peers;
}

}  // namespace

bool RedistributeStep::between_spaces(const Schedule& schedule) const {
    return tensor_of(schedule, in).space != tensor_of(schedule, out).space;
}

bool RedistributeStep::across_groups(const Schedule& schedule) const {
    return between_spaces(schedule) || to_columns(schedule, *this);
}

bool RedistributeStep::can_narrow(const Schedule& schedule) const {
    return tensor_of(schedule, in).dtype == DType::f32 && !to_columns(schedule, *this);
}

bool RedistributeStep::rounds_own(const Schedule& schedule) const {
    const Grid& grid = schedule.grid;
    const bool copies = grid.y > 1 && same_placement(tensor_of(schedule, out).layout, layout_f(), grid);
    return wire == Wire::bfloat16 && copies && !same_placement(tensor_of(schedule, in).layout, layout_f(), grid);
}

void RedistributeStep::check(const StepCheck& step) const {
    step.written(out), step.distinct(in, out);
    step.with_role(in, {Role::transient, Role::cached, Role::features});
    const DType dtype = step.at(in).dtype;
    if (between_spaces(step.schedule())) {
        step.require(step.at(in).columns == step.at(out).columns, "operand shapes do not fit");
        step.require(step.at(in).space && step.at(out).space, "an operand's rows are of no space");
        step.require(dtype == DType::f32, "only f32 moves between spaces");
    } else {
        step.same_shape(in, out);
    }
    step.require(dtype == step.at(out).dtype, "element types differ");
    step.require(dtype == DType::f32 || dtype == DType::bits, "only f32 and bits are redistributed");
    step.require(dtype == DType::f32 || wire == Wire::fp32, "bits are not rounded");
    const bool columns = to_columns(step.schedule(), *this) && !between_spaces(step.schedule());
    const auto rests = [&](const auto& placed) {
        return placed(layout_c()) || placed(layout_r()) || placed(layout_f());
    };
    step.require(rests([&](const Layout& layout) { return step.sum_placed(in, layout); }) &&
                     (rests([&](const Layout& layout) { return step.placed(out, layout); }) || columns),
                 "only layouts C, R and F are redistributed, and to columns over all ranks");
}

std::vector<int> RedistributeStep::peers(const Schedule& schedule, int rank) const {
    const Grid& grid = schedule.grid;
    if (to_columns(schedule, *this)) return peers_over_all(grid, tensor_of(schedule, out).columns, rank);
    if (!between_spaces(schedule)) return peers_along(grid, Axis::y, rank);
    const std::int64_t from = tensor_of(schedule, in).rows, to = tensor_of(schedule, out).rows;
    const auto own = [&](std::int64_t whole) { return split_block(whole, layout_f().rows, grid, rank); };
    std::set<int> peers;
    for (const Range groups : {groups_meeting(grid, to, own(from)), groups_meeting(grid, from, own(to))}) {
        for (auto group = groups.begin; group < groups.end; ++group) {
            const int first = first_of_group(grid, group);
            for (int iy = 0; iy < grid.y; ++iy) peers.insert(grid.neighbour(first, Axis::y, iy));
        }
    }
    peers.erase(rank);
    return {peers.begin(), peers.end()};
}

bool RedistributeStep::may_take(const Schedule& schedule, int a, int b) const {
    const Grid& grid = schedule.grid;
    const bool replicated = grid.y > 1 && same_placement(tensor_of(schedule, in).layout, layout_f(), grid);
    return !replicated || grid.coordinate(a, Axis::y) == grid.coordinate(b, Axis::y);
}

Message RedistributeStep::between(const Schedule& schedule, const GraphStats& /*graph*/, int from, int to) const {
    const Tensor& source = tensor_of(schedule, in);
    if (!may_take(schedule, from, to)) return messages(from, to, 0, 0);
    const Block common = intersect(block_of(schedule, in, from), block_of(schedule, out, to));
    const bool bits = source.dtype == DType::bits;
    return one_message(from, to, bits ? bytes_of(source.dtype, common.count()) : wire_bytes(wire, common.count()));
}

// Blocks that are not contiguous in the source or the target are packed, and all that are rounded.
Staging RedistributeStep::staging(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    Staging staging;
    const Tensor& tensor = tensor_of(schedule, in);
    const Block source = block_of(schedule, in, rank);
    const Block target = block_of(schedule, out, rank);
    const auto staged = [&](const Block& part, const Block& whole) {
        if (wire == Wire::bfloat16) return wire_bytes(wire, part.count());
        const bool in_place = tensor.dtype != DType::bits && contiguous_in(part, whole);
        return in_place ? 0 : bytes_of(tensor.dtype, part.count());
    };
    const auto add_peer = [&](int peer, std::int64_t count) {
        staging.send_bytes += count * staged(intersect(source, block_of(schedule, out, peer)), source);
        staging.receive_bytes += count * staged(intersect(target, block_of(schedule, in, peer)), target);
    };
    if (rounds_own(schedule)) staging.send_bytes += wire_bytes(wire, intersect(source, target).count());
    if (across_groups(schedule)) {
        for (const int peer : peers(schedule, rank)) {
            if (may_take(schedule, rank, peer)) add_peer(peer, 1);
        }
        return staging;
    }
    if (same_placement(tensor.layout, layout_f(), schedule.grid)) return staging;
    const std::int64_t rows = split_block(tensor.rows, layout_f().rows, schedule.grid, rank).size();
    for (const auto& [peer, count] : alike_peers_along(schedule.grid, Axis::y, rank, {rows, tensor.columns}))
        add_peer(peer, count);
    return staging;
}

RankWork RedistributeStep::work(const Schedule& schedule, const GraphStats& graph, int rank) const {
    return streamed(schedule, *this, rank, ElementwiseKind::copy, staging(schedule, graph, rank), nullptr, wire);
}

Collective RedistributeStep::collective(const Schedule& schedule, int rank) const {
    const Tensor& tensor = tensor_of(schedule, in);
    const auto whole = [&](TensorId id) { return block_of(schedule, id, rank).columns.size() == tensor.columns; };
    const bool strided = tensor.dtype == DType::f32 && wire == Wire::fp32 && !(whole(in) && whole(out));
    return strided ? Collective::redistribution : Collective::none;
}

}  // namespace gnnplan
