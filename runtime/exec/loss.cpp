#include "runtime/data/dataset.hpp"
#include "runtime/exec/handlers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace gnnplan::exec {
namespace {

// Rows whose training flags are made at a time: small enough for the stack, large enough for the kernel's threads.
constexpr std::int64_t loss_rows = 16384;

// A row's maximum and the sum of exp(z - maximum), over some of its columns.
struct RowStatistics {
    float maximum = -std::numeric_limits<float>::infinity();
    float sum = 0;
};

RowStatistics statistics_of(const float* row, std::int64_t columns) {
    RowStatistics statistics;
    for (std::int64_t j = 0; j < columns; ++j) statistics.maximum = std::max(statistics.maximum, row[j]);
    for (std::int64_t j = 0; j < columns; ++j) statistics.sum += std::exp(row[j] - statistics.maximum);
    return statistics;
}

// The column-parallel softmax cross-entropy: this rank has some columns of every row of its y-group.
class ColumnLoss {
public:
    ColumnLoss(const LossStep& step, const StepContext& context)
        : context_(context),
          logits_(context.store.matrix(step.logits)),
          columns_(context.store.block(step.logits).columns),
          labels_(context.store.values<std::int32_t>(step.labels)),
          subset_(context.store.values<std::uint8_t>(step.subset)),
          own_(reinterpret_cast<RowStatistics*>(context.store.staging(context.step))) {}

    double run() {
        for (std::int64_t row = 0; row < logits_.rows; ++row)
            own_[row] = statistics_of(logits_.row(row), logits_.columns);
        gather();
        double loss = 0;
        for (std::int64_t row = 0; row < logits_.rows; ++row) loss += make_gradient(row);
        return loss;
    }

private:
    // The statistics of the other ranks of the y-group, one after the other, behind this rank's.
    void gather() {
        const int group = context_.store.schedule().grid.y;
        const int first = context_.store.rank() / group * group;
        const auto bytes = static_cast<std::size_t>(logits_.rows) * sizeof(RowStatistics);
        if (bytes == 0) return;
        std::vector<comm::Send> sends;
        std::vector<comm::Receive> receives;
        for (int peer = first; peer < first + group; ++peer) {
            if (peer == context_.store.rank()) continue;
            sends.push_back({peer, {reinterpret_cast<const std::byte*>(own_), bytes}});
            auto* place = reinterpret_cast<std::byte*>(own_ + (peers_ + 1) * logits_.rows);
            receives.push_back({peer, {place, bytes}});
            ++peers_;
        }
        context_.world.exchange(sends, receives);
    }

    RowStatistics total(std::int64_t row) const {
        RowStatistics total;
        for (std::int64_t peer = 0; peer <= peers_; ++peer) {
            total.maximum = std::max(total.maximum, own_[peer * logits_.rows + row].maximum);
        }
        for (std::int64_t peer = 0; peer <= peers_; ++peer) {
            const RowStatistics& part = own_[peer * logits_.rows + row];
            if (part.sum > 0) total.sum += part.sum * std::exp(part.maximum - total.maximum);
        }
        return total;
    }

    // Returns the row's cross-entropy where its label is one of this rank's columns.
    double make_gradient(std::int64_t row) const {
        float* z = logits_.row(row);
        const auto i = static_cast<std::size_t>(row);
        if (subset_[i] != data::train) {
            std::fill(z, z + logits_.columns, 0.0F);
            return 0;
        }
        const RowStatistics all = total(row);
        const std::int64_t label = labels_[i] - columns_.begin;
        const bool here = label >= 0 && label < logits_.columns;
        const double loss = here ? std::log(static_cast<double>(all.sum)) + all.maximum - z[label] : 0;
        const auto scale = static_cast<float>(context_.settings.inverse_training_count);
        for (std::int64_t j = 0; j < logits_.columns; ++j) {
            const float target = here && j == label ? 1.0F : 0.0F;
            z[j] = (std::exp(z[j] - all.maximum) / all.sum - target) * scale;
        }
        return loss;
    }

    const StepContext& context_;
    kernels::Matrix logits_;
    Range columns_;
    std::span<const std::int32_t> labels_;
    std::span<const std::uint8_t> subset_;
    RowStatistics* own_;
    std::int64_t peers_ = 0;
};

double row_parallel_loss(const LossStep& step, const StepContext& context) {
    const Store& store = context.store;
    const kernels::Matrix logits = store.matrix(step.logits);
    const auto labels = store.values<std::int32_t>(step.labels);
    const auto subset = store.values<std::uint8_t>(step.subset);
    std::array<std::uint8_t, static_cast<std::size_t>(loss_rows)> in_training{};
    double loss = 0;
    for (std::int64_t row = 0; row < logits.rows; row += loss_rows) {
        const std::int64_t rows = std::min(loss_rows, logits.rows - row);
        for (std::int64_t i = 0; i < rows; ++i) {
            in_training[static_cast<std::size_t>(i)] = subset[static_cast<std::size_t>(row + i)] == data::train ? 1 : 0;
        }
        loss += context.kernels.softmax_cross_entropy(
            {logits.row(row), rows, logits.columns, logits.stride},
            {labels.data() + row, in_training.data(), context.settings.inverse_training_count});
    }
    return loss;
}

}  // namespace

void run_step(const LossStep& step, const StepContext& context) {
    const Schedule& schedule = context.store.schedule();
    const bool whole_rows = same_placement(tensor_of(schedule, step.logits).layout, layout_r(), schedule.grid);
    context.store.values<double>(step.loss).front() =
        whole_rows ? row_parallel_loss(step, context) : ColumnLoss(step, context).run();
}

void run_step(const ScoreStep& step, const StepContext& context) {
    const Store& store = context.store;
    const auto counts = store.values<double>(step.counts);
    std::fill(counts.begin(), counts.end(), 0.0);
    context.kernels.count_correct(store.matrix(step.logits), store.values<std::int32_t>(step.labels).data(),
                                  store.values<std::uint8_t>(step.subset).data(), counts.data());
}

}  // namespace gnnplan::exec
