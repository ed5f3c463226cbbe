// The graphs of groups of ranks that train apart: each has the edges of one part of a vertex cut, and clones of their
// ends.
#pragma once

#include "runtime/graph/cut.hpp"
#include "runtime/graph/order.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gnnplan::data {

// The graphs of all groups as one, in which the clones of one group follow those of another and ascend by vertex.
struct Clones {
    Graph graph;                      // numbered so: `share` is set
    VertexOrder vertices;             // of each clone; there are no positions, as a vertex has several
    std::vector<std::int64_t> first;  // clone of each group, and behind the last one how many there are
    std::vector<float> counts_as;     // by how much of its vertex each clone is counted in a loss

    // Where clones get sums of each other's (Numbering::delay):
    std::vector<std::int32_t> owner;   // of each clone's vertex, a group
    std::vector<std::int32_t> bin;     // of each clone's vertex; -1: it has one clone
    std::vector<std::int64_t> shared;  // [(group * groups + owner) * bins + bin], as GraphStats::shared_clones() says

    int groups() const { return static_cast<int>(first.size()) - 1; }
    std::int64_t shared_clones(int group, int of, int in_bin) const;
    std::int64_t bytes() const;
    // That of each clone's vertex; none where vertices have none.
    std::vector<std::uint8_t> subsets(const std::vector<std::uint8_t>& of_vertices) const;
};

// How a cut becomes graphs of groups.
struct CloneRules {
    int groups = 0;
    CloneLoss loss = CloneLoss::shares;
    std::optional<int> delay = {};
};

// A group has clones of the vertices that its part has an edge of, or owns, and their edges in the part, with a self
// loop on each clone of a vertex that has one, or, with a delay of 0, on the owner's. The clones of a vertex count as 1
// together: by their shares of its edges, in both directions and without loops, or the owner's alone. Vertices with
// several clones are dealt to bins in turn. Looks through all nonzeros a few times.
Clones clones_of(const Graph& graph, const Cut& cut, const CloneRules& rules);
// Those of a numbering that has some: of its cut.
Clones clones_of(const Graph& graph, const Numbering& numbering);

}  // namespace gnnplan::data
