// select() for one pass over all vertices.
#include "planner/io/plan.hpp"
#include "planner/search/full_space.hpp"
#include "tests/planner/search/problems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace gnnplan {
namespace {

using test::machine;
using test::problem;

const UniformStats products(244'903, 12'390'318, true, 0.08);  // a tenth of OGB-Products

Problem inference(const std::vector<std::int64_t>& widths, int ranks, const GraphStats& graph,
                  std::vector<std::int64_t> fanout = {}) {
    Problem asked = problem(widths, ranks, graph);
    asked.record.task = Task::infer;
    asked.record.fanout = std::move(fanout);
    asked.ops = applied(std::move(asked.ops));
    return asked;
}

Selection selected(const Problem& asked, const SelectOptions& options = {}) {
    SelectResult result = select(asked, machine(), options);
    if (!result) throw Error(result.code, result.message);
    return *result.selection;
}

TEST(SelectInference, PlansOnePassAndWhatComesBeforeIt) {
    const std::vector<std::int64_t> widths{100, 128, 47};
    for (const int ranks : {1, 2, 6, 8}) {
        const Selection s = selected(inference(widths, ranks, products));
        EXPECT_EQ(s.plan.problem.task, Task::infer);
        EXPECT_NO_THROW(validate(s.plan));
        EXPECT_NO_THROW(check_predicted_bytes(s.plan));
        const Plan again = io::read_plan(io::write_plan(s.plan), "again");
        EXPECT_EQ(again.candidates.front().schedule.output, s.plan.candidates.front().schedule.output);
        EXPECT_EQ(again.problem.task, Task::infer);
        for (std::size_t i = 0; i < s.ranked.size(); ++i) {
            const RankedConfiguration& r = s.ranked[i];
            if (i > 0) {
                EXPECT_LE(s.ranked[i - 1].predicted.ranked_seconds(), r.predicted.ranked_seconds());
            }
            EXPECT_TRUE(r.configuration.backward.empty() && r.configuration.operands.empty());
            EXPECT_FALSE(r.configuration.loss_rows || r.configuration.cached_aggregation ||
                         r.configuration.column_loss);
            EXPECT_EQ(r.predicted.setup_seconds > 0, r.configuration.exchange == Exchange::rows);
        }
        SelectOptions nothing_kept;
        nothing_kept.drops_features = true;
        nothing_kept.loss_rows = false;
        const Selection training = selected(problem(widths, ranks, products), nothing_kept);
        EXPECT_LT(s.ranked.front().predicted.epoch_seconds, training.ranked.front().predicted.epoch_seconds);
    }
}

// Requests for rows are made for one pass, not for all epochs: they count against what they save.
TEST(SelectInference, RequestsHaveToPayWithinThePass) {
    SelectOptions pinned;
    pinned.grid = Grid{4, 1, 1};
    pinned.overlap = false;
    const UniformStats sparse(200'000, 500'000, true);  // few rows are needed
    const auto seconds = [&](Exchange exchange) {
        pinned.exchange = exchange;
        return selected(inference({64, 64, 16}, 4, sparse), pinned).ranked.front().predicted;
    };
    const Prediction rows = seconds(Exchange::rows), panels = seconds(Exchange::panels);
    EXPECT_EQ(panels.setup_seconds, 0);
    EXPECT_GT(rows.setup_seconds, 0);
    EXPECT_EQ(rows.ranked_seconds(), rows.setup_seconds + rows.epoch_seconds);
    EXPECT_LT(rows.total_bytes, panels.total_bytes);
}

// The dynamic program finds what trying all orders finds.
TEST(SelectInference, DeepNetworksGetTheFastestOrders) {
    const std::vector<std::int64_t> widths{100, 20, 130, 60, 90, 40};
    const Problem asked = inference(widths, 6, products);
    SelectOptions pinned;
    pinned.grid = Grid{3, 2, 1};
    pinned.exchange = Exchange::panels;
    pinned.overlap = false;
    const double found = selected(asked, pinned).ranked.front().predicted.ranked_seconds();
    const search::Space space = search::make_space(asked, machine(), pinned);
    search::NumberedGraphs graphs(products);
    double best = 1e9;
    for (const search::Choices& choices : search::all_choices(space, {Sharing::replicated, {3, 2, 1}}, false)) {
        search::ConfigurationFrame frame{{Sharing::replicated, {3, 2, 1}}};
        frame.switches.exchange = Exchange::panels;
        frame.trains = false;
        const Configuration c = search::configuration_of(frame, choices);
        best = std::min(best, search::cost_configuration(space, c, machine(), graphs).predicted.ranked_seconds());
    }
    EXPECT_DOUBLE_EQ(found, best);
}

TEST(SelectInference, LayersMultiplyByWhatTheyHaveDrawn) {
    const std::vector<std::int64_t> fanout{10, 5, 2};
    const UniformStats graph = products.drawn(fanout, true, true);
    EXPECT_EQ(graph.samples(), 3);
    for (int layer = 1; layer <= 3; ++layer) {
        const std::int64_t most = graph.vertices() * (fanout[static_cast<std::size_t>(layer - 1)] + 1);
        EXPECT_EQ(graph.row_nonzeros({true, layer}, {0, graph.vertices()}), most);
        EXPECT_EQ(graph.block_nonzeros({true, layer}, {0, graph.vertices()}, {0, graph.vertices()}), most);
    }
    EXPECT_EQ(products.drawn({1000}, true, true).row_nonzeros({true, 1}, {0, 244'903}), products.nonzeros());
    const Problem asked = inference({100, 128, 64, 47}, 4, graph, fanout);
    const Selection s = selected(asked);
    EXPECT_NO_THROW(validate(s.plan));
    for (const Candidate& candidate : s.plan.candidates) {
        std::set<int> samples;
        for (const Tensor& tensor : candidate.schedule.tensors) {
            if (tensor.role != Role::adjacency) continue;
            EXPECT_TRUE(tensor.transposed && !tensor.storage.factored);
            samples.insert(tensor.sample);
        }
        EXPECT_EQ(samples, (std::set<int>{1, 2, 3}));
    }
    EXPECT_LT(s.ranked.front().predicted.epoch_seconds,
              selected(inference({100, 128, 64, 47}, 4, products)).ranked.front().predicted.epoch_seconds);
    Problem training = problem({100, 128, 64, 47}, 4, graph);
    training.record.fanout = fanout;
    EXPECT_EQ(select(training, machine()).code, ErrorCode::usage);
}

// What a stranger's plan may get wrong.
TEST(SelectInference, PlansAreValidated) {
    const std::vector<std::int64_t> fanout{4, 2};
    const UniformStats graph = products.drawn(fanout, true, true);
    const Plan plan = selected(inference({100, 128, 47}, 2, graph, fanout)).plan;
    const auto refused = [&](const auto& change) {
        Plan changed = plan;
        change(changed);
        EXPECT_THROW(validate(changed), Error);
    };
    const auto adjacency = [](Plan& p) -> Tensor& {
        auto& tensors = p.candidates.front().schedule.tensors;
        return *std::ranges::find(tensors, Role::adjacency, &Tensor::role);
    };
    ASSERT_NO_THROW(validate(plan));
    refused([](Plan& p) { p.problem.task = Task::train; });
    refused([](Plan& p) { p.problem.fanout = {4}; });
    refused([](Plan& p) { p.problem.fanout = {4, 0}; });
    refused([&](Plan& p) { adjacency(p).sample = 0; });
    refused([&](Plan& p) { adjacency(p).sample = 3; });
    refused([&](Plan& p) { adjacency(p).transposed = false; });
    refused([](Plan& p) { p.candidates.front().schedule.output.reset(); });
    refused([](Plan& p) { p.candidates.front().schedule.output = 1000; });
    refused([](Plan& p) { p.candidates.front().schedule.output = 0; });
    refused([](Plan& p) { p.candidates.front().schedule.steps.back().phase = Phase::evaluation; });
    refused([](Plan& p) { p.candidates.front().configuration.backward = {Order::sparse_first, Order::none}; });
    refused([](Plan& p) { p.candidates.front().schedule.steps.pop_back(); });
}

}  // namespace
}  // namespace gnnplan
