// A warp has a row of logits at a time.
#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/sums.cuh"

#include <cmath>

namespace gnnplan::kernels::cuda {
namespace {

// Returns the SoftmaxPart of a row's logits, in every lane.
__device__ SoftmaxPart part_of(const float* z, std::int64_t columns) {
    float largest = -INFINITY;
    for (std::int64_t j = lane_of_warp(); j < columns; j += warp_lanes) largest = fmaxf(largest, z[j]);
    largest = warp_largest(largest);
    double sum = 0, equal = 0;
    for (std::int64_t j = lane_of_warp(); j < columns; j += warp_lanes) {
        const float e = expf(z[j] - largest);
        const bool is_largest = z[j] == largest;
        sum += static_cast<double>(is_largest ? e - 1 : e);
        equal += is_largest ? 1 : 0;
    }
    sum = warp_sum(sum), equal = warp_sum(equal);
    return {largest, columns > 0 ? static_cast<float>(sum + (equal - 1)) : 0.0F};
}

// Replaces a row's logits by their gradient, given what is known of all its columns. The row's loss is added in one
// lane, of the rank that has the label's column.
__device__ void to_gradient(float* z, std::int64_t columns, const LossInput& input, std::int64_t row,
                            const SoftmaxPart& total, double& loss) {
    const double others = static_cast<double>(total.others), sum = 1 + others;
    const double weight = input.weight != nullptr ? static_cast<double>(input.weight[row]) : 1;
    const double count = input.inverse_training_count * weight;
    const std::int64_t label = input.label[row] - input.first_column;
    const auto scale = static_cast<float>(count / sum);
    for (std::int64_t j = lane_of_warp(); j < columns; j += warp_lanes) {
        const float above = z[j] - total.largest;
        z[j] = expf(above) * scale;
        if (j != label) continue;
        const double below = above == 0 ? -others : exp(static_cast<double>(above)) - sum;
        z[j] = static_cast<float>(below / sum * count);
        loss += weight * (log1p(others) - static_cast<double>(above));
    }
}

struct RowLoss {
    Matrix logits;
    LossInput input;
    const SoftmaxPart* totals;  // null where all columns are here

    __device__ void operator()(std::int64_t i, double (&loss)[1]) const {
        float* const z = row_of(logits, i);
        if (input.split[i] == training_split) {
            const SoftmaxPart total = totals != nullptr ? totals[i] : part_of(z, logits.columns);
            to_gradient(z, logits.columns, input, i, total, loss[0]);
        } else {
            for (std::int64_t j = lane_of_warp(); j < logits.columns; j += warp_lanes) z[j] = 0;
        }
    }
};

// The first of the largest of a row, where a NaN is the largest if it is the first of all and else never.
__device__ std::int64_t largest_at(const float* z, std::int64_t columns) {
    float largest = -INFINITY;
    std::int64_t at = columns;
    for (std::int64_t j = lane_of_warp(); j < columns; j += warp_lanes) {
        if (z[j] > largest || (at == columns && z[j] == largest)) largest = z[j], at = j;
    }
    for (int distance = warp_lanes / 2; distance > 0; distance /= 2) {
        const float other = __shfl_xor_sync(all_lanes, largest, distance);
        const std::int64_t other_at = __shfl_xor_sync(all_lanes, at, distance);
        if (other > largest || (other == largest && other_at < at)) largest = other, at = other_at;
    }
    return z[0] != z[0] ? 0 : at;
}

struct RowCorrect {
    ConstMatrix logits;
    const std::int32_t* label;
    const std::uint8_t* split;

    __device__ void operator()(std::int64_t i, double (&correct)[3]) const {
        if (logits.columns == 0 || label[i] < 0 || split[i] >= 3) return;
        const bool right = largest_at(row_of(logits, i), logits.columns) == label[i];
        for (int s = 0; s < 3; ++s) correct[s] += right && lane_of_warp() == 0 && split[i] == s ? 1 : 0;
    }
};

struct RowCrossEntropy {
    ConstMatrix logits;
    const std::int32_t* label;
    const std::uint8_t* split;
    std::uint8_t of;

    __device__ void operator()(std::int64_t i, double (&loss)[1]) const {
        if (split[i] != of || label[i] < 0) return;
        const float* const z = row_of(logits, i);
        const SoftmaxPart all = part_of(z, logits.columns);
        if (lane_of_warp() != 0) return;
        loss[0] += log1p(static_cast<double>(all.others)) - (static_cast<double>(z[label[i]]) - all.largest);
    }
};

__global__ void __launch_bounds__(block_threads)
    find_parts(ConstMatrix logits, const std::uint8_t* split, SoftmaxPart* parts) {
    for (std::int64_t i = thread_number() / warp_lanes; i < logits.rows; i += thread_count() / warp_lanes) {
        const std::int64_t columns = split[i] == training_split ? logits.columns : 0;
        const SoftmaxPart part = part_of(row_of(logits, i), columns);
        if (lane_of_warp() == 0) parts[i] = part;
    }
}

__global__ void __launch_bounds__(block_threads)
    find_totals(const SoftmaxPart* parts, std::int64_t rows, std::int64_t ranks, SoftmaxPart* totals) {
    for (std::int64_t i = thread_number(); i < rows; i += thread_count()) {
        float largest = -INFINITY, sum = 0;
        bool found = false;
        for (std::int64_t r = 0; r < ranks; ++r) largest = fmaxf(largest, parts[r * rows + i].largest);
        for (std::int64_t r = 0; r < ranks; ++r) {
            const SoftmaxPart part = parts[r * rows + i];
            if (part.largest == -INFINITY && part.others == 0) continue;  // no columns; a NaN counts
            const bool counts = found || part.largest != largest;
            sum += counts ? (1 + part.others) * expf(part.largest - largest) : part.others;
            found = found || !counts;
        }
        totals[i] = {largest, sum};
    }
}

}  // namespace

void softmax_cross_entropy(Matrix logits, const LossInput& input, double* loss) {
    sum_over_rows<1>("softmax_cross_entropy", logits.rows, RowLoss{logits, input, nullptr}, loss);
}

void softmax_parts(ConstMatrix logits, const std::uint8_t* split, SoftmaxPart* parts) {
    launch("softmax_parts", blocks_for(logits.rows * warp_lanes), find_parts, logits, split, parts);
}

void softmax_totals(const SoftmaxPart* parts, std::int64_t rows, std::int64_t ranks, SoftmaxPart* totals) {
    launch("softmax_totals", blocks_for(rows), find_totals, parts, rows, ranks, totals);
}

void softmax_gradient(Matrix logits, const LossInput& input, const SoftmaxPart* totals, double* loss) {
    sum_over_rows<1>("softmax_gradient", logits.rows, RowLoss{logits, input, totals}, loss);
}

void count_correct(ConstMatrix logits, const std::int32_t* label, const std::uint8_t* split, double correct[3]) {
    sum_over_rows<3>("count_correct", logits.rows, RowCorrect{logits, label, split}, correct);
}

void cross_entropy(ConstMatrix logits, const std::int32_t* label, const std::uint8_t* split, std::uint8_t of,
                   double* loss) {
    sum_over_rows<1>("cross_entropy", logits.rows, RowCrossEntropy{logits, label, split, of}, loss);
}

}  // namespace gnnplan::kernels::cuda
