// Groups of ranks: each has rows and edges of its own, and shares sums alone. The first schedule is made by hand, the
// others are lowered.
#include "planner/lower/lower.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/classes.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/traffic.hpp>
#include <gnnplan/ir/work.hpp>
#include <gnnplan/models.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace gnnplan {
namespace {

constexpr std::int64_t width = 24, classes = 8;
enum Id : TensorId { features, weight, logits, labels, subset, loss, gradient };

Grid groups_of(int ranks, const std::vector<std::int64_t>& first_rows) {
    return {static_cast<int>(first_rows.size()) - 1, ranks, 1, Axis::y, first_rows};
}

// A linear map of rows, its loss and its update.
Schedule schedule_on(const Grid& grid) {
    Schedule s;
    s.grid = grid;
    const std::int64_t rows = grid.groups.back();
    s.spaces = {{"vertices", rows / 2, 0}, {"groups", rows, 0, true}};
    s.numbering = {.parts = grid.x, .cut = CutRule::libra, .clones = CloneLoss::owners};
    s.parameters = {{"layers.1.weight", "W", {width, classes}, Init::glorot}};
    s.tensors = {{"X", Role::features, DType::f32, rows, width, layout_r()},
                 {"W", Role::weight, DType::f32, width, classes, layout_replicated()},
                 {"Z", Role::transient, DType::f32, rows, classes, layout_r()},
                 {"labels", Role::labels, DType::i32, rows, 1, layout_r()},
                 {"subset", Role::subset, DType::u8, rows, 1, layout_r()},
                 {"loss", Role::transient, DType::f64, 1, 1, layout_partial()},
                 {"Y", Role::transient, DType::f32, width, classes, layout_partial()}};
    for (const Id id : {features, logits, labels, subset}) s.tensors[id].space = 1;
    s.tensors[weight].parameter = 0;
    const std::vector<std::pair<std::string, Operation>> steps = {
        {"gemm", GemmStep{features, weight, logits, false}},
        {"loss", LossStep{logits, labels, subset, loss}},
        {"loss.all_reduce", AllReduceStep{loss}},
        {"weight_grad", WeightGradStep{features, logits, gradient}},
        {"all_reduce", AllReduceStep{gradient}},
        {"update", UpdateStep{weight, gradient, {}, {}, Optimiser::sgd}}};
    for (const auto& [name, operation] : steps) s.steps.push_back({name, Phase::epoch, operation});
    return s;
}

const Step& step_named(const Schedule& schedule, const std::string& name) {
    for (const Step& step : schedule.steps) {
        if (step.name == name) return step;
    }
    throw Error(ErrorCode::internal, "no such step", name);
}

const std::vector<Grid>& grids() {
    static const std::vector<Grid> all{groups_of(1, {0, 5, 5, 14}), groups_of(2, {0, 35, 64}),
                                       groups_of(3, {0, 50, 51, 58, 90})};
    return all;
}

TEST(Groups, HaveRowsOfTheirOwnSplitAmongTheirRanks) {
    const UniformStats graph(40, 200, true);
    for (const Grid& grid : grids()) {
        const Schedule schedule = schedule_on(grid);
        ASSERT_NO_THROW(validate(schedule));
        for (int rank = 0; rank < grid.size(); ++rank) {
            const auto group = static_cast<std::size_t>(rank / grid.y);
            const Range all{grid.groups[group], grid.groups[group + 1]};
            const Range rows = balanced_block(all, rank % grid.y, grid.y);
            EXPECT_EQ(block_of(schedule, features, rank), (Block{rows, {0, width}}));
            EXPECT_EQ(split_block(grid.groups.back(), layout_c().rows, grid, rank), all);
            EXPECT_EQ(block_bytes(schedule, logits, rank), 4 * rows.size() * classes);
            const RankWork work = work_of(schedule, step_named(schedule, "gemm"), graph, rank);
            EXPECT_EQ(work.dense_flops, static_cast<double>(2 * rows.size() * width * classes));
            EXPECT_EQ(work_of(schedule, step_named(schedule, "loss"), graph, rank).loss_rows,
                      static_cast<double>(rows.size()));
        }
    }
}

TEST(Groups, MemoryIsThatOfEachRank) {
    for (const Grid& grid : grids()) {
        const Schedule schedule = schedule_on(grid);
        const UniformStats whole(grid.groups.back() / 2, 200, true);
        const auto numbered = whole.with_groups(grid.groups).numbered(schedule.numbering);
        const GraphStats& graph = *numbered;
        std::int64_t peak = 0;
        for (int rank = 0; rank < grid.size(); ++rank) {
            const MemoryPlan plan = plan_memory(schedule, graph, rank);
            const auto bytes = [&](TensorId id) { return aligned(block_bytes(schedule, id, rank)); };
            // Residents, and of the transients those that live at once: Z with the loss, or with Y.
            std::int64_t residents = 0;
            for (const TensorId id : {features, weight, labels, subset}) residents += bytes(id);
            const std::int64_t least = residents + bytes(logits) + std::max(bytes(loss), bytes(gradient));
            EXPECT_GE(plan.arena_bytes, least) << rank;
            EXPECT_LE(plan.arena_bytes, least + bytes(loss) + bytes(gradient) + aligned(4 * width * classes)) << rank;
            peak = std::max(peak, plan.peak_bytes);
        }
        EXPECT_EQ(peak_bytes_per_rank(schedule, graph), peak);
    }
}

TEST(Groups, ShareSumsAlone) {
    const UniformStats graph(40, 200, true);
    for (const Grid& grid : grids()) {
        const Schedule schedule = schedule_on(grid);
        for (const char* local : {"gemm", "loss", "weight_grad", "update"})
            EXPECT_TRUE(messages_of(schedule, step_named(schedule, local), graph).empty()) << local;
        std::int64_t bytes = 0;
        for (const Message& message : messages_of(schedule, step_named(schedule, "all_reduce"), graph))
            bytes += message.bytes;
        EXPECT_EQ(bytes, 2 * (grid.size() - 1) * 4 * width * classes) << "as of any gradient";
    }
}

TEST(Groups, NoTwoRanksAreAlike) {
    for (const Grid& grid : grids()) {
        const Schedule schedule = schedule_on(grid);
        const auto ranks = static_cast<std::size_t>(grid.size());
        EXPECT_EQ(rank_classes(schedule).representative.size(), ranks);
        EXPECT_EQ(size_classes(schedule).representative.size(), ranks);
        StepClasses steps;
        for (const char* apart : {"gemm", "loss", "weight_grad"})
            EXPECT_EQ(steps.of(schedule, step_named(schedule, apart).operation).representative.size(), ranks) << apart;
        for (const char* alike : {"update", "all_reduce"})
            EXPECT_LT(steps.of(schedule, step_named(schedule, alike).operation).representative.size(), ranks) << alike;
        EXPECT_FALSE(local_by_size(schedule, step_named(schedule, "gemm").operation));
        EXPECT_TRUE(local_by_size(schedule, step_named(schedule, "update").operation));
    }
}

void refused(const std::string& why, const std::function<void(Schedule&)>& damage) {
    Schedule schedule = schedule_on(groups_of(2, {0, 5, 5, 14}));
    damage(schedule);
    try {
        validate(schedule);
        FAIL() << "accepted, though " << why;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::data) << why << ": " << error.what();
    }
}

