#include "planner/cost/executed_units.hpp"
#include "planner/cost/predict.hpp"
#include "planner/cost/time.hpp"
#include "tests/planner/lower/configurations.hpp"
#include "tests/planner/lower/full_configurations.hpp"
#include "tests/support/test_machine.hpp"

#include <gtest/gtest.h>
#include <gnnplan/ir/traffic.hpp>
#include <gnnplan/ir/work.hpp>

#include <memory>

namespace gnnplan::cost {
namespace {

// The same machine whose nodes have network cards, which ranks share.
Machine with_cards(int ranks_per_node) {
    Machine machine = test::round_machine(ranks_per_node);
    machine.network_cards = NetworkCards{1, machine.inter_node.bytes_per_second};
    return machine;
}

// Four ranks in a row; an exchange of 1 x 4 messages of known sizes.
Schedule redistribution() {
    return {
        {1, 4, 1},
        {},
        {{"a", Role::transient, DType::f32, 8, 4, layout_c()}, {"b", Role::transient, DType::f32, 8, 4, layout_r()}},
        {{"step", Phase::epoch, RedistributeStep{0, 1}}}};
}

TEST(StepTime, AlphaBetaOnEachLevel) {
    const UniformStats graph(8, 8, true);
    const Schedule s = redistribution();
    const CostedRanks all{{0, 1, 2, 3}, {}};
    // Every rank sends three messages of 2 rows x 1 column x 4 bytes and stages what it receives, 24 bytes twice;
    // it reads and writes its own 32 bytes.
    const double streamed = (32 + 32 + 2 * 24) / 1e10;
    const double within = step_seconds(s, s.steps[0], graph, test::round_machine(4), all);
    EXPECT_NEAR(within, streamed + 3 * 1e-6 + 24 / 1e9, 1e-12);
    // Two ranks a node: one neighbour within, two across.
    const double across = step_seconds(s, s.steps[0], graph, test::round_machine(2), all);
    EXPECT_NEAR(across, streamed + 1e-6 + 8 / 1e9 + 2 * 1e-4 + 16 / 1e7, 1e-12);
}

// A product of four panels on four ranks: one is at home, three come, each while the one before is multiplied.
TEST(StepTime, OverlapHidesTheShorterOfTheTwo) {
    const CostedRanks all{{0, 1, 2, 3}, {}};
    const UniformStats graph(400, 160'000, true);
    const auto seconds = [&](bool overlap, double bytes_per_second) {
        Machine m = test::round_machine(4);
        m.intra_node = {0, bytes_per_second};
        const Layout matrix{Axes::parse("x"), Axes::parse("z"), {}};
        const Schedule s{{4, 1, 1},
                         {},
                         {{"A^T", Role::adjacency, DType::f32, 400, 400, matrix, true},
                          {"a", Role::transient, DType::f32, 400, 8, layout_c()},
                          {"b", Role::transient, DType::f32, 400, 8, layout_c()}},
                         {{"step", Phase::epoch, SpmmStep{0, {1}, {2}, Exchange::panels, overlap}}}};
        return step_seconds(s, s.steps[0], graph, m, all);
    };
    const double compute = 2.0 * 40'000 * 8 / 1e9;  // 100 rows of 400 nonzeros, 8 columns
    const auto transfer = [](double rate) { return 3 * 100 * 8 * 4 / rate; };
    EXPECT_NEAR(seconds(false, 1e8), compute + transfer(1e8), 1e-12);
    EXPECT_NEAR(seconds(true, 1e8), compute, 1e-12) << "each panel takes less to come than to multiply";
    EXPECT_NEAR(seconds(true, 1e6), transfer(1e6) + compute / 4, 1e-12)
        << "the last panel is multiplied after all came";
}

// A ring of four ranks has eight tiles. The first one comes before the first product, and the last result leaves behind
// the last one.
TEST(StepTime, RingIsAPipelineOfTiles) {
    const CostedRanks all{{0, 1, 2, 3}, {}};
    const UniformStats graph(400, 400, true);
    const auto seconds = [&](double latency, double bytes_per_second, Wire wire = Wire::fp32) {
        Machine m = test::round_machine(4);
        m.intra_node = {latency, bytes_per_second};
        const Schedule s{{1, 4, 1},
                         {},
                         {{"H", Role::transient, DType::f32, 400, 8, layout_c()},
                          {"W", Role::weight, DType::f32, 8, 12, layout_replicated()},
                          {"Z", Role::transient, DType::f32, 400, 12, layout_c()}},
                         {{"step", Phase::epoch, RingGemmStep{0, 1, 2, wire}}}};
        return step_seconds(s, s.steps[0], graph, m, all);
    };
    const double compute = 2.0 * 100 * 8 * 12 / test::round_machine(4).gemm_flops_per_second;
    const double bytes = 3 * 100 * (2 + 3) * 4;  // of 100 rows, to each of three: two columns of H, three of Z
    const auto pipeline = [&](double messages) {
        return messages / 8 + 7 * std::max(compute, messages) / 8 + compute / 8;
    };
    for (const double rate : {1e5, 1e9, 1e15})
        EXPECT_NEAR(seconds(0, rate), pipeline(bytes / rate), 1e-9 / rate * bytes);
    const double messages = 3 * 8 * 2;
    EXPECT_NEAR(seconds(1e-3, 1e15), pipeline(messages * 1e-3), 1e-9);
    // In bfloat16 half the bytes travel; a rank makes those of floats, and floats of as many, 6 bytes an element each.
    const double rounding = 2 * 6 * bytes / 4 / test::round_machine(4).memory_bytes_per_second;
    EXPECT_NEAR(seconds(0, 1e3, Wire::bfloat16), bytes / 2 / 1e3 + (compute + rounding) / 8, 1e-9);
    EXPECT_NEAR(seconds(0, 1e15, Wire::bfloat16), compute + rounding, 1e-9);
}

// The gradient of maxima reads two operands: it is a sum of twice the width, and two messages for each of its one.
TEST(StepTime, WhatGoesBackFromMaximaIsASumOfTwiceTheWidth) {
    const UniformStats graph(400, 160'000, true);
    const auto schedule = [](std::int64_t width, Program program) {
        const Layout matrix{Axes::parse("x"), Axes::parse("z"), {}};
        Schedule s{{4, 1, 1},
                   {},
                   {{"A", Role::adjacency, DType::f32, 400, 400, matrix, false},
                    {"a", Role::transient, DType::f32, 400, width, layout_c()},
                    {"b", Role::transient, DType::f32, 400, width, layout_c()}},
                   {}};
        s.spaces = {{"vertices", 400, 0}};
        SpmmStep product{0, {1}, {2}, Exchange::panels, false, false, program};
        if (program == Program::max_back) product.column_operands = {1, 1}, product.row_operands = {1};
        s.steps = {{"step", Phase::epoch, product}};
        return s;
    };
    const CostedRanks all{{0, 1, 2, 3}, {}};
    const Schedule back = schedule(8, Program::max_back), sum = schedule(16, Program::sum);
    const double seconds = step_seconds(back, back.steps[0], graph, test::round_machine(4), all);
    EXPECT_NEAR(seconds, step_seconds(sum, sum.steps[0], graph, test::round_machine(4), all) + 3 * 1e-6, 1e-12);
    EXPECT_EQ(executed_units(back).sparse, 16);
    EXPECT_EQ(executed_units(schedule(8, Program::max)).sparse, 8);
}

// The same statistics, said to be counts: every rank is looked at.
class Counts final : public GraphStats {
public:
    explicit Counts(const GraphStats& stats) : stats_(stats) {}
    std::int64_t vertices() const override { return stats_.vertices(); }
    std::int64_t nonzeros() const override { return stats_.nonzeros(); }
    bool symmetric() const override { return stats_.symmetric(); }
    bool exact() const override { return true; }
    std::int64_t row_nonzeros(MatrixId matrix, Range rows) const override { return stats_.row_nonzeros(matrix, rows); }
    std::int64_t block_nonzeros(MatrixId matrix, Range rows, Range columns) const override {
        return stats_.block_nonzeros(matrix, rows, columns);
    }
    std::int64_t distinct_columns(MatrixId matrix, Range rows, Range columns) const override {
        return stats_.distinct_columns(matrix, rows, columns);
    }
    std::int64_t training_vertices() const override { return stats_.training_vertices(); }
    std::vector<std::int64_t> loss_rows(int layers) const override { return stats_.loss_rows(layers); }
    std::shared_ptr<const GraphStats> numbered(const Numbering& numbering) const override {
        return stats_.numbered(numbering);
    }

private:
    const GraphStats& stats_;
};

// Few ranks stand for all, and few of their peers for all of them, wherever the borders of nodes lie.
TEST(StepTime, RanksToCostHaveTheSlowest) {
    const UniformStats graph(10'007, 70'049, true);
    for (const lower::FullCase& full : lower::full_cases({6, 12, 16, 36}, 97)) {
        SCOPED_TRACE(full.text());
        Schedule s = lower::lowered(full, {13, 17, 5}, graph);
        const auto numbered = graph.numbered(s.numbering);
        const Counts counts(*numbered);
        for (const int per_node : {1, 2, 5, 16}) {
            s.ranks_per_node = per_node;
            const CostedRanks few = ranks_to_cost(s, *numbered, test::round_machine(per_node));
            const CostedRanks all = ranks_to_cost(s, counts, test::round_machine(per_node));
            EXPECT_LE(few.ranks.size(), all.ranks.size());
            EXPECT_EQ(all.ranks.size(), static_cast<std::size_t>(full.on.grid.size()));
            for (const Step& step : s.steps) {
                // Statistics round nonzeros and needed rows, reduce-scatters rows; a ring of few elements has two
                // messages and four elements more or less.
                const double expected = step_seconds(s, step, counts, test::round_machine(per_node), all);
                const bool ring = std::holds_alternative<AllReduceStep>(step.operation);
                const Link link = test::round_machine(per_node).inter_node;
                const double slack = ring ? 2 * link.latency_seconds + 32 / link.bytes_per_second : 5e-3 * expected;
                EXPECT_NEAR(step_seconds(s, step, *numbered, test::round_machine(per_node), few), expected, slack)
                    << step.name;
            }
        }
    }
}

// Where panels are relayed, the bytes of a rank over each level of links are those of its messages to and from all
// others.
TEST(StepTime, LevelsOfRelayedPanelsAreThoseOfTheirMessages) {
    const UniformStats graph(101, 700, true);
    const Machine machine = test::round_machine(4);
    std::size_t relayed = 0;
    for (const lower::FullCase& full : lower::full_cases({6, 12, 16}, 97)) {
        if (full.exchange != Exchange::relay) continue;
        const Schedule s = lower::lowered(full, {13, 17, 5}, graph);
        const CostedRanks on = ranks_to_cost(s, graph, machine);
        for (const Step& step : s.steps) {
            if (product_of(step.operation) == nullptr) continue;
            const StepMessages messages(s, step, graph);
            for (int rank = 0; rank < s.grid.size(); ++rank) {
                const RankLevels levels = traffic_by_level(s, step.operation, messages, machine, on, rank);
                RankLevels expected;
                for (int peer = 0; peer < s.grid.size(); ++peer) {
                    if (peer == rank) continue;
                    LevelTraffic& level = expected[peer / 4 == rank / 4 ? within_node : between_nodes];
                    const std::vector<int> peers = messages.peers(rank);
                    if (std::find(peers.begin(), peers.end(), peer) == peers.end()) continue;
                    const Message sent = messages.between(rank, peer), received = messages.between(peer, rank);
                    level.sent_bytes += sent.bytes, level.sent_messages += sent.count;
                    level.received_bytes += received.bytes, level.received_messages += received.count;
                }
                for (const Level level : {within_node, between_nodes}) {
                    EXPECT_EQ(levels[level].sent_messages, expected[level].sent_messages) << full.text() << step.name;
                    EXPECT_EQ(levels[level].received_messages, expected[level].received_messages) << full.text();
                    if (gathers_matrix(s.grid, tensor_of(s, product_of(step.operation)->matrix)))
                        continue;  // estimates
                    EXPECT_EQ(levels[level].sent_bytes, expected[level].sent_bytes) << full.text() << step.name;
                    EXPECT_EQ(levels[level].received_bytes, expected[level].received_bytes) << full.text();
                }
                ++relayed;
            }
        }
    }
    EXPECT_GT(relayed, 100U);
}

// Counts that differ from block to block.
class UnevenCounts final : public GraphStats {
public:
    explicit UnevenCounts(std::int64_t vertices) : vertices_(vertices) {}
    std::int64_t vertices() const override { return vertices_; }
    std::int64_t nonzeros() const override { return 7 * vertices_; }
    bool symmetric() const override { return true; }
    bool exact() const override { return true; }
    std::int64_t row_nonzeros(MatrixId matrix, Range rows) const override {
        return block_nonzeros(matrix, rows, {0, vertices_});
    }
    std::int64_t block_nonzeros(MatrixId /*matrix*/, Range rows, Range columns) const override {
        return rows.size() * columns.size() / 100 + (rows.begin * 7 + columns.begin * 3 + rows.begin / 5) % 101;
    }
    std::int64_t distinct_columns(MatrixId /*matrix*/, Range rows, Range columns) const override {
        return std::min(columns.size(), (rows.begin * 5 + columns.begin * 11 + columns.end) % (columns.size() + 1));
    }
    std::int64_t training_vertices() const override { return vertices_; }
    std::vector<std::int64_t> loss_rows(int layers) const override {
        return std::vector<std::int64_t>(static_cast<std::size_t>(layers) + 1, vertices_);
    }
    std::shared_ptr<const GraphStats> numbered(const Numbering& /*numbering*/) const override {
        return std::make_shared<UnevenCounts>(vertices_);
    }

private:
    std::int64_t vertices_;
};

// Knowledge of other ranks, and of the requests for rows, changes no time of a counted graph.
TEST(StepTime, OfCountedBlocksIsThatOfAllRanks) {
    const UnevenCounts counts(10'007);
    std::size_t picked = 0;
    for (const lower::FullCase& full : lower::full_cases({24, 36}, 97)) {
        SCOPED_TRACE(full.text());
        Schedule s = lower::lowered(full, {13, 17, 5}, UniformStats(10'007, 70'049, true));
        for (const int per_node : {1, 5, 16}) {
            s.ranks_per_node = per_node;
            const Machine on = with_cards(per_node);
            const CostedRanks all = ranks_to_cost(s, counts, on);
            RanksOfSteps ranks(all, on);
            for (const Step& step : s.steps) {
                const CostedRanks& few = ranks.of(s, step, counts);
                picked += few == all ? 0 : 1;
                EXPECT_EQ(step_seconds(s, step, counts, on, few), step_seconds(s, step, counts, on, all)) << step.name;
            }
        }
    }
    EXPECT_GT(picked, 1000U);
}

TEST(Predict, AnEpochIsTheSumOfItsSteps) {
    const UniformStats graph(100, 700, true);
    for (const auto& orders : enumerate::all_orders(2)) {
        const Schedule s = lower::lowered(orders, {13, 7, 5}, 4, 2);
        const Prediction p = predict(s, graph, test::round_machine(4));
        ASSERT_EQ(p.step_seconds.size(), s.steps.size());
        double epoch = 0;
        std::int64_t bytes = 0;
        for (std::size_t i = 0; i < s.steps.size(); ++i) {
            EXPECT_GE(p.step_seconds[i], 0);
            if (s.steps[i].phase != Phase::epoch) continue;
            epoch += p.step_seconds[i];
            for (const RankTraffic& t : traffic_of(s, s.steps[i], graph)) bytes += t.sent_bytes;
        }
        EXPECT_DOUBLE_EQ(p.epoch_seconds, epoch);
        EXPECT_EQ(p.total_bytes, bytes);
        EXPECT_TRUE(p.estimate);
    }
}

TEST(Predict, EvaluationIsNotPartOfTheEpoch) {
    const UniformStats graph(100, 700, true);
    Schedule s = lower::lowered(enumerate::all_orders(2)[0], {13, 7, 5}, 4, 4);
    const Prediction with = predict(s, graph, test::round_machine(4));
    std::erase_if(s.steps, [](const Step& step) { return step.phase == Phase::evaluation; });
    const Prediction without = predict(s, graph, test::round_machine(4));
    EXPECT_DOUBLE_EQ(with.epoch_seconds, without.epoch_seconds);
    EXPECT_EQ(with.total_bytes, without.total_bytes);
}

// Nonzeros at the top only: the first of two ranks multiplies them all.
class TopHeavy final : public GraphStats {
public:
    std::int64_t vertices() const override { return 8; }
    std::int64_t nonzeros() const override { return 16; }
    bool symmetric() const override { return true; }
    bool exact() const override { return true; }
    std::int64_t row_nonzeros(MatrixId, Range rows) const override { return 4 * intersect(rows, {0, 4}).size(); }
    std::int64_t block_nonzeros(MatrixId, Range rows, Range columns) const override {
        return row_nonzeros(forward_matrix, rows) * columns.size() / 8;
    }
    std::int64_t distinct_columns(MatrixId, Range, Range columns) const override { return columns.size(); }
    std::int64_t training_vertices() const override { return 8; }
    std::vector<std::int64_t> loss_rows(int) const override { return {8, 8}; }
    std::shared_ptr<const GraphStats> numbered(const Numbering&) const override { return {}; }
};

TEST(SparseImbalance, IsTheBusiestRankOverTheMean) {
    const Layout rows{Axes::parse("x"), Axes::parse("z"), {}};
    const auto on = [&](int ranks) {
        return Schedule{{ranks, 1, 1},
                        {},
                        {{"A^T", Role::adjacency, DType::f32, 8, 8, rows, true},
                         {"a", Role::transient, DType::f32, 8, 3, layout_c()},
                         {"b", Role::transient, DType::f32, 8, 3, layout_c()}},
                        {{"step", Phase::epoch, SpmmStep{0, {1}, {2}, Exchange::panels, false}}}};
    };
    EXPECT_DOUBLE_EQ(sparse_imbalance(on(2), TopHeavy()), 2);
    EXPECT_DOUBLE_EQ(sparse_imbalance(on(4), TopHeavy()), 2);
    EXPECT_DOUBLE_EQ(sparse_imbalance(on(4), UniformStats(8, 16, true)), 1);
}

}  // namespace
}  // namespace gnnplan::cost
