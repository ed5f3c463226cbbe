// select() for one pass over all vertices.
#include "planner/io/plan.hpp"
#include "planner/lower/rules.hpp"
#include "planner/search/full_space.hpp"
#include "tests/planner/search/problems.hpp"

#include <gnnplan/ir/classes.hpp>
#include <gnnplan/ir/memory.hpp>

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
        EXPECT_GT(s.plan.candidates.front().predicted.loading.total(), 0);
        EXPECT_EQ(again.candidates.front().predicted.loading, s.plan.candidates.front().predicted.loading);
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
    EXPECT_EQ(rows.ranked_seconds(), rows.loading.total() + rows.setup_seconds + rows.epoch_seconds);
    EXPECT_LT(rows.total_bytes, panels.total_bytes);
}

// A machine that takes this long for what ranks do with each nonzero that they keep, and long for messages.
Machine machine_that_cuts_in(double seconds_per_nonzero) {
    Machine m = machine();
    m.intra_node.bytes_per_second = 1e8;
    m.calibration.emplace();
    m.calibration->loading = LoadingCost{1e-8, 1e-8, 1e-8, seconds_per_nonzero};
    return m;
}

// On grids with fewer rows of ranks, a rank keeps more nonzeros than on 4x1, and exchanges less in the pass.
TEST(SelectInference, LoadingHasToPayWithinThePass) {
    for (const std::int64_t buffer : {std::int64_t{0}, std::int64_t{64} << 20}) {
        for (const std::vector<std::int64_t>& widths :
             {std::vector<std::int64_t>{100, 128, 47}, {100, 20, 130, 60, 90, 40}}) {
            SelectOptions options;
            options.buffer_bytes = buffer;
            const auto chosen = [&](const Problem& asked, double cut) {
                const SelectResult result = select(asked, machine_that_cuts_in(cut), options);
                EXPECT_TRUE(result) << result.message;
                return result.selection->ranked.front();
            };
            const Problem asked = inference(widths, 4, products);
            const RankedConfiguration cheap = chosen(asked, 0), dear = chosen(asked, 1e-5);
            EXPECT_EQ(dear.configuration.grid.text(), "4x1");
            EXPECT_NE(cheap.configuration.grid.text(), "4x1");
            EXPECT_LT(cheap.predicted.epoch_seconds, dear.predicted.epoch_seconds);
            const Problem training = problem(widths, 4, products);
            const RankedConfiguration trained = chosen(training, 0), as_trained = chosen(training, 1e-5);
            EXPECT_EQ(trained.configuration.on(), as_trained.configuration.on());
            EXPECT_EQ(trained.configuration.forward, as_trained.configuration.forward);
            EXPECT_EQ(trained.configuration.backward, as_trained.configuration.backward);
            EXPECT_EQ(trained.predicted.ranked_seconds(), as_trained.predicted.ranked_seconds());
            EXPECT_EQ(trained.predicted.loading, LoadingSeconds());
        }
    }
}

