// Reading guide: validate(Plan), near the end, calls the checks of a plan's parts before it: graph, configuration,
// schedule, weights, logits, run. A plan that passes makes no executor read past the problem's sizes.
// check_predicted_bytes() counts traffic again and finds altered files.
#include "planner/ir/schedule_checks.hpp"

#include <gnnplan/base/checked.hpp>
#include <gnnplan/ir/plan.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <algorithm>

namespace gnnplan {
namespace {

void validate(const GraphRecord& graph) {
    if (graph.vertices < 1 || graph.vertices > (std::int64_t{1} << 31) - 1) {
        refuse("problem.graph.vertices", "must be 1..2^31-1");
    }
    if (graph.nonzeros < 0) refuse("problem.graph.nonzeros", "must not be negative");
    checked_multiply(16, graph.nonzeros);
    if (graph.index_base < 0 || graph.index_base > 1) refuse("problem.graph.index_base", "must be 0 or 1");
    if (graph.generated_features < 0) refuse("problem.graph.generated_features", "must not be negative");
    if (graph.generated_classes < 0) refuse("problem.graph.generated_classes", "must not be negative");
}

void validate(const Configuration& configuration, const ProblemRecord& problem, const std::string& where) {
    const std::size_t layers = problem.model.widths.size() - 1;
    const std::size_t back = problem.task == Task::train ? layers : 0;
    if (configuration.forward.size() != layers || configuration.backward.size() != back) {
        refuse(where, "forward needs one letter per layer, " + std::to_string(layers) + ", and backward " +
                          (back > 0 ? "as many" : "none: it infers"));
    }
    const Grid& grid = configuration.grid;
    if (grid.size() != problem.ranks) refuse(where, "grid " + grid.text() + " does not hold the plan's ranks");
}

// Every product rounds that can, and every step whose messages may be rounded, or else none does.
void validate_rounding(const Candidate& candidate, const std::string& where) {
    const Wire wire = candidate.configuration.wire;
    for (const Step& step : candidate.schedule.steps) {
        const SpmmStep* spmm = product_of(step.operation);
        if (spmm != nullptr && spmm->bf16 != (rounds(candidate.configuration) && spmm->can_round()))
            refuse(where + ": step " + step.name, "schedule and configuration differ in bf16");
        if (wire_of(step.operation) != (may_narrow(candidate.schedule, step) ? wire : Wire::fp32))
            refuse(where + ": step " + step.name, "schedule and configuration differ in how messages carry numbers");
    }
}

// The tensors a run fills from the data must have the problem's sizes, or the executor would read past them.
void validate(const Tensor& tensor, const ProblemRecord& problem, const std::string& where) {
    switch (tensor.role) {
        case Role::adjacency:
            if (!tensor.space || !tensor.column_space) refuse(where, "its size is not the graph's");
            if (tensor.structure && !problem.graph.symmetric)
                refuse(where, "only a symmetric graph's matrix has the pattern of its transpose");
            if (tensor.storage.factored && problem.graph.edge_weights) {
                refuse(where, "with weights of edges, values are no products of two scales");
            }
            break;
        case Role::features:
            if (!tensor.space || tensor.columns != problem.model.widths.front() || tensor.dtype != DType::f32) {
                refuse(where, "its shape is not that of the features");
            }
            break;
        case Role::labels:
        case Role::known_labels: break;  // validate_labels() sees them
        case Role::subset:
        case Role::counts_as:
        case Role::vertices:
            if (!tensor.space || tensor.columns != 1) refuse(where, "it needs one entry per vertex");
            break;
        case Role::weight:
        case Role::bias:
            if (!tensor.parameter) refuse(where, "it is no parameter of the model");
            break;
        case Role::moment:
        case Role::cached:
        case Role::transient:
        case Role::edges:
        case Role::summands:
        case Role::in_flight: break;
    }
}

void validate(const Schedule& schedule, const ProblemRecord& problem, const std::string& where) {
    const Numbering& numbering = schedule.numbering;
    // Each layer aggregates once, or as often as the model has hops.
    const int layers = static_cast<int>(problem.model.widths.size()) - 1;
    const int hops = layers * std::max(1, problem.model.hops);
    if (numbering.loss_layers != 0 && numbering.loss_layers != layers && numbering.loss_layers != hops)
        refuse(where + ".numbering.loss_layers", "must be 0 or the number of layers, or of their hops");
    if (numbering.parts < 0 || numbering.parts > max_ranks) {
        refuse(where + ".numbering.parts", "must be 0.." + std::to_string(max_ranks));
    }
    if (numbering.cut != CutRule::none && (numbering.parts < 2 || numbering.loss_layers > 0))
        refuse(where + ".numbering.cut", "a cut has two parts or more, and does not number by need");
    const auto& spaces = schedule.spaces;
    if (spaces.empty() || spaces.front().needed_of != 0 || spaces.front().rows != problem.graph.vertices) {
        refuse(where + ".spaces", "the first must be that of the graph's vertices");
    }
    for (const Space& space : spaces) {
        if (space.needed_of > numbering.loss_layers)
            refuse(where + ".spaces", "'" + space.name + "' is of rows that the numbering does not put first");
    }
    for (const Tensor& tensor : schedule.tensors) validate(tensor, problem, where + ": tensor " + tensor.name);
}

void validate_weights(const Schedule& schedule, const std::string& where) {
    for (const Step& step : schedule.steps) {
        const SpmmStep* spmm = product_of(step.operation);
        if (spmm != nullptr && spmm->program != Program::sum)
            refuse(where + ": step " + step.name, "it does not read the weights of edges, which the plan uses");
    }
}

// Edges are drawn for every layer or for none, and of those into a vertex.
void validate_drawn(const Schedule& schedule, const ProblemRecord& problem, const std::string& where) {
    const auto layers = static_cast<int>(problem.fanout.size());
    for (const Tensor& tensor : schedule.tensors) {
        const bool drawn = tensor.sample > 0;
        const bool fits = tensor.role == Role::adjacency ? drawn == (layers > 0) && tensor.sample <= layers : !drawn;
        if (!fits || tensor.sample < 0 || (drawn && !tensor.transposed))
            refuse(where + ": tensor " + tensor.name, "its edges are not those that a layer of the problem draws");
    }
}

// Training ends in a loss, and inference in an output.
void validate_end(const Schedule& schedule, const ProblemRecord& problem, const std::string& where) {
    const bool infers = problem.task == Task::infer;
    if (schedule.output.has_value() != infers)
        refuse(where + ".output", infers ? "an inference needs one" : "training has none");
    if (!infers) return;
    if (tensor_of(schedule, *schedule.output).columns != problem.model.widths.back())
        refuse(where + ".output", "it is not as wide as the last layer");
    for (const Step& step : schedule.steps) {
        if (step.phase == Phase::evaluation) refuse(where + ": step " + step.name, "an inference has no evaluation");
    }
}

// The nonzeros of a matrix are those of its transpose where the graph is symmetric.
void validate_transposed_edges(const Schedule& schedule, const ProblemRecord& problem, const std::string& where) {
    for (const Step& step : schedule.steps) {
        const auto* transpose = std::get_if<EdgeTransposeStep>(&step.operation);
        if (transpose == nullptr || problem.graph.symmetric) continue;
        const auto [from, to] = transpose->reordered_edges(schedule);
        if (from == to) refuse(where + ": step " + step.name, "only a symmetric graph's matrix is its own transpose");
    }
}

void validate(const RunRecord& run) {
    if (run.epochs < 1) refuse("problem.run.epochs", "must be at least 1");
    const auto check = [](const std::optional<double>& p, const char* key) {
        if (p && !(*p >= 0 && *p < 1)) refuse(std::string("problem.run.") + key, "must be at least 0 and below 1");
    };
    check(run.dropout, "dropout");
    check(run.input_dropout, "input_dropout");
    check(run.attention_dropout, "attention_dropout");
    if (run.eval_every.value_or(0) < 0) refuse("problem.run.eval_every", "must not be negative");
    const bool has_momentum = run.optimiser == Optimiser::momentum;
    if (!(run.momentum >= 0 && run.momentum < 1) || (run.momentum > 0) != has_momentum)
        refuse("problem.run.momentum", "must be above 0 and below 1 of the optimiser 'momentum', and 0 of others");
}

void validate(const Choice& choice, const ProblemRecord& problem, const std::string& where) {
    if (choice.key.empty()) refuse(where + ".key", "must say what differs");
    if (!choice.layers) return;
    const auto depth = static_cast<int>(problem.model.widths.size()) - 1;
    if (choice.layers->first < 1 || choice.layers->last < choice.layers->first || choice.layers->last > depth)
        refuse(where + ".layers", "must be the first and the last of some of the model's layers");
}

void validate(const std::vector<Alternative>& alternatives, const ProblemRecord& problem) {
    if (alternatives.size() > max_alternatives) {
        refuse("alternatives", "a plan has at most " + std::to_string(max_alternatives) + " alternatives");
    }
    for (std::size_t i = 0; i < alternatives.size(); ++i) {
        const std::string where = "alternatives[" + std::to_string(i) + "]";
        validate(alternatives[i].choice, problem, where + ".choice");
        validate(alternatives[i].configuration, problem, where + ".configuration");
        if (!alternatives[i].predicted.step_seconds.empty()) {
            refuse(where + ".predicted.step_seconds", "must be empty: an alternative has no schedule");
        }
    }
}

}  // namespace

void validate(const Plan& plan) {
    validate(plan.problem.graph);
    if (plan.problem.memory_per_rank < 0) refuse("problem.memory_per_rank_bytes", "must not be negative");
    if (plan.problem.buffer_bytes < 0) refuse("problem.buffer_bytes", "must not be negative");
    validate(plan.problem.run);
    validate(plan.machine);
    const auto& widths = plan.problem.model.widths;
    if (widths.size() < 2 || std::any_of(widths.begin(), widths.end(), [](auto w) { return w < 1; })) {
        refuse("problem.model.widths", "needs at least two positive widths");
    }
    const auto& fanout = plan.problem.fanout;
    if (!fanout.empty() && (plan.problem.task != Task::infer || fanout.size() + 1 != widths.size()))
        refuse("problem.fanout", "is of inference, and has a number for each layer");
    if (std::any_of(fanout.begin(), fanout.end(), [](auto k) { return k < 1; }))
        refuse("problem.fanout", "must be at least 1");
    if (plan.problem.ranks < 1) refuse("problem.ranks", "must be at least 1");
    if (plan.candidates.empty() || plan.candidates.size() > max_candidates) {
        refuse("candidates", "a plan has 1.." + std::to_string(max_candidates) + " candidates");
    }
    for (std::size_t i = 0; i < plan.candidates.size(); ++i) {
        const Candidate& candidate = plan.candidates[i];
        const std::string where = "candidates[" + std::to_string(i) + "]";
        validate(candidate.configuration, plan.problem, where + ".configuration");
        if (candidate.schedule.grid != candidate.configuration.grid_of_ranks())
            refuse(where, "schedule and configuration differ in grid");
        validate(candidate.schedule);
        validate_rounding(candidate, where + ".schedule");
        validate(candidate.schedule, plan.problem, where + ".schedule");
        if (plan.problem.graph.edge_weights) validate_weights(candidate.schedule, where + ".schedule");
        validate_labels(candidate.schedule, plan.problem, where + ".schedule");
        validate_end(candidate.schedule, plan.problem, where + ".schedule");
        validate_drawn(candidate.schedule, plan.problem, where + ".schedule");
        validate_transposed_edges(candidate.schedule, plan.problem, where + ".schedule");
        if (candidate.predicted.step_seconds.size() != candidate.schedule.steps.size()) {
            refuse(where + ".predicted.step_seconds", "needs one entry per step");
        }
    }
    validate(plan.alternatives, plan.problem);
}

void check_predicted_bytes(const Plan& plan) {
    for (std::size_t i = 0; i < plan.candidates.size(); ++i) {
        const Candidate& candidate = plan.candidates[i];
        if (depends_on_graph(candidate.schedule)) continue;  // checked against the graph, when it is there
        const TrafficTotal total =
            total_traffic(candidate.schedule, Phase::epoch, *sizes_of(plan, candidate.schedule.numbering));
        if (total.total_bytes == candidate.predicted.total_bytes &&
            total.max_rank_bytes == candidate.predicted.max_rank_bytes) {
            continue;
        }
        throw Error(ErrorCode::data,
                    "the predicted bytes do not follow from the schedule: it was changed after it was planned",
                    "candidates[" + std::to_string(i) + "].predicted", "plan again");
    }
}

}  // namespace gnnplan
