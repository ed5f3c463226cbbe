// A plan: the problem, the machine it was planned for, and candidate configurations with their schedules and
// predictions.
#pragma once

#include <gnnplan/ir/choice.hpp>
#include <gnnplan/ir/config.hpp>
#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/model_record.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan {

// How edges are normalised; A is the prepared matrix, with its self loops where they were added. Its entries are the
// edges' weights where GraphRecord::edge_weights says so, else 1; degrees are their sums.
enum class Normalisation : std::uint8_t {
    symmetric,  // D_out^-1/2 A D_in^-1/2 (Kipf & Welling 2017, eq. 2, for directed graphs)
    row_mean,   // A D_in^-1: each row of the forward matrix A^T whose degree is not 0 sums to 1
    none,       // A
};

// Whether A equals its transpose in values, so that one stored copy serves both passes. Row means weigh u -> v and v ->
// u differently even where the pattern is symmetric.
inline bool one_copy_serves(bool symmetric_pattern, Normalisation normalisation) {
    return symmetric_pattern && normalisation != Normalisation::row_mean;
}

// The graph a plan was made for, and how it was prepared; the executor repeats the preparation.
struct GraphRecord {
    std::string name;    // card name, path as given, or "sizes"
    std::string source;  // "card: GNN-RDM Table V", "file: OGB folder", "sizes"
    std::int64_t vertices = 0;
    std::int64_t nonzeros = 0;  // of the propagation matrix, self loops included
    bool symmetric = true;      // every edge has its reverse, of the same weight where weights are used
    bool exact = false;         // counted on the real graph
    int index_base = 0;         // of the ids of an edge list: 0 or 1
    bool symmetrised = false;   // the loader adds every reverse edge
    bool self_loops = true;     // the loader puts one self loop on every vertex
    bool edge_weights = false;  // the loader reads weights of edges
    Normalisation normalisation = Normalisation::symmetric;
    std::string split;                    // split folder; "" when there is only one
    std::int64_t generated_features = 0;  // > 0: features of this width are generated from `seed`
    std::int64_t generated_classes = 0;
    bool generate = false;  // generate what the data lacks, even where data that is not read may hold it
    std::uint64_t seed = 0;
    std::vector<double> replication{};  // of vertex cuts, where it is not counted: [i] in 2^(i + 1) parts; 0: not known
};

// How features are normalised before the first layer.
enum class FeatureNorm : std::uint8_t {
    none,
    row,  // each row divided by the sum of its absolute values, where that is not 0
};

// The settings of the run on which a plan depends. gnnrun takes from here what its own flags do not say.
struct RunRecord {
    std::int64_t epochs = 200;
    std::optional<double> dropout;           // on every layer's input; unset: not said
    std::optional<double> input_dropout;     // on the features, in place of `dropout`
    double attention_dropout = 0;            // on the weights of attention
    std::optional<std::int64_t> eval_every;  // epochs between evaluations, 0: never; unset: automatic_eval_every()

    Optimiser optimiser = Optimiser::adam;
    double momentum = 0;  // of Optimiser::momentum, and 0 else

    FeatureNorm feature_norm = FeatureNorm::none;  // of passes of inference, too

    // Whether features are dropped while training; unset: the plan was made for either.
    std::optional<bool> drops_features() const;
    bool operator==(const RunRecord&) const = default;
};

// The purpose of a plan.
enum class Task : std::uint8_t {
    train,
    infer,  // the outputs of all vertices, by one pass with weights that are there
};

struct ProblemRecord {
    Task task = Task::train;
    GraphRecord graph;
    ModelRecord model;
    // Inference only, by layer: how many in-neighbours of each vertex are drawn (runtime/sample), from graph.seed.
    // Empty: all are read.
    std::vector<std::int64_t> fanout = {};
    std::optional<Batches> batches = {};  // training only; unset: every update is of the whole graph
    Loading loading = Loading::whole;     // where the numbering allows it
    int ranks = 1;
    std::string space = "paper";
    std::int64_t memory_per_rank = 0;  // bytes that a rank may use, tuning included; 0: what the machine leaves
    std::int64_t buffer_bytes = 0;     // that a product's buffers of what others send may take on a rank; 0: any
    RunRecord run;

    // The loss of an update is the mean over so many graphs.
    std::int64_t losses_per_update() const { return batches ? batches->per_update : 1; }
};

// Seconds of loading the graph, part by part, each on its slowest rank.
struct LoadingSeconds {
    double deal = 0;     // reading the file, and dealing its edges where ranks read shares of it
    double rows = 0;     // making rows of edges, and giving them to the ranks that keep the same
    double degrees = 0;  // finding the scales of columns that other ranks make the rows of
    double cut = 0;      // cutting blocks out of rows
    // Reading features, and giving rows to the ranks that want them, where these are not found in place; last, as
    // they are read when blocks are cut.
    double features = 0;
    double total() const { return deal + rows + degrees + cut + features; }
    bool operator==(const LoadingSeconds&) const = default;
};

