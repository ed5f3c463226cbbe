// Groups of ranks, each with a graph of its own: they equal the serial reference on a graph that falls into these, and
// share nothing but sums of gradients, of the loss and of counts.
#include "planner/io/plan.hpp"
#include "planner/search/costed.hpp"
#include "tests/integration/full_space_runs.hpp"

#include <gnnplan/ir/traffic.hpp>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <numeric>
#include <utility>
#include <vector>

namespace gnnplan::testing {
namespace {

// Graphs of equal widths, as one that falls into them.
TinyGraph together(const std::vector<TinyGraph>& graphs) {
    TinyGraph all = graphs.front();
    all.name = "together";
    for (std::size_t i = 1; i < graphs.size(); ++i) {
        const TinyGraph& next = graphs[i];
        const auto first = static_cast<std::int32_t>(all.vertices);
        for (const auto& [u, v] : next.edges) all.edges.emplace_back(first + u, first + v);
        all.feature.insert(all.feature.end(), next.feature.begin(), next.feature.end());
        all.labels.insert(all.labels.end(), next.labels.begin(), next.labels.end());
        all.subset.insert(all.subset.end(), next.subset.begin(), next.subset.end());
        all.vertices += next.vertices;
    }
    return all;
}

constexpr std::int64_t features = 7, classes = 3;

std::vector<TinyGraph> graphs_of(int groups, bool symmetric) {
    std::vector<TinyGraph> all;
    for (int i = 0; i < groups; ++i) {
        const std::int64_t vertices = i == 1 ? 3 : 11 + 8 * i;
        const auto seed = static_cast<std::uint64_t>(30 + i);
        all.push_back(symmetric ? random_symmetric(vertices, 4, features, classes, seed)
                                : random_directed(vertices, 4, features, classes, seed));
    }
    return all;
}

std::vector<std::int64_t> first_rows(const std::vector<TinyGraph>& graphs) {
    std::vector<std::int64_t> first{0};
    for (const TinyGraph& graph : graphs) first.push_back(first.back() + graph.vertices);
    return first;
}

struct Variant {
    const char* name;
    ModelRecord model;
    bool symmetric = true;
};

Variant variant(const char* name, const char* model, const char* aggregator, bool symmetric, int heads = 0) {
    Variant made{name, {}, symmetric};
    made.model.name = model, made.model.aggregator = aggregator, made.model.heads = heads;
    return made;
}

const std::vector<Variant>& variants() {
    static const std::vector<Variant> all{
        variant("Gcn", "gcn", "", true),           variant("GcnDirected", "gcn", "", false),
        variant("SageMean", "sage", "mean", true), variant("SageMaxDirected", "sage", "max", false),
        variant("Gin", "gin", "", true),           variant("GatDirected", "gat", "", false, 2),
        variant("Gat", "gat", "", true, 3),        variant("Agnn", "agnn", "", true)};
    return all;
}

Network network_of(const Variant& variant, bool drops) {
    Network network{{6}, true, 0, 0, models::matrix_of(variant.model), variant.model};
    if (drops) network.dropout = 0.5F, network.attention_dropout = 0.4F;
    return network;
}

class InGroups : public ::testing::TestWithParam<std::size_t> {};

// Every layer choice on every grid, in turns with the switches that groups have.
TEST_P(InGroups, EqualsReferenceAndPrediction) {
    const Variant& of = variants()[GetParam()];
    int run = 0;
    for (const auto& [groups, ranks] :
         {std::pair(2, 1), std::pair(3, 1), std::pair(2, 2), std::pair(3, 2), std::pair(2, 4)}) {
        const std::vector<TinyGraph> graphs = graphs_of(groups, of.symmetric);
        ExpectedProblems problems;
        for (const bool drops : {false, true}) problems.add(together(graphs), network_of(of, drops));
        const exec::GraphCounts counts(problems.problem(0).dataset().graph());
        const search::Space space = space_of(problems.problem(0), counts, groups * ranks);
        const Distribution on{Sharing::replicated, {groups, ranks, 1, Axis::y, first_rows(graphs)}};
        const std::vector<search::Choices> sequences = search::all_choices(space, on, false);
        const std::size_t every = std::max<std::size_t>(1, sequences.size() / 12) | 1U;
        for (std::size_t i = 0; i < sequences.size(); i += every, ++run) {
            Switches switches;
            switches.factored = run % 2 == 1, switches.source_panels = run / 2 % 2 == 1;
            switches.overlap = run / 3 % 2 == 1, switches.needed_rows = run / 5 % 2 == 1;
            const std::size_t which =
                problems.pick(i / every, [&](const TestProblem& problem) { return fits_input(problem, sequences[i]); });
            check_configuration(problems.problem(which), problems.expected(which), on, switches, sequences[i],
                                scores_in_turn(run));
            if (HasFailure()) return;
        }
    }
    EXPECT_GE(run, 10);
}

INSTANTIATE_TEST_SUITE_P(Models, InGroups, ::testing::Range<std::size_t>(0, variants().size()),
                         [](const auto& instance) { return variants()[instance.param].name; });

// A candidate on three groups of two ranks.
Candidate candidate(const TestProblem& problem, const exec::GraphCounts& counts, const std::vector<TinyGraph>& graphs) {
    const search::Space space = space_of(problem, counts, 6);
    const search::ConfigurationFrame frame =
        frame_of({Sharing::replicated, {3, 2, 1, Axis::y, first_rows(graphs)}}, {});
    search::NumberedGraphs numbered(counts);
    const auto configuration = search::configuration_of(frame, search::all_choices(space, frame.on, true).front());
    return search::cost_configuration(space, configuration, test_machine(), numbered);
}

TEST(PlansOfGroups, AreReadBack) {
    const std::vector<TinyGraph> graphs = graphs_of(3, true);
    const TestProblem problem(together(graphs), network_of(variants().front(), false));
    const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
    Plan plan;
    plan.problem = problem.planner_problem(counts, 6).record;
    plan.machine = test_machine();
    plan.candidates.push_back(candidate(problem, counts, graphs));
    const std::string text = io::write_plan(plan);
    const Plan read = io::read_plan(text, "plan.json");
    EXPECT_EQ(io::write_plan(read), text);
    EXPECT_EQ(read.candidates.front().schedule.grid.groups, first_rows(graphs));
    EXPECT_FALSE(exact(read.candidates.front().configuration));
    EXPECT_NO_THROW(check_predicted_bytes(read));
}

// Ranks of different groups exchange sums alone, and those of one group what RDM does on its rows.
TEST(PlansOfGroups, CountWhatIsSent) {
    const std::vector<TinyGraph> graphs = graphs_of(3, true);
    const TestProblem problem(together(graphs), network_of(variants().front(), false));
    const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
    const Candidate costed = candidate(problem, counts, graphs);
    std::int64_t within = 0, sums = 0;
    for (const Step& step : costed.schedule.steps) {
        for (const Message& message : messages_of(costed.schedule, step, counts)) {
            const bool same_group = message.from / 2 == message.to / 2;
            const bool sum = std::holds_alternative<AllReduceStep>(step.operation);
            EXPECT_TRUE(same_group || sum || step.phase == Phase::evaluation)
                << step.name << " from " << message.from << " to " << message.to;
            if (step.phase == Phase::epoch) (sum ? sums : within) += message.bytes;
        }
    }
    EXPECT_GT(within, 0);
    EXPECT_GT(sums, 0);
    EXPECT_EQ(costed.predicted.total_bytes, within + sums);
}

}  // namespace
}  // namespace gnnplan::testing
