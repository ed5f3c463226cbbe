// The messages of sums weighted by cosines, and the errors of schedules about values of edges.
#include "planner/lower/lower.hpp"
#include "tests/planner/ir/sent_bytes.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/models.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <utility>

namespace gnnplan {
namespace {

constexpr std::int64_t vertices = 24, nonzeros = 144;
constexpr std::int64_t width = 8;
const UniformStats graph(vertices, nonzeros, false);

Schedule agnn(const Grid& grid, Scores scores = Scores::columns) {
    ModelRecord model;
    model.name = "agnn";
    model.widths = {5, width, 3};
    Configuration on;
    on.grid = grid;
    on.forward = {Order::sparse_first, Order::sparse_first};
    on.backward = {Order::dense_first, Order::dense_first};
    on.operands = {Operand::gradient, Operand::gradient};
    on.exchange = grid.x > 1 ? Exchange::panels : Exchange::none;
    on.scores = scores;
    lower::GraphShape shape;
    shape.vertices = vertices;
    shape.nonzeros = nonzeros;
    shape.symmetric = shape.symmetric_pattern = false;
    return lower::lower(sites_of(models::build(model)), on, shape);
}

std::int64_t sent(const Schedule& schedule, const std::string& step) {
    return testing::sent_bytes(schedule, graph, step);
}

TEST(Cosine, SumsScoresOverGroupsOrGathersWholeRows) {
    for (const Grid& grid : {Grid{1, 1, 1}, Grid{3, 1, 1}, Grid{1, 4, 1}, Grid{2, 2, 1}, Grid{3, 4, 1}}) {
        const std::int64_t rows = 4 * vertices * width;
        const Schedule columns = agnn(grid), whole = agnn(grid, Scores::whole_rows);
        EXPECT_NO_THROW(validate(columns));
        EXPECT_NO_THROW(validate(whole));
        for (const std::string at : {"forward.1.scores", "backward.1.weights"}) {
            EXPECT_EQ(sent(columns, at), (grid.x - 1) * rows) << grid.text();
            EXPECT_EQ(sent(columns, at + ".all_reduce"), 4 * 2 * (grid.y - 1) * nonzeros) << grid.text();
            EXPECT_EQ(sent(whole, at), (grid.x - 1) * grid.y * rows) << grid.text();
            EXPECT_EQ(sent(whole, at + ".all_reduce"), 0);
            EXPECT_EQ(sent(whole, at + ".columns"), (grid.y - 1) * rows) << grid.text();
            EXPECT_EQ(sent(columns, at + ".columns"), 0);
        }
        EXPECT_EQ(sent(whole, "forward.1.scores.rows"), 0) << "both ends have the same rows";
        EXPECT_EQ(sent(whole, "backward.1.weights.rows"), (grid.y - 1) * rows);
    }
}

// Rows of the operands go to R, rank by rank, from there those that nonzeros of the dealt rows meet to who has them,
// and each value to the others of its y-group.
TEST(Cosine, DealsRowsOverGroups) {
    for (const Grid& grid : {Grid{1, 4, 1}, Grid{2, 2, 1}, Grid{3, 4, 1}}) {
        const std::int64_t rows = 4 * vertices * width;
        const Schedule schedule = agnn(grid, Scores::dealt_rows);
        EXPECT_NO_THROW(validate(schedule));
        std::int64_t asked = 0;
        for (int rank = 0; rank < grid.size(); ++rank) {
            const Range own = split_block(vertices, layout_r().rows, grid, rank);
            for (int root = 0; root < grid.size(); ++root) {
                if (root != rank)
                    asked +=
                        graph.distinct_columns(forward_matrix, own, split_block(vertices, layout_r().rows, grid, root));
            }
        }
        EXPECT_EQ(sent(schedule, "index.A^T.dealt"), 4 * asked);
        for (const std::string at : {"forward.1.scores", "backward.1.weights"}) {
            EXPECT_EQ(sent(schedule, at + ".columns"), (grid.y - 1) * rows / grid.y) << grid.text();
            EXPECT_EQ(sent(schedule, at), 4 * width * asked) << grid.text();
            EXPECT_EQ(sent(schedule, at + ".gather"), 4 * (grid.y - 1) * nonzeros) << grid.text();
            EXPECT_EQ(sent(schedule, at + ".all_reduce"), 0);
        }
        EXPECT_EQ(sent(schedule, "forward.1.scores.rows"), 0) << "both ends have the same rows";
        EXPECT_EQ(sent(schedule, "backward.1.weights.rows"), (grid.y - 1) * rows / grid.y);
        EXPECT_EQ(sent(schedule, "backward.2.weights.rows"), 0) << "the gradient of the logits is there";
    }
}

// Values of edges with both ends on ranks of one x go nowhere; the others once in each y-column.
TEST(Cosine, TransposesValuesPairwise) {
    const Schedule schedule = agnn({3, 2, 1});
    std::int64_t within = 0;
    for (std::int64_t x = 0; x < 3; ++x)
        within += graph.block_nonzeros(forward_matrix, {8 * x, 8 * x + 8}, {8 * x, 8 * x + 8});
    EXPECT_EQ(sent(schedule, "backward.1.scores.transpose"), 2 * 4 * (nonzeros - within));
    EXPECT_EQ(sent(schedule, "backward.1.weights.transpose"), 2 * 4 * (nonzeros - within));
}

// Without rows of other ranks to wait for, what lives longest is counted here by hand: nothing is stored twice.
TEST(Cosine, KeepsAnOrderForEachTransposition) {
    const Schedule schedule = agnn({1, 1, 1});
    const MemoryPlan plan = plan_memory(schedule, graph, 0);
    // Two directions of the graph with their values, and where the values of one are in the other.
    EXPECT_EQ(plan.adjacency_bytes, 2 * (8 * (vertices + 1) + 8 * nonzeros) + 4 * nonzeros);
}

// Dealt rows are stored beside the rank's others, with the rows that they ask for, and so is where a value belongs.
TEST(Cosine, KeepsDealtRowsAndWhereTheirValuesBelong) {
    const Grid grid{1, 4, 1};
    const std::int64_t more = plan_memory(agnn(grid, Scores::dealt_rows), graph, 0).adjacency_bytes -
                              plan_memory(agnn(grid), graph, 0).adjacency_bytes;
    const Range own = split_block(vertices, layout_r().rows, grid, 0);
    std::int64_t dealt = 0;
    for (int root = 0; root < grid.size(); ++root)
        dealt += graph.block_nonzeros(forward_matrix, own, split_block(vertices, layout_r().rows, grid, root));
    EXPECT_EQ(more, 4 * 8 * (own.size() + 1) + 8 * dealt + 4 * nonzeros);
}

SpmmStep& product(Schedule& schedule, const std::string& name) {
    for (Step& step : schedule.steps) {
        if (step.name == name) return std::get<SpmmStep>(step.operation);
    }
    throw Error(ErrorCode::usage, "no step " + name);
}

template <class Kind>
Kind& first(Schedule& schedule) {
    for (Step& step : schedule.steps) {
        if (auto* found = std::get_if<Kind>(&step.operation)) return *found;
    }
    throw Error(ErrorCode::usage, "no such step");
}

Tensor& tensor(Schedule& schedule, TensorId id) { return schedule.tensors[static_cast<std::size_t>(id)]; }

void expect_refused(const Schedule& valid,
                    std::span<const std::pair<const char*, std::function<void(Schedule&)>>> changes) {
    for (const auto& [what, change] : changes) {
        Schedule schedule = valid;
        change(schedule);
        try {
            validate(schedule);
            ADD_FAILURE() << "not refused: " << what;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::data) << what;
        }
    }
}

TEST(Cosine, InvalidSchedulesAreRefused) {
    const std::pair<const char*, std::function<void(Schedule&)>> changes[] = {
        {"values of the other direction's nonzeros",
         [](Schedule& s) { product(s, "forward.1.spmm").row_operands = product(s, "backward.1.spmm").row_operands; }},
        {"no structure",
         [](Schedule& s) { tensor(s, product(s, "forward.1.scores").results[0]).structure = std::nullopt; }},
        {"a matrix in no piece",
         [](Schedule& s) { tensor(s, product(s, "forward.1.scores").matrix).storage.splits = 0; }},
        {"more pieces ahead than there are",
         [](Schedule& s) { tensor(s, product(s, "forward.1.scores").matrix).storage.ahead = 2; }},
        {"scores that nobody sums",
         [](Schedule& s) {
             std::erase_if(s.steps, [](const Step& step) { return step.name == "forward.1.scores.all_reduce"; });
         }},
        {"sums where rows are whole",
         [](Schedule& s) { tensor(s, product(s, "forward.1.scores").results[0]).layout.partial = {}; }},
        {"two columns", [](Schedule& s) { tensor(s, product(s, "forward.1.scores").results[0]).columns = 2; }},
        {"values that are theirs already",
         [](Schedule& s) {
             auto& transpose = first<EdgeTransposeStep>(s);
             transpose.out = transpose.in;
         }},
        {"a beta of two elements", [](Schedule& s) { first<EdgeStep>(s).in[1] = first<UpdateStep>(s).weight; }},
        {"weights in place of scores", [](Schedule& s) { first<EdgeStep>(s).out[0] = first<EdgeStep>(s).in[0]; }},
        {"one result too few", [](Schedule& s) { first<EdgeStep>(s).out.pop_back(); }},
    };
    expect_refused(agnn({2, 2, 1}), changes);
    const std::pair<const char*, std::function<void(Schedule&)>> changes_of_dealt[] = {
        {"values of other rows",
         [](Schedule& s) {
             auto& gather = first<EdgeGatherStep>(s);
             tensor(s, gather.out).structure = tensor(s, gather.in).structure;
         }},
        {"values that are everywhere already",
         [](Schedule& s) { first<EdgeGatherStep>(s).in = first<EdgeGatherStep>(s).out; }},
        {"values of the other direction",
         [](Schedule& s) { first<EdgeGatherStep>(s).out = first<EdgeTransposeStep>(s).out; }},
        {"rows that nobody asks for", [](Schedule& s) { product(s, "forward.1.scores").exchange = Exchange::none; }},
        {"operands by columns",
         [](Schedule& s) {
             product(s, "forward.1.scores").column_operands = product(s, "forward.1.spmm").column_operands;
         }},
    };
    expect_refused(agnn({2, 2, 1}, Scores::dealt_rows), changes_of_dealt);
}

}  // namespace
}  // namespace gnnplan
