// Training on batches: against training on the whole graph where each batch is that, against training on the graph of
// one batch, and on every grid of groups alike; bytes and memory as predicted.
#include "planner/io/plan.hpp"
#include "runtime/deploy/report.hpp"
#include "runtime/graph/partition.hpp"
#include "runtime/sample/walk.hpp"
#include "tests/runtime/train/fixture.hpp"

#include <gnnplan/ir/traffic.hpp>
#include <gnnplan/question.hpp>
#include <gnnplan/select.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace gnnplan::train {
namespace {

using gnnplan::testing::TinyGraph;
using ::testing::HasSubstr;

constexpr std::int64_t features = 6, classes = 3;

ModelRecord model_of(const std::string& name, const std::string& aggregator = "", int heads = 0) {
    ModelRecord model;
    model.name = name, model.aggregator = aggregator, model.heads = heads;
    return model;
}

const std::vector<ModelRecord>& models() {
    static const std::vector<ModelRecord> all{model_of("gcn"), model_of("sage", "mean"), model_of("sage", "max"),
                                              model_of("gin"), model_of("gat", "", 2),   model_of("agnn")};
    return all;
}

data::Dataset open(const TinyGraph& graph, const ModelRecord& model) {
    const gnnplan::testing::TemporaryFolder folder;
    write_ogb(graph, folder.path() / "graph");
    data::DatasetOptions options;
    options.preparation.add_self_loops = models::matrix_of(model).self_loops;
    options.preparation.edge_weights = graph.weighted;
    data::Dataset dataset = data::open_dataset(folder.path() / "graph", options);
    dataset.cache_features();
    return dataset;
}

SelectResult search(const data::Dataset& dataset, const ModelRecord& model, const std::optional<Batches>& batches,
                    const Grid& grid) {
    ProblemRecord question;
    question.model = model;
    question.model.widths = {features, 6, classes};
    question.ranks = grid.size();
    question.batches = batches;
    const auto counts = std::make_shared<exec::GraphCounts>(dataset.graph(), dataset.subset());
    SelectOptions options;
    options.grid = grid;
    return select(make_problem(question, counts), testing::some_machine(), options);
}

Plan plan_of(const data::Dataset& dataset, const ModelRecord& model, const std::optional<Batches>& batches,
             const Grid& grid) {
    SelectResult found = search(dataset, model, batches, grid);
    EXPECT_TRUE(found) << found.message;
    Plan plan = std::move(found.selection->plan);
    plan.fingerprints.graph = dataset.fingerprint();
    validate(plan);
    return plan;
}

TrainOptions options_for(std::int64_t epochs, double dropout = 0) {
    TrainOptions options;
    options.epochs = epochs;
    options.dropout = dropout;
    options.autotune = 0;
    options.eval_every = 2;
    return options;
}

// Trains, and holds bytes and memory to what was predicted.
testing::Trained train_on(const data::Dataset& dataset, const Plan& plan, const TrainOptions& options) {
    std::vector<testing::Trained> ranks = testing::train_ranks(plan, dataset, options, testing::steady_tick);
    const RunReport& report = ranks.front().report;
    EXPECT_EQ(deploy::byte_mismatch(report).value_or(""), "");
    EXPECT_EQ(report.predicted.peak_bytes_per_rank, report.measured.peak_bytes_per_rank);
    return std::move(ranks.front());
}

void expect_equal_losses(const RunReport& found, const RunReport& wanted, double tolerance) {
    ASSERT_EQ(found.epochs.size(), wanted.epochs.size());
    for (std::size_t i = 0; i < found.epochs.size(); ++i)
        EXPECT_NEAR(found.epochs[i].loss, wanted.epochs[i].loss, tolerance * std::abs(wanted.epochs[i].loss)) << i;
    EXPECT_EQ(found.epochs.back().judgement.accuracy.test, wanted.epochs.back().judgement.accuracy.test);
}

const Grid one{1, 1, 1};
const std::vector<Grid>& grids_of_two_batches() {
    static const std::vector<Grid> all{one, {1, 2, 1}, {2, 1, 1}, {2, 2, 1}, {1, 3, 1}};
    return all;
}

class OnBatches : public ::testing::TestWithParam<std::size_t> {
protected:
    const ModelRecord& model() const { return models()[GetParam()]; }
};
INSTANTIATE_TEST_SUITE_P(Models, OnBatches, ::testing::Range<std::size_t>(0, models().size()),
                         [](const auto& instance) {
                             const ModelRecord& model = models()[instance.param];
                             return model.name + model.aggregator;
                         });

// All of METIS's parts are the whole graph: coefficients are 1 then, and updates those of the graph. Groups have as
// many rows as the graph, on one group of one batch.
TEST_P(OnBatches, OfTheWholeGraphEqualTrainingOnIt) {
    if (!data::has_partitioner()) GTEST_SKIP() << "there is no partitioner";
    for (const TinyGraph& graph : {gnnplan::testing::random_symmetric(41, 4, features, classes, 5),
                                   gnnplan::testing::random_directed(37, 4, features, classes, 6)}) {
        const data::Dataset dataset = open(graph, model());
        const RunReport wanted = train_on(dataset, plan_of(dataset, model(), {}, one), options_for(4)).report;
        for (const bool coefficients : {true, false}) {
            for (const int per_update : {1, 2}) {
                for (const Grid& grid : grids_of_two_batches()) {
                    if (per_update % grid.x != 0) continue;
                    const Sampling all{.sampler = Sampler::cluster,
                                       .budget = 4,
                                       .clusters = 4,
                                       .coverage = 3,
                                       .coefficients = coefficients};
                    const Plan plan = plan_of(dataset, model(), Batches{all, per_update}, grid);
                    SCOPED_TRACE(grid.text() + ", " + std::to_string(per_update) + " batches");
                    expect_equal_losses(train_on(dataset, plan, options_for(4)).report, wanted, 2e-5);
                    if (HasFailure()) return;
                }
            }
        }
    }
}

Batches walks(int per_update, bool coefficients = true) {
    return {{.sampler = Sampler::walk,
             .budget = 4,
             .walk_length = 2,
             .coverage = 20,
             .coefficients = coefficients,
             .seed = 3},
            per_update};
}

Batches neighbours(std::int64_t fanout) { return {{.sampler = Sampler::neighbours, .budget = fanout, .seed = 3}, 1}; }

const std::vector<Grid>& grids_of_one_group() {
    static const std::vector<Grid> all{one, {1, 2, 1}, {1, 3, 1}, {1, 4, 1}};
    return all;
}

// If as many neighbours are drawn as there are, this is training on the whole graph.
TEST_P(OnBatches, OfAllNeighboursEqualTrainingOnTheGraph) {
    for (const TinyGraph& graph : {gnnplan::testing::random_symmetric(41, 4, features, classes, 5),
                                   gnnplan::testing::random_directed(37, 4, features, classes, 6)}) {
        const data::Dataset dataset = open(graph, model());
        const RunReport wanted = train_on(dataset, plan_of(dataset, model(), {}, one), options_for(5, 0.3)).report;
        for (const Grid& grid : grids_of_one_group()) {
            SCOPED_TRACE(grid.text());
            const Plan plan = plan_of(dataset, model(), neighbours(40), grid);
            expect_equal_losses(train_on(dataset, plan, options_for(5, 0.3)).report, wanted, 2e-5);
            if (HasFailure()) return;
        }
    }
}

TEST_P(OnBatches, OfDrawnNeighboursAreTheSameOnEveryGrid) {
    const data::Dataset dataset = open(gnnplan::testing::random_symmetric(41, 6, features, classes, 5), model());
    const Batches batches = neighbours(2);
    const RunReport wanted = train_on(dataset, plan_of(dataset, model(), batches, one), options_for(5, 0.3)).report;
    for (const Grid& grid : grids_of_one_group()) {
        SCOPED_TRACE(grid.text());
        const Plan plan = plan_of(dataset, model(), batches, grid);
        expect_equal_losses(train_on(dataset, plan, options_for(5, 0.3)).report, wanted, 1e-5);
    }
    const RunReport all = train_on(dataset, plan_of(dataset, model(), neighbours(40), one), options_for(5, 0.3)).report;
    EXPECT_GT(std::abs(all.epochs.back().loss - wanted.epochs.back().loss), 1e-4) << "nothing was left out";
}

// Dropout is by vertex, so that it is the same, too.
TEST_P(OnBatches, LossesAreTheSameOnEveryGrid) {
    for (const TinyGraph& graph : {gnnplan::testing::random_symmetric(41, 4, features, classes, 5),
                                   gnnplan::testing::random_directed(37, 4, features, classes, 6)}) {
        const data::Dataset dataset = open(graph, model());
        for (const bool coefficients : {true, false}) {
            const Batches batches = walks(4, coefficients);
            const RunReport wanted =
                train_on(dataset, plan_of(dataset, model(), batches, one), options_for(6, 0.3)).report;
            for (const Grid& grid : {Grid{1, 4, 1}, Grid{2, 2, 1}, Grid{4, 1, 1}, Grid{2, 1, 1}}) {
                SCOPED_TRACE(grid.text());
                const Plan plan = plan_of(dataset, model(), batches, grid);
                expect_equal_losses(train_on(dataset, plan, options_for(6, 0.3)).report, wanted, 1e-5);
                if (HasFailure()) return;
            }
        }
    }
}

// The vertices of a batch and the edges among them, as a data set of its own.
TinyGraph induced(const TinyGraph& graph, const std::vector<std::int32_t>& vertices) {
    TinyGraph part = graph;
    part.vertices = std::ssize(vertices);
    part.edges.clear(), part.weights.clear(), part.feature.clear(), part.labels.clear(), part.subset.clear();
    std::map<std::int32_t, std::int32_t> number;
    for (const std::int32_t v : vertices) {
        number.try_emplace(v, static_cast<std::int32_t>(number.size()));
        part.feature.insert(part.feature.end(), graph.feature.begin() + v * features,
                            graph.feature.begin() + (v + 1) * features);
        part.labels.push_back(graph.labels[static_cast<std::size_t>(v)]);
        part.subset.push_back(graph.subset[static_cast<std::size_t>(v)]);
    }
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
        const auto u = number.find(graph.edges[e].first), v = number.find(graph.edges[e].second);
        if (u == number.end() || v == number.end()) continue;
        part.edges.emplace_back(u->second, v->second);
        if (graph.weighted) part.weights.push_back(graph.weights[e]);
    }
    return part;
}