// The dynamic program finds what trying all orders finds.
TEST(SelectInference, DeepNetworksGetTheFastestOrders) {
    const std::vector<std::int64_t> widths{100, 20, 130, 60, 90, 40};
    const Problem asked = inference(widths, 6, products);
    SelectOptions pinned;
    pinned.scheme = "rdm";
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

// The same with rings: what one layer leaves depends on what the next one begins with.
TEST(SelectInference, DeepNetworksWithRingsGetTheFastestOrders) {
    const std::vector<std::int64_t> widths{100, 20, 130, 60, 90, 40};
    const Distribution on{Sharing::replicated, {3, 2, 1}};
    for (const Machine& m : test::machines()) {
        const Problem asked = inference(widths, 6, products);
        SelectOptions pinned;
        pinned.scheme = "rdm";
        pinned.grid = on.grid;
        pinned.exchange = Exchange::panels;
        pinned.overlap = false;
        pinned.ring = true;
        const SelectResult result = select(asked, m, pinned);
        ASSERT_TRUE(result) << result.message;
        const RankedConfiguration& found = result.selection->ranked.front();
        EXPECT_TRUE(found.configuration.ring);
        const search::Space space = search::make_space(asked, m, pinned);
        search::NumberedGraphs graphs(products);
        double best = 1e9;
        for (const search::Choices& choices : search::all_choices(space, on, false)) {
            search::ConfigurationFrame frame{on};
            frame.switches.exchange = Exchange::panels;
            frame.trains = false;
            frame.switches.ring = true;
            const Configuration c = search::configuration_of(frame, choices);
            if (!lower::Rules(space.model, c).any_rings()) continue;
            best = std::min(best, search::cost_configuration(space, c, m, graphs).predicted.ranked_seconds());
        }
        EXPECT_DOUBLE_EQ(found.predicted.ranked_seconds(), best);
    }
}

// With a network that is slow, a ring hides what moves behind its product. Every one that is listed has a ring in it,
// and is no configuration that is listed without.
TEST(SelectInference, SearchesRings) {
    Machine m = machine();
    m.gemm_flops_per_second = 1e10;
    m.intra_node = {1e-6, 1e9};
    SelectOptions pinned;
    pinned.grid = Grid{2, 4, 1};
    const Problem asked = inference({256, 256, 256, 64}, 8, products);
    const SelectResult result = select(asked, m, pinned);
    ASSERT_TRUE(result) << result.message;
    const Selection& s = *result.selection;
    EXPECT_TRUE(s.ranked.front().configuration.ring);
    EXPECT_NO_THROW(validate(s.plan));
    const Plan again = io::read_plan(io::write_plan(s.plan), "again");
    EXPECT_TRUE(again.candidates.front().configuration.ring);
    const SiteGraph model = sites_of(asked.ops);
    for (const RankedConfiguration& r : s.ranked) {
        EXPECT_EQ(r.configuration.ring, lower::Rules(model, r.configuration).any_rings());
    }
    const auto off = std::ranges::find(s.plan.alternatives, Choice{"ring", "off"}, &Alternative::choice);
    ASSERT_NE(off, s.plan.alternatives.end());
    EXPECT_FALSE(off->configuration.ring || off->pinned);
    EXPECT_GT(off->predicted.ranked_seconds(), s.ranked.front().predicted.ranked_seconds());
    EXPECT_EQ(off->predicted.total_bytes, s.ranked.front().predicted.total_bytes);
    pinned.ring = false;
    pinned.forward = s.ranked.front().configuration.forward;  // in which there is a product for one
    const Selection without = selected(asked, pinned);
    for (const RankedConfiguration& r : without.ranked) EXPECT_FALSE(r.configuration.ring);
    const auto on = std::ranges::find(without.plan.alternatives, Choice{"ring", "on"}, &Alternative::choice);
    ASSERT_NE(on, without.plan.alternatives.end());
    EXPECT_TRUE(on->configuration.ring && on->pinned);
    SelectOptions free;
    free.ring = true;
    const Selection only = selected(asked, free);
    for (const RankedConfiguration& r : only.ranked) EXPECT_TRUE(r.configuration.ring);
    EXPECT_TRUE(std::ranges::any_of(only.rejected, [](const Rejection& r) {
        return r.reason == Rejection::Reason::not_applicable && r.what == "grids that split no columns" && r.count > 0;
    }));
}

TEST(SelectInference, RefusesRingsWhereThereAreNone) {
    const auto code = [](const Problem& asked, const char* grid_y, std::optional<Orders> forward = {}) {
        SelectOptions pinned;
        pinned.ring = true;
        if (grid_y != nullptr) pinned.grid = *grid_y == '1' ? Grid{4, 1, 1} : Grid{2, 2, 1};
        pinned.forward = std::move(forward);
        const SelectResult result = select(asked, machine(), pinned);
        return result ? ErrorCode::internal : result.code;
    };
    const std::vector<std::int64_t> widths{100, 128, 64, 47};
    EXPECT_EQ(code(inference(widths, 4, products), nullptr), ErrorCode::internal) << "there is a plan";
    EXPECT_EQ(code(inference(widths, 4, products), "1"), ErrorCode::usage) << "nobody has other columns";
    EXPECT_EQ(code(problem(widths, 4, products), nullptr), ErrorCode::usage) << "it trains";
    EXPECT_EQ(code(inference(widths, 4, products), "2", parse_orders("SDS")), ErrorCode::usage);
    EXPECT_EQ(code(inference(widths, 4, products), "2", parse_orders("SSS")), ErrorCode::internal);
    EXPECT_EQ(code(inference({100, 47}, 4, products), "2"), ErrorCode::usage) << "one layer, from features to logits";
    EXPECT_EQ(code(inference(std::vector<std::int64_t>(2, 64), 1, products), nullptr), ErrorCode::usage);
}

TEST(SelectInference, LayersMultiplyByWhatTheyHaveDrawn) {
    const std::vector<std::int64_t> fanout{10, 5, 2};
    const UniformStats graph = products.drawn(fanout, true, true);
    EXPECT_EQ(graph.samples(), 3);
    for (int layer = 1; layer <= 3; ++layer) {
        const std::int64_t most = graph.vertices() * (fanout[static_cast<std::size_t>(layer - 1)] + 1);
        EXPECT_EQ(graph.row_nonzeros(MatrixId(true, layer), {0, graph.vertices()}), most);
        EXPECT_EQ(graph.block_nonzeros(MatrixId(true, layer), {0, graph.vertices()}, {0, graph.vertices()}), most);
    }
    EXPECT_EQ(products.drawn({1000}, true, true).row_nonzeros(MatrixId(true, 1), {0, 244'903}), products.nonzeros());
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

// The most that others send to a product at a time, by what the graph says of it.
std::int64_t largest_buffer(const Candidate& candidate, const GraphStats& graph) {
    const Schedule& schedule = candidate.schedule;
    const auto numbered = graph.numbered(schedule.numbering);
    std::int64_t largest = 0;
    for (const Step& step : schedule.steps) {
        const SpmmStep* product = product_of(step.operation);
        if (product == nullptr) continue;
        for (const int rank : rank_classes(schedule).representative)
            largest = std::max(largest, spmm_buffers(schedule, *product, *numbered, rank).exchange_bytes());
    }
    return largest;
}

TEST(SelectBuffer, BoundsTheBuffersOfEveryCandidate) {
    for (const bool infers : {false, true}) {
        for (const std::vector<std::int64_t>& widths :
             {std::vector<std::int64_t>{100, 128, 47}, {100, 20, 130, 60, 90, 40}}) {
            for (const std::int64_t bytes : {1 << 20, 64 << 20}) {
                const Problem asked = infers ? inference(widths, 6, products) : problem(widths, 6, products);
                SelectOptions options;
                options.buffer_bytes = bytes;
                const Selection s = selected(asked, options);
                EXPECT_NO_THROW(validate(s.plan));
                EXPECT_NO_THROW(check_predicted_bytes(s.plan));
                EXPECT_EQ(s.plan.problem.buffer_bytes, bytes);
                for (const Candidate& candidate : s.plan.candidates)
                    EXPECT_LE(largest_buffer(candidate, products), bytes);
                const std::string text = io::write_plan(s.plan);
                EXPECT_EQ(io::write_plan(io::read_plan(text, "again")), text);
                EXPECT_EQ(io::read_plan(text, "again").problem.buffer_bytes, bytes);
            }
        }
    }
}

// The search takes the fastest of all orders, exchanges and overlaps under the bound.
TEST(SelectBuffer, RanksConfigurationsAsTheyAreCut) {
    for (const bool infers : {false, true}) {
        const std::vector<std::int64_t> widths{100, 128, 47};
        const Problem asked = infers ? inference(widths, 4, products) : problem(widths, 4, products);
        SelectOptions pinned;
        pinned.grid = Grid{4, 1, 1};
        pinned.loss_rows = false;
        pinned.buffer_bytes = 1 << 20;
        for (const Machine& on : test::machines()) {
            const SelectResult found = select(asked, on, pinned);
            ASSERT_TRUE(found) << found.message;
            const search::Space space = search::make_space(asked, on, pinned);
            search::NumberedGraphs graphs(products);
            double best = 1e9;
            for (const search::Choices& choices : search::all_choices(space, {Sharing::replicated, {4, 1, 1}}, true)) {
                for (const Exchange exchange : {Exchange::panels, Exchange::rows}) {
                    for (const bool overlap : {false, true}) {
                        search::ConfigurationFrame frame{{Sharing::replicated, {4, 1, 1}}};
                        frame.switches = {exchange, overlap};
                        frame.trains = !infers;
                        const auto costed =
                            search::cost_if_bounded(space, search::configuration_of(frame, choices), on, graphs);
                        if (costed) best = std::min(best, costed->predicted.ranked_seconds());
                    }
                }
            }
            EXPECT_DOUBLE_EQ(found.selection->ranked.front().predicted.ranked_seconds(), best);
        }
    }
}

// Pieces cost a latency each, beside the same bytes.
TEST(SelectBuffer, PiecesCostTheirMessages) {
    SelectOptions pinned;
    pinned.grid = Grid{4, 1, 1};
    pinned.exchange = Exchange::panels;
    pinned.overlap = false;
    pinned.forward = parse_orders("SS");
    Machine slow = machine();
    slow.intra_node.latency_seconds = 1e-3;
    const auto chosen = [&](std::int64_t bytes) {
        pinned.buffer_bytes = bytes;
        return select(inference({100, 128, 47}, 4, products), slow, pinned).selection->plan.candidates.front();
    };
    const Candidate whole = chosen(0), cut = chosen(1 << 20);
    const auto splits = [](const Candidate& candidate) {
        return std::ranges::find(candidate.schedule.tensors, Role::adjacency, &Tensor::role)->storage.splits;
    };
    EXPECT_EQ(splits(whole), 1);
    EXPECT_EQ(splits(cut), 30) << "61,226 rows of 128 floats are 29.9 MiB";
    EXPECT_EQ(cut.predicted.total_bytes, whole.predicted.total_bytes);
    EXPECT_NEAR(cut.predicted.epoch_seconds - whole.predicted.epoch_seconds, 2 * 3 * (splits(cut) - 1) * 1e-3, 1e-9);
}

TEST(SelectBuffer, TooSmallIsRefusedWithWhatIsEnough) {
    SelectOptions pinned;
    pinned.grid = Grid{4, 1, 1};
    pinned.exchange = Exchange::panels;
    pinned.overlap = false;
    pinned.forward = parse_orders("SS");
    pinned.buffer_bytes = 512;
    const Problem asked = inference({100, 128, 47}, 4, products);
    const SelectResult refused = select(asked, machine(), pinned);
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.code, ErrorCode::usage);
    // 61,226 rows in 4096 pieces are 15 at most.
    EXPECT_NE(refused.message.find("7680 bytes are enough"), std::string::npos) << refused.message;
    pinned.buffer_bytes = 7679;
    EXPECT_FALSE(select(asked, machine(), pinned));
    pinned.buffer_bytes = 7680;
    EXPECT_TRUE(select(asked, machine(), pinned));
    // Where ranks have all rows that they multiply there is nothing to bound; other grids are set aside.
    SelectOptions any;
    any.buffer_bytes = 1;
    const Selection left = selected(asked, any);
    for (const RankedConfiguration& r : left.ranked) EXPECT_EQ(r.configuration.grid.x, 1);
    EXPECT_TRUE(std::ranges::any_of(left.rejected, [](const Rejection& r) {
        return r.reason == Rejection::Reason::over_buffer && r.what == "1d" && r.count > 0;
    }));
    any.buffer_bytes = -1;
    EXPECT_EQ(select(asked, machine(), any).code, ErrorCode::usage);
    any.buffer_bytes = 1 << 20;
    any.space = SearchSpace::paper;
    EXPECT_EQ(select(problem({100, 128, 47}, 4, products), machine(), any).code, ErrorCode::usage);
}

// Errors of a stranger's plan are found.
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
