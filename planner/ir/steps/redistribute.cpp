#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/peers.hpp"
#include "planner/ir/steps/streamed.hpp"

namespace gnnplan {

void RedistributeStep::check(const StepCheck& step) const {
    step.written(out), step.distinct(in, out), step.same_shape(in, out);
    step.with_role(in, {Role::transient, Role::cached, Role::features});
    const DType dtype = step.at(in).dtype;
    step.require(dtype == step.at(out).dtype, "element types differ");
    step.require(dtype == DType::f32 || dtype == DType::bits, "only f32 and bits are redistributed");
    for (const TensorId id : {in, out}) {
        const bool rests = step.placed(id, layout_c()) || step.placed(id, layout_r()) || step.placed(id, layout_f());
        step.require(rests, "only layouts C, R and F are redistributed");
    }
}

std::vector<int> RedistributeStep::peers(const Schedule& schedule, int rank) const {
    return peers_along(schedule.grid, Axis::y, rank);
}

Message RedistributeStep::between(const Schedule& schedule, const GraphStats& /*graph*/, int from, int to) const {
    const Tensor& source = tensor_of(schedule, in);
    if (same_placement(source.layout, layout_f(), schedule.grid)) return messages(from, to, 0, 0);
    const Block common = intersect(block_of(schedule, in, from), block_of(schedule, out, to));
    return one_message(from, to, bytes_of(source.dtype, common.count()));
}

// What is not contiguous in the source or the target is packed.
Staging RedistributeStep::staging(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    Staging staging;
    const Tensor& tensor = tensor_of(schedule, in);
    if (same_placement(tensor.layout, layout_f(), schedule.grid)) return staging;
    const Block source = block_of(schedule, in, rank);
    const Block target = block_of(schedule, out, rank);
    const auto staged = [&](const Block& part, const Block& whole) {
        const bool in_place = tensor.dtype != DType::bits && contiguous_in(part, whole);
        return in_place ? 0 : bytes_of(tensor.dtype, part.count());
    };
    const std::int64_t rows = split_block(tensor.rows, layout_f().rows, schedule.grid, rank).size();
    for (const auto& [peer, count] : alike_peers_along(schedule.grid, Axis::y, rank, {rows, tensor.columns})) {
        staging.send_bytes += count * staged(intersect(source, block_of(schedule, out, peer)), source);
        staging.receive_bytes += count * staged(intersect(target, block_of(schedule, in, peer)), target);
    }
    return staging;
}

RankWork RedistributeStep::work(const Schedule& schedule, const GraphStats& graph, int rank) const {
    return streamed(schedule, *this, rank, ElementwiseKind::copy, staging(schedule, graph, rank));
}

Collective RedistributeStep::collective(const Schedule& schedule, int rank) const {
    const Tensor& tensor = tensor_of(schedule, in);
    const auto whole = [&](TensorId id) { return block_of(schedule, id, rank).columns.size() == tensor.columns; };
    const bool strided = tensor.dtype == DType::f32 && !(whole(in) && whole(out));
    return strided ? Collective::redistribution : Collective::none;
}

}  // namespace gnnplan
