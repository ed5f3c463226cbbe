// Nodes whose ranks share network cards: what leaves a node in a step, and what enters it, goes over these.
#pragma once

#include "planner/cost/level_traffic.hpp"

#include <gnnplan/ir/layout.hpp>
#include <gnnplan/ir/machine.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gnnplan::cost {

// Whether messages between nodes go over cards that ranks share.
inline bool shares_cards(const Grid& grid, const Machine& machine) {
    return machine.network_cards.has_value() && grid.size() > machine.ranks_per_node;
}

// So many ranks of a node are like one of those that are costed, which is at this place among them.
struct LikeRanks {
    std::size_t place = 0;
    std::int64_t count = 0;
    auto operator<=>(const LikeRanks&) const = default;  // NOLINT(modernize-use-nullptr): there is none
};
using CostedNode = std::vector<LikeRanks>;  // by increasing place

// The nodes of ranks whose like are at these places among those that are costed, one of each composition.
std::vector<CostedNode> nodes_of(const std::vector<std::size_t>& places, const Machine& machine);
// The same nodes where fewer ranks are costed: `places` has where among these each of those before has its like.
std::vector<CostedNode> nodes_of(const std::vector<CostedNode>& nodes, const std::vector<std::size_t>& places);

// The bytes that leave a node, or enter it, whichever are more, of ranks with this traffic.
class NodeBytes {
public:
    void add(const RankLevels& traffic, std::int64_t ranks = 1) {
        left_ += ranks * traffic[between_nodes].sent_bytes;
        entered_ += ranks * traffic[between_nodes].received_bytes;
    }
    // Over what the node's cards carry.
    double seconds(const NetworkCards& cards) const {
        return static_cast<double>(left_ > entered_ ? left_ : entered_) / cards.node_bytes_per_second();
    }

private:
    std::int64_t left_ = 0, entered_ = 0;
};

// Returns, for each costed rank, the longest time that the network cards of a node with ranks like it take. `traffic`
// has the bytes of each costed rank.
std::vector<double> seconds_of_nodes(const NetworkCards& cards, const std::vector<CostedNode>& nodes,
                                     const std::vector<RankLevels>& traffic);

}  // namespace gnnplan::cost
