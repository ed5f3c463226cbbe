// Labels and logits of a plan are those of its loss.
#include "planner/ir/schedule_checks.hpp"

namespace gnnplan {
namespace {

// Whether evaluations rank the vertices by how likely the second of two classes is.
bool ranks_classes(const ModelRecord& model) {
    return model.rocauc && !several_labels(model.loss) && model.widths.back() == 2;
}

// A class for each vertex, or a bit for each column of the logits, or for whether it is of the second of two classes.
bool fits_labels(const Tensor& tensor, const ModelRecord& model) {
    const bool bits = several_labels(model.loss), second = ranks_classes(model) && tensor.dtype == DType::bits;
    if (tensor.role == Role::known_labels && model.loss != Loss::masked_sigmoid && !second) return false;
    if (second) return tensor.columns == 1;
    return (tensor.dtype == DType::bits) == bits && tensor.columns == (bits ? model.widths.back() : 1);
}

// Labels are below the number of classes: logits of another width would be read past their rows.
void check_logits(const Schedule& schedule, const ProblemRecord& problem, const std::string& where) {
    for (const Step& step : schedule.steps) {
        const std::optional<TensorId> logits = logits_of(step.operation);
        if (!logits) continue;
        const bool ranks = ranks_classes(problem.model) && std::holds_alternative<RankSumStep>(step.operation);
        if (tensor_of(schedule, *logits).columns != (ranks ? 1 : problem.model.widths.back()))
            refuse(where + ": step " + step.name, "its logits are not as wide as there are classes");
    }
}

}  // namespace

void validate_labels(const Schedule& schedule, const ProblemRecord& problem, const std::string& where) {
    for (const Tensor& tensor : schedule.tensors) {
        const bool of_labels = tensor.role == Role::labels || tensor.role == Role::known_labels;
        if (of_labels && (!tensor.space || !fits_labels(tensor, problem.model)))
            refuse(where + ": tensor " + tensor.name, "its labels are not those of the loss");
    }
    check_logits(schedule, problem, where);
}

}  // namespace gnnplan
