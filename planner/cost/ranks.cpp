#include "planner/cost/ranks.hpp"

#include "planner/ir/dealt_blocks.hpp"
#include "planner/ir/steps/product_work.hpp"

#include <gnnplan/ir/panel_relay.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/row_relay.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>

namespace gnnplan::cost {

namespace {

// How many of the ranks that send `rank` the blocks it is dealt are on its node.
int near_in_hand(const Grid& grid, const Machine& machine, int rank) {
    const int served = grid.stride(Axis::y) * hand_with(grid, grid.coordinate(rank, Axis::x));
    const int stride = grid.stride(Axis::x);
    const int first = rank / machine.ranks_per_node * machine.ranks_per_node;
    const int last = first + machine.ranks_per_node - 1;
    const Range on_node{first <= served ? 0 : (first - served + stride - 1) / stride,
                        last < served ? 0 : (last - served) / stride + 1};
    return static_cast<int>(intersect(hand_of(grid, rank), on_node).size());
}

bool deals_blocks(const Schedule& schedule) {
    return std::any_of(schedule.tensors.begin(), schedule.tensors.end(), [&](const Tensor& tensor) {
        return tensor.role == Role::adjacency && block_distributed(tensor);
    });
}

bool relays(const Schedule& schedule) {
    return std::any_of(schedule.steps.begin(), schedule.steps.end(),
                       [](const Step& step) { return relaying(step.operation) != nullptr; });
}

// Relayed panels enter a node at the last of its ranks in each x-group, to which every rank sends its own, and leave
// all of its ranks but the first for a neighbour.
class RelayPlaces {
public:
    explicit RelayPlaces(const Schedule& schedule)
        : per_node_(schedule.ranks_per_node),
          grid_(schedule.grid),
          matter_(relay_saves(schedule.grid, per_node_) || relays(schedule)),
          last_ones_(static_cast<std::size_t>(grid_.size()), 0) {
        for (int rank = 0; matter_ && rank < grid_.size(); ++rank) last_ones(rank) += apart(rank, 1) ? 1 : 0;
        least_ = matter_ ? last_ones(0) : 0;
        for (int rank = 0; matter_ && rank < grid_.size(); ++rank) least_ = std::min(least_, last_ones(rank));
    }

    // Ranks that are alike otherwise and of one kind take equally long.
    static constexpr int kinds = 64;
    int kind(int rank) {
        if (!matter_) return 0;
        const int more = std::min(last_ones(rank) - least_, kinds / 4 - 1);
        return 4 * more + (apart(rank, -1) ? 2 : 0) + (apart(rank, 1) ? 1 : 0);
    }

private:
    // Whether the rank before or behind it along x is on another node, or nowhere.
    bool apart(int rank, int away) const {
        const int x = grid_.coordinate(rank, Axis::x) + away;
        return x < 0 || x >= grid_.x || grid_.neighbour(rank, Axis::x, x) / per_node_ != rank / per_node_;
    }
    // All ranks of an x-group share one count, whatever their nodes.
    int& last_ones(int rank) { return last_ones_[static_cast<std::size_t>(grid_.neighbour(rank, Axis::x, 0))]; }

    int per_node_;
    const Grid& grid_;
    bool matter_;
    std::vector<int> last_ones_;  // by the first rank of the group
    int least_ = 0;
};

// Picks one rank of each kind out of many, and tells where among those that are picked the others have theirs.
template <class Key, class Seen>
class PickedRanks {
public:
    void add(int rank, const Key& key) {
        const auto [entry, is_new] = seen_.try_emplace(key, ranks.size());
        if (is_new) ranks.push_back(rank);
        places.push_back(entry->second);
    }

