// Edges go to the ranks that make rows out of them, in rounds of bounded size (DEAL, section 3.5).
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/graph/edges.hpp"
#include "runtime/graph/order.hpp"
#include "runtime/load/rounds.hpp"
#include "runtime/load/row_shares.hpp"

#include <cstdint>
#include <span>

namespace gnnplan::load {

// The edges that a rank has been dealt: Edge::from counts in the rows that it makes, Edge::to is a vertex.
struct Dealt {
    data::EdgeList sources;  // rows of targets: who an edge comes from
    data::EdgeList targets;  // rows of sources: where it goes; none unless they were asked for
};

// Bytes that travel: 8 for each edge to the maker of its target's row, as many to that of its source's where targets
// are dealt too, 4 more each with weights; and in every round 24 between each two ranks.
class Dealer {
public:
    // Everything outlives the object.
    Dealer(comm::Communicator& comm, const RowShares& shares, const data::VertexOrder& order, bool weighted,
           bool with_targets);

    // Collective, as is finish(), but ranks may deal different numbers of edges: those who have finished take part
    // until all have. Throws Stopped when another rank has failed.
    void deal(std::span<const data::Edge> edges, std::span<const float> weights);
    // All edges of this rank are dealt. Returns what this rank has been dealt when all ranks have finished.
    Dealt finish();
    // In place of finish(): makes the others stop.
    void fail();

private:
    // Returns whether all ranks have finished.
    bool round(std::span<const data::Edge> edges, std::span<const float> weights, RoundState state);
    void sort_by_maker(std::span<const data::Edge> edges, std::span<const float> weights);
    // `counts`: how many edges come from each rank, to targets' rows and to sources'.
    void receive(const std::vector<std::int64_t>& counts);

    comm::Communicator& comm_;
    const RowShares& shares_;
    const data::VertexOrder& order_;
    bool weighted_;
    bool with_targets_;
    Dealt dealt_;
    // The place of a vertex is the rank that makes its row, and the number of that row among the maker's. The list has
    // the targets of the edges of a round first, then their sources, where edges are dealt to them, too.
    struct Place {
        int maker = 0;
        std::int32_t row = 0;
    };
    std::vector<Place> places_;
    // The edges that a round sends: first to the makers of targets' rows, then to those of sources', peer after peer.
    std::vector<std::int64_t> begin_;  // of each peer's, 2 peers + 1
    std::vector<data::Edge> edges_;
    std::vector<float> weights_;
    // The edges that it receives.
    std::vector<data::Edge> received_;
    std::vector<float> received_weights_;
};

}  // namespace gnnplan::load
