#include "planner/cost/loading.hpp"

#include "planner/cost/rates.hpp"
#include "planner/ir/needed_rows.hpp"
#include "planner/ir/steps/product_work.hpp"

#include <gnnplan/ir/pieces.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace gnnplan::cost {
namespace {

// Reading an edge of a binary file takes this share of what parsing one of a text does.
constexpr double binary_share = 0.1;
// Parsing a number of a row of features, which has a point and some digits behind it.
constexpr double value_share = 0.8;

// Other ranks that a rank exchanges something with, on its node and elsewhere.
struct Peers {
    double near = 0, far = 0;
    double all() const { return near + far; }
};

class LoadingOf {
public:
    LoadingOf(const Schedule& schedule, const GraphStats& graph, const GraphRecord& record, const Listing& listing,
              const Machine& machine)
        : schedule_(schedule),
          graph_(graph),
          record_(record),
          listing_(listing),
          machine_(machine),
          cost_(loading_cost(machine)),
          needs_(schedule, record.normalisation, record.symmetrised, graph.symmetric()),
          ranks_(schedule.grid.size()),
          edges_(static_cast<double>(listed_edges(listing, record))) {}

    LoadingSeconds of(int rank) const {
        if (schedule_.loading == Loading::whole) return of_whole(rank);
        const RowShare share = row_share_of(schedule_, rank);
        return {deal_seconds(share.made, rank), row_seconds(share, rank), degree_seconds(share, rank),
                cut_seconds(share.kept, rank), feature_seconds(rank)};
    }

private:
    // Every rank reads all edges, and sorts them once for each matrix that it has.
    LoadingSeconds of_whole(int rank) const {
        const double lists = record_.symmetrised || !graph_.symmetric() ? 2 : 1;
        const double drawn = nonzeros_of({0, graph_.vertices()}, true);
        return {edges_ * parse_seconds(), cost_.row_seconds_per_nonzero * (lists * edges_ + drawn), 0,
                cut_seconds(adjacency_rows(schedule_, rank), rank) + order_seconds(adjacency_rows(schedule_, rank)), 0};
    }

    double parse_seconds() const { return (listing_.text ? 1 : binary_share) * cost_.parse_seconds_per_edge; }

    // Edges go to the rank that makes their target's row, and where sources are wanted to that of their source's, too.
    double lists() const { return needs_.targets ? 2 : 1; }
    double dealt_to(Range made) const {
        const double all = static_cast<double>(std::max<std::int64_t>(1, graph_.nonzeros()));
        double share = static_cast<double>(graph_.row_nonzeros(forward_matrix, made)) / all;
        if (needs_.targets) share += static_cast<double>(graph_.row_nonzeros(backward_matrix, made)) / all;
        return share * edges_;
    }

    double deal_seconds(Range made, int rank) const {
        const double most = listing_.divisible ? edges_ / ranks_ : edges_;  // that one rank reads
        const double read = listing_.divisible || rank == 0 ? most : 0;
        const double received = dealt_to(made);
        const double rounds = std::ceil(most / static_cast<double>(edges_dealt_in_round(ranks_)));
        const Peers peers = all_peers(rank);
        const double others = peers.all() / ranks_;  // the share of edges that leaves a rank
        const double bytes = (graph_.weighted() ? 12 : 8) * others * std::max(lists() * read, received);
        const double messages = rounds * lists() * (graph_.weighted() ? 2 : 1);
        return parse_seconds() * read + cost_.deal_seconds_per_edge * (lists() * read + received) / 2 +
               exchange_seconds(peers, rounds + 1, deal_header_bytes * (rounds + 1) * peers.all()) +
               exchange_seconds(peers, messages, bytes);
    }

    // Nonzeros of all matrices that a rank keeps, or only of those that layers have drawn.
    double nonzeros_of(Range rows, bool drawn_only = false) const {
        double nonzeros = 0;
        for (const MatrixId matrix : kept_matrices(needs_, graph_)) {
            if (!drawn_only || matrix.sample > 0) nonzeros += static_cast<double>(graph_.row_nonzeros(matrix, rows));
        }
        return nonzeros;
    }

    double row_seconds(const RowShare& share, int rank) const {
        const auto group = static_cast<double>(share.group.size());
        const double sorted = dealt_to(share.made) + nonzeros_of(share.made, true);
        const auto sent = static_cast<double>(shared_row_bytes(needs_, graph_, share.made));
        const auto kept = static_cast<double>(shared_row_bytes(needs_, graph_, share.kept));
        const auto matrices = static_cast<double>(kept_matrices(needs_, graph_).size());
        return cost_.row_seconds_per_nonzero * sorted + order_seconds(share.kept) +
               exchange_seconds(peers_in(share.group, rank), 2 * matrices, std::max((group - 1) * sent, kept - sent));
    }

    // Columns are numbered anew, and sorted, where vertices are not numbered as in the file.
    double order_seconds(Range kept) const {
        return schedule_.numbering.identity() ? 0 : cost_.row_seconds_per_nonzero * nonzeros_of(kept);
    }

    // All ranks say how many scales they want of each other; then they ask those that keep other rows, for about as
    // many as they are asked for.
    double degree_seconds(const RowShare& share, int rank) const {
        const Peers group = peers_in(share.group, rank), all = all_peers(rank);
        const double seconds = exchange_seconds(group, 2, 16.0 * static_cast<double>(share.made.size()) * group.all());
        if (record_.normalisation == Normalisation::none) return seconds;
        const std::int64_t met = graph_.columns_met(true, share.kept, {0, share.kept.begin}) +
                                 graph_.columns_met(true, share.kept, {share.kept.end, graph_.vertices()});
        const Peers elsewhere{all.near - group.near, all.far - group.far};
        return seconds + exchange_seconds(all, 1, 8 * all.all()) +
               exchange_seconds(elsewhere, 2, 12 * static_cast<double>(met));
    }

