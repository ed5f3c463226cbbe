#include "runtime/exec/handlers.hpp"

#include <span>

namespace gnnplan::exec {

using kernels::Transpose;

namespace {

// The columns of a matrix that stands whole on every rank.
kernels::Matrix columns_of(const kernels::Matrix& whole, Range columns) {
    return {whole.data + columns.begin, whole.rows, columns.size(), whole.stride};
}

}  // namespace

// Where the output is split over columns, each rank multiplies by those of the weight.
void run_step(const GemmStep& step, const StepContext& context) {
    const Store& store = context.store;
    const kernels::Matrix weight = store.matrix(step.weight);
    if (step.then && context.kernels.gemm_then != nullptr) {
        const Transpose transpose = step.transposed ? Transpose::yes : Transpose::no;
        const kernels::Matrix right = step.transposed ? weight : columns_of(weight, store.block(step.out).columns);
        return context.kernels.gemm_then(transpose, store.matrix(step.in), right, store.matrix(step.out),
                                         [&](std::int64_t first, std::int64_t last) {
                                             run_rows(*step.then, context, {first, last});
                                         });
    }
    if (step.transposed) {
        context.kernels.gemm(Transpose::no, Transpose::yes, store.matrix(step.in), weight, store.matrix(step.out),
                             step.accumulate);
        return;
    }
    context.kernels.gemm(Transpose::no, Transpose::no, store.matrix(step.in),
                         columns_of(weight, store.block(step.out).columns), store.matrix(step.out), step.accumulate);
}

void run_step(const WeightGradStep& step, const StepContext& context) {
    const Store& store = context.store;
    const kernels::Matrix gradient = store.matrix(step.gradient);
    const Range columns = store.block(step.right).columns;
    if (columns.size() < gradient.columns)
        context.kernels.zero(std::as_writable_bytes(store.values<float>(step.gradient)));
    context.kernels.gemm(Transpose::yes, Transpose::no, store.matrix(step.left), store.matrix(step.right),
                         columns_of(gradient, columns), false);
}

void run_step(const UpdateStep& step, const StepContext& context) {
    const Store& store = context.store;
    kernels::UpdateSettings settings = context.settings.update;
    settings.pass = context.pass;
    const Tensor& weight = tensor_of(store.schedule(), step.weight);
    const Parameter& parameter = store.schedule().parameters[static_cast<std::size_t>(*weight.parameter)];
    settings.weight_decay =
        static_cast<float>(context.settings.decay.strength(parameter, weight.role, step.decays, settings.weight_decay));
    const auto moment = [&](const std::optional<TensorId>& id) { return id ? store.data<float>(*id) : nullptr; };
    context.kernels.update(step.rule, store.data<float>(step.weight), store.data<float>(step.gradient),
                           moment(step.moment1), moment(step.moment2), store.block(step.weight).count(), settings);
}

}  // namespace gnnplan::exec
