#include "bench/prediction/race.hpp"

#include "runtime/deploy/report.hpp"
#include "runtime/exec/executor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <utility>

namespace gnnplan::bench {
namespace {

constexpr std::uint64_t seed = 1;  // of weights, and of who shares memory with whom
// Predictions are of training with dropout, on the features too where they may vary.
constexpr float dropout = 0.5F;
constexpr double cached_epoch = 0.1;   // seconds: below, what caches hold when an epoch begins matters
constexpr double turn_seconds = 0.15;  // of timed epochs
constexpr int most_in_turn = 50;
constexpr int least_rounds = 3;   // even when time is short
constexpr int most_rounds = 100;  // even when a machine never rests

// One configuration on this rank, ready to run. Collective, all of it.
class Runner {
public:
    Runner(comm::Communicator& comm, const data::Dataset& dataset, const data::DegreeScales& scales,
           std::shared_ptr<const exec::GraphCounts> counts, const Candidate& candidate)
        : comm_(comm),
          training_(dataset.subset_size(data::train)),
          input_dropout_(candidate.configuration.constant_input ? 0.0F : dropout) {
        const Schedule& schedule = candidate.schedule;
        comm::agree(comm, [&] {
            state_ = std::make_unique<exec::ModelState>(schedule, seed, *device_, tracker_);
            executor_ = std::make_unique<exec::Executor>(schedule, std::move(counts), comm, *device_, tracker_, clock_);
            executor_->build_blocks(dataset.graph(), scales);
            executor_->allocate(*state_);
            executor_->fill(dataset);
        });
        executor_->run(Phase::setup, settings(0));
        estimate_ = epoch(false);
    }

    void take_turn() {
        if (estimate_ < cached_epoch) estimate_ = std::min(estimate_, epoch(false));
        const int epochs = std::clamp(static_cast<int>(turn_seconds / estimate_), 1, most_in_turn);
        std::vector<double> seconds;
        for (int i = 0; i < epochs; ++i) seconds.push_back(epoch(true));
        const auto [fastest, slowest] = std::minmax_element(seconds.begin(), seconds.end());
        fastest_ = std::min(fastest_, *fastest);
        slowest_ = std::max(slowest_, *slowest);
        epochs_timed_ += seconds.size();
        turns_.push_back(measure::median(std::move(seconds)));
    }

    // The same on every rank.
    bool is_sure(double narrow) const {
        const Interval interval = median_interval(turns_);
        return turns_.size() >= least_values && interval.high - interval.low <= narrow * measure::median(turns_);
    }

    Outcome outcome() const {
        const auto logs = deploy::gather_logs(comm_, log_);
        return {measure::median(turns_), median_interval(turns_), fastest_, slowest_, epochs_timed_,
                turns_.size(),           measure::advances(logs)};
    }

private:
    exec::PassSettings settings(std::uint32_t epoch) const {
        exec::PassSettings settings;
        settings.seed = seed;
        settings.epoch = epoch;
        settings.dropout = dropout;
        settings.input_dropout = input_dropout_;
        settings.inverse_training_count = 1.0 / static_cast<double>(training_);
        return settings;
    }

    // The largest over ranks, which is waited for, so that all begin the next one together.
    double epoch(bool timed) {
        const double start = clock_.now();
        const auto samples = executor_->run(Phase::epoch, settings(++epochs_));
        const double seconds = comm::control_max(comm_, clock_.now() - start);
        if (timed) log_.add(samples);
        return seconds;
    }

    comm::Communicator& comm_;
    std::int64_t training_;
    float input_dropout_;
    measure::SteadyClock clock_;
    exec::MemoryTracker tracker_;
    std::unique_ptr<kernels::Device> device_ = kernels::host_device(kernels::cpu_table());
    std::unique_ptr<exec::ModelState> state_;
    std::unique_ptr<exec::Executor> executor_;
    std::uint32_t epochs_ = 0;
    double estimate_ = 0;
    measure::StepLog log_;
    std::vector<double> turns_;  // seconds of an epoch, median of each turn
    double fastest_ = std::numeric_limits<double>::infinity();
    double slowest_ = 0;
    std::size_t epochs_timed_ = 0;
};

// Rounds of turns until every interval is narrow, or until about `seconds` have passed. Collective.
void run_rounds(comm::Communicator& comm, const std::vector<std::unique_ptr<Runner>>& runners, double narrow,
                double seconds) {
    measure::SteadyClock clock;
    const double start = clock.now();
    for (int round = 1; round <= most_rounds; ++round) {
        for (const auto& runner : runners) runner->take_turn();
        const bool late = comm::control_max(comm, clock.now() - start) >= seconds;
        const bool sure = std::ranges::all_of(runners, [&](const auto& runner) { return runner->is_sure(narrow); });
        if (round >= least_rounds && (late || sure)) return;
    }
}

// The same on every rank and with every standard library.
std::vector<std::size_t> shuffled(std::size_t count) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937_64 random(seed);
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    return order;
}

std::shared_ptr<const exec::GraphCounts> counts_for(const Schedule& schedule, search::NumberedGraphs& graphs) {
    const auto& counts = dynamic_cast<const exec::GraphCounts&>(graphs.numbered(schedule.numbering));
    return std::make_shared<const exec::GraphCounts>(counts);
}

}  // namespace

std::vector<Outcome> race(comm::Communicator& comm, const data::Dataset& dataset, search::NumberedGraphs& graphs,
                          const std::vector<Candidate>& field, const RaceOptions& options) {
    kernels::set_threads(1);
    const data::DegreeScales scales = data::compute_scales(dataset.graph(), options.normalisation);
    const std::vector<std::size_t> order = shuffled(field.size());
    std::vector<Outcome> outcomes(field.size());
    for (std::size_t begin = 0; begin < order.size();) {
        std::vector<std::unique_ptr<Runner>> runners;
        std::int64_t resident = 0;
        std::size_t end = begin;
        for (; end < order.size(); ++end) {
            const Candidate& next = field[order[end]];
            resident += next.predicted.peak_bytes_per_rank;
            if (end > begin && resident > options.resident_bytes) break;
            runners.push_back(std::make_unique<Runner>(comm, dataset, scales, counts_for(next.schedule, graphs), next));
        }
        const double share = static_cast<double>(runners.size()) / static_cast<double>(field.size());
        run_rounds(comm, runners, options.narrow, share * options.seconds);
        for (std::size_t i = begin; i < end; ++i) outcomes[order[i]] = runners[i - begin]->outcome();
        begin = end;
        if (options.progress) options.progress(end);
    }
    return outcomes;
}

}  // namespace gnnplan::bench
