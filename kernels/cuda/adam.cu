#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/cuda/threads.cuh"
#include "kernels/optimiser_body.hpp"

namespace gnnplan::kernels::cuda {
namespace {

// The rules that the processor's kernels follow, an element at a time.
__global__ void __launch_bounds__(block_threads) update_each(Optimiser rule, float* w, const float* gradient, float* m1,
                                                             float* m2, std::int64_t count, UpdateSettings settings) {
    for (std::int64_t i = thread_number(); i < count; i += thread_count()) {
        update_elements(rule, w + i, gradient + i, m1 != nullptr ? m1 + i : nullptr, m2 != nullptr ? m2 + i : nullptr,
                        std::int64_t{1}, settings);
    }
}

}  // namespace

void update(Optimiser rule, float* w, const float* gradient, float* m1, float* m2, std::int64_t count,
            const UpdateSettings& settings) {
    launch("update", blocks_for(count), update_each, rule, w, gradient, m1, m2, count, settings);
}

}  // namespace gnnplan::kernels::cuda
