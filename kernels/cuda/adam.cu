#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/cuda/threads.cuh"
#include "kernels/optimiser_body.hpp"

namespace gnnplan::kernels::cuda {
namespace {

// From element to element, how far the kernel goes in what a rule remembers: 0 where it remembers nothing.
struct Steps {
    std::int64_t m1, m2;
};

// The rules that the processor's kernels follow, an element at a time.
__global__ void __launch_bounds__(block_threads)
    update_each(Optimiser rule, float* w, const float* gradient, float* m1, float* m2, Steps steps, std::int64_t count,
                UpdateSettings settings) {
    for (std::int64_t i = thread_number(); i < count; i += thread_count()) {
        update_elements(rule, w + i, gradient + i, m1 + i * steps.m1, m2 + i * steps.m2, std::int64_t{1}, settings);
    }
}

}  // namespace

void update(Optimiser rule, float* w, const float* gradient, float* m1, float* m2, std::int64_t count,
            const UpdateSettings& settings) {
    const Steps steps = {m1 == nullptr ? 0 : 1, m2 == nullptr ? 0 : 1};
    launch("update", blocks_for(count), update_each, rule, w, gradient, m1, m2, steps, count, settings);
}

}  // namespace gnnplan::kernels::cuda