// Batches of the training vertices are those of a data set that has no others: with degrees, sums and losses of that.
TEST_P(OnBatches, OfTrainingVerticesEqualTrainingOnTheirGraph) {
    for (const TinyGraph& graph : {gnnplan::testing::random_symmetric(61, 6, features, classes, 5),
                                   gnnplan::testing::random_directed(61, 6, features, classes, 6)}) {
        std::vector<std::int32_t> training;
        for (std::int32_t v = 0; v < graph.vertices; ++v) {
            if (graph.subset[static_cast<std::size_t>(v)] == 0) training.push_back(v);
        }
        const data::Dataset dataset = open(graph, model()), alone = open(induced(graph, training), model());
        for (const bool coefficients : {true, false}) {
            Batches batches = walks(4, coefficients);
            const RunReport wanted = train_on(alone, plan_of(alone, model(), batches, one), options_for(4)).report;
            batches.sampling.training_graph = true;
            for (const Grid& grid : {one, Grid{2, 2, 1}, Grid{4, 1, 1}}) {
                SCOPED_TRACE(grid.text());
                const RunReport found =
                    train_on(dataset, plan_of(dataset, model(), batches, grid), options_for(4)).report;
                ASSERT_EQ(found.epochs.size(), wanted.epochs.size());
                for (std::size_t i = 0; i < found.epochs.size(); ++i)
                    EXPECT_NEAR(found.epochs[i].loss, wanted.epochs[i].loss, 1e-5) << i;
                if (HasFailure()) return;
            }
        }
    }
}

