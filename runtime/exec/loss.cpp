#include "runtime/exec/handlers.hpp"
#include "runtime/graph/subset.hpp"

#include <cstdint>
#include <vector>

namespace gnnplan::exec {
namespace {

static_assert(kernels::training_split == data::train);

kernels::LabelBits bits_of(const StepContext& context, TensorId labels, const std::optional<TensorId>& known) {
    const Store& store = context.store;
    return {store.data<std::uint8_t>(labels), known ? store.data<std::uint8_t>(*known) : nullptr};
}

bool are_bits(const StepContext& context, TensorId labels) {
    return tensor_of(context.store.schedule(), labels).dtype == DType::bits;
}

kernels::LossInput input_of(const LossStep& step, const StepContext& context) {
    const Store& store = context.store;
    return {store.data<std::int32_t>(step.labels), store.data<std::uint8_t>(step.subset),
            context.settings.inverse_training_count, store.block(step.logits).columns.begin,
            step.weights ? store.data<float>(*step.weights) : nullptr};
}

kernels::SigmoidInput sigmoid_input_of(const LossStep& step, const StepContext& context) {
    const Store& store = context.store;
    return {bits_of(context, step.labels, step.known), store.data<std::uint8_t>(step.subset),
            context.settings.inverse_training_count, step.weights ? store.data<float>(*step.weights) : nullptr};
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
    auto* loss = store.data<double>(step.loss);
    if (are_bits(context, step.labels))
        return context.kernels.sigmoid_cross_entropy(logits, sigmoid_input_of(step, context), loss);
    const kernels::LossInput input = input_of(step, context);
    if (!step.column_parallel(store.schedule())) return context.kernels.softmax_cross_entropy(logits, input, loss);
    auto* parts = reinterpret_cast<kernels::SoftmaxPart*>(store.staging(context.step));
    context.kernels.softmax_parts(logits, input.split, parts);
    const std::int64_t ranks = gather_parts(step, context, parts, logits.rows);
    context.kernels.softmax_totals(parts, logits.rows, ranks, parts);
    context.kernels.softmax_gradient(logits, input, parts, loss);
}

void run_step(const ScoreStep& step, const StepContext& context) {
    const Store& store = context.store;
    const kernels::Table& table = context.kernels;
    const kernels::Matrix logits = store.matrix(step.logits);
    const auto* split = store.data<std::uint8_t>(step.subset);
    auto* counts = store.data<double>(step.counts);
    double* const loss = step.adds_loss(store.schedule()) ? counts + step.numbers(store.schedule()) : nullptr;
    if (are_bits(context, step.labels)) {
        const kernels::LabelBits bits = bits_of(context, step.labels, step.known);
        table.count_labels(logits, bits, split, counts);
        if (loss != nullptr) table.label_loss(logits, bits, split, data::valid, loss);
        return;
    }
    const auto* label = store.data<std::int32_t>(step.labels);
    table.count_correct(logits, label, split, counts);
    if (loss != nullptr) table.cross_entropy(logits, label, split, data::valid, loss);
}

void run_step(const RankSumStep& step, const StepContext& context) {
    const Store& store = context.store;
    const kernels::ConstMatrix logits = store.matrix(step.logits);
    const Block block = store.block(step.logits);
    const std::int64_t all = tensor_of(store.schedule(), step.sums).columns;
    const std::span<double> sums = store.values<double>(step.sums);
    context.kernels.zero(std::as_writable_bytes(sums));
    if (logits.columns == 0) return;
    ensure(context.kernels.rank_sums != nullptr, "the device ranks logits");
    context.kernels.rank_sums(logits, bits_of(context, step.labels, step.known), store.data<std::uint8_t>(step.subset),
                              reinterpret_cast<std::uint64_t*>(store.data<double>(step.order)),
                              {sums.data() + block.columns.begin, RankSumStep::rows, logits.columns, all});
}

}  // namespace gnnplan::exec
