#include "bench/kernels/fma_peak.hpp"

#include <omp.h>

#include <chrono>
#include <cstdint>

namespace gnnplan::bench {
namespace {

constexpr std::int64_t steps = 1'000'000;
constexpr int sums = 16;  // two units times a latency of four or five steps, and some to spare

template <int width>
struct VectorOf {
    typedef float type __attribute__((vector_size(width * sizeof(float))));
};

template <int width>
[[gnu::always_inline]] inline float burst() {
    using Vector = typename VectorOf<width>::type;
    Vector sum[sums];
    for (int i = 0; i < sums; ++i) sum[i] = Vector{} + static_cast<float>(i);
    Vector x = Vector{} + 0.99F;
    Vector y = Vector{} + 0.01F;
    for (std::int64_t step = 0; step < steps; ++step) {
        asm volatile("" : "+v"(x), "+v"(y));  // not to be hoisted
        for (int i = 0; i < sums; ++i) sum[i] = sum[i] * x + y;
    }
    Vector total = {};
    for (int i = 0; i < sums; ++i) total += sum[i];
    return total[0];
}

[[gnu::target("avx2,fma")]] float burst_avx2() { return burst<8>(); }
[[gnu::target("avx512f")]] float burst_avx512() { return burst<16>(); }

}  // namespace

double fma_burst() {
    const bool wide = __builtin_cpu_supports("avx512f") != 0;
    const float used = wide ? burst_avx512() : burst_avx2();
    asm volatile("" : : "x"(used));
    return 2.0 * (wide ? 16 : 8) * sums * static_cast<double>(steps);
}

double fma_peak() {
    const auto start = std::chrono::steady_clock::now();
    double operations = 0;
#pragma omp parallel reduction(+ : operations)
    operations += fma_burst();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    return operations / seconds.count();
}

}  // namespace gnnplan::bench