// Without coefficients an update of one batch is an epoch on the batch's graph.
void expect_training_on_the_batch(const TinyGraph& graph, const ModelRecord& model) {
    const data::Dataset dataset = open(graph, model);
    const Batches batches = walks(1, false);
    sample::Pool pool(dataset.graph(), dataset.subset(), batches.sampling);
    pool.draw();
    const std::int64_t first = sample::Walk(pool.batches(), batches.sampling.seed).of_update(0, 1).front();
    const TinyGraph part = induced(graph, sample::Draws(dataset.graph(), batches.sampling).vertices(first));
    ASSERT_GT(std::ranges::count(part.subset, 0), 0) << "the batch has training vertices";
    const data::Dataset alone = open(part, model);
    const testing::Trained wanted = train_on(alone, plan_of(alone, model, {}, one), options_for(1));
    for (const Grid& grid : {one, Grid{1, 2, 1}}) {
        const testing::Trained found = train_on(dataset, plan_of(dataset, model, batches, grid), options_for(1));
        EXPECT_NEAR(found.report.epochs.front().loss, wanted.report.epochs.front().loss, 1e-5);
        ASSERT_EQ(found.parameters.size(), wanted.parameters.size());
        for (std::size_t i = 0; i < found.parameters.size(); ++i)
            EXPECT_THAT(found.parameters[i], ::testing::Pointwise(::testing::FloatNear(2e-5F), wanted.parameters[i]));
    }
}

