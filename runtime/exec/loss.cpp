#include "runtime/data/dataset.hpp"
#include "runtime/exec/handlers.hpp"

#include <gnnplan/ir/pieces.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace gnnplan::exec {
namespace {

// Rows whose training flags are made at a time: small enough for the stack, large enough for the kernel's threads.
constexpr std::int64_t loss_rows = 16384;

// Calls of_rows(rows, in_training) for some rows after the other, one flag for each of them.
template <class OfRows>
void for_rows(std::span<const std::uint8_t> subset, std::int64_t count, const OfRows& of_rows) {
    std::array<std::uint8_t, static_cast<std::size_t>(loss_rows)> in_training{};
    for (std::int64_t row = 0; row < count; row += loss_rows) {
        const Range rows{row, std::min(count, row + loss_rows)};
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            const bool trains = subset[static_cast<std::size_t>(i)] == data::train;
            in_training[static_cast<std::size_t>(i - row)] = trains ? 1 : 0;
        }
        of_rows(rows, in_training.data());
    }
}

kernels::Matrix rows_of(const kernels::Matrix& all, Range rows) {
    return {all.row(rows.begin), rows.size(), all.columns, all.stride};
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
          own_(reinterpret_cast<kernels::SoftmaxPart*>(context.store.staging(context.step))) {}

    double run() {
        for_rows(subset_, logits_.rows, [&](Range rows, const std::uint8_t* in_training) {
            std::fill_n(own_ + rows.begin, rows.size(), kernels::SoftmaxPart{});
            context_.kernels.softmax_parts(rows_of(logits_, rows), in_training, own_ + rows.begin);
        });
        gather();
        for (std::int64_t row = 0; row < logits_.rows; ++row) {
            if (subset_[static_cast<std::size_t>(row)] == data::train) own_[row] = total(row);
        }
        double loss = 0;
        std::vector<std::int32_t> local(static_cast<std::size_t>(std::min(logits_.rows, loss_rows)));
        for_rows(subset_, logits_.rows, [&](Range rows, const std::uint8_t* in_training) {
            for (std::int64_t i = rows.begin; i < rows.end; ++i) {
                local[static_cast<std::size_t>(i - rows.begin)] =
                    labels_[static_cast<std::size_t>(i)] - static_cast<std::int32_t>(columns_.begin);
            }
            loss += context_.kernels.softmax_gradient(
                rows_of(logits_, rows), {local.data(), in_training, context_.settings.inverse_training_count},
                own_ + rows.begin);
        });
        return loss;
    }

private:
    // The parts of the other ranks of the y-group, one after the other, behind this rank's.
    void gather() {
        const int group = context_.store.schedule().grid.y;
        const int first = context_.store.rank() / group * group;
        const auto bytes = static_cast<std::size_t>(logits_.rows) * sizeof(kernels::SoftmaxPart);
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

    kernels::SoftmaxPart total(std::int64_t row) const {
        kernels::SoftmaxPart total;
        for (std::int64_t peer = 0; peer <= peers_; ++peer) {
            total.largest = std::max(total.largest, own_[peer * logits_.rows + row].largest);
        }
        for (std::int64_t peer = 0; peer <= peers_; ++peer) {
            const kernels::SoftmaxPart& part = own_[peer * logits_.rows + row];
            if (part.sum != 0) total.sum += part.sum * std::exp(part.largest - total.largest);  // a NaN counts too
        }
        return total;
    }

    const StepContext& context_;
    kernels::Matrix logits_;
    Range columns_;
    std::span<const std::int32_t> labels_;
    std::span<const std::uint8_t> subset_;
    kernels::SoftmaxPart* own_;
    std::int64_t peers_ = 0;
};

double row_parallel_loss(const LossStep& step, const StepContext& context) {
    const Store& store = context.store;
    const kernels::Matrix logits = store.matrix(step.logits);
    const auto labels = store.values<std::int32_t>(step.labels);
    double loss = 0;
    for_rows(store.values<std::uint8_t>(step.subset), logits.rows, [&](Range rows, const std::uint8_t* in_training) {
        loss += context.kernels.softmax_cross_entropy(
            rows_of(logits, rows), {labels.data() + rows.begin, in_training, context.settings.inverse_training_count});
    });
    return loss;
}

}  // namespace

void run_step(const LossStep& step, const StepContext& context) {
    const Schedule& schedule = context.store.schedule();
    context.store.values<double>(step.loss).front() =
        step.column_parallel(schedule) ? ColumnLoss(step, context).run() : row_parallel_loss(step, context);
}

void run_step(const ScoreStep& step, const StepContext& context) {
    const Store& store = context.store;
    const auto counts = store.values<double>(step.counts);
    std::fill(counts.begin(), counts.end(), 0.0);
    context.kernels.count_correct(store.matrix(step.logits), store.values<std::int32_t>(step.labels).data(),
                                  store.values<std::uint8_t>(step.subset).data(), counts.data());
}

}  // namespace gnnplan::exec