// An epoch of a plan that infers is its one pass.
struct Prediction {
    double epoch_seconds = 0;
    std::int64_t total_bytes = 0;     // per steady-state training epoch
    std::int64_t max_rank_bytes = 0;  // busiest rank
    std::int64_t peak_bytes_per_rank = 0;
    std::int64_t host_peak_bytes = 0;  // per rank, of an accelerator's host; 0: there is none, or it is not known
    bool estimate = false;             // graph-dependent figures are statistics, not counts
    std::vector<double> step_seconds;  // per step of the schedule, all phases
    double setup_seconds = 0;          // of inference: the steps before the pass
    double kept_seconds = 0;           // of training: an epoch's share of making what is kept over epochs
    double batch_seconds = 0;          // of the epoch's: drawing batches, cutting their blocks and filling their rows
    LoadingSeconds loading = {};       // of inference: what comes before those
    // By rank, what it sends while edges are dealt, where the graph is loaded in shares; none: the file was not read
    // for it.
    std::vector<std::int64_t> dealt_bytes = {};
    std::vector<std::int64_t> feature_bytes = {};  // the same while features are, where they are not found in place
    // An epoch's seconds by part of the model, where the machine knows how each part errs.
    std::vector<PartSeconds> by_part = {};

    // The time of an epoch of training; of an inference loading and setup are in it, as the pass, too, is done once.
    double shown_seconds() const { return loading.total() + setup_seconds + epoch_seconds; }
    // The time by which plans are ranked and compared: what is kept over epochs counts by its share.
    double ranked_seconds() const { return shown_seconds() + kept_seconds; }
};

struct Candidate {
    Configuration configuration;
    Schedule schedule;
    Prediction predicted;
};

// Seconds predicted for one pass over the steps of `phase`.
double predicted_seconds(const Candidate& candidate, Phase phase);

// Takes the time of dropping the features out of a prediction, for runs that drop none: their step has nothing to do.
void leave_out_feature_dropout(const Schedule& schedule, Prediction& predicted);

// The largest share of the training time that evaluations take unless asked otherwise.
inline constexpr double evaluation_share = 0.1;
// Epochs between evaluations when nobody says: the least of 1, 2, 5, 10, 20, 50 ... at which evaluations are predicted
// to take at most that share of the epochs between them. 1 where the prediction has no times.
std::int64_t automatic_eval_every(const Candidate& candidate);
// How often a run of `epochs` evaluates: every so many epochs (0: never) and after the last one.
std::int64_t evaluations(std::int64_t epochs, std::int64_t eval_every);

// The chosen configuration with one choice made otherwise, or what frameworks do by default: what a choice is worth.
// Carries no schedule, so nothing can run it.
struct Alternative {
    Choice choice;        // what differs
    bool pinned = false;  // the choice was pinned: the search could not have taken this one
    Configuration configuration;
    Prediction predicted;  // without step_seconds
};

struct Fingerprints {
    std::string graph;    // of the prepared structure; "" when planned without the graph
    std::string machine;  // of the profile
    std::string content;  // of everything else in the file; detects damage and edits
    // These are of the data; they are "" when planned without it, and of features that are generated.
    std::string features = {}, labels = {}, split = {};
    // This is of the edges as ranks read them, where the graph is loaded in shares and the file was there: what
    // dealt_bytes of predictions are of. The other is of rows of features, which feature_bytes are of.
    std::string listing = {}, feature_listing = {};
};

struct Plan {
    std::string tool_version;
    std::string command_line;
    ProblemRecord problem;
    Machine machine;
    std::vector<Candidate> candidates;      // the chosen one first, at most 8
    std::vector<Alternative> alternatives;  // to candidates.front(); empty: not asked for
    Fingerprints fingerprints;

    // Bytes that a rank may use.
    std::int64_t memory_per_rank() const {
        return problem.memory_per_rank > 0 ? problem.memory_per_rank : machine.usable_memory();
    }
};

inline constexpr int max_candidates = 8;
inline constexpr int max_alternatives = 64;

// Whether layers draw edges with what each of them stands for: where products read values.
bool draws_weighted(const Schedule& schedule);

// Statistics of a plan's graph from the plan alone: its sizes, and how much layers draw at most.
// `numbering` is the schedule's.
std::shared_ptr<const GraphStats> sizes_of(const Plan& plan, const Numbering& numbering);

// Checks what a stranger's plan may get wrong beyond each schedule: sizes that disagree, ranks and grid that disagree,
// orders of the wrong length, a schedule that does not belong to its problem. Throws Error{data}.
void validate(const Plan& plan);

// Checks that the bytes a plan predicts follow from its own schedules. Throws Error{data} naming the candidate.
void check_predicted_bytes(const Plan& plan);

}  // namespace gnnplan
