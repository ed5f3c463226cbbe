#include "runtime/deploy/deployment.hpp"

#include "runtime/deploy/dealt_features.hpp"
#include "runtime/deploy/fitting.hpp"
#include "runtime/deploy/match.hpp"
#include "runtime/deploy/model_values.hpp"
#include "runtime/deploy/shared_pool.hpp"
#include "runtime/load/counts.hpp"
#include "runtime/load/predict.hpp"

#include <algorithm>
#include <utility>

namespace gnnplan::deploy {

Deployment::Deployment(comm::Communicator& hosts, comm::Communicator& comm, kernels::Device& device, const Plan& plan,
                       const data::Dataset& dataset, const RunOptions& options, const RunHooks& hooks,
                       measure::Clock& clock, const Use& use)
    : hosts_(hosts),
      comm_(comm),
      device_(device),
      plan_(plan),
      dataset_(dataset),
      options_(options),
      hooks_(hooks),
      clock_(clock),
      use_(use),
      tracker_(device.memory().accelerator),
      messages_(tracker_, comm.host_bytes(), exec::Holder::host) {}

void Deployment::take_graph() {
    if (comm_.size() != plan_.problem.ranks) {
        throw Error(ErrorCode::mismatch, "the plan is for " + std::to_string(plan_.problem.ranks) +
                                             " ranks, this run has " + std::to_string(comm_.size()));
    }
    for (const std::string& remark : match_data(plan_, dataset_)) {
        if (hooks_.note) hooks_.note(remark);
    }
    if (dataset_.in_shares()) return;
    data::check_degrees(dataset_.graph(), plan_.problem.graph.normalisation, dataset_.report().path);
    scales_ = data::stored_scales(dataset_.graph(), plan_.problem.graph.normalisation);
    loaded_ = exec::Charge(tracker_, load::held_bytes(dataset_.graph(), scales_), exec::Holder::host);
}

void Deployment::draw_pool() {
    if (!on_batches()) return;
    const Sampling& sampling = plan_.problem.batches->sampling;
    constexpr double long_work = 1e8;  // nonzeros to look at, which take a second or so
    if (hooks_.note && sampling.has_pool() &&
        static_cast<double>(dataset_.nonzeros()) * static_cast<double>(sampling.coverage) > long_work)
        hooks_.note("drawing the pool: batches that have each vertex " + std::to_string(sampling.coverage) +
                    " times on average");
    SharedPool drawn = draw_together(hosts_, dataset_, sampling, clock_);
    pool_ = std::move(drawn.pool);
    measured_.load_steps.push_back(std::move(drawn.step));
}

std::optional<exec::GraphCounts> Deployment::counts() const {
    if (dataset_.in_shares()) return std::nullopt;
    return counts_of(dataset_, pool_);
}

void Deployment::cache_features(std::int64_t bytes) {
    const double start = clock_.now();
    cached_feature_bytes_ = bytes;
    comm::agree(comm_, hooks_.data.cache_features);
    cached_features_ = exec::Charge(tracker_, cached_feature_bytes_, exec::Holder::host);
    measured_.initialise_seconds += clock_.now() - start;
}

void Deployment::build(int index, bool last, std::size_t first_step) {
    const Candidate& next = plan_.candidates[static_cast<std::size_t>(index)];
    if (dataset_.in_shares() && !share_) load_share(next);
    if (hooks_.candidate) hooks_.candidate(index);
    first_step_ = first_step;
    std::optional<exec::SparseBlocks> blocks;
    if (executor_ && exec::same_blocks(executor_->schedule(), next.schedule)) blocks = executor_->release_blocks();
    if (executor_) executor_->drain();
    executor_.reset(), output_rows_ = {}, of_groups_ = {}, batches_.reset();
    keep_tuning_peak();
    keep_for_batches();
    if (last) cached_features_.reset();  // one more buffer of reading from here on
    tracker_.restart();

    const double start = clock_.now();
    predicted_ = next.predicted;
    const bool adopts_blocks = blocks.has_value();
    if (on_batches()) batches_.emplace(next.schedule, comm_.rank());
    make_executor(on_batches() ? batches_->schedule() : next.schedule,
                  {.state_lives = state_ != nullptr,
                   .graph_stays = !last,
                   .cached_feature_bytes = last ? 0 : cached_feature_bytes_,
                   .adopts_blocks = adopts_blocks,
                   .message_bytes = comm_.host_bytes(),
                   .written = use_.written},
                  std::move(blocks));
    const double cut = clock_.now();
    if (last) release_graph();
    const double shared = share_seconds_;
    load_model(next);
    if (last) release_features();
    if (!last) {
        if (!tuning_peak_) tuning_peak_.emplace();
        tuning_peak_->predicted_bytes = std::max(tuning_peak_->predicted_bytes, predicted_.peak_bytes_per_rank);
    }
    measured_.setup.add(executor_->run(Phase::setup, settings(0, true)));
    measured_.partition_seconds += cut - start;
    measured_.initialise_seconds += clock_.now() - cut - (share_seconds_ - shared);
    measured_.steady_seconds.clear();
}

void Deployment::load_share(const Candidate& candidate) {
    const double start = clock_.now();
    share_ = load::load_share(hosts_, dataset_, candidate.schedule, plan_.problem.graph.normalisation,
                              plan_.problem.graph.symmetric);
    measured_.load_steps = share_->steps;
    fingerprint_ = share_->fingerprint;
    loaded_ = exec::Charge(tracker_, share_->bytes, exec::Holder::host);
    std::vector<std::string> notes;
    comm::agree(comm_, [&] {
        notes = match_share(plan_, *share_);
        // Only who has read this file beforehand, and no other that has the same graph, knows who deals what.
        const std::vector<std::int64_t>& planned = candidate.predicted.dealt_bytes;
        const bool known = std::ssize(planned) == comm_.size() && plan_.fingerprints.listing == share_->listing;
        expect_bytes(measured_.load_steps.front(), comm_.rank(), known, planned, "dealt_bytes_by_rank");
    });
    share_seconds_ = clock_.now() - start;
    if (!hooks_.note) return;
    std::string how;
    if (comm_.size() > 1) {
        how = " Read in " + std::to_string(comm_.size()) + " shares" +
              (share_->by_one ? ", by one rank, as nothing tells where in its files a share begins." : ".");
    }
    hooks_.note(share_->report.path + ": " + share_->report.describe() + how);
    for (const std::string& remark : share_->report.remarks) hooks_.note("note: " + remark);
    for (const std::string& note : notes) hooks_.note(note);
}

// Answers about the graph: of shares, to all that is asked while blocks are cut and steps are expected.
std::shared_ptr<const exec::NumberedCounts> Deployment::count(const Schedule& schedule, const LoadState& loaded) {
    if (!share_) return counts_for(schedule, dataset_, pool_);
    auto counts = std::make_shared<load::ShareCounts>(*share_);
    const GraphRecord& graph = plan_.problem.graph;
    const load::RowShares shares(schedule);
    const LoadingNeeds needs(schedule, graph.normalisation, graph.symmetrised, graph.symmetric);
    counts->answer_together(comm_, [&] {
        footprint(schedule, *counts, loaded, device_.memory());
        for (const Phase phase : {Phase::setup, Phase::epoch, Phase::evaluation})
            expected_bytes(schedule, phase, *counts, comm_.rank());
        for (load::LoadStep& step : measured_.load_steps) {
            if (step.name == "rows") step.expected_bytes = load::shared_bytes(shares, needs, *counts, comm_.rank());
            if (step.name == "degrees")
                step.expected_bytes = load::degree_bytes(shares, needs, graph.normalisation, *counts, comm_.rank());
        }
    });
    return counts;
}

void Deployment::make_executor(const Schedule& schedule, const LoadState& loaded,
                               std::optional<exec::SparseBlocks> blocks) {
    std::shared_ptr<const exec::NumberedCounts> counts;
    if (share_) {
        counts = count(schedule, loaded);
    } else {
        comm::agree(comm_, [&] { counts = count(schedule, loaded); });
    }
    comm::agree(comm_, [&] {
        of_groups_ = scales_of_groups(plan_, schedule, *counts, scales_, tracker_);
        const Footprint predicted = footprint(schedule, *counts, loaded, device_.memory());
        predicted_.peak_bytes_per_rank = predicted.tensors;
        predicted_.host_peak_bytes = predicted.host;
        if (share_) check_memory(plan_, schedule, *counts, device_.memory());  // nobody could count before
        measured_.setup = measure::StepLog(expected_bytes(schedule, Phase::setup, *counts, comm_.rank()));
        measured_.epoch = expected_epochs(schedule, *counts, comm_.rank(), first_step_);
        measured_.evaluation = measure::StepLog(expected_bytes(schedule, Phase::evaluation, *counts, comm_.rank()));
        executor_ = std::make_unique<exec::Executor>(schedule, counts, comm_, device_, tracker_, clock_);
        if (batches_) batches_->begin(*counts, scales_, plan_.problem.graph.normalisation, options_.work_beside);
        const double start = clock_.now();
        if (blocks) {
            executor_->adopt_blocks(std::move(*blocks));
        } else {
            executor_->build_blocks(share_ ? share_->graph : dataset_.graph(), share_ ? share_->scales : scales_,
                                    of_groups_.scales);
        }
        cut_seconds_ = clock_.now() - start;
        if (use_.written != Written::nothing)
            output_rows_ = OutputRows(schedule, *counts, comm_.rank(), use_.written, tracker_);
    });
}

void Deployment::load_model(const Candidate& next) {
    comm::agree(comm_, [&] {
        if (!state_) {
            state_ = std::make_unique<exec::ModelState>(next.schedule, use_.passes.seed, device_, tracker_);
            if (use_.values != nullptr) set_values(*state_, *use_.values, use_.moments);
        }
        executor_->allocate(*state_);
        // Products that are timed overwrite their results, whose memory may hold features that the setup has yet to
        // read.
        measured_.kernels = executor_->choose_kernels(options_.product_kernel);
    });
    if (dataset_.features_in_shares()) load_features(next);
    comm::agree(comm_, [&] { executor_->fill(dataset_, first_step_); });
}

void Deployment::load_features(const Candidate& candidate) {
    const auto dealt = deal_features(hosts_, *executor_, plan_, candidate, dataset_, first_step_);
    if (!dealt) return;
    measured_.load_steps.push_back(dealt->step);
    share_seconds_ += dealt->step.seconds;
    if (hooks_.note && dealt->by_one)
        hooks_.note("One rank has read the features for all: a compressed file cannot be read from its middle.");
}

}  // namespace gnnplan::deploy
