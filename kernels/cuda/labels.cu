// Losses and scores of several labels for each row: a warp has a row of logits at a time.
#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/sums.cuh"

#include <cmath>

namespace gnnplan::kernels::cuda {
namespace {

__device__ bool bit(const std::uint8_t* bits, std::int64_t at) { return (bits[at / 8] >> (at % 8) & 1) != 0; }
__device__ bool is_known(const LabelBits& labels, std::int64_t at) {
    return labels.known == nullptr || bit(labels.known, at);
}

// log(1 + exp(t)), which t = -z makes the loss of a label that is there, and t = z that of one that is not.
__device__ double softplus(float t) {
    return static_cast<double>(t > 0 ? t : 0.0F) + static_cast<double>(log1pf(expf(-fabsf(t)))) + (t == t ? 0.0 : t);
}
// 1 / (1 + exp(-t)).
__device__ float sigmoid(float t) {
    const float e = expf(-fabsf(t));
    return (t > 0 ? 1.0F : e) / (1.0F + e);
}

struct RowSigmoid {
    Matrix logits;
    SigmoidInput input;

    __device__ void operator()(std::int64_t i, double (&loss)[1]) const {
        float* const z = row_of(logits, i);
        const bool trains = input.split[i] == training_split;
        const double weight = input.weight != nullptr ? static_cast<double>(input.weight[i]) : 1;
        const auto scale = static_cast<float>(input.inverse_training_count * weight);
        double sum = 0;
        for (std::int64_t j = lane_of_warp(); j < logits.columns; j += warp_lanes) {
            const std::int64_t at = i * logits.columns + j;
            if (!trains || !is_known(input.labels, at)) {
                z[j] = 0;
                continue;
            }
            const bool there = bit(input.labels.value, at);
            const float t = there ? -z[j] : z[j];
            sum += softplus(t);
            z[j] = (there ? -scale : scale) * sigmoid(t);
        }
        loss[0] += weight * sum;
    }
};

struct RowLabels {
    ConstMatrix logits;
    LabelBits labels;
    const std::uint8_t* split;
    std::uint8_t of;

    // Both, found alone, there alone.
    __device__ void operator()(std::int64_t i, double (&counts)[3]) const {
        if (split[i] != of) return;
        const float* const z = row_of(logits, i);
        for (std::int64_t j = lane_of_warp(); j < logits.columns; j += warp_lanes) {
            const std::int64_t at = i * logits.columns + j;
            const bool found = z[j] > 0, there = bit(labels.value, at);
            if (!is_known(labels, at)) continue;
            counts[0] += found && there ? 1 : 0;
            counts[1] += found && !there ? 1 : 0;
            counts[2] += !found && there ? 1 : 0;
        }
    }
};

struct RowLabelLoss {
    ConstMatrix logits;
    LabelBits labels;
    const std::uint8_t* split;
    std::uint8_t of;

    __device__ void operator()(std::int64_t i, double (&loss)[1]) const {
        if (split[i] != of) return;
        const float* const z = row_of(logits, i);
        for (std::int64_t j = lane_of_warp(); j < logits.columns; j += warp_lanes) {
            const std::int64_t at = i * logits.columns + j;
            if (is_known(labels, at)) loss[0] += softplus(bit(labels.value, at) ? -z[j] : z[j]);
        }
    }
};

}  // namespace

void sigmoid_cross_entropy(Matrix logits, const SigmoidInput& input, double* loss) {
    sum_over_rows<1>("sigmoid_cross_entropy", logits.rows, RowSigmoid{logits, input}, loss);
}

// Nine sums are more than a block has warps.
void count_labels(ConstMatrix logits, const LabelBits& labels, const std::uint8_t* split, double counts[9]) {
    for (std::uint8_t s = 0; s < 3; ++s)
        sum_over_rows<3>("count_labels", logits.rows, RowLabels{logits, labels, split, s}, counts + 3 * s);
}

void label_loss(ConstMatrix logits, const LabelBits& labels, const std::uint8_t* split, std::uint8_t of, double* loss) {
    sum_over_rows<1>("label_loss", logits.rows, RowLabelLoss{logits, labels, split, of}, loss);
}

}  // namespace gnnplan::kernels::cuda
