// The measurements of a run beside its predictions: the content of a run report.
#pragma once

#include <gnnplan/base/product_kernel.hpp>
#include <gnnplan/ir/plan.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan {

// How good logits are on the labelled training, validation and test vertices, 0..1; unset: not judged, or no vertex of
// the set has a label.
struct SetScores {
    std::optional<double> train, valid, test;

    bool any() const { return train || valid || test; }
    bool operator==(const SetScores&) const = default;
};

// By what logits are judged.
struct Judgement {
    SetScores accuracy = {};  // of one class a vertex
    SetScores f1 = {};        // of several labels a vertex: micro-averaged over all of them
    SetScores rocauc = {};    // where asked for: area under the ROC curve, the mean over classes that have both kinds

    bool any() const { return accuracy.any() || f1.any() || rocauc.any(); }
    bool operator==(const Judgement&) const = default;
};
struct Metric {
    std::string_view name;  // in reports and files, behind train_, valid_ or test_
    SetScores Judgement::*sets;
};
inline constexpr std::array<Metric, 3> metrics{
    {{"accuracy", &Judgement::accuracy}, {"f1", &Judgement::f1}, {"rocauc", &Judgement::rocauc}}};

struct EpochRecord {
    std::int64_t epoch = 0;    // from 1
    double loss = 0;           // mean cross-entropy over the training vertices before the update, without weight decay
    Judgement judgement = {};  // after the update
    double seconds = 0;        // max over ranks, without evaluation
    // Mean cross-entropy over the labelled validation vertices after the update; unset: not evaluated, no such vertex,
    // no finite number, or a plan of an earlier version.
    std::optional<double> valid_loss{};
};

// By which evaluation of the validation vertices an epoch is the best.
enum class BestBy : std::uint8_t { accuracy, loss, f1, rocauc };
constexpr std::array<std::string_view, 4> best_by_names{"accuracy", "loss", "f1", "rocauc"};
constexpr std::string_view name_of(BestBy by) { return best_by_names[static_cast<std::size_t>(by)]; }

// One step, summed over ranks unless the name says otherwise; bytes are bytes sent.
struct StepRecord {
    std::string name;
    std::string kind;
    std::optional<Origin> origin;  // unset: of no operation of the model (setup.load), or not known (older reports)
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    int group = 1;  // ranks that take part in one exchange of the step
    std::int64_t predicted_bytes = 0;
    std::int64_t counted_bytes = 0;
    std::vector<std::int64_t> predicted_bytes_by_rank;
    std::vector<std::int64_t> counted_bytes_by_rank;
    double predicted_seconds = 0;  // max over ranks
    double measured_seconds = 0;   // median over epochs of the max over ranks
    // Median over epochs of how much the step moves the latest rank on: the steps add up to the epoch, and waiting for
    // another rank is not counted again. 0 in reports of earlier versions.
    double advance_seconds = 0;
    std::optional<ModelPart> part{};       // that predicted it; unset in reports of earlier versions
    std::vector<ProductKernel> kernels{};  // for the step's product on rank 0, the one that computed it first
};

struct TriedCandidate {
    int candidate = 0;  // index in the plan
    std::int64_t epochs = 0;
    double median_seconds = 0;
};

// The most that a rank held while candidates were tried: with the graph, and with all features where they were kept.
struct TuningPeak {
    std::int64_t predicted_bytes = 0;
    std::int64_t measured_bytes = 0;
};

// The batches of a run, whose pool was drawn before the first epoch; sizes are means, seconds those of an update on the
// rank that took longest, and the median of updates.
struct BatchTotals {
    int per_update = 1;
    std::int64_t pool = 0;  // batches
    std::int64_t uncovered_nonzeros = 0;
    std::int64_t uncovered_training = 0;    // training vertices that are in no batch
    std::optional<Sampling> sampling = {};  // unset in reports of earlier versions
    double vertices = 0;                    // of a batch
    double nonzeros = 0;
    double draw_seconds = 0;       // for which training waited
    double cut_seconds = 0;        // of its blocks, and of filling its rows
    double predicted_seconds = 0;  // of both
    bool drawn_ahead = false;      // while the update before trained
};

// Where the time of the whole run went, on rank 0.
struct WallTimes {
    double load_seconds = 0;      // reading the data; of an inference until blocks are cut, as plans count loading
    double setup_seconds = 0;     // building every candidate that trained: blocks, features, weights, one-time steps
    double training_seconds = 0;  // all epochs
    double pass_seconds = 0;      // of an inference
    double evaluation_seconds = 0;
    std::int64_t evaluations = 0;
    double total_seconds = 0;
};

struct MeasuredTotals {
    double epoch_seconds = 0;  // median
    std::int64_t total_bytes = 0;
    std::int64_t max_rank_bytes = 0;
    std::int64_t peak_bytes_per_rank = 0;
    std::int64_t host_peak_bytes = 0;  // per rank, of an accelerator's host
};