TEST_P(OnBatches, OfOneEqualTrainingOnItsGraph) {
    expect_training_on_the_batch(gnnplan::testing::random_symmetric(41, 4, features, classes, 5), model());
    expect_training_on_the_batch(gnnplan::testing::random_directed(37, 4, features, classes, 6), model());
}

TEST(Batches, KeepTheWeightsOfEdges) {
    const TinyGraph graph = gnnplan::testing::random_symmetric(41, 4, features, classes, 5);
    expect_training_on_the_batch(gnnplan::testing::with_weights(graph, true), model_of("gcn"));
}

// As after a checkpoint: the walk through the pool goes on, too.
TEST(Batches, GoOnBitForBit) {
    const data::Dataset dataset =
        open(gnnplan::testing::random_symmetric(41, 4, features, classes, 5), models().front());
    const Plan plan = plan_of(dataset, models().front(), walks(2), {2, 2, 1});
    const testing::Trained whole = train_on(dataset, plan, options_for(8, 0.4));
    TrainOptions rest = options_for(8, 0.4);
    rest.start = &whole.states.at(4);
    const testing::Trained resumed = train_on(dataset, plan, rest);
    ASSERT_EQ(resumed.report.epochs.size(), whole.report.epochs.size());
    for (std::size_t i = 0; i < whole.report.epochs.size(); ++i)
        EXPECT_EQ(resumed.report.epochs[i].loss, whole.report.epochs[i].loss) << i;
    EXPECT_EQ(resumed.parameters, whole.parameters);
}

