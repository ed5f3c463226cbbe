// Runs a schedule on one rank.
//
//     Executor executor(schedule, numbered_counts, communicator, device, tracker, clock);
//     executor.build_blocks(graph, scales);     // the graph may be freed afterwards
//     executor.allocate(state);
//     executor.fill(dataset);                   // features, labels, subset
//     executor.run(Phase::epoch, settings);     // as often as wanted
#pragma once

#include "kernels/device.hpp"
#include "runtime/comm/counting.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/exec/background.hpp"
#include "runtime/exec/graph_counts.hpp"
#include "runtime/exec/pass.hpp"
#include "runtime/exec/store.hpp"
#include "runtime/measure/clock.hpp"
#include "runtime/measure/step_log.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace gnnplan::exec {

class Moments;

class Executor {
public:
    // Collective. Everything passed by reference outlives the executor. `counts` answers in the schedule's numbering;
    // it and its order are kept until fill(). Throws ErrorCode::mismatch when the communicator's size is not the
    // grid's.
    Executor(const Schedule& schedule, std::shared_ptr<const NumberedCounts> counts, comm::Communicator& comm,
             kernels::Device& device, MemoryTracker& tracker, measure::Clock& clock);

    // `scales_of_clones`: where vertices have clones, those of the counts' clones.
    void build_blocks(const data::Graph& graph, const data::DegreeScales& scales,
                      const CloneScales& scales_of_clones = {}) {
        store_.build_blocks(graph, scales, *counts_, scales_of_clones);
    }
    // In place of build_blocks(), those of an executor whose schedule has the same_blocks().
    void adopt_blocks(SparseBlocks blocks) { store_.adopt_blocks(std::move(blocks)); }
    SparseBlocks release_blocks() { return store_.release_blocks(); }
    void allocate(const ModelState& state) { store_.allocate(state); }
    // The tensors that hold features, but for those that only steps of an epoch before `first_step` read.
    std::vector<TensorId> feature_tensors(std::size_t first_step = 0) const;
    // Puts a row into this rank's block of such a tensor; `row` counts in the block.
    void put_row(TensorId tensor, std::int64_t row, std::span<const float> values);
    // Reads this rank's blocks of features, labels, subset and the numbers of their vertices, but for those that only
    // steps of an epoch before `first_step` read, and for features that ranks read in shares.
    void fill(const data::Dataset& dataset, std::size_t first_step = 0);
    // After the schedule's groups have got the rows of other batches: takes these, whose counts and scales these are,
    // and fills what groups read of them. All features are in memory.
    void take_batches(std::shared_ptr<const NumberedCounts> counts, const CloneScales& scales,
                      const data::Dataset& dataset);
    // Calls write(rows, values) for a few rows of a float tensor's block at a time; `rows` counts in the whole tensor.
    void load(TensorId tensor, const std::function<void(Range rows, float* values)>& write);

    // For each step, the kernels of its product on this rank's first own block, the one that computes it first; none
    // where the device has no choice. Overwrites tensors: to be called after allocate() and before fill(); see
    // Device::choose().
    std::vector<std::vector<ProductKernel>> choose_kernels(std::string_view wanted);

    // Called after each step is queued, before its tensors may be overwritten.
    using Observer = std::function<void(const Step& step, const Executor& executor)>;

    // Collective. Runs the steps of `phase` in order, from `first_step` on. Returns a sample for each step of the
    // schedule; those of steps that it does not run are 0. A step lasts as long as the device took for it, and begins
    // where the device did: its first one where this rank's clock was when it was queued.
    std::vector<measure::StepSample> run(Phase phase, const PassSettings& settings, const Observer& observer = {},
                                         std::size_t first_step = 0);

    // Collective: waits for messages of earlier epochs that nobody will read. After the last epoch.
    void drain();
    // Collective: the next epoch is the first one of another run.
    void begin_anew();

    const Schedule& schedule() const { return store_.schedule(); }
    const data::VertexOrder& order() const { return counts_->order(); }  // until fill()
    const MemoryPlan& memory() const { return store_.plan(); }
    int rank() const { return store_.rank(); }

    // A copy of this rank's block of a float tensor, row-major; or of some of its rows, counted from the first row of
    // the block. A transient holds its values from the step that writes it to the last step that reads it. Throws
    // ErrorCode::usage when there is no such tensor.
    std::vector<float> values(std::string_view tensor) const;
    std::vector<float> values(std::string_view tensor, Range rows) const;
    Block block(std::string_view tensor) const;
    Block block(TensorId tensor) const { return store_.block(tensor); }

    // The results of the last pass: the sum of the cross-entropies of all training vertices, or of their labels, what
    // ScoreStep counts, and the sums of RankSumStep; none of steps that have not run.
    double loss_sum() const { return loss_sum_.empty() ? 0 : loss_sum_.front(); }
    std::span<const double> counts() const { return counts_of_scores_; }
    std::span<const double> rank_sums() const { return rank_sums_; }

private:
    std::vector<measure::StepSample> run_pass(Phase phase, const PassSettings& settings, const Observer& observer,
                                              std::size_t first_step);
    void beat(std::uint32_t epoch, std::size_t step);
    void follow(std::uint32_t epoch, Moments& moments);
    void finish(std::uint32_t epoch, Moments& moments);
    TensorId find(std::string_view tensor) const;
    std::vector<TensorId> filled(std::size_t first_step) const;
    void fill(TensorId id, const data::Dataset& dataset);
    template <class T, class Write>
    void fill_rows(TensorId id, const Write& write);
    template <class Bit>
    void fill_bits(TensorId id, const Bit& bit);
    void keep_results(const Operation& operation);

    std::shared_ptr<const NumberedCounts> counts_;
    bool has_batches_ = false;  // that were taken
    Charge order_;              // of the counts' vertices
    Charge workspace_;
    Store store_;
    comm::Traffic traffic_;
    comm::CountingCommunicator world_;
    comm::Heartbeat& heartbeat_;
    kernels::Device& device_;
    measure::Clock& clock_;
    std::optional<Background> background_;  // where messages travel on
    std::int64_t epochs_run_ = 0;
    std::vector<double> loss_sum_, counts_of_scores_, rank_sums_;
    std::map<TensorId, std::vector<double>*> results_;  // where to keep them
};

}  // namespace gnnplan::exec