// Why a run ended before its last epoch, or an inference before its last layer: a signal or a time limit; a validation
// accuracy that got no better (--patience); a loss, weights or outputs of a layer that are not finite.
enum class Ending : std::uint8_t { interrupted, patience, diverged };

struct CheckpointTotals {
    std::int64_t written = 0;
    std::int64_t failed = 0;
    double seconds = 0;  // for which training waited for them
};

// A file about its vertices that the run wrote: embeddings, outputs of layers.
struct WrittenFile {
    std::string path;
    std::int64_t bytes = 0;
};

// Counts the values that are not finite in a layer's outputs for all vertices.
struct NotFinite {
    std::int64_t layer = 0;
    std::int64_t values = 0;
    std::int64_t vertices = 0;      // vertices that have such values
    std::int64_t first_vertex = 0;  // the lowest of them in the data's numbering, from 0
};

// The settings of a run that decide what is learnt, given the plan, the data and the seed.
struct RunSettings {
    std::int64_t epochs = 0;  // asked for; those that were trained are in the report
    double learning_rate = 0;
    std::string lr_schedule = {};  // how it changes from epoch to epoch, as --lr-schedule says; "": it does not
    double weight_decay = 0;
    bool decay_all = false;  // the weights of all layers decay, not only the first's
    std::string decay = {};  // which parameters decay, as --decay says; "" in reports of earlier versions
    Optimiser optimiser = Optimiser::adam;
    double momentum = 0;
    double dropout = 0;  // on the inputs of layers after the first
    double input_dropout = 0;
    double attention_dropout = 0;
    std::string feature_norm;  // "none" or "row"
    bool keep_best = false;    // the weights kept are those of the best validation
    BestBy best_by = BestBy::accuracy;
    std::optional<std::int64_t> patience;      // evaluations without a better one that end the run
    std::optional<std::string> first_weights;  // the file that training began with; unset: drawn from the seed
};

// One of several runs that differ in their seed.
struct SeedRun {
    std::uint64_t seed = 0;
    std::int64_t epochs = 0;             // trained
    double loss = 0;                     // of the last of them
    std::optional<std::int64_t> best{};  // the epoch of the best validation, the first of equals
    Judgement judgement = {};            // after that epoch; where none was validated, after the last evaluation
};

// A score of several runs: their mean, and their standard deviation (of a sample: over n - 1), which one run has not;
// unset: some run has no such score.
struct Spread {
    double mean = 0;
    std::optional<double> deviation;
    bool operator==(const Spread&) const = default;
};
struct Spreads {
    std::optional<Spread> train, valid, test;
    bool operator==(const Spreads&) const = default;
};

struct RunReport {
    Task task = Task::train;
    std::string tool_version;
    std::string command_line;
    std::uint64_t seed = 0;
    std::optional<RunSettings> settings;  // unset in reports of earlier versions
    int ranks = 1;
    int threads = 1;
    std::string backend = "cpu";
    std::string communicator;                    // "mpi", "threads" or "self"
    std::optional<std::string> device_exchange;  // how devices exchange; unset where tensors are in the hosts' memory
    bool oversubscribed = false;                 // fewer processing units than threads
    std::optional<std::string> placement;  // in words: where threads ran, or why they were not bound; unset: unknown
    std::optional<ProbeFigures> probe{};   // of the machine before a long training began
    Configuration configuration;
    std::vector<SeedRun> runs{};  // where there are several; `seed` and `epochs` are those of the last one then
    std::array<Spreads, metrics.size()> spreads{};  // over `runs`, by metric
    std::vector<EpochRecord> epochs;
    std::vector<StepRecord> steps;       // one steady-state training epoch, or the pass of an inference
    std::vector<StepRecord> setup;       // one-time work
    std::vector<StepRecord> evaluation;  // one evaluation
    Prediction predicted;
    MeasuredTotals measured;
    std::vector<TriedCandidate> tried;      // empty when not autotuned
    int chosen = 0;                         // candidate that trained the last epoch
    std::optional<TuningPeak> tuning_peak;  // where candidates were tried
    std::optional<BatchTotals> batches{};   // where updates are of batches
    std::optional<std::int64_t>
        eval_every;                    // epochs between evaluations; 0: never; unset in reports of earlier versions
    std::optional<WallTimes> wall;     // unset in reports of earlier versions
    std::optional<Ending> ending;      // unset: the run took all its epochs, or ended so in an earlier version
    std::optional<std::string> ended;  // the same in words
    std::optional<std::int64_t> best_epoch;  // whose weights are kept
    // The epoch of the checkpoint that the run went on from; of an inference, the layer.
    std::optional<std::int64_t> resumed_after;
    std::optional<CheckpointTotals> checkpoints;
    Fingerprints fingerprints;
    std::vector<WrittenFile> written{};
    std::optional<NotFinite> not_finite{};  // of embeddings or a layer, which were not written for that
    std::vector<std::int64_t> fanout{};     // of an inference, by layer, as in the plan
    Judgement judgement{};                  // of an inference on data with labels and a split, if the pass was made
};

}  // namespace gnnplan
