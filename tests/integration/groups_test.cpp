// Groups of ranks, each with a graph of its own: they equal the serial reference on a graph that falls into these, and
// share nothing but sums of gradients, of the loss and of counts.
#include "planner/io/plan.hpp"
#include "planner/search/costed.hpp"
#include "runtime/deploy/report.hpp"
#include "runtime/graph/cut.hpp"
#include "tests/integration/full_space_runs.hpp"
#include "tests/integration/train_plan.hpp"

#include <gnnplan/ir/traffic.hpp>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <functional>
#include <map>
#include <tuple>
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
        const auto seed = 30 + static_cast<std::uint64_t>(i);
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
    bool weighted = false;  // its edges
};

Variant variant(const char* name, const char* model, const char* aggregator, bool symmetric, int heads = 0) {
    Variant made{name, {}, symmetric};
    made.model.name = model, made.model.aggregator = aggregator, made.model.heads = heads;
    return made;
}

Variant weighted(Variant made) {
    made.weighted = true;
    return made;
}

const std::vector<Variant>& variants() {
    static const std::vector<Variant> all{variant("Gcn", "gcn", "", true),
                                          variant("GcnDirected", "gcn", "", false),
                                          variant("SageMean", "sage", "mean", true),
                                          variant("SageMaxDirected", "sage", "max", false),
                                          variant("Gin", "gin", "", true),
                                          variant("GatDirected", "gat", "", false, 2),
                                          variant("Gat", "gat", "", true, 3),
                                          variant("Agnn", "agnn", "", true),
                                          variant("Sgc", "sgc", "", true),
                                          variant("AppnpDirected", "appnp", "", false),
                                          weighted(variant("GcnWeighted", "gcn", "", true)),
                                          weighted(variant("SageMeanDirectedWeighted", "sage", "mean", false))};
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
        TinyGraph all = together(graphs);
        if (of.weighted) all = with_weights(all, of.symmetric);
        for (const bool drops : {false, true}) problems.add(all, network_of(of, drops));
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

// The graphs of parts of a cut, found one edge at a time, and what a serial network trains on.
SerialProblem clones_of(const TinyGraph& graph, const TestProblem& problem, const data::Cut& cut, int groups,
                        CloneLoss loss) {
    const data::Csr& matrix = problem.dataset().graph().out;
    std::map<std::pair<std::int32_t, std::int32_t>, int> part;
    for (std::int32_t u = 0; u < matrix.vertices; ++u) {
        for (auto e = matrix.row_start[static_cast<std::size_t>(u)];
             e < matrix.row_start[static_cast<std::size_t>(u) + 1]; ++e)
            part[{u, matrix.column[static_cast<std::size_t>(e)]}] = cut.out[static_cast<std::size_t>(e)];
    }
    TinyGraph all = graph;
    all.vertices = 0;
    all.edges.clear(), all.feature.clear(), all.labels.clear(), all.subset.clear(), all.weights.clear();
    std::vector<double> counts_as;
    std::vector<std::int32_t> clone_of;
    for (int p = 0; p < groups; ++p) {
        std::map<std::int32_t, std::int32_t> clone;
        for (std::int32_t v = 0; v < graph.vertices; ++v) {
            std::int64_t here = 0, edges = 0;
            for (const auto& [u, w] : graph.edges) {
                if (u != v && w != v) continue;
                ++edges, here += part.at({u, w}) == p ? 1 : 0;
            }
            const bool owned = cut.owner[static_cast<std::size_t>(v)] == p;
            if (here == 0 && !owned) continue;
            clone[v] = static_cast<std::int32_t>(all.vertices++);
            clone_of.push_back(v);
            const auto at = static_cast<std::size_t>(v);
            all.labels.push_back(graph.labels[at]), all.subset.push_back(graph.subset[at]);
            const auto row = graph.feature.begin() + v * graph.features;
            all.feature.insert(all.feature.end(), row, row + graph.features);
            const bool by_share = loss == CloneLoss::shares && edges > 0;
            counts_as.push_back(by_share ? static_cast<double>(here) / static_cast<double>(edges) : owned ? 1 : 0);
        }
        for (std::size_t i = 0; i < graph.edges.size(); ++i) {
            const auto& [u, v] = graph.edges[i];
            if (part.at({u, v}) != p) continue;
            all.edges.emplace_back(clone.at(u), clone.at(v));
            if (graph.weighted) all.weights.push_back(graph.weights[i]);
        }
    }
    SerialProblem serial = serial_problem(all, problem.widths(), problem.network().bias, problem.network().matrix,
                                          problem.network().model);
    serial.counts_as = counts_as, serial.clone_of = clone_of;
    serial.counted = problem.dataset().subset_size(data::train);
    return serial;
}

class OnClones : public ::testing::TestWithParam<std::tuple<std::size_t, CloneLoss>> {
protected:
    static SelectOptions options(const Grid& grid, CutRule rule) {
        SelectOptions options;
        options.clones = std::get<1>(GetParam());
        options.grid = grid, options.cut_rule = rule, options.partition = rule != CutRule::libra;
        return options;
    }
};

TEST_P(OnClones, EqualSerialGraphsWhoseGradientsAreSummed) {
    const Variant& of = variants()[std::get<0>(GetParam())];
    TinyGraph graph =
        of.symmetric ? random_symmetric(31, 5, features, classes, 21) : random_directed(31, 4, features, classes, 24);
    std::erase_if(graph.edges, [](const auto& edge) { return edge.first == 3 || edge.second == 3; });  // isolated
    if (of.weighted) graph = with_weights(graph, of.symmetric);
    int run = 0;
    for (const Grid& grid : {Grid{2, 1, 1}, Grid{3, 2, 1}, Grid{4, 1, 1}, Grid{2, 3, 1}}) {
        const TestProblem problem(graph, network_of(of, run % 2 == 1));
        const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
        const CutRule rule = run % 3 == 1 ? CutRule::seeded : run % 3 == 2 ? CutRule::cover : CutRule::libra;
        const search::Space space =
            search::make_space(problem.planner_problem(counts, grid.size()), test_machine(), options(grid, rule));
        ASSERT_EQ(space.grids.size(), 1U);
        const Distribution& on = space.grids.front();
        const data::Cut cut = data::cut(problem.dataset().graph(), rule, grid.x, 0);
        const SerialProblem trained = clones_of(graph, problem, cut, grid.x, std::get<1>(GetParam()));
        EXPECT_EQ(on.grid.groups.back(), trained.vertices());
        const Expected expected = expect_of(problem, trained, 2);
        const std::vector<search::Choices> sequences = search::all_choices(space, on, false);
        for (std::size_t i = static_cast<std::size_t>(run); i < sequences.size(); i += sequences.size() / 4 + 1) {
            search::ConfigurationFrame frame{on};
            frame.switches = {.exchange = i % 2 == 0 ? Exchange::panels : Exchange::rows,
                              .parts = grid.x,
                              .factored_values = run % 2 == 0 && !of.weighted,
                              .cut_rule = rule,
                              .clones = std::get<1>(GetParam())};
            const Configuration configuration = search::configuration_of(frame, sequences[i]);
            SCOPED_TRACE(fmt::format("{} on {}, choices {}", of.name, grid.text(), i));
            const Schedule schedule = lower::lower(space.model, configuration, space.shape);
            ASSERT_NO_THROW(validate(schedule));
            const auto runs = run_schedule(problem, schedule, 2);
            check_values(problem, runs, expected);
            EXPECT_TRUE(bytes_as_predicted(schedule, runs));
            EXPECT_TRUE(peaks_as_predicted(runs));
            if (HasFailure()) return;
        }
        ++run;
    }
}

TEST_P(OnClones, AreChosenWhereTheyAreAskedFor) {
    const TinyGraph graph = random_symmetric(41, 6, features, classes, 23);
    const TestProblem problem(graph, network_of(variants()[std::get<0>(GetParam())], false));
    const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
    SelectOptions asked;
    asked.clones = std::get<1>(GetParam());
    const SelectResult result = select(problem.planner_problem(counts, 4), test_machine(), asked);
    ASSERT_TRUE(result) << result.message;
    const std::string text = io::write_plan(result.selection->plan);
    const Plan plan = io::read_plan(text, "plan.json");
    EXPECT_EQ(io::write_plan(plan), text);
    EXPECT_TRUE(plan.alternatives.empty());
    for (const Candidate& candidate : plan.candidates) {
        EXPECT_FALSE(exact(candidate.configuration));
        EXPECT_EQ(scheme_of(candidate.configuration), "groups");
        EXPECT_EQ(candidate.schedule.numbering.clones, asked.clones);
        EXPECT_EQ(candidate.configuration.grid.x, 4);
    }
    train::TrainOptions options;
    options.epochs = 3, options.autotune = 0;
    for (const RunReport& report : train_ranks(plan, problem.dataset(), options)) {
        EXPECT_EQ(deploy::byte_mismatch(report), std::nullopt);
        EXPECT_EQ(report.predicted.peak_bytes_per_rank, report.measured.peak_bytes_per_rank);
        EXPECT_EQ(report.predicted.peak_bytes_per_rank, plan.candidates.front().predicted.peak_bytes_per_rank);
        EXPECT_TRUE(report.epochs.back().judgement.accuracy.test.has_value());
    }
    const SelectResult exact_ones = select(problem.planner_problem(counts, 4), test_machine(), {});
    ASSERT_TRUE(exact_ones) << exact_ones.message;
    for (const RankedConfiguration& ranked : exact_ones.selection->ranked) EXPECT_TRUE(exact(ranked.configuration));
}

TEST(Clones, AreRefusedWithWhatTheyExclude) {
    const TestProblem problem(random_symmetric(41, 6, features, classes, 23), network_of(variants().front(), false));
    const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
    const auto refuses = [&](const char* what, int ranks, const std::function<void(SelectOptions&)>& change) {
        SelectOptions options;
        options.clones = CloneLoss::shares;
        change(options);
        const SelectResult result = select(problem.planner_problem(counts, ranks), test_machine(), options);
        EXPECT_FALSE(result) << what;
        EXPECT_EQ(result.code, ErrorCode::usage) << what << ": " << result.message;
    };
    refuses("one rank", 1, [](SelectOptions&) {});
    refuses("a scheme", 4, [](SelectOptions& o) { o.scheme = "1d"; });
    refuses("a grid of one group", 4, [](SelectOptions& o) { o.grid = Grid{1, 4, 1}; });
    refuses("sums split over z", 4, [](SelectOptions& o) { o.grid = Grid{2, 1, 2}; });
    refuses("the paper's space", 4, [](SelectOptions& o) { o.space = SearchSpace::paper; });
    refuses("pruned rows", 4, [](SelectOptions& o) { o.loss_rows = true; });
    refuses("a shuffled graph", 4, [](SelectOptions& o) { o.permutation = true; });
    refuses("a partitioner's rule without one", 4, [](SelectOptions& o) { o.cut_rule = CutRule::cover; });
}

INSTANTIATE_TEST_SUITE_P(Models, OnClones,
                         ::testing::Combine(::testing::Range<std::size_t>(0, variants().size()),
                                            ::testing::Values(CloneLoss::shares, CloneLoss::owners)),
                         [](const auto& instance) {
                             return std::string(variants()[std::get<0>(instance.param)].name) +
                                    (std::get<1>(instance.param) == CloneLoss::shares ? "Shares" : "Owners");
                         });

}  // namespace
}  // namespace gnnplan::testing
