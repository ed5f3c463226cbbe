// Ranks that a step is costed on: enough of them that one takes as long as the slowest of all.
#pragma once

#include "planner/cost/level_traffic.hpp"
#include "planner/cost/nodes.hpp"

#include <gnnplan/ir/classes.hpp>
#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/schedule.hpp>
#include <gnnplan/ir/work.hpp>

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gnnplan::cost {

// CostedRanks holds the ranks that a step is costed on, which of their peers are alike, and what was counted of them
// before.
struct CostedRanks {
    std::vector<int> ranks;
    std::vector<int> class_of;  // per rank of the grid (ir/classes.hpp); empty: no two are known to be alike
    // One node of each composition, where ranks of a node share network cards and there are several nodes; else none.
    std::vector<CostedNode> nodes{};
    // Per rank of the grid, what it requests of others and they of it, of a step whose exchange follows from that; null
    // where peers are to be looked at.
    const std::vector<RankLevels>* requests = nullptr;
    // By rank, what has been counted of a product: the nonzeros that it multiplies, and how it comes back to the rows
    // of its dense operand, with panels copied as in the last step; null where nothing is kept.
    std::unordered_map<int, std::int64_t>* nonzeros = nullptr;
    std::unordered_map<int, SpmmReuse>* reuse = nullptr;
    bool operator==(const CostedRanks&) const = default;
};

// Picks ranks among which, in every step, is one that takes as long as the slowest of all. When the graph's blocks are
// counted these are all ranks, else one of every set of ranks with equal sizes and equally many peers on their node.
CostedRanks ranks_to_cost(const Schedule& schedule, const GraphStats& graph, const Machine& machine);

// CountedMatrix identifies a matrix whose blocks are counted. The values that are stored with nonzeros are no part of
// it, nor are pieces or panels where they do not matter.
struct CountedMatrix {
    std::int64_t rows = 0, columns = 0;
    bool transposed = false;
    int sample = 0;
    std::string layout{};
    int splits = 0;
    std::int64_t panel_columns = 0;
    auto operator<=>(const CountedMatrix&) const = default;  // NOLINT(modernize-use-nullptr): there is none
};

// RankCounts keeps the counts of a graph's blocks on a grid and a machine. They are the same for all schedules there:
// for products of all widths, overlapped or not, and whatever values are stored with nonzeros.
struct RankCounts {
    std::map<std::pair<CountedMatrix, bool>, std::vector<RankLevels>> requests;  // and whether rows are relayed
    std::map<CountedMatrix, std::unordered_map<int, std::int64_t>> nonzeros;     // that each rank multiplies
    std::map<CountedMatrix, std::unordered_map<int, SpmmReuse>> reuse;
};

// Picks ranks for one step after the other. Where the widths of layers differ, nearly every rank is costed, but a
// single step has few kinds of blocks: of ranks that take exactly as long in it, one is kept. The machine outlives the
// object.
class RanksOfSteps {
public:
    RanksOfSteps(CostedRanks all, const Machine& machine,
                 std::shared_ptr<RankCounts> counts = std::make_shared<RankCounts>());

    // For a step of a schedule on the grid of the ranks; valid until the next call. The graph is always the same.
    const CostedRanks& of(const Schedule& schedule, const Step& step, const GraphStats& graph);
    const CostedRanks& all() const { return all_; }

private:
    bool counted_blocks() const { return all_.class_of.empty(); }
    const CostedRanks& of_redistribution(const Schedule& schedule, const Step& step, const GraphStats& graph);
    void pick_for_product(const Schedule& schedule, const SpmmStep& product);
    std::vector<int> classes_of_peers(const Schedule& schedule, const Operation& operation, const SpmmStep& product);
    const std::vector<RankLevels>* requests_for(const Schedule& schedule, const Operation& operation,
                                                const GraphStats& graph);
    const CostedRanks& with_counts(const Schedule& schedule, const Operation& operation);
    void pick_counts(const Schedule& schedule, const SpmmStep& product);

    CostedRanks all_;
    CostedRanks picked_;  // of all of them for the latest step
    const Machine& machine_;
    StepClasses classes_;
    std::map<const RankClasses*, CostedRanks> redistributing_;  // by the classes of the step
    std::shared_ptr<RankCounts> counts_;
};

}  // namespace gnnplan::cost
