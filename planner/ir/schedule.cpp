#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/overloaded.hpp>
#include <gnnplan/ir/schedule.hpp>

namespace gnnplan {

bool is_resident(Role role) { return role != Role::transient && role != Role::cached; }

std::string_view kind_of(const Operation& operation) {
    return std::visit(Overloaded{
                          [](const SpmmStep&) -> std::string_view { return "spmm"; },
                          [](const IndexStep&) -> std::string_view { return "index"; },
                          [](const ReduceScatterStep&) -> std::string_view { return "reduce_scatter"; },
                          [](const GemmStep&) -> std::string_view { return "gemm"; },
                          [](const RedistributeStep&) -> std::string_view { return "redistribute"; },
                          [](const WeightGradStep&) -> std::string_view { return "weight_grad"; },
                          [](const AllReduceStep&) -> std::string_view { return "all_reduce"; },
                          [](const MapStep&) -> std::string_view { return "map"; },
                          [](const LossStep&) -> std::string_view { return "loss"; },
                          [](const ScoreStep&) -> std::string_view { return "score"; },
                          [](const UpdateStep&) -> std::string_view { return "update"; },
                      },
                      operation);
}

namespace {

Operands operands_of_map(const MapStep& map) {
    Operands operands{{map.tensor}, {}};
    if (map.operand) operands.reads.push_back(*map.operand);
    if (map.vertices) operands.reads.push_back(*map.vertices);
    if (map.out) operands.writes.push_back(*map.out);
    if (map.op == MapOp::activate || map.op == MapOp::apply_mask) operands.writes.push_back(map.tensor);
    return operands;
}

}  // namespace

Operands operands_of(const Operation& operation) {
    return std::visit(
        Overloaded{
            [](const SpmmStep& s) {
                return Operands{{s.matrix, s.in}, {s.out}};
            },
            [](const IndexStep& s) {
                return Operands{{s.matrix}, {}};
            },
            [](const ReduceScatterStep& s) {
                return Operands{{s.in}, {s.in, s.out}};
            },
            [](const GemmStep& s) {
                return Operands{{s.in, s.weight}, {s.out}};
            },
            [](const RedistributeStep& s) {
                return Operands{{s.in}, {s.out}};
            },
            [](const WeightGradStep& s) {
                return Operands{{s.left, s.right}, {s.gradient}};
            },
            [](const AllReduceStep& s) {
                return Operands{{s.tensor}, {s.tensor}};
            },
            [](const MapStep& s) { return operands_of_map(s); },
            [](const LossStep& s) {
                return Operands{{s.logits, s.labels, s.subset}, {s.logits, s.loss}};
            },
            [](const ScoreStep& s) {
                return Operands{{s.logits, s.labels, s.subset}, {s.counts}};
            },
            [](const UpdateStep& s) {
                return Operands{{s.weight, s.gradient, s.moment1, s.moment2}, {s.weight, s.moment1, s.moment2}};
            },
        },
        operation);
}

TensorId subject_of(const Operation& operation) {
    return std::visit(Overloaded{
                          [](const SpmmStep& s) { return s.out; },
                          [](const IndexStep& s) { return s.matrix; },
                          [](const ReduceScatterStep& s) { return s.out; },
                          [](const GemmStep& s) { return s.out; },
                          [](const RedistributeStep& s) { return s.out; },
                          [](const WeightGradStep& s) { return s.gradient; },
                          [](const AllReduceStep& s) { return s.tensor; },
                          [](const MapStep& s) { return s.tensor; },
                          [](const LossStep& s) { return s.logits; },
                          [](const ScoreStep& s) { return s.logits; },
                          [](const UpdateStep& s) { return s.weight; },
                      },
                      operation);
}

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
