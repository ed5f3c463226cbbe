#include "bench/kernels/plain_spmm.hpp"

namespace gnnplan::bench {

void plain_spmm(const kernels::Csr& a, kernels::ConstMatrix b, kernels::Matrix c) {
#pragma omp parallel for schedule(dynamic, 256)
    for (std::int64_t i = 0; i < a.rows; ++i) {
        float* out = c.data + i * c.stride;
        for (std::int64_t j = 0; j < c.columns; ++j) out[j] = 0;
        for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
            const float* x = b.data + a.column[k] * b.stride;
            const float value = a.value[k];
            for (std::int64_t j = 0; j < c.columns; ++j) out[j] += value * x[j];
        }
    }
}

float read_all(const float* data, std::int64_t count) {
    constexpr std::int64_t block = 1 << 12;
    constexpr int lanes = 128;
    float total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total)
    for (std::int64_t first = 0; first < count / block * block; first += block) {
        float sum[lanes] = {};
        for (std::int64_t i = 0; i < block; i += lanes) {
            for (int lane = 0; lane < lanes; ++lane) sum[lane] += data[first + i + lane];
        }
        for (const float part : sum) total += part;
    }
    return total;
}

}  // namespace gnnplan::bench