TEST(Groups, WrongOnesAreRefused) {
    const auto first = [](Schedule & s) -> auto& { return s.grid.groups; };
    refused("a group has none", [&](Schedule& s) { first(s) = {0, 5, 14}; });
    refused("the first rows are nobody's", [&](Schedule& s) { first(s).front() = 1; });
    refused("the last rows are nobody's", [&](Schedule& s) { first(s).back() = 13; });
    refused("groups overlap", [&](Schedule& s) { first(s)[1] = 6; });
    refused("the loss has its own rows", [&](Schedule& s) { s.spaces.push_back({"needed.1", 5, 1}); });
    refused("a tensor is of other rows", [](Schedule& s) { s.tensors[features].rows = 15; });
    refused("nobody's rows are those of groups", [](Schedule& s) { s.spaces.back().of_groups = false; });
    refused("a vertex has more clones than groups", [](Schedule& s) { s.spaces.front().rows = 4; });
    refused("a vertex has no clone", [](Schedule& s) { s.spaces.front().rows = 15; });
    refused("nothing is cut", [](Schedule& s) { s.numbering.cut = CutRule::none; });
    refused("there are fewer parts than groups", [](Schedule& s) { s.numbering.parts = 2; });
    refused("groups have other vertices", [](Schedule& s) { s.numbering = {}; });
    refused("no vertex has clones that could count", [](Schedule& s) {
        s.numbering = {}, s.spaces.front().rows = 14;
        s.tensors.push_back({"counts_as", Role::counts_as, DType::f32, 14, 1, layout_r()});
        s.tensors.back().space = 1;
    });
    refused("ranks of a group are not neighbours", [](Schedule& s) { s.grid.nearest = Axis::x; });
    const auto matrix = [](Schedule& s, const char* columns) {
        s.tensors.push_back(
            {"A^T", Role::adjacency, DType::f32, 14, 14, {Axes::parse("x"), Axes::parse(columns), {}}, true});
        s.tensors.back().space = s.tensors.back().column_space = 1;
    };
    Schedule schedule = schedule_on(groups_of(2, {0, 5, 5, 14}));
    matrix(schedule, "x");
    EXPECT_NO_THROW(validate(schedule));
    refused("groups have edges between them", [&](Schedule& s) { matrix(s, "z"); });
    refused("there are no groups", [&](Schedule& s) { matrix(s, "x"), s.grid.groups.clear(); });
}

