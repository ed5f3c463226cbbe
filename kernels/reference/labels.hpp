// Sigmoid cross-entropy and scores of several labels as plain loops, in doubles.
#pragma once

#include "kernels/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace gnnplan::kernels::reference {

inline bool bit(const std::uint8_t* bits, std::int64_t at) { return ((bits[at / 8] >> (at % 8)) & 1U) != 0; }
inline bool is_known(const LabelBits& labels, std::int64_t at) {
    return labels.known == nullptr || bit(labels.known, at);
}

inline double softplus(double t) { return std::max(t, 0.0) + std::log1p(std::exp(-std::abs(t))); }

// The loss of a logit z, whose label is there or not.
inline double loss_of_label(double z, bool there) { return std::isnan(z) ? z : softplus(there ? -z : z); }

inline void sigmoid_cross_entropy(Matrix logits, const SigmoidInput& input, double* loss) {
    *loss = 0;
    for (std::int64_t i = 0; i < logits.rows; ++i) {
        const bool trains = input.split[i] == training_split;
        const double weight = input.weight == nullptr ? 1 : static_cast<double>(input.weight[i]);
        for (std::int64_t j = 0; j < logits.columns; ++j) {
            float& z = logits.row(i)[j];
            const std::int64_t at = i * logits.columns + j;
            if (!trains || !is_known(input.labels, at)) {
                z = 0;
                continue;
            }
            const bool there = bit(input.labels.value, at);
            const double away = there ? -static_cast<double>(z) : static_cast<double>(z);  // from what is right
            *loss += weight * loss_of_label(static_cast<double>(z), there);
            const double gradient = 1 / (1 + std::exp(-away)) * input.inverse_training_count * weight;
            z = static_cast<float>(there ? -gradient : gradient);
        }
    }
}

inline void count_labels(ConstMatrix logits, const LabelBits& labels, const std::uint8_t* split, double counts[9]) {
    std::fill_n(counts, 9, 0.0);
    for (std::int64_t i = 0; i < logits.rows; ++i) {
        for (std::int64_t j = 0; split[i] < 3 && j < logits.columns; ++j) {
            const std::int64_t at = i * logits.columns + j;
            const bool found = logits.row(i)[j] > 0, there = bit(labels.value, at);
            if (!is_known(labels, at) || (!found && !there)) continue;
            ++counts[3 * split[i] + (found && there ? 0 : found ? 1 : 2)];
        }
    }
}

inline void label_loss(ConstMatrix logits, const LabelBits& labels, const std::uint8_t* split, std::uint8_t of,
                       double* loss) {
    *loss = 0;
    for (std::int64_t i = 0; i < logits.rows; ++i) {
        for (std::int64_t j = 0; split[i] == of && j < logits.columns; ++j) {
            const std::int64_t at = i * logits.columns + j;
            if (is_known(labels, at))
                *loss += loss_of_label(static_cast<double>(logits.row(i)[j]), bit(labels.value, at));
        }
    }
}

// Compares each label that is there with all others of its column and split.
inline void rank_sums(ConstMatrix logits, const LabelBits& labels, const std::uint8_t* split, std::uint64_t* /*order*/,
                      Dense<double> sums) {
    for (std::int64_t row = 0; row < sums.rows; ++row) std::fill_n(sums.row(row), sums.columns, 0.0);
    for (std::int64_t j = 0; j < logits.columns; ++j) {
        const auto judged = [&](std::int64_t i) { return split[i] < 3 && is_known(labels, i * logits.columns + j); };
        const auto there = [&](std::int64_t i) { return bit(labels.value, i * logits.columns + j); };
        for (std::int64_t i = 0; i < logits.rows; ++i) {
            if (!judged(i)) continue;
            const std::int64_t s = split[i];
            const float z = logits.row(i)[j];
            ++sums.row(3 * s + (there(i) ? 0 : 1))[j];
            double& ranks = sums.row(3 * s + 2)[j];
            if (std::isnan(z)) ranks = std::numeric_limits<double>::quiet_NaN();
            if (!there(i)) continue;
            ++ranks;
            for (std::int64_t k = 0; k < logits.rows; ++k) {
                if (!judged(k) || split[k] != split[i]) continue;
                const float other = logits.row(k)[j];
                ranks += other < z ? 2 : other == z ? 1 : 0;
            }
        }
    }
}

constexpr Table with_labels(Table table) {
    table.sigmoid_cross_entropy = sigmoid_cross_entropy;
    table.count_labels = count_labels;
    table.label_loss = label_loss;
    table.rank_sums = rank_sums;
    return table;
}

}  // namespace gnnplan::kernels::reference
