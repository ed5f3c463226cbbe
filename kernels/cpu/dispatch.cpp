#include <array>

#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

struct Supported {
    std::array<const VectorKernels*, 3> kernels{};
    std::size_t count = 0;

    void add(const VectorKernels& more) { kernels[count++] = &more; }
};

Supported detect() {
    Supported found;
    found.add(baseline_kernels());
#ifdef GNNPLAN_KERNELS_X86
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found.add(avx2_kernels());
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
        found.add(avx512_kernels());
    }
#endif
    return found;
}

}  // namespace

std::span<const VectorKernels* const> supported_kernels() {
    static const Supported supported = detect();
    return {supported.kernels.data(), supported.count};
}

const VectorKernels& best_kernels() {
    static const VectorKernels& best = *supported_kernels().back();
    return best;
}

}  // namespace gnnplan::kernels::cpu
