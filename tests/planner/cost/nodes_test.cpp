// Messages between nodes go over cards that the ranks of a node share.
#include "planner/cost/nodes.hpp"

#include "planner/cost/predict.hpp"
#include "planner/cost/time.hpp"
#include "tests/planner/lower/full_configurations.hpp"
#include "tests/support/test_machine.hpp"

#include <gnnplan/ir/panel_relay.hpp>

#include <gtest/gtest.h>

namespace gnnplan::cost {
namespace {

// Ranks of which each alone reaches what a card carries.
Machine with_cards(int ranks_per_node, int cards) {
    Machine machine = test::round_machine(ranks_per_node);
    machine.network_cards = NetworkCards{cards, machine.inter_node.bytes_per_second};
    return machine;
}

// An exchange among four ranks along y, of 1 x 2 floats from each to each.
Schedule redistribution() {
    return {
        {1, 4, 1},
        {},
        {{"a", Role::transient, DType::f32, 8, 4, layout_c()}, {"b", Role::transient, DType::f32, 8, 4, layout_r()}},
        {{"step", Phase::epoch, RedistributeStep{0, 1}}}};
}

double seconds_of(const Schedule& s, const Machine& machine) {
    const UniformStats graph(8, 8, true);
    return step_seconds(s, s.steps[0], graph, machine, ranks_to_cost(s, graph, machine));
}

// Two ranks a node, each with 16 bytes to the other node.
TEST(Nodes, ACardCarriesWhatAllRanksOfItsNodeSend) {
    const Schedule s = redistribution();
    const double local = (32 + 32 + 2 * 24) / 1e10 + 1e-6 + 8 / 1e9;
    Machine fast = with_cards(2, 1);
    fast.inter_node.latency_seconds = 0;
    EXPECT_NEAR(seconds_of(s, fast), local + 2 * 16 / 1e7, 1e-12);
    fast.network_cards->per_node = 2;
    EXPECT_NEAR(seconds_of(s, fast), local + 16 / 1e7, 1e-12) << "two cards for two ranks are one for each";
    fast.network_cards->per_node = 8;
    EXPECT_NEAR(seconds_of(s, fast), local + 16 / 1e7, 1e-12) << "a rank is no faster than its own link";
    EXPECT_NEAR(seconds_of(s, with_cards(2, 1)), local + 2 * 1e-4 + 16 / 1e7, 1e-12)
        << "latencies are a rank's own, and take longer than the card";
    EXPECT_EQ(seconds_of(s, with_cards(4, 1)), seconds_of(s, test::round_machine(4))) << "nothing leaves the node";
}

// A sum over all ranks in a ring: of a node one rank alone sends to another node, as fast as the card.
TEST(Nodes, TheOnlyRankThatSendsHasTheWholeCard) {
    const Schedule s{{4, 1, 1},
                     {},
                     {{"a", Role::transient, DType::f32, 1000, 4, layout_partial()}},
                     {{"step", Phase::epoch, AllReduceStep{0}}}};
    EXPECT_DOUBLE_EQ(seconds_of(s, with_cards(2, 1)), seconds_of(s, test::round_machine(2)));
    Machine slow = with_cards(2, 1);
    slow.network_cards->bytes_per_second /= 10;
    EXPECT_NEAR(seconds_of(s, slow), 2 * 3 * 4000 / 1e6, 1e-4) << "and waits for a card that is slower than itself";
}

// The time of an exchange within a node: from that of any message, with one peer, to that of all_to_all, with all
// ranks.
TEST(Nodes, AnExchangeAmongAllRanksOfANodeHasALinkOfItsOwn) {
    Machine m = test::round_machine(4);
    const double plain = seconds_of(redistribution(), m);
    m.all_to_all = Link{1e-6, 1e8};
    EXPECT_NEAR(seconds_of(redistribution(), m), plain + 24 / 1e8 - 24 / 1e9, 1e-12);
    m.ranks_per_node = 8;  // three peers of seven: a third of the way
    EXPECT_NEAR(seconds_of(redistribution(), m), plain + 2.0 / 6 * (24 / 1e8 - 24 / 1e9), 1e-12);
    m.ranks_per_node = 2;
    EXPECT_DOUBLE_EQ(seconds_of(redistribution(), m), seconds_of(redistribution(), test::round_machine(2)));
    m.ranks_per_node = 4;
    m.calibration = Calibration{.redistribution = m.intra_node};
    const double measured = seconds_of(redistribution(), m);
    m.all_to_all.reset();
    EXPECT_EQ(seconds_of(redistribution(), m), measured) << "what was measured takes precedence";
}

// Returns the seconds of the slowest network card in a step, counted message by message.
double slowest_card(const Schedule& s, const Step& step, const GraphStats& graph, const Machine& machine) {
    const auto nodes = static_cast<std::size_t>((s.grid.size() - 1) / machine.ranks_per_node + 1);
    std::vector<std::int64_t> left(nodes, 0), entered(nodes, 0);
    for (const Message& message : messages_of(s, step, graph)) {
        const auto from = static_cast<std::size_t>(message.from / machine.ranks_per_node);
        const auto to = static_cast<std::size_t>(message.to / machine.ranks_per_node);
        if (from == to) continue;
        left[from] += message.bytes;
        entered[to] += message.bytes;
    }
    const std::int64_t most = std::max(*std::ranges::max_element(left), *std::ranges::max_element(entered));
    return static_cast<double>(most) / machine.network_cards->node_bytes_per_second();
}

// With cards so slow that nothing else matters, a step takes as long as the card of the busiest node, whatever the
// scheme, the grid and the borders of nodes.
TEST(Nodes, StepsTakeAsLongAsTheBusiestCard) {
    const UniformStats graph(10'007, 70'049, true);
    for (const lower::FullCase& full : lower::full_cases({6, 12, 36}, 97)) {
        SCOPED_TRACE(full.text());
        Schedule s = lower::lowered(full, {130, 170, 61}, graph);
        const auto numbered = graph.numbered(s.numbering);
        for (const int per_node : {2, 5, 16}) {
            s.ranks_per_node = per_node;
            Machine machine = with_cards(per_node, 2);
            machine.inter_node = machine.intra_node = {0, 1e18};
            machine.network_cards->bytes_per_second = 1;
            RanksOfSteps ranks(ranks_to_cost(s, *numbered, machine), machine);
            for (const Step& step : s.steps) {
                const double card = slowest_card(s, step, *numbered, machine);
                const double found = step_seconds(s, step, *numbered, machine, ranks.of(s, step, *numbered));
                // Statistics round needed rows, and the peers on the nodes of ranks that are alike may have a column
                // more, be dealt other blocks, or pass on other pieces.
                const double slack = full.on.sharing == Sharing::block_distributed ? 0.25
                                     : relaying(step.operation) != nullptr         ? 0.1
                                                                                   : 0.02;
                EXPECT_NEAR(found, card, slack * card + 100) << step.name;
            }
        }
    }
}

}  // namespace
}  // namespace gnnplan::cost
