// A problem read once: the model as sites, the options resolved and checked.
#pragma once

#include "planner/enumerate/grids.hpp"
#include "planner/lower/buffers.hpp"
#include "planner/lower/lower.hpp"
#include "planner/search/step_costs.hpp"

#include <gnnplan/select.hpp>

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace gnnplan::search {

struct Space {
    SiteGraph model;
    std::vector<std::int64_t> widths;  // f_0 .. f_L
    std::size_t depth() const { return static_cast<std::size_t>(model.depth); }
    const GraphStats* graph = nullptr;
    GraphRecord record;  // how it is prepared
    Listing listing;     // of its file
    lower::GraphShape shape;
    int ranks = 1;
    SelectOptions options;
    std::int64_t memory_per_rank = 0;
    TensorMemory memory{};  // whose memory that is
    std::vector<Distribution> grids;
    bool drops_attention = false;       // whether runs drop weights of attention
    std::vector<Distribution> refused;  // grids that would be searched too if the model needed no whole neighbourhoods
    bool needs_whole_neighbourhoods() const;
    // Whether layers weigh edges by what their vertices are: by additive attention, or by comparing them.
    bool attends() const { return weighs_by(Reduce::attention); }
    bool compares() const { return weighs_by(Reduce::cosine); }
    // Whether there is a backward pass of additive attention, which may read scores that the forward pass has stored.
    bool may_store_scores() const { return model.trains() && attends(); }
    bool weighs_edges() const { return attends() || compares(); }
    // Whether any product multiplies by the values of nonzeros.
    bool reads_values() const { return weighs_by(Reduce::sum); }

private:
    bool weighs_by(Reduce reduce) const;
};

// Throws Error{usage} for pinned choices that do not exist, and sizes whose sums do not fit 64 bits.
Space make_space(const Problem& problem, const Machine& machine, const SelectOptions& options);

// Reports to SelectOptions::progress, if it is set, that the n-th of so many grids is searched next.
void say_searching(const Space& space, const Distribution& on, std::size_t n, std::size_t grids);

// The graph in the numberings that have been asked for. One object for one search.
class NumberedGraphs {
public:
    explicit NumberedGraphs(const GraphStats& graph) : graph_(graph) {}
    const GraphStats& numbered(const Numbering& numbering);
    lower::KnownCuts cuts;  // of adjacencies in these numberings

private:
    const GraphStats& graph_;
    std::vector<std::pair<Numbering, std::shared_ptr<const GraphStats>>> graphs_;
};

// A configuration lowered, its pieces cut as the space's bound on buffers asks for.
struct Lowered {
    Schedule schedule;
    std::int64_t needed_buffer = 0;  // where no cut keeps to the bound, bytes that would be enough; else 0
    bool fits() const { return needed_buffer == 0; }
};
Lowered lowered(const Space& space, const Configuration& configuration, NumberedGraphs& graphs);

// The predicted cost of a schedule in this space: without the time of dropping features where runs drop none, and with
// that of dropping weights of attention where they do. `graph` answers in the schedule's numbering.
Prediction predict(const Space& space, const Schedule& schedule, const GraphStats& graph, const Machine& machine,
                   std::int64_t peak_bytes);
// The same, with step costs that are known already.
Prediction predict(const Space& space, const Schedule& schedule, const GraphStats& graph, SharedCosts& costs,
                   std::int64_t peak_bytes);

// As cost_if_bounded(), for a configuration that is known to meet --buffer (always true without a bound).
std::optional<Candidate> cost_if_bounded(const Space& space, const Configuration& configuration, const Machine& machine,
                                         NumberedGraphs& graphs);
// The same of one that keeps to it, as any does where there is none.
Candidate cost_configuration(const Space& space, const Configuration& configuration, const Machine& machine,
                             NumberedGraphs& graphs);

// A costed configuration with its schedule.
struct EvaluatedCandidate {
    RankedConfiguration ranked;
    Candidate candidate;
};

}  // namespace gnnplan::search
