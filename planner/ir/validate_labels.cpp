// Labels and logits of a plan are those of its loss.
#include "planner/ir/schedule_checks.hpp"

namespace gnnplan {
namespace {

// A class for each vertex, or a bit for each column of the logits.
bool fits_labels(const Tensor& tensor, const ModelRecord& model) {
    if (tensor.role == Role::known_labels && model.loss != Loss::masked_sigmoid) return false;
    const bool bits = several_labels(model.loss);
    return (tensor.dtype == DType::bits) == bits && tensor.columns == (bits ? model.widths.back() : 1);
}

// Labels are below the number of classes: logits of another width would be read past their rows.
void check_logits(const Schedule& schedule, const ProblemRecord& problem, const std::string& where) {
    for (const Step& step : schedule.steps) {
        const std::optional<TensorId> logits = logits_of(step.operation);
        if (logits && tensor_of(schedule, *logits).columns != problem.model.widths.back()) {
            refuse(where + ": step " + step.name, "its logits are not as wide as there are classes");
        }
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
