// Values of the entries of a matrix. A warp has a row of a source panel at a time; warps of long rows take longer.
#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/cuda/threads.cuh"

#include <cmath>

namespace gnnplan::kernels::cuda {
namespace {

__device__ inline std::int64_t first_row() { return thread_number() / warp_lanes; }
__device__ inline std::int64_t rows_at_once() { return thread_count() / warp_lanes; }

// A power of two of lanes has an entry, and several entries are at work.
__global__ void __launch_bounds__(block_threads)
    dot_entries(Csr a, ConstMatrix x, ConstMatrix y, float* scores, int lanes) {
    const int index = lane_of_warp() & (lanes - 1), entry = lane_of_warp() / lanes, entries = warp_lanes / lanes;
    for (std::int64_t i = first_row(); i < a.rows; i += rows_at_once()) {
        const float* of_row = row_of(y, i);
        const std::int64_t end = start_of(a, i + 1);
        for (std::int64_t base = start_of(a, i); base < end; base += entries) {
            const std::int64_t e = smaller(base + entry, end - 1);
            const float* other = row_of(x, a.column[e]);
            float sum = 0;
            for (std::int64_t j = index; j < x.columns; j += lanes) sum = fmaf(of_row[j], other[j], sum);
            for (int distance = lanes / 2; distance > 0; distance /= 2)
                sum += __shfl_xor_sync(all_lanes, sum, distance);
            if (index == 0 && base + entry < end) scores[e] = sum;
        }
    }
}

__global__ void __launch_bounds__(block_threads)
    find_totals(Csr a, const float* scores, const float* beta, EdgeTotals to, bool accumulate) {
    const float factor = *beta;
    for (std::int64_t i = first_row(); i < a.rows; i += rows_at_once()) {
        const std::int64_t begin = start_of(a, i), end = start_of(a, i + 1);
        const bool before = accumulate && to.total[i] > 0;
        const float known = before ? to.largest[i] : -INFINITY;
        float largest = known;
        for (std::int64_t e = begin + lane_of_warp(); e < end; e += warp_lanes)
            largest = fmaxf(largest, factor * scores[e]);
        largest = warp_largest(largest);
        float total = 0;
        for (std::int64_t e = begin + lane_of_warp(); e < end; e += warp_lanes)
            total += expf(factor * scores[e] - largest);
        total = warp_sum(total);
        if (before) total += to.total[i] * expf(known - largest);
        __syncwarp();
        if (lane_of_warp() != 0) continue;
        to.total[i] = total;
        to.largest[i] = total > 0 ? largest : 0;
    }
}

__global__ void __launch_bounds__(block_threads)
    find_weights(Csr a, const float* scores, const float* beta, EdgeTotals of, float* weights) {
    const float factor = *beta;
    for (std::int64_t i = first_row(); i < a.rows; i += rows_at_once()) {
        const float largest = of.largest[i], total = of.total[i];
        for (std::int64_t e = start_of(a, i) + lane_of_warp(); e < start_of(a, i + 1); e += warp_lanes)
            weights[e] = expf(factor * scores[e] - largest) / total;
    }
}

__global__ void __launch_bounds__(block_threads) go_back(Csr a, EdgeSoftmaxBack back, bool accumulate) {
    const float factor = *back.beta;
    for (std::int64_t i = first_row(); i < a.rows; i += rows_at_once()) {
        const float inner = back.inner[i];
        float sum = 0;
        for (std::int64_t e = start_of(a, i) + lane_of_warp(); e < start_of(a, i + 1); e += warp_lanes) {
            const float d = back.weights[e] * (back.gradient[e] - inner);
            sum = fmaf(d, back.scores[e], sum);
            back.gradient[e] = factor * d;
        }
        sum = warp_sum(sum);
        if (lane_of_warp() == 0) back.of_beta[i] = accumulate ? back.of_beta[i] + sum : sum;
    }
}

std::int64_t blocks_of(const Csr& a) { return blocks_for(a.rows * warp_lanes); }

}  // namespace

void edge_dot(const Csr& a, ConstMatrix x, ConstMatrix y, float* scores) {
    constexpr std::int64_t columns_of_lane = 4;
    int lanes = 1;
    while (lanes < warp_lanes && lanes * columns_of_lane < x.columns) lanes *= 2;
    for (std::int64_t p = 0; p < a.panels; ++p)
        launch("edge_dot", blocks_of(a), dot_entries, a.panel(p), x, y, scores, lanes);
}

void edge_totals(const Csr& a, const float* scores, const float* beta, EdgeTotals to, bool accumulate) {
    for (std::int64_t p = 0; p < a.panels; ++p)
        launch("edge_totals", blocks_of(a), find_totals, a.panel(p), scores, beta, to, accumulate || p > 0);
}

void edge_softmax(const Csr& a, const float* scores, const float* beta, EdgeTotals of, float* weights) {
    for (std::int64_t p = 0; p < a.panels; ++p)
        launch("edge_softmax", blocks_of(a), find_weights, a.panel(p), scores, beta, of, weights);
}

void edge_softmax_back(const Csr& a, const EdgeSoftmaxBack& back, bool accumulate) {
    for (std::int64_t p = 0; p < a.panels; ++p)
        launch("edge_softmax_back", blocks_of(a), go_back, a.panel(p), back, accumulate || p > 0);
}

}  // namespace gnnplan::kernels::cuda
