#include "runtime/data/dataset.hpp"
#include "runtime/exec/handlers.hpp"

#include <algorithm>
#include <array>

namespace gnnplan::exec {
namespace {

// Rows whose training flags are made at a time: small enough for the stack, large enough for the kernel's threads.
constexpr std::int64_t loss_rows = 16384;

}  // namespace

void run_step(const LossStep& step, const StepContext& context) {
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
    store.values<double>(step.loss).front() = loss;
}

void run_step(const ScoreStep& step, const StepContext& context) {
    const Store& store = context.store;
    const auto counts = store.values<double>(step.counts);
    std::fill(counts.begin(), counts.end(), 0.0);
    context.kernels.count_correct(store.matrix(step.logits), store.values<std::int32_t>(step.labels).data(),
                                  store.values<std::uint8_t>(step.subset).data(), counts.data());
}

}  // namespace gnnplan::exec