// A thread draws the next batches while the rank trains, which changes nothing but times.
TEST(Batches, AreTheSameWhereTheyAreDrawnAhead) {
    const data::Dataset dataset =
        open(gnnplan::testing::random_directed(41, 4, features, classes, 5), models().front());
    const Plan plan = plan_of(dataset, models().front(), walks(4), {2, 2, 1});
    TrainOptions options = options_for(8, 0.5);
    const testing::Trained without = train_on(dataset, plan, options);
    std::atomic<int> threads = 0;
    options.work_beside = [&] { ++threads; };
    const testing::Trained ahead = train_on(dataset, plan, options);
    EXPECT_EQ(threads, 4) << "one for each rank";
    EXPECT_EQ(ahead.parameters, without.parameters);
    ASSERT_TRUE(ahead.report.batches && without.report.batches);
    EXPECT_TRUE(ahead.report.batches->drawn_ahead);
    EXPECT_FALSE(without.report.batches->drawn_ahead);
    EXPECT_EQ(ahead.report.batches->per_update, 4);
    EXPECT_GT(ahead.report.batches->predicted_seconds, 0);
    EXPECT_LT(ahead.report.batches->predicted_seconds, ahead.report.predicted.epoch_seconds);
}

TEST(Batches, ArePartOfAPlanFile) {
    const data::Dataset dataset =
        open(gnnplan::testing::random_symmetric(41, 4, features, classes, 5), models().front());
    const Plan plan = plan_of(dataset, models().front(), walks(2), {2, 1, 1});
    const Plan read = io::read_plan(io::write_plan(plan), "plan");
    EXPECT_EQ(read.problem.batches, walks(2));
    EXPECT_EQ(read.candidates.front().schedule.numbering, plan.candidates.front().schedule.numbering);
    Plan altered = plan;
    altered.candidates.front().schedule.numbering.batches->per_update = 3;
    EXPECT_THROW(validate(altered), Error) << "three batches are not two groups'";
}

// The planner searches every number of groups that divides ranks and batches, and no other scheme.
TEST(Batches, AreSearchedOnAllGridsOfGroups) {
    const data::Dataset dataset =
        open(gnnplan::testing::random_symmetric(41, 4, features, classes, 5), models().front());
    ProblemRecord question;
    question.model.widths = {features, 6, classes};
    question.ranks = 12;
    question.batches = walks(8);
    const auto counts = std::make_shared<exec::GraphCounts>(dataset.graph(), dataset.subset());
    const SelectResult found = select(make_problem(question, counts), testing::some_machine());
    ASSERT_TRUE(found) << found.message;
    std::set<std::string> grids;
    for (const RankedConfiguration& each : found.selection->ranked) {
        grids.insert(each.configuration.grid.text());
        EXPECT_TRUE(exact(each.configuration));
        EXPECT_FALSE(each.configuration.cached_aggregation || each.configuration.constant_input);
    }
    EXPECT_EQ(grids, (std::set<std::string>{"1x12", "2x6", "4x3"}));
}

TEST(Batches, AreRefusedWithAReason) {
    const data::Dataset dataset =
        open(gnnplan::testing::random_symmetric(41, 4, features, classes, 5), models().front());
    const auto why = [&](const Grid& grid, const std::function<void(ProblemRecord&, SelectOptions&)>& change) {
        ProblemRecord question;
        question.model.widths = {features, 6, classes};
        question.ranks = grid.size();
        question.batches = walks(2);
        SelectOptions options;
        options.grid = grid;
        change(question, options);
        const auto counts = std::make_shared<exec::GraphCounts>(dataset.graph(), dataset.subset());
        const SelectResult found = select(make_problem(question, counts), testing::some_machine(), options);
        EXPECT_EQ(found.code, ErrorCode::usage);
        return found ? "no reason" : found.message;
    };
    const auto as_it_is = [](ProblemRecord&, SelectOptions&) {};
    EXPECT_THAT(why({3, 1, 1}, as_it_is), HasSubstr("3x1 does not deal 2 batches to 3 ranks"));
    EXPECT_THAT(why(one, [](ProblemRecord&, SelectOptions& options) { options.scheme = "rdm"; }),
                HasSubstr("as RDM does"));
    EXPECT_THAT(why(one, [](ProblemRecord&, SelectOptions& options) { options.space = SearchSpace::paper; }),
                HasSubstr("the paper space has no batches"));
    EXPECT_THAT(why(one, [](ProblemRecord& question, SelectOptions&) { question.task = Task::infer; }),
                HasSubstr("an inference makes none"));
    EXPECT_THAT(why(one, [](ProblemRecord& question, SelectOptions&) { question.loading = Loading::sharded; }),
                HasSubstr("drawn from the whole graph"));
    EXPECT_THAT(why(one, [](ProblemRecord&, SelectOptions& options) { options.clones = CloneLoss::shares; }),
                HasSubstr("leave one of the two out"));
}

