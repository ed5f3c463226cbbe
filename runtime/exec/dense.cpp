#include "runtime/exec/handlers.hpp"

namespace gnnplan::exec {

using kernels::Transpose;

void run_step(const GemmStep& step, const StepContext& context) {
    const Store& store = context.store;
    context.kernels.gemm(Transpose::no, step.transposed ? Transpose::yes : Transpose::no, store.matrix(step.in),
                         store.matrix(step.weight), store.matrix(step.out));
}

void run_step(const WeightGradStep& step, const StepContext& context) {
    const Store& store = context.store;
    context.kernels.gemm(Transpose::yes, Transpose::no, store.matrix(step.left), store.matrix(step.right),
                         store.matrix(step.gradient));
}

void run_step(const UpdateStep& step, const StepContext& context) {
    const Store& store = context.store;
    const Tensor& weight = tensor_of(store.schedule(), step.weight);
    kernels::AdamSettings settings = context.settings.adam;
    const bool decays = weight.role == Role::weight && (weight.layer == 1 || context.settings.decay_all);
    if (!decays) settings.weight_decay = 0;
    const auto values = store.values<float>(step.weight);
    context.kernels.adam(values.data(), store.values<float>(step.gradient).data(),
                         store.values<float>(step.moment1).data(), store.values<float>(step.moment2).data(),
                         static_cast<std::int64_t>(values.size()), settings);
}

}  // namespace gnnplan::exec
