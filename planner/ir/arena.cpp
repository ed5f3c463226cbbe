// Reading guide: a rank's buffers are the residents, one after the other, then what lives for a while only: transients,
// staging buffers of steps, features that only setup reads, products cached from setup on. Those are packed
// (ir/packing.hpp).
#include "planner/ir/arena.hpp"

#include <algorithm>
#include <numeric>

namespace gnnplan {
namespace {

// Steps in the order in which time passes: setup, epoch, evaluation.
std::vector<std::size_t> in_order_of_time(const Schedule& schedule) {
    std::vector<std::size_t> order(schedule.steps.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return schedule.steps[a].phase < schedule.steps[b].phase; });
    return order;
}

// Whether a resident can make room once setup is over.
bool ends_with_setup(const Schedule& schedule, TensorId id) {
    if (tensor_of(schedule, id).role != Role::features) return false;
    bool in_setup = false;
    for (const Step& step : schedule.steps) {
        const Operands operands = operands_of(step.operation);
        if (std::find(operands.reads.begin(), operands.reads.end(), id) == operands.reads.end()) continue;
        if (step.phase != Phase::setup) return false;
        in_setup = true;
    }
    return in_setup;
}

}  // namespace

Arena::Arena(const Schedule& schedule) : timeline_(in_order_of_time(schedule)), tensors_(schedule.tensors.size()) {
    for (std::size_t position = 0; position < timeline_.size(); ++position) {
        const Operands operands = operands_of(schedule.steps[timeline_[position]].operation);
        for (const auto* ids : {&operands.reads, &operands.writes}) {
            for (const TensorId id : *ids) {
                Lifetime& lifetime = tensors_[static_cast<std::size_t>(id)];
                if (!lifetime.used) lifetime = {position, position, true};
                lifetime.last = position;
            }
        }
    }
    for (std::size_t id = 0; id < tensors_.size(); ++id) {
        const Role role = schedule.tensors[id].role;
        if (role == Role::features) tensors_[id].first = 0;  // filled before setup
        const bool handed_out = schedule.output == static_cast<TensorId>(id);
        if (role == Role::cached || handed_out) tensors_[id].last = timeline_.size();
        const bool stays = is_resident(role) && !ends_with_setup(schedule, static_cast<TensorId>(id));
        if (stays && role != Role::adjacency) residents_.push_back(id);
        if (!stays && tensors_[id].used) transients_.push_back(id);
    }
}

std::int64_t Arena::resident_bytes(const BufferBytes& bytes) const {
    std::int64_t residents = 0;
    for (const std::size_t id : residents_) residents += aligned(bytes.tensors[id]);
    return residents;
}

std::vector<Buffer> Arena::buffers(const BufferBytes& bytes) const {
    std::vector<Buffer> buffers;
    buffers.reserve(timeline_.size() + transients_.size());
    for (std::size_t position = 0; position < timeline_.size(); ++position) {
        const std::int64_t staged = bytes.staging[timeline_[position]];
        if (staged > 0) buffers.push_back({staged, position, position});
    }
    for (const std::size_t id : transients_)
        buffers.push_back({bytes.tensors[id], tensors_[id].first, tensors_[id].last});
    return buffers;
}

std::int64_t Arena::bytes(const BufferBytes& bytes, Packer& packer) const {
    return resident_bytes(bytes) + packer.pack(buffers(bytes), timeline_.size() + 1).end;
}

std::vector<TensorStay> Arena::stays() const {
    std::vector<TensorStay> stays;
    for (const std::size_t id : residents_) stays.push_back({static_cast<TensorId>(id), 0, timeline_.size(), 0});
    for (const std::size_t id : transients_)
        stays.push_back({static_cast<TensorId>(id), tensors_[id].first, tensors_[id].last, 0});
    std::ranges::sort(stays, {}, &TensorStay::tensor);
    return stays;
}

void Arena::place(const BufferBytes& bytes, MemoryPlan& plan) const {
    plan.tensor_offset.assign(tensors_.size(), -1);
    plan.staging_offset.assign(timeline_.size(), 0);
    plan.staging_bytes = bytes.staging;
    std::int64_t residents = 0;
    for (const std::size_t id : residents_) {
        plan.tensor_offset[id] = residents;
        residents += aligned(bytes.tensors[id]);
    }
    Packer packer;
    const Packer::Packed& packed = packer.pack(buffers(bytes), timeline_.size() + 1);
    std::size_t next = 0;
    for (const std::size_t step : timeline_) {
        if (bytes.staging[step] > 0) plan.staging_offset[step] = residents + packed.offsets[next++];
    }
    for (const std::size_t id : transients_) plan.tensor_offset[id] = residents + packed.offsets[next++];
    plan.arena_bytes = residents + packed.end;
}

}  // namespace gnnplan
