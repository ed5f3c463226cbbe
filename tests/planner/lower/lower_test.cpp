#include "tests/planner/lower/configurations.hpp"

#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/traffic.hpp>

namespace gnnplan::lower {
namespace {

const std::vector<std::int64_t> widths = {13, 7, 5, 3};

TEST(Lower, EverySchedulePassesValidation) {
    for (const int layers : {1, 2, 3}) {
        const std::vector<std::int64_t> f(widths.begin(), widths.begin() + layers + 1);
        for (const auto& orders : enumerate::all_orders(layers)) {
            for (const int ranks : {1, 2, 6}) {
                for (const int replication : {1, 2, 3, 6}) {
                    if (ranks % replication != 0) continue;
                    for (const bool bias : {false, true}) {
                        EXPECT_NO_THROW(validate(lowered(orders, f, ranks, replication, 11, bias)))
                            << text(orders.forward) << " " << text(orders.backward) << " P=" << ranks
                            << " R=" << replication;
                    }
                }
            }
        }
    }
}

// What a step computes agrees with where it says that it comes from.
TEST(Lower, EveryStepSaysWhichOperationItServes) {
    for (const auto& orders : enumerate::all_orders(3)) {
        for (const Step& step : lowered(orders, widths, 6, 3, 11, true).steps) {
            SCOPED_TRACE(step.name);
            const Origin& origin = step.origin;
            EXPECT_GE(origin.layer, 1);
            EXPECT_LE(origin.layer, 3);
            const std::string_view kind = kind_of(step.operation);
            if (kind == "spmm") {
                EXPECT_EQ(origin.op, OpKind::aggregate);
            }
            if (kind == "gemm" || kind == "weight_grad") {
                EXPECT_EQ(origin.op, OpKind::linear);
            }
            if (kind == "loss" || kind == "score") {
                EXPECT_EQ(origin, (Origin{Pass::forward, 3, OpKind::softmax_cross_entropy}));
            }
            EXPECT_EQ(kind == "update", origin.pass == Pass::update);
            const bool backward = origin.pass == Pass::backward || origin.pass == Pass::update;
            EXPECT_FALSE(backward && step.phase == Phase::evaluation);
            // Names, for people, say the same.
            if (step.name.starts_with("forward.2")) {
                EXPECT_EQ(origin.layer, 2);
            }
            if (step.name.starts_with("backward.2") || step.name == "update.W2") {
                EXPECT_EQ(origin.layer, 2);
            }
            if (step.name.starts_with("mask.1")) {
                EXPECT_EQ(origin, (Origin{Pass::keep, 1, OpKind::relu}));
            }
            if (step.name.starts_with("operand.H1")) {
                EXPECT_EQ(origin, (Origin{Pass::keep, 1, OpKind::linear}));
            }
        }
    }
}

TEST(Lower, OnOneCopyOfTheAdjacencyNothingIsRedistributed) {
    for (const auto& orders : enumerate::all_orders(2)) {
        for (const Step& step : lowered(orders, {13, 7, 5}, 4, 1).steps) {
            EXPECT_NE(kind_of(step.operation), "redistribute") << step.name;
        }
    }
}

// For even sizes the traffic is N * f times the executed units: the closed form of RDM section IV, plus the reductions.
TEST(Lower, EvenSizesMoveWhatTheFormulaSays) {
    const std::vector<std::int64_t> even = {64, 32, 16};
    constexpr std::int64_t N = 96;
    for (const auto& orders : enumerate::all_orders(2)) {
        const std::int64_t id = paper_id(orders.forward, orders.backward);
        if (id == 6 || id == 9) continue;  // a mask moves as well
        for (const auto& [P, R] : {std::pair{4, 4}, std::pair{4, 2}, std::pair{4, 1}, std::pair{8, 2}}) {
            const Schedule schedule = lowered(orders, even, P, R, N);
            std::int64_t bytes = total_traffic(schedule, Phase::epoch, UniformStats(N, 8 * N, true)).total_bytes;
            bytes -= 2 * (P - 1) * 4 * (64 * 32 + 32 * 16) + 2 * (P - 1) * 8;  // weight gradients and the loss
            EXPECT_EQ(static_cast<double>(bytes),
                      4 * communication_elements(enumerate::paper_units(orders, even), N, P, R))
                << "id " << id << " P=" << P << " R_A=" << R;
        }
    }
}

TEST(Lower, DirectedGraphsKeepBothMatrices) {
    const auto orders = enumerate::all_orders(2)[10];
    const SiteGraph model = sites_of(models::gcn({13, 7, 5}, false));
    const auto adjacencies = [&](bool symmetric) {
        int count = 0;
        for (const Tensor& t : lower(model, configuration(orders, {13, 7, 5}, 2, 2), {100, symmetric, {}, 0}).tensors) {
            count += t.role == Role::adjacency ? 1 : 0;
        }
        return count;
    };
    EXPECT_EQ(adjacencies(true), 1);
    EXPECT_EQ(adjacencies(false), 2);
}

// Scores of edges that are stored lie with whole neighbourhoods; a grid that shares out nonzeros splits these.
TEST(Lower, RefusesStoredScoresWhereNonzerosAreSharedOut) {
    ModelRecord record;
    record.name = "gat";
    record.widths = {8, 8, 4};
    const SiteGraph gat = sites_of(models::build(record));
    const OnlyOrders only = *gat.product(1).only_orders();
    Configuration configuration;
    configuration.grid = {2, 2, 1};
    configuration.forward = {only.forward, only.forward};
    configuration.backward = {only.backward, Order::none};
    configuration.operands = {only.operand, only.operand};
    configuration.exchange = Exchange::panels;
    GraphShape graph;
    graph.vertices = 40;
    for (const Sharing sharing : {Sharing::replicated, Sharing::sharded}) {
        for (const AttentionScores attention : {AttentionScores::recompute, AttentionScores::stored}) {
            configuration.sharing = sharing, configuration.attention = attention;
            if (sharing == Sharing::replicated || attention == AttentionScores::recompute) {
                EXPECT_NO_THROW(validate(lower(gat, configuration, graph)));
                continue;
            }
            try {
                lower(gat, configuration, graph);
                ADD_FAILURE() << "lowered";
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ErrorCode::usage);
                EXPECT_NE(std::string(error.what()).find("values of edges lie with whole neighbourhoods"),
                          std::string::npos);
            }
        }
    }
}

TEST(Lower, RefusesOrdersOfTheWrongLength) {
    Configuration c = configuration(enumerate::all_orders(2)[0], {13, 7, 5}, 2, 2);
    c.forward.pop_back();
    EXPECT_THROW(lower(sites_of(models::gcn({13, 7, 5}, false)), c, {100, true, {}, 0}), Error);
}

}  // namespace
}  // namespace gnnplan::lower