// Plans from sizes alone predict the batches of a graph whose edges are spread evenly, as those of this graph are.
TEST(Batches, AreEstimatedFromSizes) {
    const data::Dataset dataset =
        open(gnnplan::testing::random_directed(2'000, 10, features, classes, 5), models().front());
    const exec::GraphCounts counts(dataset.graph(), dataset.subset());
    const UniformStats sizes(counts.vertices(), counts.nonzeros(), false,
                             static_cast<double>(counts.training_vertices()) / 2'000);
    for (const bool training_graph : {false, true}) {
        for (Sampling sampling :
             {Sampling{.sampler = Sampler::node, .budget = 300}, Sampling{.sampler = Sampler::edge, .budget = 150},
              Sampling{.sampler = Sampler::walk, .budget = 100, .walk_length = 2},
              Sampling{.sampler = Sampler::cluster, .budget = 3, .clusters = 20},
              Sampling{.sampler = Sampler::neighbours, .budget = 3}}) {
            if (sampling.sampler == Sampler::cluster && !data::has_partitioner()) continue;
            if (sampling.sampler == Sampler::neighbours && training_graph) continue;
            sampling.coverage = 5, sampling.training_graph = training_graph;
            SCOPED_TRACE(static_cast<int>(sampling.sampler));
            const Numbering numbering{.parts = 2, .batches = Batches{sampling, sampling.has_pool() ? 2 : 1}};
            const auto found = sizes.numbered(numbering), wanted = counts.numbered(numbering);
            const BatchMeans mean = found->batch_means(), counted = wanted->batch_means();
            EXPECT_NEAR(mean.vertices, counted.vertices, 0.1 * counted.vertices);
            EXPECT_NEAR(mean.looked_at, counted.looked_at, 0.15 * counted.looked_at);
            // Walks follow edges, and parts are chosen to have many.
            const bool uniform = sampling.sampler == Sampler::node || sampling.sampler == Sampler::neighbours;
            EXPECT_NEAR(mean.nonzeros, counted.nonzeros, (uniform ? 0.15 : 0.6) * counted.nonzeros);
            const auto pool = static_cast<double>(wanted->pool_bytes());
            if (!training_graph) {
                EXPECT_NEAR(static_cast<double>(found->pool_bytes()), pool, 0.1 * pool);
            }
        }
    }
    ProblemRecord question;
    question.model.widths = {features, 6, classes};
    question.ranks = 4;
    question.batches = walks(2);
    const SelectResult found =
        select(make_problem(question, std::make_shared<UniformStats>(1000, 9000, true)), testing::some_machine());
    ASSERT_TRUE(found) << found.message;
    EXPECT_TRUE(found.selection->plan.candidates.front().predicted.estimate);
}

TEST(Batches, NeedFeaturesInMemory) {
    const ModelRecord& model = models().front();
    data::Dataset dataset = open(gnnplan::testing::random_symmetric(41, 4, features, classes, 5), model);
    const Plan plan = plan_of(dataset, model, walks(2), one);
    dataset.release_features();
    try {
        testing::train_ranks(plan, dataset, options_for(1), testing::steady_tick);
        FAIL() << "features are read from files";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        EXPECT_THAT(error.what(), HasSubstr("cache_features()"));
    }
}

}  // namespace
}  // namespace gnnplan::train