// Products meet rows of their group alone, whichever model asks for them.
TEST(Groups, ProductsReadTheirGroup) {
    const Grid grid = groups_of(2, {0, 20, 29, 60});
    Configuration configuration;
    configuration.grid = grid;
    configuration.exchange = Exchange::panels;
    configuration.parts = 3, configuration.cut_rule = CutRule::libra, configuration.clones = CloneLoss::shares;
    configuration.forward = parse_orders("SD"), configuration.backward = parse_orders("SD");
    configuration.operands = parse_operands("TG");
    const OpGraph network = models::build({"gcn", {width, 16, classes}});
    lower::GraphShape shape;
    shape.vertices = 40;
    const Schedule schedule = lower::lower(sites_of(network), configuration, shape);
    ASSERT_NO_THROW(validate(schedule));
    const UniformStats graph(40, 240, true);
    int products = 0;
    for (const Step& step : schedule.steps) {
        const SpmmStep* product = product_of(step.operation);
        if (product == nullptr) continue;
        if (step.phase == Phase::evaluation) {
            EXPECT_FALSE(tensor_of(schedule, product->matrix).in_groups());
            EXPECT_EQ(block_of(schedule, product->matrix, 5).rows, (Range{27, 40})) << "of the whole graph";
            EXPECT_FALSE(messages_of(schedule, step, graph).empty());
            continue;
        }
        ++products;
        EXPECT_TRUE(messages_of(schedule, step, graph).empty()) << step.name;
        const Tensor& m = tensor_of(schedule, product->matrix);
        for (int rank = 0; rank < grid.size(); ++rank) {
            const std::vector<Piece> pieces = pieces_of(grid, m, rank);
            ASSERT_EQ(pieces.size(), 1U);
            EXPECT_EQ(pieces.front().dense_root, rank);
            const auto group = static_cast<std::size_t>(rank / 2);
            EXPECT_EQ(pieces.front().columns, (Range{grid.groups[group], grid.groups[group + 1]}));
            EXPECT_EQ(block_of(schedule, product->matrix, rank).rows, pieces.front().columns);
        }
    }
    EXPECT_EQ(products, 4) << "two in each pass";
    configuration.loss_rows = true;
    shape.loss_rows = {40, 30, 20};
    EXPECT_THROW(lower::lower(sites_of(network), configuration, shape), Error);
}

std::vector<std::int64_t> clones_of(const UniformStats& graph, int parts) {
    return graph.numbered({.parts = parts, .cut = CutRule::libra, .clones = CloneLoss::owners})->groups();
}

// DistGNN's Table 8: Products in 16 parts. The table multiplies by the degree of the whole graph, as if each clone had
// all edges of its vertex; a part has a 16th of the edges, and here a loop for each clone.
TEST(ClonesOfCards, AreAsManyAsPublished) {
    const UniformStats products = UniformStats(2449029, 126167309, true).with_replication({1.49, 2.16, 2.98, 3.90});
    const std::vector<std::int64_t> first = clones_of(products, 16);
    ASSERT_EQ(first.size(), 17U);
    EXPECT_NEAR(static_cast<double>(first[1]), 596499, 0.002 * 596499);
    const auto numbered = products.numbered({.parts = 16, .cut = CutRule::libra, .clones = CloneLoss::owners});
    const Range last{first[15], first[16]};
    const auto edges = static_cast<double>(numbered->row_nonzeros(groups_of(forward_matrix), last) - last.size());
    EXPECT_NEAR(edges, 123718280.0 / 16, 1e-3 * 123718280 / 16);
    EXPECT_NEAR(edges * (100 + 256 + 256) / 1e9, 4.73, 0.01) << "operations, and not 18.80";
}

// DistGNN's Table 6, 0c: GB of a part of Papers, by the paper's list of matrices, with their gradients.
TEST(ClonesOfCards, TakeTheMemoryThatIsPublished) {
    const UniformStats papers =
        UniformStats(111059956, 1726745828, false).with_replication({0, 0, 0, 0, 4.63, 5.63, 6.62});
    for (const auto& [parts, printed] : {std::pair(32, 180.0), std::pair(64, 112.0), std::pair(128, 70.0)}) {
        const double bytes = 2.0 * 4 * (128 + 128 + 4 * 256 + 172) * static_cast<double>(clones_of(papers, parts)[1]);
        EXPECT_NEAR(bytes / 1e9, printed, 0.06 * printed) << parts;
    }
}

}  // namespace
}  // namespace gnnplan
