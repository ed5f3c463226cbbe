// The full space: what a configuration consists of there, and the search for its fastest members.
//
// A configuration is a frame (a grid and switches that hold for all of it) and one choice for each layer. Lowering and
// the time of its steps are all there is to know of a member's time, so members are ranked by the sum of their steps'
// times, each shape computed once. Networks of up to three layers have every member ranked. Deeper ones are searched by
// dynamic programming (deep_network.hpp).
#pragma once

#include "planner/enumerate/choices.hpp"
#include "planner/search/costed.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace gnnplan::search {

inline constexpr int max_enumerated_layers = 3;

// Whether a network is searched layer by layer: it has many, each of which reads of itself and the one before it alone.
inline bool is_deep(const SiteGraph& model) { return model.depth > max_enumerated_layers && !model.reads_far(); }

// Choices that hold for a whole configuration.
struct ConfigurationFrame {
    Distribution on{};
    Switches switches{};  // bf16 is asked for; a configuration has it where products pack panels
    bool trains = true;   // else its configurations say nothing of a backward pass
};

using Choices = std::vector<enumerate::LayerChoice>;  // layers 1 .. L

// One member and its predicted epoch, with what comes before it where there is one pass only.
struct Member {
    double seconds = 0;  // infinite where no cut of its pieces keeps to the bound on buffers
    std::uint32_t frame = 0;
    std::uint32_t choices = 0;
    bool fits_buffer() const { return std::isfinite(seconds); }
};

struct Members {
    std::vector<ConfigurationFrame> frames;
    std::vector<Choices> choices;
    std::vector<Member> members;  // fastest first
    // The smallest bound that would be enough for one of the members that miss the bound on buffers, as far as known.
    std::int64_t needed_buffer = std::numeric_limits<std::int64_t>::max();
};

// Every combination of layer choices, pinned letters kept; `undominated_only` as in enumerate::layer_choices.
std::vector<Choices> all_choices(const Space& space, const Distribution& on, bool undominated_only);
std::vector<enumerate::LayerChoice> choices_of_layer(const Space& space, const Distribution& on, int layer,
                                                     bool undominated_only);

// Sequences whose layers all begin with the same product, or begin with either in turns, as far as they may.
std::vector<Choices> regular_choices(const Space& space, const Distribution& on);

Configuration configuration_of(const ConfigurationFrame& frame, const Choices& choices);

// Ranks the members on the given grids, with stored values, factored ones or both.
Members rank_members(const Space& space, const std::vector<Distribution>& grids, const Machine& machine,
                     NumberedGraphs& graphs, const std::vector<bool>& factored = {false});

}  // namespace gnnplan::search
