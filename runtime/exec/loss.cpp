#include "runtime/exec/handlers.hpp"
#include "runtime/graph/subset.hpp"

#include <cstdint>
#include <vector>

namespace gnnplan::exec {
namespace {

static_assert(kernels::training_split == data::train);

kernels::LossInput input_of(const LossStep& step, const StepContext& context) {
    const Store& store = context.store;
    return {store.data<std::int32_t>(step.labels), store.data<std::uint8_t>(step.subset),
            context.settings.inverse_training_count, store.block(step.logits).columns.begin,
            step.weights ? store.data<float>(*step.weights) : nullptr};
}

// The parts of the other ranks of the y-group, one after the other, behind this rank's. Returns how many ranks it has.
std::int64_t gather_parts(const LossStep& step, const StepContext& context, kernels::SoftmaxPart* own,
                          std::int64_t rows) {
    const int group = context.store.schedule().grid.y;
    const auto bytes = static_cast<std::size_t>(rows) * sizeof(kernels::SoftmaxPart);
    if (bytes == 0) return group;
    std::vector<comm::Send> sends;
    std::vector<comm::Receive> receives;
    auto* place = reinterpret_cast<std::byte*>(own) + bytes;
    for (const int peer : step.peers(context.store.schedule(), context.store.rank())) {
        sends.push_back({peer, {reinterpret_cast<const std::byte*>(own), bytes}});
        receives.push_back({peer, {place, bytes}});
        place += bytes;
    }
    context.world.exchange(sends, receives);
    return group;
}

}  // namespace

// Column-parallel, a rank has some columns of every row of its y-group.
void run_step(const LossStep& step, const StepContext& context) {
    const Store& store = context.store;
    const kernels::Matrix logits = store.matrix(step.logits);
    const kernels::LossInput input = input_of(step, context);
    auto* loss = store.data<double>(step.loss);
    if (!step.column_parallel(store.schedule())) return context.kernels.softmax_cross_entropy(logits, input, loss);
    auto* parts = reinterpret_cast<kernels::SoftmaxPart*>(store.staging(context.step));
    context.kernels.softmax_parts(logits, input.split, parts);
    const std::int64_t ranks = gather_parts(step, context, parts, logits.rows);
    context.kernels.softmax_totals(parts, logits.rows, ranks, parts);
    context.kernels.softmax_gradient(logits, input, parts, loss);
}

void run_step(const ScoreStep& step, const StepContext& context) {
    const Store& store = context.store;
    const kernels::Matrix logits = store.matrix(step.logits);
    const auto* label = store.data<std::int32_t>(step.labels);
    const auto* split = store.data<std::uint8_t>(step.subset);
    auto* counts = store.data<double>(step.counts);
    context.kernels.count_correct(logits, label, split, counts);
    if (step.adds_loss(store.schedule()))
        context.kernels.cross_entropy(logits, label, split, data::valid, counts + ScoreStep::numbers);
}

}  // namespace gnnplan::exec
