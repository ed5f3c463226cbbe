#include "planner/cost/nodes.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace gnnplan::cost {
namespace {

// The nodes that have so many ranks of each place among those that are costed, each composition once.
class Compositions {
public:
    void add(std::vector<std::size_t> places) {
        std::sort(places.begin(), places.end());
        CostedNode node;
        for (const std::size_t place : places) add_to(node, {place, 1});
        nodes_.insert(std::move(node));
    }
    // The same node where places have become others.
    void add(const CostedNode& known, const std::vector<std::size_t>& places) {
        std::map<std::size_t, std::int64_t> counts;
        for (const LikeRanks& like : known) counts[places[like.place]] += like.count;
        CostedNode node;
        for (const auto& [place, count] : counts) node.push_back({place, count});
        nodes_.insert(std::move(node));
    }
    std::vector<CostedNode> all() const { return {nodes_.begin(), nodes_.end()}; }

private:
    static void add_to(CostedNode& node, const LikeRanks& like) {
        if (!node.empty() && node.back().place == like.place)
            node.back().count += like.count;
        else
            node.push_back(like);
    }

    std::set<CostedNode> nodes_;
};

}  // namespace

// Most nodes are like the one before.
std::vector<CostedNode> nodes_of(const std::vector<std::size_t>& places, const Machine& machine) {
    Compositions compositions;
    const auto node = static_cast<std::ptrdiff_t>(machine.ranks_per_node);
    for (auto begin = places.begin(); begin < places.end();) {
        const auto end = begin + std::min(node, places.end() - begin);
        const bool as_before = begin != places.begin() && end - begin == node && std::equal(begin, end, begin - node);
        if (!as_before) compositions.add({begin, end});
        begin = end;
    }
    return compositions.all();
}

std::vector<CostedNode> nodes_of(const std::vector<CostedNode>& nodes, const std::vector<std::size_t>& places) {
    Compositions compositions;
    for (const CostedNode& node : nodes) compositions.add(node, places);
    return compositions.all();
}

std::vector<double> seconds_of_nodes(const NetworkCards& cards, const std::vector<CostedNode>& nodes,
                                     const std::vector<RankLevels>& traffic) {
    std::vector<double> seconds(traffic.size(), 0);
    for (const CostedNode& node : nodes) {
        NodeBytes bytes;
        for (const LikeRanks& like : node) bytes.add(traffic[like.place], like.count);
        for (const LikeRanks& like : node) seconds[like.place] = std::max(seconds[like.place], bytes.seconds(cards));
    }
    return seconds;
}

}  // namespace gnnplan::cost
