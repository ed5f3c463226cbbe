// The library call: the best way to distribute a model over a graph and a machine.
#pragma once

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/cost.hpp>
#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/loading.hpp>
#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/op_graph.hpp>
#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan {

struct Problem {
    ProblemRecord record;  // widths and bias agree with `ops`
    OpGraph ops;           // e.g. models::gcn(widths, bias)
    const GraphStats* graph = nullptr;
    Listing listing = {};  // of the file that ranks will load; what is not known of it is assumed
    std::shared_ptr<const GraphStats> own_graph = {};  // `graph` of make_problem(); else the caller keeps `graph`
};

enum class SearchSpace : std::uint8_t { full, paper };

// The figures that a Pareto front may compare.
enum class Objective : std::uint8_t { time, memory, volume, spmm };

// Choices pinned for what-if questions, the switches among them; unset: searched. A pinned choice that does not exist
// for the ranks is an Error{usage}.
struct SelectOptions : Pins {
    SearchSpace space = SearchSpace::full;
    std::optional<std::string> scheme;  // one of scheme_names()
    std::optional<int> replication;     // R_A of rdm, c of 1.5d; must divide the ranks
    std::optional<Grid> grid;
    std::optional<Orders> forward, backward;
    std::int64_t memory_per_rank = 0;  // bytes; 0: what the machine leaves
    std::int64_t buffer_bytes = 0;     // of each product's buffers of what others send, on every rank; 0: any
    bool constant_input = false;       // features never change between epochs, whatever a run asks
    // Whether the search may use what no published system does: products kept across epochs, values of edges as
    // factors, and layers pruned to the rows that the loss needs. Without it, no configuration relies on constant
    // features, and predictions leave dropout on them out unless runs will have it.
    bool extras = true;
    // Whether runs will drop features: then no configuration may rely on constant ones, or predictions leave dropping
    // out; unset: either, so that a plan has candidates for both. Default: as Problem::record.run says.
    std::optional<bool> drops_features;
    std::vector<Objective> pareto = {Objective::time, Objective::memory};
    int candidates = max_candidates;
    // Whether the plan says what its choices are worth. That includes a second search, select_otherwise().
    bool alternatives = true;
    // Called with the progress of the search, "searching: 1d on 64x1, 12 of 96 grids", whenever it changes.
    std::function<void(const std::string&)> progress = {};
};

// One configuration of the search, ranked.
struct RankedConfiguration {
    Configuration configuration;
    Units units;     // as the paper counts
    Units executed;  // of the schedule's steps; masks moved as bits count f / 32
    Prediction predicted;
    bool pareto = false;  // over the objectives asked for, among those that fit
    bool fits = false;
};

// A class of configurations that the search set aside, and why.
struct Rejection {
    enum class Reason : std::uint8_t { over_memory, over_buffer, slower, dominated, not_applicable };

    std::string what;  // e.g. "2d"
    Reason reason = Reason::slower;
    std::string why;  // the same for people, e.g. "over memory: a rank needs more than it is allowed"
    std::int64_t count = 0;
};

// When nothing fits.
struct Infeasible {
    std::int64_t needed_bytes = 0;  // of the configuration with the lowest peak
    std::int64_t available_bytes = 0;
    std::vector<TensorSize> largest;  // its largest tensors
    std::int64_t load_bytes =
        0;  // held by every rank while loading, on any number of ranks; 0 where hosts load, or shares
    // The peak of the best plan whose ranks load shares, where loading the whole graph takes most of a rank's memory.
    std::optional<std::int64_t> sharded_bytes;
    // Where layers may not be made again (SelectOptions::remade 0): the bytes that are enough where they are.
    std::optional<std::int64_t> recomputed_bytes;
    bool grid_pinned = false;           // smallest_ranks is for other grids
    std::optional<int> smallest_ranks;  // smallest number of ranks that would fit, when there is one up to max_ranks
};

struct Selection {
    Plan plan;
    std::vector<RankedConfiguration> ranked;  // those that fit by time, then those that do not
    std::vector<Rejection> rejected;          // what is not in `ranked`, or does not fit
    std::int64_t memory_per_rank = 0;         // bytes allowed
    // Set where nothing would fit if runs treated their features as in the plan's alternative `feature_dropout`.
    std::optional<Infeasible> otherwise;
};

struct SelectResult {
    std::optional<Selection> selection;
    std::optional<Infeasible> infeasible;
    ErrorCode code = ErrorCode::internal;  // when there is no selection
    std::string message;                   // what, where and how to fix
    explicit operator bool() const { return selection.has_value(); }
};

// Searches the full space, or that of the paper, over every scheme and grid unless pinned, filters by memory, ranks by
// predicted time and returns a plan with its best candidates. Never prints, never exits, never throws for a reason a
// user can act on.
SelectResult select(const Problem& problem, const Machine& machine, const SelectOptions& options = {});

// The same where runs treat their features otherwise: with dropout on them where `chosen`, the best configuration that
// select() found, relies on constant features and nobody has said how runs treat them, and without dropout where runs
// have it. None where neither is so.
std::optional<SelectResult> select_otherwise(Problem problem, const Machine& machine, SelectOptions options,
                                             const Configuration& chosen);

// The fastest plan in brief, for those who have their own training loop.
struct OrderAdvice {
    Orders forward;                 // layers 1 .. L
    Orders backward;                // layers L .. 1; '-' where nothing needs the gradient of the input
    std::vector<std::string> kept;  // forward products to keep: "T1 across epochs" (T1 = A^T X, made once), "T2"
    std::string scheme;             // of scheme_names()
    Grid grid;
    double epoch_seconds = 0;
    std::int64_t peak_bytes_per_rank = 0;  // at most memory_per_rank
    std::int64_t memory_per_rank = 0;      // bytes allowed
};

// The choice of select(), as `gnnplan plan` makes it; options.alternatives is not looked at. Throws Error where
// select() returns a code: no plan fits the memory, a graph without vertices, a model without a layer, a machine
// without rates.
OrderAdvice select_orders(const Problem& problem, const Machine& machine, SelectOptions options = {});

}  // namespace gnnplan
