// Relayed panels, on every grid of up to 12 ranks and on nodes of 1 to 12 of them, against a walk through the stages.
#include "planner/ir/steps/relay_rows.hpp"

#include <gtest/gtest.h>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/panel_relay.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace gnnplan {
namespace {

constexpr std::int64_t width = 6;

struct Case {
    Grid grid;
    std::string contraction;
    std::int64_t columns = 24;
    int splits = 1;
    bool overlap = false;
    int ranks_per_node = 1;

    std::string text() const {
        return grid.text() + ", columns over " + contraction + ", " + std::to_string(columns) + " in " +
               std::to_string(splits) + (overlap ? " that overlap, " : ", ") + std::to_string(ranks_per_node) +
               " ranks on a node";
    }
    Schedule schedule(Exchange exchange = Exchange::relay) const {
        const bool dealt = contraction == "y";
        const Layout dense = dealt ? layout_f() : layout_c();
        Tensor matrix{"A", Role::adjacency, DType::f32, 7, columns, {Axes::parse("x"), Axes::parse(contraction), {}}};
        matrix.storage.splits = splits;
        Schedule s{grid,
                   {},
                   {matrix,
                    {"H", Role::features, DType::f32, columns, width, dense},
                    {"T", Role::transient, DType::f32, 7, width, {Axes::parse("x"), dense.columns, {}}}},
                   {{"step", Phase::epoch, SpmmStep{0, {1}, {2}, exchange, overlap}}}};
        s.ranks_per_node = ranks_per_node;
        return s;
    }
};

// More ranks than columns, too.
std::vector<Case> cases() {
    std::vector<Case> all;
    int turn = 0;
    for (int x = 2; x <= 12; ++x) {
        for (int y = 1; x * y <= 12; ++y) {
            for (int z = 1; x * y * z <= 12; ++z) {
                for (const char* contraction : {"z", "zy", "y"}) {
                    if (contraction == std::string("y") && (z > 1 || y == 1)) continue;
                    for (const std::int64_t columns : {5, 11, 24, 101}) {
                        for (const int per_node : {1, 2, 3, 4, 6, 12}) {
                            ++turn;
                            all.push_back({{x, y, z}, contraction, columns, 1 + turn % 3, turn % 2 == 0, per_node});
                        }
                    }
                }
            }
        }
    }
    return all;
}

const SpmmStep& product(const Schedule& s) { return std::get<SpmmStep>(s.steps.front().operation); }
const UniformStats graph(24, 100, true);

// The pieces of a rank at one stage after the other, and who sends them.
template <class Visit>
void for_each_arrival(const Schedule& s, Visit visit) {
    const PanelRelay relay(s, product(s));
    for (int rank = 0; rank < s.grid.size(); ++rank) {
        const std::vector<Piece> pieces = pieces_of(s.grid, s.tensors.front(), rank);
        const auto passing = relay.to(rank);
        for (std::size_t k = 0; k < pieces.size(); ++k) {
            if (pieces[k].dense_root == rank || pieces[k].columns.empty()) continue;
            const bool passed = passing && k >= passing->first;
            visit(rank, k, pieces[k], passed ? passing->from : pieces[k].dense_root, passed ? passing : std::nullopt);
        }
    }
}

// Whoever passes rows on has come to the same piece before, and so many stages before that it has got them when it
// begins to send; its buffers keep them until they are sent.
TEST(PanelRelay, PassesOnWhatHasComeAndIsKept) {
    std::size_t passed = 0;
    for (const Case& c : cases()) {
        const Schedule s = c.schedule();
        const std::size_t under_way = c.overlap ? static_cast<std::size_t>(c.splits) : 1;
        for_each_arrival(s, [&](int rank, std::size_t k, const Piece& piece, int from, const auto& passing) {
            if (!passing) return;
            ++passed;
            EXPECT_EQ(rank / c.ranks_per_node, from / c.ranks_per_node) << c.text();
            const Piece got = pieces_of(s.grid, s.tensors.front(), from)[k - passing->behind];
            EXPECT_EQ(got.columns, piece.columns) << c.text();
            EXPECT_GE(passing->behind, under_way) << c.text();
            const SpmmBuffers buffers = spmm_buffers(s, product(s), graph, from);
            EXPECT_GE(static_cast<std::size_t>(buffers.copies + buffers.kept), passing->behind + under_way) << c.text();
            const auto passed_on = PanelRelay(s, product(s)).from(from);
            ASSERT_TRUE(passed_on.has_value()) << c.text();
            EXPECT_EQ(passed_on->to, rank) << c.text();
        });
        if (HasFailure()) return;
    }
    EXPECT_GT(passed, 1000U);
}

// Rows and messages of each pair of ranks.
std::map<std::pair<int, int>, SentRows> arrivals(const Schedule& s) {
    std::map<std::pair<int, int>, SentRows> of_pairs;
    for_each_arrival(s, [&](int rank, std::size_t, const Piece& piece, int from, const auto&) {
        of_pairs[{from, rank}].add(piece.columns.size());
    });
    return of_pairs;
}

TEST(PanelRelay, MessagesAreThoseOfTheStages) {
    for (const Case& c : cases()) {
        const Schedule s = c.schedule();
        const auto expected = arrivals(s);
        RelayRows rows(s, product(s));
        std::map<std::pair<int, int>, SentRows> received, sent;
        for (int rank = 0; rank < s.grid.size(); ++rank) {
            std::int64_t in = 0, out = 0;
            for (const PeerRows& peer : rows.received(rank)) received[{peer.peer, rank}].add(peer.sent);
            for (const PeerRows& peer : rows.sent(rank)) sent[{rank, peer.peer}].add(peer.sent);
            for (const auto& [pair, all] : expected) {
                in += pair.second == rank ? all.rows : 0;
                out += pair.first == rank ? all.rows : 0;
            }
            EXPECT_EQ(rows.totals(rank), std::pair(out, in)) << c.text() << ", rank " << rank;
            const std::vector<int> peers = StepMessages(s, s.steps.front(), graph).peers(rank);
            for (int peer = 0; peer < s.grid.size(); ++peer) {
                const auto found = expected.find({rank, peer});
                const SentRows all = found != expected.end() ? found->second : SentRows{};
                EXPECT_TRUE(all.rows == 0 || std::count(peers.begin(), peers.end(), peer) == 1) << c.text();
            }
        }
        for (const auto& [pair, all] : expected) {
            for (const auto* counted : {&received, &sent}) {
                const auto found = counted->find(pair);
                ASSERT_TRUE(found != counted->end()) << c.text() << ", " << pair.first << " to " << pair.second;
                EXPECT_EQ(found->second.rows, all.rows) << c.text();
                EXPECT_EQ(found->second.messages, all.messages) << c.text();
            }
            const Message message = product(s).between(s, graph, pair.first, pair.second);
            const bool nonzeros = gathers_matrix(s.grid, s.tensors.front());
            const std::int64_t columns = block_of(s, 1, pair.second).columns.size();
            EXPECT_EQ(message.bytes, 4 * columns * all.rows) << c.text();
            EXPECT_EQ(message.count, columns > 0 ? all.messages : 0) << c.text() << nonzeros;
        }
        if (HasFailure()) return;
    }
}

// In all the same bytes move as straight from their owners, and every rank receives the same.
TEST(PanelRelay, MovesTheSameBytes) {
    for (const Case& c : cases()) {
        const Schedule relayed = c.schedule(), straight = c.schedule(Exchange::panels);
        for (int rank = 0; rank < c.grid.size(); ++rank) {
            EXPECT_EQ(traffic_of(relayed, relayed.steps.front(), graph, rank).received_bytes,
                      traffic_of(straight, straight.steps.front(), graph, rank).received_bytes)
                << c.text();
        }
        EXPECT_EQ(total_traffic(relayed, Phase::epoch, graph).total_bytes,
                  total_traffic(straight, Phase::epoch, graph).total_bytes)
            << c.text();
        if (HasFailure()) return;
    }
}

// Rows that enter each node from others: with whole slices all rows of other nodes once for each x-group, where its
// ranks on the node follow each other; otherwise never more than straight.
TEST(PanelRelay, PanelsEnterANodeOnce) {
    for (const Case& c : cases()) {
        const Schedule s = c.schedule(), straight = c.schedule(Exchange::panels);
        const auto entering = [&](const Schedule& schedule, int node) {
            std::int64_t bytes = 0;
            for (const Message& message : messages_of(schedule, schedule.steps.front(), graph)) {
                const bool same_column =
                    c.grid.coordinate(message.from, Axis::y) == c.grid.coordinate(message.to, Axis::y);
                const bool enters = message.to / c.ranks_per_node == node && message.from / c.ranks_per_node != node;
                if (enters && (same_column || c.contraction == "y")) bytes += message.bytes;
            }
            return bytes;
        };
        for (int node = 0; node * c.ranks_per_node < c.grid.size(); ++node) {
            EXPECT_LE(entering(s, node), entering(straight, node)) << c.text();
            if (c.contraction != "z" || c.grid.y * c.grid.z > 1) continue;
            std::int64_t held = 0;
            for (int rank = node * c.ranks_per_node; rank < std::min((node + 1) * c.ranks_per_node, c.grid.x); ++rank)
                held += dense_rows(c.grid, s.tensors.front(), rank).size();
            EXPECT_EQ(entering(s, node), 4 * width * (c.columns - held)) << c.text();
        }
        if (HasFailure()) return;
    }
}

TEST(PanelRelay, SavesWhereNeighboursShareANode) {
    EXPECT_TRUE(relay_saves({4, 1, 1}, 2));
    EXPECT_TRUE(relay_saves({4, 2, 1}, 4));
    EXPECT_FALSE(relay_saves({4, 2, 1}, 2)) << "a node has one rank of each x-group";
    EXPECT_FALSE(relay_saves({4, 1, 1}, 4)) << "there is one node";
    EXPECT_FALSE(relay_saves({4, 1, 1}, 1));
    EXPECT_FALSE(relay_saves({1, 4, 1}, 2)) << "no rows are sent";
}

}  // namespace
}  // namespace gnnplan