    std::vector<int> ranks;
    std::vector<std::size_t> places;  // of each rank that was added, of its kind among `ranks`

private:
    Seen seen_;
};

CountedMatrix counted(const Tensor& matrix, int splits, std::int64_t panel_columns) {
    const std::string layout =
        matrix.layout.rows.text() + ',' + matrix.layout.columns.text() + ',' + matrix.layout.partial.text();
    return {matrix.rows, matrix.columns, matrix.transposed, matrix.sample, layout, splits, panel_columns};
}

}  // namespace

CostedRanks ranks_to_cost(const Schedule& schedule, const GraphStats& graph, const Machine& machine) {
    const Grid& grid = schedule.grid;
    CostedRanks on;
    if (graph.exact() || relays_rows(schedule)) {
        on.ranks.resize(static_cast<std::size_t>(grid.size()));
        std::iota(on.ranks.begin(), on.ranks.end(), 0);
        if (shares_cards(grid, machine)) on.nodes = nodes_of({on.ranks.begin(), on.ranks.end()}, machine);
        return on;
    }
    on.class_of = rank_classes(schedule, false).class_of;
    const bool dealt = deals_blocks(schedule);
    RelayPlaces relay(schedule);
    PickedRanks<std::uint64_t, std::unordered_map<std::uint64_t, std::size_t>> picked;
    for (int rank = 0; rank < grid.size(); ++rank) {
        auto key = static_cast<std::uint64_t>(on.class_of[static_cast<std::size_t>(rank)]);
        for (const Axis axis : {Axis::x, Axis::y, Axis::z}) {
            const NearRanks near = near_along(grid, machine.ranks_per_node, rank, axis);
            const int many = dealt && axis == Axis::x ? near_in_hand(grid, machine, rank) : near.before + near.after;
            key = key * (max_ranks + 1) + static_cast<std::uint64_t>(1 + many);
        }
        key = key * RelayPlaces::kinds + static_cast<std::uint64_t>(relay.kind(rank));
        picked.add(rank, key);
    }
    on.ranks = std::move(picked.ranks);
    if (shares_cards(grid, machine)) on.nodes = nodes_of(picked.places, machine);
    return on;
}

RanksOfSteps::RanksOfSteps(CostedRanks all, const Machine& machine, std::shared_ptr<RankCounts> counts)
    : all_(std::move(all)), picked_(all_), machine_(machine), counts_(std::move(counts)) {}

const CostedRanks& RanksOfSteps::of(const Schedule& schedule, const Step& step, const GraphStats& graph) {
    constexpr std::size_t few = 16;  // fewer are costed in less time than it takes to look for those that are alike
    if (all_.ranks.size() <= few || varies_with_rank(step.operation) || moves_across_groups(schedule, step.operation))
        return with_counts(schedule, step.operation);
    // A network card's share of relayed panels depends on the neighbours of each rank, so all ranks are costed.
    if (relaying(step.operation) != nullptr && shares_cards(schedule.grid, machine_)) return all_;
    if (redistributed(step.operation) || !tiled(step.operation).empty())
        return of_redistribution(schedule, step, graph);
    picked_.requests = counted_blocks() ? requests_for(schedule, step.operation, graph) : nullptr;
    if (const SpmmStep* product = product_of(step.operation)) {
        pick_for_product(schedule, *product);
        picked_.class_of = classes_of_peers(schedule, step.operation, *product);
        pick_counts(schedule, *product);
    } else if (local_by_size(schedule, step.operation)) {
        picked_.ranks = ranks_of_all_sizes(schedule, step.operation);
    } else if (picked_.requests != nullptr) {
        picked_.ranks = all_.ranks;
        picked_.nodes = all_.nodes;
    } else {
        return all_;
    }
    return picked_;
}

// Ranks of one class exchange the same with a peer of another. They take equally long if each class has equally many
// peers on their node, and equally many elsewhere.
const CostedRanks& RanksOfSteps::of_redistribution(const Schedule& schedule, const Step& step,
                                                   const GraphStats& graph) {
    const RankClasses& classes = classes_.of(schedule, step.operation);
    const auto [entry, is_new] = redistributing_.try_emplace(&classes);
    CostedRanks& on = entry->second;
    if (!is_new) return on;
    on.class_of = classes.class_of;
    const auto class_of = [&](int rank) {
        return static_cast<std::size_t>(on.class_of[static_cast<std::size_t>(rank)]);
    };
    const StepMessages messages(schedule, step, graph);
    PickedRanks<std::vector<std::size_t>, std::map<std::vector<std::size_t>, std::size_t>> picked;
    for (const int rank : all_.ranks) {
        std::vector<std::size_t> key(2 * classes.representative.size() + 1, 0);
        for (const int peer : messages.peers(rank)) {
            const bool same_node = peer / machine_.ranks_per_node == rank / machine_.ranks_per_node;
            ++key[2 * class_of(peer) + (same_node ? 1 : 0)];
        }
        key.back() = class_of(rank);
        picked.add(rank, key);
    }
    on.ranks = std::move(picked.ranks);
    on.nodes = nodes_of(all_.nodes, picked.places);
    return on;
}

// Blocks of the graph are counted, and no two ranks known to be alike; yet whole panels go by sizes alone.
std::vector<int> RanksOfSteps::classes_of_peers(const Schedule& schedule, const Operation& operation,
                                                const SpmmStep& product) {
    const Tensor& matrix = tensor_of(schedule, product.matrix);
    const bool by_sizes = !depends_on_graph(schedule, operation) && !deals_rows(matrix) &&
                          contraction_axis(schedule.grid, matrix) != Axis::y;
    return counted_blocks() && by_sizes ? classes_.of(schedule, operation).class_of : all_.class_of;
}

// Products of all widths, overlapped or not, exchange the same rows of a matrix, and it takes as many questions as
// there are pairs of ranks to find out how many.
const std::vector<RankLevels>* RanksOfSteps::requests_for(const Schedule& schedule, const Operation& operation,
                                                          const GraphStats& graph) {
    const std::optional<RowRequestStep> request = exchanged_by_need(schedule, operation);
    if (!request) return nullptr;
    const Tensor& matrix = tensor_of(schedule, request->matrix);
    const auto [entry, is_new] =
        counts_->requests.try_emplace({counted(matrix, matrix.storage.splits, 0), request->relayed});
    if (is_new) entry->second = requests_by_level(schedule, *request, graph, machine_);
    return &entry->second;
}

// All of the ranks: what they multiply is the same for all widths, too.
const CostedRanks& RanksOfSteps::with_counts(const Schedule& schedule, const Operation& operation) {
    const SpmmStep* product = product_of(operation);
    if (product == nullptr) return all_;
    picked_ = all_;
    pick_counts(schedule, *product);
    return picked_;
}

// The sum over pieces is the same however blocks are cut.
void RanksOfSteps::pick_counts(const Schedule& schedule, const SpmmStep& product) {
    const Tensor& matrix = tensor_of(schedule, product.matrix);
    picked_.nonzeros = &counts_->nonzeros[counted(matrix, 0, 0)];
    picked_.reuse = &counts_->reuse[counted(matrix, matrix.storage.splits, matrix.storage.panel_columns)];
}

// Where every rank of a y-group has the same nonzeros, or gets them from its x-group, their products differ in nothing
// but how many columns they have, and in which of the x-group are on their node.
void RanksOfSteps::pick_for_product(const Schedule& schedule, const SpmmStep& product) {
    const Grid& grid = schedule.grid;
    const Tensor& matrix = tensor_of(schedule, product.matrix);
    picked_.ranks = all_.ranks;
    picked_.nodes = all_.nodes;
    if (gathers_matrix(grid, matrix) || deals_rows(matrix) || contraction_axis(grid, matrix) == Axis::y) return;
    using Key = std::tuple<int, int, std::int64_t, std::int64_t, int, int>;
    PickedRanks<Key, std::map<Key, std::size_t>> picked;
    for (const int rank : all_.ranks) {
        const NearRanks near = near_along(grid, machine_.ranks_per_node, rank, Axis::x);
        picked.add(rank, {grid.coordinate(rank, Axis::x), grid.coordinate(rank, Axis::z),
                          block_of(schedule, product.column_operands.front(), rank).columns.size(),
                          block_of(schedule, product.results.front(), rank).columns.size(), near.before, near.after});
    }
    picked_.nodes = nodes_of(all_.nodes, picked.places);
    picked_.ranks = std::move(picked.ranks);
}

}  // namespace gnnplan::cost
