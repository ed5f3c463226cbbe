// Scheme cut against sets of vertices that are found one nonzero at a time: which rows each rank gets, and of which it
// sends sums.
#include "planner/io/plan.hpp"
#include "runtime/graph/order.hpp"
#include "tests/integration/full_space_runs.hpp"

#include <gnnplan/ir/traffic.hpp>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

namespace gnnplan::testing {
namespace {

// Every edge goes from the first half of the vertices to the second.
TinyGraph bipartite(std::int64_t vertices) {
    TinyGraph graph = random_directed(vertices, 5, 7, 3, 11);
    graph.name = "bipartite";
    const std::int64_t half = vertices / 2;
    std::erase_if(graph.edges, [&](const auto& edge) { return edge.first >= half || edge.second < half; });
    return graph;
}

TinyGraph two_hubs(std::int64_t vertices) {
    TinyGraph graph = no_edges(vertices, 6, 3, 12);
    graph.name = "two_hubs";
    for (std::int32_t v = 2; v < vertices; ++v) {
        for (const std::int32_t hub : {0, 1}) graph.edges.emplace_back(hub, v), graph.edges.emplace_back(v, hub);
    }
    return graph;
}

TinyGraph clique(std::int64_t vertices) {
    TinyGraph graph = no_edges(vertices, 5, 2, 13);
    graph.name = "clique";
    for (std::int32_t u = 0; u < vertices; ++u) {
        for (std::int32_t v = 0; v < vertices; ++v) {
            if (u != v) graph.edges.emplace_back(u, v);
        }
    }
    return graph;
}

// Cliques, the first vertex of each of which knows all vertices of the others.
TinyGraph cliques_with_hubs(std::int64_t cliques, std::int64_t size) {
    TinyGraph graph = no_edges(cliques * size, 16, 3, 15);
    graph.name = "cliques_with_hubs";
    for (std::int64_t u = 0; u < cliques * size; ++u) {
        for (std::int64_t v = 0; v < cliques * size; ++v) {
            const bool hub = u % size == 0 || v % size == 0;
            if (u != v && (u / size == v / size || hub))
                graph.edges.emplace_back(static_cast<std::int32_t>(u), static_cast<std::int32_t>(v));
        }
    }
    return graph;
}

std::vector<TinyGraph> cut_graphs() {
    return {bipartite(30),
            two_hubs(14),
            clique(9),
            star(13, 9, 3, 4),
            directed_path(5, 3, 2, 3),
            random_directed(41, 6, 8, 3, 14)};
}

// Positions of the vertices that nonzeros of each part end and begin in.
struct Ends {
    std::vector<std::set<std::int64_t>> targets, sources;
};

Ends ends_of(const data::Graph& graph, const data::VertexOrder& order, int parts) {
    Ends ends{std::vector<std::set<std::int64_t>>(static_cast<std::size_t>(parts)),
              std::vector<std::set<std::int64_t>>(static_cast<std::size_t>(parts))};
    const data::Csr& matrix = graph.matrix(forward_matrix);
    const std::vector<std::int16_t>& part = order.cut->of(forward_matrix);
    for (std::int64_t row = 0; row < matrix.vertices; ++row) {
        for (auto e = static_cast<std::size_t>(matrix.row_start[static_cast<std::size_t>(row)]);
             e < static_cast<std::size_t>(matrix.row_start[static_cast<std::size_t>(row) + 1]); ++e) {
            const auto p = static_cast<std::size_t>(part[e]);
            ends.targets[p].insert(order.position[static_cast<std::size_t>(row)]);
            ends.sources[p].insert(order.position[static_cast<std::size_t>(matrix.column[e])]);
        }
    }
    return ends;
}

std::int64_t count_in(const std::set<std::int64_t>& rows, Range range) {
    return std::distance(rows.lower_bound(range.begin), rows.lower_bound(range.end));
}

// Every message of products and of their sums.
void check_messages(const Schedule& schedule, const GraphStats& graph, const Ends& ends) {
    const Grid& grid = schedule.grid;
    int sums = 0;
    for (const Step& step : schedule.steps) {
        const auto* sum = std::get_if<SumRowsStep>(&step.operation);
        const SpmmStep* product = product_of(step.operation);
        if (sum == nullptr && product == nullptr) continue;
        sums += sum != nullptr ? 1 : 0;
        const bool forward = tensor_of(schedule, sum != nullptr ? sum->matrix : product->matrix).transposed;
        const TensorId rows_of = sum != nullptr ? sum->out : product->column_operands.front();
        const StepMessages messages(schedule, step, graph);
        for (int from = 0; from < grid.size(); ++from) {
            for (const int to : messages.peers(from)) {
                const int owner = sum != nullptr ? to : from, user = sum != nullptr ? from : to;
                const auto part = static_cast<std::size_t>(grid.coordinate(user, Axis::x));
                const bool targets = forward == (sum != nullptr);
                const Block owned = block_of(schedule, rows_of, owner);
                const std::int64_t rows = count_in((targets ? ends.targets : ends.sources)[part], owned.rows);
                EXPECT_EQ(messages.between(from, to).bytes, 4 * rows * owned.columns.size())
                    << step.name << " from " << from << " to " << to;
            }
        }
    }
    EXPECT_GT(sums, 2) << "forward and backward";
}

class Cuts : public ::testing::TestWithParam<CutRule> {
protected:
    static Configuration configuration(const search::Space& space, const Grid& grid) {
        search::ConfigurationFrame frame{{Sharing::cut, grid}};
        cut_by(GetParam(), frame);
        return search::configuration_of(frame, search::all_choices(space, frame.on, true).front());
    }
};

TEST_P(Cuts, MessagesAreThoseOfSets) {
    for (const TinyGraph& graph : cut_graphs()) {
        const TestProblem problem(graph, {{6}, true});
        for (const Grid& grid : {Grid{2, 1, 1}, Grid{3, 2, 1}, Grid{4, 1, 1}, Grid{12, 1, 1}}) {
            SCOPED_TRACE(fmt::format("{} on {}", graph.name, grid.text()));
            const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
            const search::Space space = space_of(problem, counts, grid.size());
            const Schedule schedule = lower::lower(space.model, configuration(space, grid), space.shape);
            ASSERT_NO_THROW(validate(schedule));
            const auto numbered = numbered_counts(problem, schedule);
            const Ends ends = ends_of(problem.dataset().graph(), numbered->order(), grid.x);
            check_messages(schedule, *numbered, ends);
            if (graph.name == "bipartite") {
                EXPECT_NE(ends.targets, ends.sources) << "one index cannot serve both";
            }
        }
    }
}

TEST_P(Cuts, PlanFilesKeepThem) {
    const TestProblem problem(random_directed(41, 6, 8, 3, 14), {{6}, true});
    const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
    SelectOptions options;
    options.cut_rule = GetParam();
    options.partition = true;
    const SelectResult result = select(problem.planner_problem(counts, 4), test_machine(), options);
    ASSERT_TRUE(result) << result.message;
    const std::string text = io::write_plan(result.selection->plan);
    const Plan plan = io::read_plan(text, "plan.json");
    EXPECT_EQ(io::write_plan(plan), text);
    const Candidate& chosen = plan.candidates.front();
    EXPECT_EQ(scheme_of(chosen.configuration), "cut");
    EXPECT_EQ(chosen.configuration.cut_rule, GetParam());
    EXPECT_EQ(chosen.schedule.numbering.cut, GetParam());
    EXPECT_EQ(chosen.schedule.numbering.parts, chosen.configuration.grid.x);
    // Requests of both kinds precede what needs them.
    Schedule damaged = chosen.schedule;
    std::erase_if(damaged.steps, [](const Step& step) {
        const auto* request = std::get_if<RowRequestStep>(&step.operation);
        return request != nullptr && request->targets;
    });
    EXPECT_THROW(validate(damaged), Error);
    damaged = chosen.schedule;
    damaged.numbering.parts = 12;
    EXPECT_THROW(validate(damaged), Error);
}

// Sums are added in an order that the grid decides, whenever they arrive.
TEST_P(Cuts, TwoRunsHaveTheSameBits) {
    const TestProblem problem(random_directed(41, 6, 8, 3, 14), {{6}, true});
    const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
    const search::Space space = space_of(problem, counts, 6);
    const Schedule schedule = lower::lower(space.model, configuration(space, {6, 1, 1}), space.shape);
    const auto once = run_schedule(problem, schedule, 2), again = run_schedule(problem, schedule, 2);
    for (std::size_t rank = 0; rank < once.size(); ++rank) {
        for (std::size_t epoch = 0; epoch < 2; ++epoch) {
            EXPECT_EQ(once[rank].epochs[epoch].loss, again[rank].epochs[epoch].loss);
            EXPECT_EQ(once[rank].epochs[epoch].weight, again[rank].epochs[epoch].weight);
        }
    }
}

// Finds the best of the grids that split rows alone, behind slow links.
std::string best_scheme(const TinyGraph& graph, bool partition) {
    const TestProblem problem(graph, {{16}, true});
    const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
    Machine machine = test_machine();
    machine.ranks_per_node = 1;
    machine.inter_node = {1e-6, 1e6};
    SelectOptions options;
    options.grid = Grid{4, 1, 1};
    options.partition = partition;
    const SelectResult result = select(problem.planner_problem(counts, 4), machine, options);
    EXPECT_TRUE(result) << result.message;
    return result ? scheme_of(result.selection->plan.candidates.front().configuration) : "";
}

TEST(CutsInASearch, ArePickedWhereTheyMoveLess) {
    EXPECT_EQ(best_scheme(cliques_with_hubs(4, 30), true), "cut");
    EXPECT_EQ(best_scheme(random_symmetric(300, 50, 16, 3, 16), true), "1d") << "a uniform graph cuts badly";
    EXPECT_EQ(best_scheme(random_symmetric(300, 50, 16, 3, 16), false), "1d");
}

INSTANTIATE_TEST_SUITE_P(Rules, Cuts, ::testing::Values(CutRule::libra, CutRule::seeded, CutRule::cover),
                         [](const auto& instance) {
                             return instance.param == CutRule::libra    ? "Libra"
                                    : instance.param == CutRule::seeded ? "Seeded"
                                                                        : "Cover";
                         });

}  // namespace
}  // namespace gnnplan::testing
