// Figures of one rank of a class are those of every rank of it.
#include "tests/planner/lower/full_configurations.hpp"

#include <gtest/gtest.h>
#include <gnnplan/ir/classes.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/panel_relay.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/traffic.hpp>
#include <gnnplan/ir/work.hpp>

#include <algorithm>
#include <array>

namespace gnnplan {
namespace {

// The figures of one step on one rank: bytes sent and received, staged to send and to receive, streamed; rows of a
// loss; operations.
using Figures = std::array<double, 9>;

Figures figures_of(const Schedule& schedule, const Step& step, const GraphStats& graph, int rank) {
    const RankTraffic traffic = traffic_of(schedule, step, graph, rank);
    const Staging staging = staging_of(schedule, step, graph, rank);
    const RankWork work = work_of(schedule, step, graph, rank);
    const bool relays = relaying(step.operation) != nullptr;  // what is sent depends on the place in a node, too
    return {relays ? 0.0 : static_cast<double>(traffic.sent_bytes),
            static_cast<double>(traffic.received_bytes),
            static_cast<double>(staging.send_bytes),
            static_cast<double>(staging.receive_bytes),
            static_cast<double>(work.streamed_bytes),
            work.loss_rows,
            work.training_rows,
            work.sparse_flops,
            work.dense_flops};
}

int representative_of(const RankClasses& classes, int rank) {
    return classes.representative[static_cast<std::size_t>(classes.class_of[static_cast<std::size_t>(rank)])];
}

void expect_alike(const Schedule& schedule, const GraphStats& graph, const RankClasses& classes) {
    for (const Step& step : schedule.steps) {
        // A ring's blocks are cut over all ranks at once.
        if (std::holds_alternative<AllReduceStep>(step.operation)) continue;
        for (int rank = 0; rank < schedule.grid.size(); ++rank) {
            EXPECT_EQ(figures_of(schedule, step, graph, rank),
                      figures_of(schedule, step, graph, representative_of(classes, rank)))
                << step.name << " on rank " << rank;
        }
    }
}

// Folds over classes are those over ranks.
void expect_same_totals(const Schedule& schedule, const GraphStats& graph) {
    std::int64_t peak = 0;
    for (int rank = 0; rank < schedule.grid.size(); ++rank) {
        peak = std::max(peak, plan_memory(schedule, graph, rank).peak_bytes);
    }
    EXPECT_EQ(peak_bytes_per_rank(schedule, graph), peak);
    for (const Phase phase : {Phase::setup, Phase::epoch, Phase::evaluation}) {
        TrafficTotal expected;
        for (int rank = 0; rank < schedule.grid.size(); ++rank) {
            RankTraffic sum;
            for (const Step& step : schedule.steps) {
                if (step.phase != phase) continue;
                const RankTraffic traffic = traffic_of(schedule, step, graph, rank);
                sum.sent_bytes += traffic.sent_bytes;
                sum.received_bytes += traffic.received_bytes;
            }
            expected.total_bytes += sum.sent_bytes;
            expected.max_rank_bytes = std::max({expected.max_rank_bytes, sum.sent_bytes, sum.received_bytes});
        }
        EXPECT_EQ(total_traffic(schedule, phase, graph).total_bytes, expected.total_bytes);
        EXPECT_EQ(total_traffic(schedule, phase, graph).max_rank_bytes, expected.max_rank_bytes);
    }
}

void check(const lower::FullCase& full, const GraphStats& graph, const std::vector<std::int64_t>& widths = {13, 7, 5},
           bool rocauc = false) {
    SCOPED_TRACE(full.text() + ", " + std::to_string(graph.vertices()) + " vertices");
    const Schedule schedule = lower::lowered(full, widths, graph, rocauc);
    const auto numbered = graph.numbered(schedule.numbering);
    const RankClasses classes = rank_classes(schedule);
    ASSERT_EQ(classes.class_of.size(), static_cast<std::size_t>(schedule.grid.size()));
    for (const int rank : classes.representative) EXPECT_EQ(representative_of(classes, rank), rank);
    expect_alike(schedule, *numbered, classes);
    expect_same_totals(schedule, *numbered);
}

const std::vector<int> ranks = {1, 2, 3, 4, 6, 8, 9, 12};

// A matrix without zeros: its blocks are counted by their sizes, without rounding.
TEST(RankClasses, AreAlikeInWhatSizesDecide) {
    for (const std::int64_t vertices : {5, 29, 61}) {
        const UniformStats graph(vertices, vertices * vertices, false);
        for (const lower::FullCase& full : lower::full_cases(ranks, 79)) {
            check(full, graph);
            if (HasFailure()) return;  // the first failure says enough
        }
    }
}

// Without nonzeros, of a third of the vertices: matrices of fewer rows than vertices, whose blocks are cut elsewhere.
TEST(RankClasses, WithPrunedRowsToo) {
    for (const std::int64_t vertices : {7, 31, 62}) {
        const UniformStats graph(vertices, 0, false, 0.35);
        for (const lower::FullCase& full : lower::full_cases(ranks, 79)) {
            check(full, graph);
            if (HasFailure()) return;
        }
    }
}

// Evaluations bring the logits into columns over all ranks, of which there are more, fewer and as many.
TEST(RankClasses, WithLogitsInColumnsOverAllRanksToo) {
    for (const std::int64_t labels : {2, 7, 12, 29}) {
        const UniformStats graph(31, 31 * 31, false);
        for (const lower::FullCase& full : lower::full_cases(ranks, 79)) {
            SCOPED_TRACE(std::to_string(labels) + " labels");
            check(full, graph, {13, 7, labels}, true);
            if (HasFailure()) return;
        }
    }
}

TEST(RankClasses, AreFewOnLargeGrids) {
    const UniformStats graph(1'000'003, 20'000'000, true);
    for (const Distribution& on : enumerate::distributions(256, {})) {
        lower::FullCase full{on, lower::two_layer_choices(on).front()};
        if (on.grid.x > 1) full.exchange = Exchange::panels;
        for (const bool rocauc : {false, true}) {
            const Schedule schedule = lower::lowered(full, {100, 128, 47}, graph, rocauc);
            const std::size_t classes = rank_classes(schedule, false).representative.size();
            EXPECT_LE(classes, rocauc ? 144U : 72U) << full.text();
            EXPECT_LE(classes, rank_classes(schedule).representative.size());
        }
    }
}

}  // namespace
}  // namespace gnnplan
