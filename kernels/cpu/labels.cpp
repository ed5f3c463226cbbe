// Losses and scores of several labels for each row.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "kernels/cpu/cpu.hpp"
#include "kernels/cpu/row_blocks.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/parallel.hpp"

namespace gnnplan::kernels::cpu {
namespace {

bool bit(const std::uint8_t* bits, std::int64_t at) { return (bits[at / 8] >> (at % 8) & 1U) != 0; }
bool is_known(const LabelBits& labels, std::int64_t at) { return labels.known == nullptr || bit(labels.known, at); }

// Greater of greater floats, and equal of 0 and -0.
std::uint32_t ordered(float z) {
    const auto bits = std::bit_cast<std::uint32_t>(z + 0.0F);
    return bits >> 31U != 0 ? ~bits : bits | 1U << 31U;
}

struct Counts {
    std::array<std::int64_t, 3> there{}, absent{};
};

// The labels of one column, sorted by their logits, split by split. An element of `order` has a logit and a row.
class RankedColumn {
public:
    RankedColumn(ConstMatrix logits, const LabelBits& labels, const std::uint8_t* split, std::int64_t column,
                 std::span<std::uint64_t> order)
        : logits_(logits), labels_(labels), split_(split), column_(column) {
        std::size_t count = 0;
        for (std::int64_t i = 0; i < logits.rows; ++i) {
            if (split[i] >= 3 || !is_known(labels, bit_of(i))) continue;
            const float z = logits.row(i)[column];
            if (std::isnan(z)) ranks_[split[i]] = std::numeric_limits<double>::quiet_NaN();
            order[count++] = std::uint64_t{ordered(z)} << 32U | static_cast<std::uint32_t>(i);
        }
        sorted_ = order.first(count);
        std::ranges::sort(sorted_);
        for (std::size_t i = 0; i < sorted_.size();) i = add_equal(i);
    }

    void write(Dense<double> sums) const {
        for (std::int64_t s = 0; s < 3; ++s) {
            const auto of = static_cast<std::size_t>(s);
            sums.row(3 * s)[column_] = static_cast<double>(all_.there[of]);
            sums.row(3 * s + 1)[column_] = static_cast<double>(all_.absent[of]);
            sums.row(3 * s + 2)[column_] = ranks_[of];
        }
    }

private:
    std::int64_t bit_of(std::int64_t row) const { return row * logits_.columns + column_; }

    // Those with the logit of element `first`: twice the mean of their ranks is twice the number below, the number of
    // them, and 1. Returns the first one behind them.
    std::size_t add_equal(std::size_t first) {
        const std::uint64_t logit = sorted_[first] >> 32U;
        Counts equal;
        std::size_t i = first;
        for (; i < sorted_.size() && sorted_[i] >> 32U == logit; ++i) {
            const auto row = static_cast<std::int64_t>(sorted_[i] & 0xffffffffU);
            ++(bit(labels_.value, bit_of(row)) ? equal.there : equal.absent)[split_[row]];
        }
        for (std::size_t s = 0; s < 3; ++s) {
            const std::int64_t below = all_.there[s] + all_.absent[s];
            ranks_[s] += static_cast<double>(equal.there[s] * (2 * below + equal.there[s] + equal.absent[s] + 1));
            all_.there[s] += equal.there[s], all_.absent[s] += equal.absent[s];
        }
        return i;
    }

    ConstMatrix logits_;
    const LabelBits& labels_;
    const std::uint8_t* split_;
    std::int64_t column_;
    std::span<std::uint64_t> sorted_;
    Counts all_;
    std::array<double, 3> ranks_{};
};

}  // namespace

void sigmoid_cross_entropy(Matrix logits, const SigmoidInput& input, double* loss) {
    const LossKernels& kernels = best_kernels().losses;
    *loss = sum_over_rows(logits, [&](std::int64_t i) {
        float* const row = logits.row(i);
        if (input.split[i] != training_split) {
            std::fill_n(row, logits.columns, 0.0F);
            return 0.0;
        }
        const double weight = input.weight == nullptr ? 1 : static_cast<double>(input.weight[i]);
        const auto scale = static_cast<float>(input.inverse_training_count * weight);
        return weight * kernels.label_row(row, logits.columns, input.labels, i * logits.columns, scale, row);
    });
}

void count_labels(ConstMatrix logits, const LabelBits& labels, const std::uint8_t* split, double counts[9]) {
    std::array<std::array<std::int64_t, 9>, row_blocks> partial{};
    parallel_for(row_blocks, logits.rows * logits.columns, LoopSchedule::fixed, [&](std::int64_t block) {
        std::array<std::int64_t, 9> found{};
        for (std::int64_t i = block_start(logits.rows, block); i < block_start(logits.rows, block + 1); ++i) {
            if (split[i] >= 3) continue;
            std::array<std::int64_t, 4> of_row{};  // neither, found, there, both
            for (std::int64_t j = 0; j < logits.columns; ++j) {
                const std::int64_t at = i * logits.columns + j;
                const unsigned kind = (logits.row(i)[j] > 0 ? 1U : 0U) + (bit(labels.value, at) ? 2U : 0U);
                of_row[is_known(labels, at) ? kind : 0U] += 1;
            }
            const std::size_t first = 3 * std::size_t{split[i]};
            found[first] += of_row[3], found[first + 1] += of_row[1], found[first + 2] += of_row[2];
        }
        partial[static_cast<std::size_t>(block)] = found;
    });
    std::fill_n(counts, 9, 0.0);
    for (const auto& found : partial) {
        for (std::size_t k = 0; k < found.size(); ++k) counts[k] += static_cast<double>(found[k]);
    }
}

void label_loss(ConstMatrix logits, const LabelBits& labels, const std::uint8_t* split, std::uint8_t of, double* loss) {
    const LossKernels& kernels = best_kernels().losses;
    *loss = sum_over_rows(logits, [&](std::int64_t i) {
        if (split[i] != of) return 0.0;
        return kernels.label_row(logits.row(i), logits.columns, labels, i * logits.columns, 1, nullptr);
    });
}

void rank_sums(ConstMatrix logits, const LabelBits& labels, const std::uint8_t* split, std::uint64_t* order,
               Dense<double> sums) {
    constexpr std::int64_t cost = 64;  // of an element that is sorted, in additions
    const auto rows = static_cast<std::size_t>(logits.rows);
    parallel_for(logits.columns, logits.rows * logits.columns * cost, LoopSchedule::dynamic, [&](std::int64_t j) {
        RankedColumn(logits, labels, split, j, {order + static_cast<std::size_t>(j) * rows, rows}).write(sums);
    });
}

}  // namespace gnnplan::kernels::cpu
