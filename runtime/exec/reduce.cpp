#include "runtime/exec/handlers.hpp"

namespace gnnplan::exec {

void run_step(const AllReduceStep& step, const StepContext& context) {
    const Store& store = context.store;
    if (tensor_of(store.schedule(), step.tensor).dtype == DType::f64) {
        context.world.all_reduce(store.values<double>(step.tensor));
    } else {
        context.world.all_reduce(store.values<float>(step.tensor));
    }
}

}  // namespace gnnplan::exec
