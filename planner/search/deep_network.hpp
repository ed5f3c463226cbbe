// Dynamic programming over the layers of a deep network.
//
// A layer's steps depend on its own choice, on where the layer before leaves H^(l-1), and on the choice of the layer
// after, which leaves it U^l and asks for H^l. So the time of an epoch is a sum over layers of terms of three
// neighbours, and its minimum a shortest path over states (where H^(l-1) is produced, choice of layer l). A term is the
// time of the steps that belong to layer l in a schedule lowered from the layers l - 1, l and l + 1 alone: the same
// lowering, not a second one.
#pragma once

#include "planner/search/full_space.hpp"

namespace gnnplan::search {

// Members kept in each state: so many of the fastest are exact, enough to look for one that fits in memory.
inline constexpr std::size_t deep_members = 24;

struct DeepMember {
    double seconds = 0;
    Choices choices;
};

// For each of the switches the `deep_members` fastest members of a frame, fastest first. The frame's own switches are
// one of them.
std::vector<std::vector<DeepMember>> fastest_of_deep(const Space& space, const ConfigurationFrame& frame,
                                                     const std::vector<Switches>& switches, const Machine& machine,
                                                     NumberedGraphs& graphs);

}  // namespace gnnplan::search
