// The messages of attention, and the errors of schedules about it.
#include "planner/lower/lower.hpp"
#include "tests/planner/ir/sent_bytes.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/range.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/models.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace gnnplan {
namespace {

constexpr std::int64_t vertices = 24;
const UniformStats graph(vertices, 131, false);

// Two layers of as many heads, of two columns each, and the last one averaged.
Schedule gat(const Grid& grid, int heads, bool replicated_input = false,
             AttentionScores scores = AttentionScores::recompute) {
    ModelRecord model;
    model.name = "gat";
    model.widths = {5, 2 * heads, 3};
    model.heads = model.output_heads = heads;
    Configuration on;
    on.grid = grid;
    on.forward = {Order::dense_first, Order::dense_first};
    on.backward = {Order::sparse_first, Order::none};
    on.operands = {Operand::gradient, Operand::gradient};
    on.exchange = grid.x > 1 ? Exchange::panels : Exchange::none;
    on.replicated_input = replicated_input;
    on.attention = scores;
    lower::GraphShape shape;
    shape.vertices = vertices;
    shape.nonzeros = 131;
    return lower::lower(sites_of(models::build(model)), on, shape);
}

std::int64_t sent(const Schedule& schedule, const std::string& step) {
    return testing::sent_bytes(schedule, graph, step);
}

// Wide operands travel once to each rank of an x-group; by heads whole on every rank of a y-group where y cuts heads;
// the vertices always are.
TEST(Attention, SendsWideOperandsOnceAndFewNumbersByHeads) {
    for (const Grid& grid :
         {Grid{1, 1, 1}, Grid{3, 1, 1}, Grid{2, 2, 1}, Grid{2, 3, 1}, Grid{1, 4, 1}, Grid{3, 4, 1}}) {
        for (const int heads : {1, 3, 4, 8}) {
            const Schedule schedule = gat(grid, heads);
            EXPECT_NO_THROW(validate(schedule));
            const std::int64_t copies = heads % grid.y == 0 ? 1 : grid.y;
            const std::int64_t rows = 4 * (grid.x - 1) * vertices, wide = 2 * heads;
            EXPECT_EQ(sent(schedule, "forward.1.spmm"), rows * (wide + copies * heads + grid.y))
                << grid.text() << heads;
            EXPECT_EQ(sent(schedule, "backward.1.spmm"), rows * (wide + 3 * copies * heads + grid.y))
                << grid.text() << heads;
            EXPECT_EQ(sent(schedule, "evaluation.forward.1.spmm"), rows * (wide + copies * heads)) << "nothing drops";
        }
    }
}

// Stored scores go to the ranks that have the sources, those of a rank's heads from the rank that has the target and
// the same heads; then no number of the target travels, nor is anything drawn again.
TEST(Attention, SendsStoredScoresToSources) {
    constexpr std::int64_t nonzeros = 131;
    for (const Grid& grid : {Grid{1, 1, 1}, Grid{3, 1, 1}, Grid{2, 2, 1}, Grid{3, 4, 1}}) {
        std::int64_t within = 0;
        for (int x = 0; x < grid.x; ++x) {
            const Range own = balanced_block({0, vertices}, x, grid.x);
            within += graph.block_nonzeros(forward_matrix, own, own);
        }
        for (const int heads : {1, 3, 4, 8}) {
            const Schedule schedule = gat(grid, heads, false, AttentionScores::stored);
            EXPECT_NO_THROW(validate(schedule));
            const std::int64_t copies = heads % grid.y == 0 ? 1 : grid.y;
            const std::int64_t rows = 4 * (grid.x - 1) * vertices, wide = 2 * heads;
            EXPECT_EQ(sent(schedule, "forward.1.spmm"), rows * (wide + copies * heads + grid.y));
            EXPECT_EQ(sent(schedule, "backward.1.scores.transpose"), 4 * copies * heads * (nonzeros - within))
                << grid.text() << heads;
            EXPECT_EQ(sent(schedule, "backward.1.spmm"), rows * (wide + 2 * copies * heads)) << grid.text() << heads;
            EXPECT_EQ(sent(schedule, "evaluation.forward.1.spmm"), rows * (wide + copies * heads));
        }
    }
}

// A float for each nonzero and head, of one layer at least, and where the transposes of nonzeros lie.
TEST(Attention, StoredScoresAreInTheMemory) {
    constexpr std::int64_t nonzeros = 131;
    const MemoryPlan without = plan_memory(gat({1, 1, 1}, 3), graph, 0);
    const MemoryPlan with = plan_memory(gat({1, 1, 1}, 3, false, AttentionScores::stored), graph, 0);
    EXPECT_EQ(with.adjacency_bytes - without.adjacency_bytes, 4 * nonzeros);
    EXPECT_GE(with.arena_bytes - without.arena_bytes, 4 * 3 * nonzeros);
}

// Scores of whole rows are gathered where y cuts heads, and gradients of scores summed: over the y-group alone.
TEST(Attention, SumsGradientsOfScoresOverGroupsThatCutHeads) {
    const Schedule whole = gat({2, 2, 1}, 4), cut = gat({2, 2, 1}, 3);
    for (const std::string name : {"backward.1.source.all_reduce", "backward.1.target.all_reduce"}) {
        EXPECT_EQ(sent(whole, name), 0);
        EXPECT_EQ(sent(cut, name), 4 * 2 * vertices * 3) << "2 (g - 1) of them for groups of g = 2";
    }
    EXPECT_EQ(sent(cut, "forward.1.source.redistribute"), 4 * vertices * 3);
    EXPECT_EQ(sent(cut, "forward.1.source.all_reduce"), 0) << "whole rows have whole heads";
    const Schedule columns = gat({2, 2, 1}, 3, true);
    EXPECT_EQ(sent(columns, "forward.1.source.all_reduce"), 4 * 2 * vertices * 3) << "h is born in columns";
    EXPECT_NO_THROW(validate(columns));
}

SpmmStep& product(Schedule& schedule, const std::string& name) {
    for (Step& step : schedule.steps) {
        if (step.name == name) return std::get<SpmmStep>(step.operation);
    }
    throw std::out_of_range(name);
}
Tensor& tensor(Schedule& schedule, TensorId id) { return schedule.tensors[static_cast<std::size_t>(id)]; }

struct Mistake {
    const char* name;
    std::function<void(Schedule&)> make;
};
const Mistake mistakes[] = {
    {"heads that do not share the columns", [](Schedule& s) { product(s, "forward.1.spmm").attending.heads = 5; }},
    {"other heads than s has", [](Schedule& s) { product(s, "forward.1.spmm").attending.heads = 2; }},
    {"no vertices to draw by", [](Schedule& s) { product(s, "forward.1.spmm").column_operands.pop_back(); }},
    {"vertices that nothing draws by", [](Schedule& s) { product(s, "forward.1.spmm").attending.dropout = false; }},
    {"half of what the backward pass wants", [](Schedule& s) { product(s, "forward.1.spmm").results.pop_back(); }},
    {"s in place of t",
     [](Schedule& s) { product(s, "forward.1.spmm").row_operands[0] = product(s, "forward.1.spmm").results[0]; }},
    {"a sum with heads", [](Schedule& s) { product(s, "forward.1.spmm").program = Program::sum; }},
    {"s that lies elsewhere",
     [](Schedule& s) { tensor(s, product(s, "forward.1.spmm").column_operands[1]).layout = layout_r(); }},
    {"inner that was summed where heads are cut",
     [](Schedule& s) { tensor(s, product(s, "backward.1.spmm").column_operands[3]).layout.partial = {}; }},
};

const Mistake mistakes_of_stored[] = {
    {"scores that nobody stores", [](Schedule& s) { product(s, "forward.1.spmm").results.pop_back(); }},
    {"scores that nobody reads", [](Schedule& s) { product(s, "backward.1.spmm").row_operands.pop_back(); }},
    {"other numbers of scores",
     [](Schedule& s) { tensor(s, product(s, "forward.1.spmm").results.back()).columns = 2; }},
    {"scores of other heads",
     [](Schedule& s) { tensor(s, product(s, "forward.1.spmm").results.back()).layout.columns = Axes::parse("y"); }},
    {"numbers of targets besides",
     [](Schedule& s) {
         auto& columns = product(s, "backward.1.spmm").column_operands;
         columns.push_back(columns[1]);
     }},
    {"draws of what is stored", [](Schedule& s) { product(s, "backward.1.spmm").attending.stored = false; }},
};

TEST(Attention, MistakesWithStoredScoresAreFound) {
    for (const Mistake& mistake : mistakes_of_stored) {
        Schedule schedule = gat({2, 2, 1}, 3, false, AttentionScores::stored);
        ASSERT_NO_THROW(validate(schedule));
        mistake.make(schedule);
        EXPECT_THROW(validate(schedule), Error) << mistake.name;
    }
}

TEST(Attention, MistakesOfSchedulesAreFound) {
    for (const Mistake& mistake : mistakes) {
        Schedule schedule = gat({2, 2, 1}, 3);
        ASSERT_NO_THROW(validate(schedule));
        mistake.make(schedule);
        EXPECT_THROW(validate(schedule), Error) << mistake.name;
    }
}

TEST(Attention, IsRefusedWithOtherOrdersAndOnGridsThatSplitNeighbourhoods) {
    ModelRecord model;
    model.name = "gat";
    model.widths = {5, 4, 3};
    const SiteGraph sites = sites_of(models::build(model));
    lower::GraphShape shape;
    shape.vertices = vertices;
    Configuration on;
    on.forward = {Order::dense_first, Order::dense_first};
    on.backward = {Order::sparse_first, Order::none};
    on.operands = {Operand::gradient, Operand::gradient};
    EXPECT_NO_THROW(lower::lower(sites, on, shape));
    Configuration sparse = on;
    sparse.forward[0] = Order::sparse_first;
    EXPECT_THROW(lower::lower(sites, sparse, shape), Error);
    Configuration split = on;
    split.grid = {1, 1, 2};
    EXPECT_THROW(lower::lower(sites, split, shape), Error);
}

}  // namespace
}  // namespace gnnplan
