#include <gnnplan/base/checked.hpp>
#include <gnnplan/ir/schedule.hpp>

namespace gnnplan {

bool is_resident(Role role) { return role != Role::transient && role != Role::cached; }

bool is_model_state(Role role) { return role == Role::weight || role == Role::bias || role == Role::moment; }

Block block_of(const Schedule& schedule, TensorId id, int rank) {
    const Tensor& tensor = tensor_of(schedule, id);
    return block_of(tensor.rows, tensor.columns, tensor.layout, schedule.grid, rank);
}

std::int64_t block_bytes(const Schedule& schedule, TensorId id, int rank) {
    return bytes_of(tensor_of(schedule, id).dtype, block_of(schedule, id, rank).count());
}

Axis partial_axis(const Tensor& tensor) {
    ensure(tensor.layout.partial.size() == 1, "a reduce-scatter sums over one axis");
    return tensor.layout.partial[0];
}

}  // namespace gnnplan
