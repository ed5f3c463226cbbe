// A problem read once: the model as sites, the options resolved and checked.
#pragma once

#include "planner/enumerate/switches.hpp"
#include "planner/lower/lower.hpp"

#include <gnnplan/select.hpp>

#include <string>
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
    bool several_nodes = false;  // whether they are on more than one, of several ranks each
    SelectOptions options;
    std::int64_t memory_per_rank = 0;
    TensorMemory memory{};  // whose memory that is
    std::vector<Distribution> grids;
    bool draws = false;                // whether layers draw the edges that they multiply by
    std::optional<Batches> batches{};  // that updates are of
    bool in_shares = false;            // whether ranks load shares of the graph
    bool drops_attention = false;      // whether runs drop weights of attention
    bool buys_memory = false;          // whether layers may be made again, which is slower, to need less memory
    std::int64_t epochs = 1;           // of a run
    // Whether grids that deal edges by a vertex cut are searched, unasked: of a graph that is there, as nobody but
    // DistGNN knows how others cut. Of such a graph, why not.
    bool searches_cuts = false;
    std::string no_cut;
    std::vector<Distribution> refused;  // grids that would be searched too if the model needed no whole neighbourhoods
    // Whether layers weigh edges by what their vertices are: by additive attention, or by comparing them.
    bool weighs_edges() const { return model.reduces_by(Reduce::attention) || model.reduces_by(Reduce::cosine); }
    // Whether what is kept over epochs counts where training is ranked; the paper counts epochs alone.
    bool ranks_kept() const { return model.trains() && options.space == SearchSpace::full; }
    // How much the seconds of a step count in an epoch's, by which training is ranked: one that makes what is kept over
    // epochs by its share of these.
    double weight_of(const Step& step) const {
        const double share = ranks_kept() ? 1.0 / static_cast<double>(epochs) : 0;
        return step.phase == Phase::epoch ? 1 : step.makes_kept() ? share : 0;
    }
};

// Throws Error{usage} for pinned choices that do not exist, and sizes whose sums do not fit 64 bits.
Space make_space(const Problem& problem, const Machine& machine, const SelectOptions& options);

// The facts that the values of its switches depend on. The space outlives the result.
enumerate::Asked asked(const Space& space);

// Reports to SelectOptions::progress, if it is set, that the n-th of so many grids is searched next.
void say_searching(const Space& space, const Distribution& on, std::size_t n, std::size_t grids);

}  // namespace gnnplan::search