    // Ranks of a y-group multiply the same, unless blocks or rows are dealt to them.
    std::int64_t multiplied(TensorId tensor, int rank) const {
        const Grid& grid = schedule_.grid;
        const bool whole = has_whole_slices(grid, tensor_of(schedule_, tensor));
        const int first = whole ? grid.neighbour(rank, Axis::y, 0) : rank;
        const auto [entry, is_new] = multiplied_.try_emplace({tensor, first}, 0);
        if (is_new) entry->second = multiplied_nonzeros(schedule_, tensor, graph_, rank);
        return entry->second;
    }

    // A rank looks through all rows that it keeps, and cuts the blocks that it stores.
    double cut_seconds(Range kept, int rank) const {
        double stored = 0;
        for (std::size_t id = 0; id < schedule_.tensors.size(); ++id) {
            const Tensor& matrix = schedule_.tensors[id];
            if (matrix.role != Role::adjacency || matrix.structure) continue;
            const auto tensor = static_cast<TensorId>(id);
            if (!gathers_matrix(schedule_.grid, matrix)) {  // what it multiplies
                stored += static_cast<double>(multiplied(tensor, rank));
                continue;
            }
            const Range rows = block_of(schedule_, tensor, rank).rows;
            for (const Piece& piece : pieces_of(schedule_.grid, matrix, rank)) {
                if (piece.matrix_root == rank)
                    stored += static_cast<double>(graph_.block_nonzeros(matrix.matrix(), rows, piece.columns));
            }
        }
        return cost_.cut_seconds_per_nonzero * (stored + nonzeros_of(kept)) / 2;
    }

    // A rank reads its share, and takes as many values as others, in whatever layout layers want them.
    double feature_seconds(int rank) const {
        const FeatureListing& listing = listing_.features;
        if (listing.columns == 0) return 0;
        const auto columns = static_cast<double>(listing.columns), all = static_cast<double>(graph_.vertices());
        const int readers = listing.most_readers > 0 ? std::min(listing.most_readers, ranks_) : ranks_;
        const double most = all / readers;  // that one rank reads
        const double read = rank < readers ? most : 0;
        const double rounds = std::ceil(most / static_cast<double>(rows_dealt_in_round(ranks_, listing.columns)));
        const Peers peers = all_peers(rank);
        const double moved = peers.all() / ranks_ * std::max(read, all / ranks_);  // rows that leave or come
        const double value = cost_.parse_seconds_per_edge * (listing.text ? value_share : binary_share);
        return value * columns * read +
               exchange_seconds(peers, rounds + 1, feature_header_bytes(1) * (rounds + 1) * peers.all()) +
               exchange_seconds(peers, 2 * rounds, (row_number_bytes + 4 * columns) * moved);
    }

    bool same_node(int rank, int other) const {
        return rank / machine_.ranks_per_node == other / machine_.ranks_per_node;
    }
    Peers all_peers(int rank) const {
        const int first = rank / machine_.ranks_per_node * machine_.ranks_per_node;
        const int near = std::min(ranks_, first + machine_.ranks_per_node) - first - 1;
        return {static_cast<double>(near), static_cast<double>(ranks_ - 1 - near)};
    }
    Peers peers_in(const std::vector<int>& group, int rank) const {
        const auto near = std::count_if(group.begin(), group.end(), [&](int other) { return same_node(rank, other); });
        return {static_cast<double>(near - 1), static_cast<double>(std::ssize(group) - near)};
    }

    // Time to exchange `each` messages with every peer, `bytes` in total. Network cards carry as much for each rank of
    // a node.
    double exchange_seconds(const Peers& peers, double each, double bytes) const {
        if (peers.all() == 0 || each == 0) return 0;
        const double size = bytes / (each * peers.all());
        const double far = each * peers.far * message_seconds(machine_.inter_node, size);
        const double over_cards = machine_.network_cards ? machine_.ranks_per_node * each * peers.far * size /
                                                               machine_.network_cards->node_bytes_per_second()
                                                         : 0;
        return each * peers.near * message_seconds(machine_.intra_node, size) + std::max(far, over_cards);
    }

    const Schedule& schedule_;
    const GraphStats& graph_;
    const GraphRecord& record_;
    const Listing& listing_;
    const Machine& machine_;
    const LoadingCost cost_;
    const LoadingNeeds needs_;
    const int ranks_;
    const double edges_;
    mutable std::map<std::pair<TensorId, int>, std::int64_t> multiplied_;
};

}  // namespace

// Sizes alone are the largest on the first rank.
LoadingSeconds loading_seconds(const Schedule& schedule, const GraphStats& graph, const GraphRecord& record,
                               const Listing& listing, const Machine& machine) {
    const LoadingOf loading(schedule, graph, record, listing, machine);
    LoadingSeconds slowest;
    const int ranks = graph.exact() ? schedule.grid.size() : 1;
    for (int rank = 0; rank < ranks; ++rank) {
        const LoadingSeconds each = loading.of(rank);
        slowest.deal = std::max(slowest.deal, each.deal);
        slowest.rows = std::max(slowest.rows, each.rows);
        slowest.degrees = std::max(slowest.degrees, each.degrees);
        slowest.cut = std::max(slowest.cut, each.cut);
        slowest.features = std::max(slowest.features, each.features);
    }
    return slowest;
}

}  // namespace gnnplan::cost
