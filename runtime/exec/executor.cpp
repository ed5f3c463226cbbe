#include "runtime/exec/executor.hpp"

#include "runtime/exec/handlers.hpp"
#include "runtime/exec/moments.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

namespace gnnplan::exec {
namespace {

// This rank, once it is known to be one of the grid's.
int rank_in(const Schedule& schedule, const comm::Communicator& comm) {
    const Grid& grid = schedule.grid;
    if (comm.size() != grid.size()) {
        throw Error(ErrorCode::mismatch, "the schedule is for " + std::to_string(grid.size()) +
                                             " ranks, this run has " + std::to_string(comm.size()));
    }
    return comm.rank();
}

// Returns the most bytes that clones take. With batches these are the clones of all groups at first, and later those of
// two updates, each with the edges of one group.
std::int64_t clone_bytes_of(const NumberedCounts& counts) {
    const data::Clones* clones = counts.clones();
    if (clones == nullptr) return 0;
    if (counts.pool() == nullptr) return clones->bytes();
    std::int64_t edges = 0;
    for (const data::Csr* matrix : {&clones->graph.out, &clones->graph.in})
        edges += 4 * matrix->nonzeros() + 4 * std::ssize(matrix->weight);
    return std::max(clones->bytes(), 2 * (clones->bytes() - edges + edges / clones->groups()));
}

std::int64_t order_bytes_of(const NumberedCounts& counts) {
    return counts.order().bytes() + clone_bytes_of(counts) + counts.pool_bytes();
}

}  // namespace

Executor::Executor(const Schedule& schedule, std::shared_ptr<const NumberedCounts> counts, comm::Communicator& comm,
                   kernels::Device& device, MemoryTracker& tracker, measure::Clock& clock)
    : counts_(std::move(counts)),
      order_(tracker, order_bytes_of(*counts_), Holder::host),
      workspace_(tracker, device.memory().workspace_bytes, Holder::tensors),
      store_(schedule, *counts_, rank_in(schedule, comm), device, tracker),
      world_(comm, traffic_),
      heartbeat_(*comm.heartbeats()[static_cast<std::size_t>(comm.rank())]),
      device_(device),
      clock_(clock) {
    for (const Step& step : schedule.steps) {
        if (const auto* loss = std::get_if<LossStep>(&step.operation)) results_[loss->loss] = &loss_sum_;
        if (const auto* score = std::get_if<ScoreStep>(&step.operation)) results_[score->counts] = &counts_of_scores_;
        if (const auto* ranks = std::get_if<RankSumStep>(&step.operation)) results_[ranks->sums] = &rank_sums_;
    }
    if (std::ranges::any_of(schedule.steps, [](const Step& step) { return in_background(step.operation); }))
        background_.emplace(world_);
}

// All tensors, but for those that only steps of an epoch before the first one read.
std::vector<TensorId> Executor::filled(std::size_t first_step) const {
    std::set<TensorId> before, behind;  // read by steps on either side of the first one
    for (std::size_t i = 0; i < schedule().steps.size(); ++i) {
        const Step& step = schedule().steps[i];
        const std::vector<TensorId> read = operands_of(step.operation).reads;
        (step.phase == Phase::epoch && i < first_step ? before : behind).insert(read.begin(), read.end());
    }
    std::vector<TensorId> tensors;
    for (std::size_t i = 0; i < schedule().tensors.size(); ++i) {
        const auto id = static_cast<TensorId>(i);
        if (behind.contains(id) || !before.contains(id)) tensors.push_back(id);
    }
    return tensors;
}

std::vector<TensorId> Executor::feature_tensors(std::size_t first_step) const {
    std::vector<TensorId> tensors = filled(first_step);
    std::erase_if(tensors, [&](TensorId id) { return tensor_of(schedule(), id).role != Role::features; });
    return tensors;
}

void Executor::put_row(TensorId tensor, std::int64_t row, std::span<const float> values) {
    const auto bytes = std::as_bytes(values);
    kernels::upload(device_, bytes, store_.bytes(tensor) + row * std::ssize(bytes));
}

void Executor::fill(const data::Dataset& dataset, std::size_t first_step) {
    const bool batches = schedule().numbering.batches.has_value();
    for (const TensorId id : filled(first_step)) {
        if (!batches || !of_groups(schedule(), tensor_of(schedule(), id).space)) fill(id, dataset);
    }
    if (batches) return;
    counts_.reset();
    order_.reset();
}

void Executor::take_batches(std::shared_ptr<const NumberedCounts> counts, const CloneScales& scales,
                            const data::Dataset& dataset) {
    const auto vertices = [](const NumberedCounts& of) { return std::span(of.clones()->vertices.vertex); };
    const bool same_rows = has_batches_ && std::ranges::equal(vertices(*counts_), vertices(*counts));
    counts_ = std::move(counts);
    store_.take_groups(*counts_, scales);
    has_batches_ = true;
    if (same_rows) return;
    for (const TensorId id : filled(0)) {
        if (of_groups(schedule(), tensor_of(schedule(), id).space)) fill(id, dataset);
    }
}

std::vector<std::vector<ProductKernel>> Executor::choose_kernels(std::string_view wanted) {
    const auto& steps = schedule().steps;
    std::vector<std::vector<ProductKernel>> found(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto* product = std::get_if<SpmmStep>(&steps[i].operation);
        if (product == nullptr) continue;
        const PassSettings none;
        found[i] = exec::choose_kernels(*product, {store_, device_.table(), world_, none, nullptr, i}, device_, wanted);
    }
    return found;
}

std::vector<measure::StepSample> Executor::run(Phase phase, const PassSettings& settings, const Observer& observer,
                                               std::size_t first_step) {
    try {
        return run_pass(phase, settings, observer, first_step);
    } catch (...) {
        device_.give_up();  // others may never send what is awaited
        throw;
    }
}

std::vector<measure::StepSample> Executor::run_pass(Phase phase, const PassSettings& settings, const Observer& observer,
                                                    std::size_t first_step) {
    const auto& steps = schedule().steps;
    std::vector<measure::StepSample> samples(steps.size());
    const kernels::PassValues* pass =
        device_.begin_pass(kernels::pass_values(settings.epoch, settings.update.adam, settings.rate));
    Moments moments(device_, clock_);
    // While the host waits, the device does the steps that were queued, one after the other.
    const auto look = device_.look_while_waiting([&] { follow(settings.epoch, moments); });
    for (std::size_t i = first_step; i < steps.size(); ++i) {
        if (steps[i].phase != phase) continue;
        Background* const background = background_ ? &*background_ : nullptr;
        const StepContext context{store_, device_.table(), world_, settings, pass, i, background, epochs_run_};
        traffic_.reset();
        std::visit([&](const auto& operation) { run_step(operation, context); }, steps[i].operation);
        moments.end(i);
        if (!device_.memory().accelerator) beat(settings.epoch, i);  // others have only been told of the step
        samples[i] = {0, traffic_.sent_bytes, traffic_.received_bytes, 0};
        keep_results(steps[i].operation);
        if (!observer) continue;
        observer(steps[i], *this);
        moments.begin_anew();
    }
    finish(settings.epoch, moments);
    if (phase == Phase::epoch) ++epochs_run_;
    moments.take_times(samples);
    return samples;
}

void Executor::beat(std::uint32_t epoch, std::size_t step) { heartbeat_.beat(epoch, static_cast<std::int32_t>(step)); }

void Executor::follow(std::uint32_t epoch, Moments& moments) {
    if (const auto step = moments.passed()) beat(epoch, *step);
}

void Executor::finish(std::uint32_t epoch, Moments& moments) {
    try {
        device_.finish();
    } catch (const Error& error) {
        const auto done = moments.last();
        if (error.code() != ErrorCode::unavailable || !done) throw;
        const std::string& step = schedule().steps[*done].name;
        throw Error(error.code(), std::string(error.what()) + "; the device was behind step " + step);
    }
    follow(epoch, moments);
}

void Executor::drain() {
    if (!background_) return;
    background_->drain();
    device_.finish();  // their memory may go
}

void Executor::begin_anew() {
    drain();
    epochs_run_ = 0;
}

// Loss and counts are taken as soon as they are summed: their memory is reused by later steps.
void Executor::keep_results(const Operation& operation) {
    for (const TensorId written : operands_of(operation).writes) {
        const auto result = results_.find(written);
        if (result == results_.end()) continue;
        result->second->resize(static_cast<std::size_t>(store_.block(written).count()));
        device_.download(store_.bytes(written), std::as_writable_bytes(std::span(*result->second)));
    }
}

TensorId Executor::find(std::string_view tensor) const {
    const auto& tensors = schedule().tensors;
    const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.name == tensor; });
    if (found == tensors.end()) throw Error(ErrorCode::usage, "the schedule has no tensor " + std::string(tensor));
    return static_cast<TensorId>(found - tensors.begin());
}

std::vector<float> Executor::values(std::string_view tensor) const {
    return values(tensor, {0, block(tensor).rows.size()});
}

std::vector<float> Executor::values(std::string_view tensor, Range rows) const {
    const TensorId id = find(tensor);
    ensure(tensor_of(schedule(), id).dtype == DType::f32, "only float tensors can be read");
    const std::int64_t columns = store_.block(id).columns.size();
    std::vector<float> values(static_cast<std::size_t>(rows.size() * columns));
    device_.download(store_.bytes(id) + 4 * rows.begin * columns, std::as_writable_bytes(std::span(values)));
    device_.finish();
    return values;
}

Block Executor::block(std::string_view tensor) const { return store_.block(find(tensor)); }

}  // namespace gnnplan::exec
