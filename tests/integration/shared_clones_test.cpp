// Groups whose clones get sums of each other's: at once, which is full-batch training, and late, as DistGNN's algorithm
// 4 has it, against a serial simulation that looks messages up by the epoch in which they were sent.
#include "planner/io/plan.hpp"
#include "planner/search/full_space.hpp"
#include "runtime/deploy/report.hpp"
#include "runtime/graph/cut.hpp"
#include "tests/integration/expectations.hpp"
#include "tests/integration/full_space_runs.hpp"
#include "tests/integration/train_plan.hpp"

#include <gnnplan/ir/shared_clones.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace gnnplan::testing {
namespace {

constexpr std::int64_t features = 7, classes = 3;

struct Variant {
    const char* name;
    const char* model;
    const char* aggregator;
    bool symmetric = true;
    bool weighted = false;
};
const Variant variants[] = {{"Gcn", "gcn", ""},           {"GcnDirected", "gcn", "", false},
                            {"SageMean", "sage", "mean"}, {"SageGcnDirected", "sage", "gcn", false},
                            {"Gin", "gin", ""},           {"SageMeanDirectedWeighted", "sage", "mean", false, true}};

TinyGraph graph_of(const Variant& of) {
    TinyGraph graph =
        of.symmetric ? random_symmetric(31, 5, features, classes, 21) : random_directed(31, 4, features, classes, 24);
    std::erase_if(graph.edges, [](const auto& edge) { return edge.first == 3 || edge.second == 3; });  // isolated
    return of.weighted ? with_weights(graph, of.symmetric) : graph;
}

Network network_of(const Variant& of, bool drops) {
    ModelRecord model;
    model.name = of.model, model.aggregator = of.aggregator;
    if (model.name == "gin") model.activation = Activation::elu;  // many sums leave nothing alive behind a relu
    Network network{{8}, true, 0, 0, models::matrix_of(model), model};
    if (drops) network.dropout = 0.5F;
    return network;
}

// The clones of a cut, and the matrix of the whole graph with each nonzero where its edge is.
struct Cloned {
    SparseMatrix matrix;
    std::vector<std::int32_t> vertex;
    std::vector<int> group;
    std::vector<bool> owned;
    std::map<std::pair<int, std::int32_t>, std::int64_t> clone;  // by group and vertex
};

Cloned clone(const TestProblem& problem, const data::Cut& cut, int groups) {
    const data::Csr& out = problem.dataset().graph().out;
    std::map<std::pair<std::int64_t, std::int64_t>, int> part;
    std::set<std::pair<int, std::int32_t>> met;
    for (std::int64_t u = 0; u < out.vertices; ++u) {
        met.insert({cut.owner[static_cast<std::size_t>(u)], static_cast<std::int32_t>(u)});
        for (auto e = static_cast<std::size_t>(out.row_start[static_cast<std::size_t>(u)]);
             e < static_cast<std::size_t>(out.row_start[static_cast<std::size_t>(u) + 1]); ++e) {
            part[{u, out.column[e]}] = cut.out[e];
            if (out.column[e] == u) continue;
            met.insert({cut.out[e], static_cast<std::int32_t>(u)}), met.insert({cut.out[e], out.column[e]});
        }
    }
    Cloned cloned;
    for (const auto& [p, v] : met) {  // ascends by group, then by vertex
        cloned.clone[{p, v}] = std::ssize(cloned.vertex);
        cloned.vertex.push_back(v), cloned.group.push_back(p);
        cloned.owned.push_back(cut.owner[static_cast<std::size_t>(v)] == p);
    }
    const SparseMatrix& whole = problem.serial().forward;
    SparseMatrix& matrix = cloned.matrix;
    matrix.size = std::ssize(cloned.vertex);
    matrix.row_start.push_back(0);
    for (std::size_t c = 0; c < cloned.vertex.size(); ++c) {
        const std::int64_t v = cloned.vertex[c];
        for (auto e = static_cast<std::size_t>(whole.row_start[static_cast<std::size_t>(v)]);
             e < static_cast<std::size_t>(whole.row_start[static_cast<std::size_t>(v) + 1]); ++e) {
            const std::int64_t u = whole.column[e];
            if (u != v && part.at({u, v}) != cloned.group[c]) continue;
            matrix.column.push_back(cloned.clone.at({cloned.group[c], static_cast<std::int32_t>(u)}));
            matrix.value.push_back(whole.value[e]);
        }
        matrix.row_start.push_back(std::ssize(matrix.column));
    }
    EXPECT_LE(groups, *std::ranges::max_element(cloned.group) + 1);
    return cloned;
}

// Sums of groups, and what others made of theirs `delay` epochs before.
class LateSums final : public SumRule {
public:
    LateSums(const Cloned& cloned, const TestProblem& problem, int delay) : cloned_(cloned), delay_(delay) {
        std::map<std::int32_t, int> clones;
        for (const std::int32_t v : cloned.vertex) ++clones[v];
        for (const auto& [v, count] : clones) {
            if (count > 1) bin_[v] = static_cast<int>(std::ssize(bin_)) % delay;
        }
        const Normalisation normalisation = problem.network().matrix.normalisation;
        const SparseMatrix& whole = problem.serial().forward;
        for (std::size_t c = 0; c < cloned.vertex.size(); ++c) {
            const auto v = static_cast<std::size_t>(cloned.vertex[c]);
            double sum = 0;  // of a mean's weights
            for (auto e = begin(c); e < begin(c + 1); ++e) sum += cloned.matrix.value[e];
            const double here = static_cast<double>(begin(c + 1) - begin(c));
            const double all = static_cast<double>(whole.row_start[v + 1] - whole.row_start[v]);
            alone_.push_back(here == 0 || normalisation == Normalisation::none ? 1
                             : normalisation == Normalisation::symmetric       ? std::sqrt(all / here)
                             : sum > 0                                         ? 1 / sum
                                                                               : 1);
        }
    }

    void forward(int layer, std::uint32_t epoch, std::int64_t width, const std::vector<double>& read,
                 std::vector<double>& sum) override {
        const std::int64_t now = static_cast<std::int64_t>(epoch) - 1;
        sent_[{layer, now}] = without_loops(read, sum, width);
        std::vector<double> result = sum;
        for (std::size_t c = 0; c < cloned_.vertex.size(); ++c) {
            double* const row = &result[c * static_cast<std::size_t>(width)];
            if (is_whole(c, now)) {
                for (std::int64_t j = 0; j < width; ++j)
                    row[j] = cloned_.owned[c] ? row[j] + of_others(c, layer, now - delay_, width, j)
                                              : whole(c, layer, now - delay_, width, j);
            } else {
                for (std::int64_t j = 0; j < width; ++j) row[j] *= alone_[c];
            }
        }
        made_[{layer, now}] = result;
        sum = std::move(result);
    }

    void backward(std::uint32_t epoch, std::int64_t width, std::vector<double>& gradient) override {
        for (std::size_t i = 0; i < gradient.size(); ++i) {
            const std::size_t c = i / static_cast<std::size_t>(width);
            if (!is_whole(c, static_cast<std::int64_t>(epoch) - 1)) gradient[i] *= alone_[c];
        }
    }

private:
    std::size_t begin(std::size_t c) const { return static_cast<std::size_t>(cloned_.matrix.row_start[c]); }
    bool is_whole(std::size_t c, std::int64_t now) const {
        const auto bin = bin_.find(cloned_.vertex[c]);
        if (bin == bin_.end()) return false;
        return now % delay_ == bin->second && now >= (cloned_.owned[c] ? delay_ : 2 * delay_);
    }
    std::vector<double> without_loops(const std::vector<double>& read, const std::vector<double>& sum,
                                      std::int64_t width) const {
        std::vector<double> sent = sum;
        for (std::size_t c = 0; c < cloned_.vertex.size(); ++c) {
            for (auto e = begin(c); e < begin(c + 1); ++e) {
                if (cloned_.matrix.column[e] != static_cast<std::int64_t>(c)) continue;
                for (std::size_t j = 0; j < static_cast<std::size_t>(width); ++j)
                    sent[c * static_cast<std::size_t>(width) + j] -=
                        cloned_.matrix.value[e] * read[c * static_cast<std::size_t>(width) + j];
            }
        }
        return sent;
    }
    double of_others(std::size_t owner, int layer, std::int64_t then, std::int64_t width, std::int64_t j) const {
        double sum = 0;
        for (std::size_t c = 0; c < cloned_.vertex.size(); ++c) {
            if (c != owner && cloned_.vertex[c] == cloned_.vertex[owner])
                sum += sent_.at({layer, then})[c * static_cast<std::size_t>(width) + static_cast<std::size_t>(j)];
        }
        return sum;
    }
    double whole(std::size_t clone, int layer, std::int64_t then, std::int64_t width, std::int64_t j) const {
        for (std::size_t c = 0; c < cloned_.vertex.size(); ++c) {
            if (cloned_.owned[c] && cloned_.vertex[c] == cloned_.vertex[clone])
                return made_.at({layer, then})[c * static_cast<std::size_t>(width) + static_cast<std::size_t>(j)];
        }
        return 0;
    }

    const Cloned& cloned_;
    std::int64_t delay_;
    std::map<std::int32_t, int> bin_;  // of vertices with several clones
    std::vector<double> alone_;
    std::map<std::pair<int, std::int64_t>, std::vector<double>> sent_, made_;  // by layer and epoch
};

SerialProblem serial_of(const TestProblem& problem, const Cloned& cloned, int delay) {
    const SerialProblem& whole = problem.serial();
    SerialProblem serial = whole;
    serial.forward = cloned.matrix;
    serial.features.clear(), serial.labels.clear(), serial.training.clear();
    for (std::size_t c = 0; c < cloned.vertex.size(); ++c) {
        const auto v = static_cast<std::size_t>(cloned.vertex[c]);
        const auto row = whole.features.begin() + static_cast<std::ptrdiff_t>(v) * features;
        serial.features.insert(serial.features.end(), row, row + features);
        serial.labels.push_back(whole.labels[v]), serial.training.push_back(whole.training[v]);
        serial.counts_as.push_back(cloned.owned[c] ? 1 : 0);
    }
    serial.clone_of = cloned.vertex;
    serial.counted = problem.dataset().subset_size(data::train);
    serial.sums = std::make_shared<LateSums>(cloned, problem, delay);
    return serial;
}

SelectOptions options_of(const Grid& grid, int delay) {
    SelectOptions options;
    options.clones = CloneLoss::owners, options.delay = delay;
    options.grid = grid, options.cut_rule = CutRule::libra;
    return options;
}

class SharedClones : public ::testing::TestWithParam<std::size_t> {
protected:
    const Variant& of_ = variants[GetParam()];

    // Runs some of all choices of layers; each has to equal what is expected.
    void check(const TestProblem& problem, const Grid& grid, int delay, int epochs, const Expected& expected, int run) {
        const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
        const search::Space space =
            search::make_space(problem.planner_problem(counts, grid.size()), test_machine(), options_of(grid, delay));
        ASSERT_EQ(space.grids.size(), 1U);
        const std::vector<search::Choices> sequences = search::all_choices(space, space.grids.front(), false);
        const std::size_t every = sequences.size() / (delay == 0 ? 5 : 2) + 1;
        for (std::size_t i = static_cast<std::size_t>(run) % every; i < sequences.size(); i += every) {
            search::ConfigurationFrame frame{space.grids.front()};
            frame.switches.exchange = i % 2 == 0 ? Exchange::panels : Exchange::rows;
            frame.switches.parts = grid.x, frame.switches.factored_values = run % 2 == 0 && !of_.weighted;
            frame.switches.cut_rule = CutRule::libra;
            frame.switches.clones = CloneLoss::owners, frame.switches.delay = delay;
            const Configuration configuration = search::configuration_of(frame, sequences[i]);
            SCOPED_TRACE(fmt::format("{} on {}, delay {}, choices {}", of_.name, grid.text(), delay, i));
            const Schedule schedule = lower::lower(space.model, configuration, space.shape);
            ASSERT_NO_THROW(validate(schedule));
            const auto runs = run_schedule(problem, schedule, epochs);
            check_values(problem, runs, expected);
            EXPECT_TRUE(bytes_as_predicted(schedule, runs));
            EXPECT_TRUE(peaks_as_predicted(runs));
            if (HasFailure()) return;
        }
    }
};

TEST_P(SharedClones, WithSumsAtOnceTrainAsTheWholeGraphDoes) {
    int run = 0;
    for (const Grid& grid : {Grid{2, 1, 1}, Grid{3, 2, 1}, Grid{4, 1, 1}, Grid{2, 3, 1}}) {
        const TestProblem problem(graph_of(of_), network_of(of_, run % 2 == 1));
        check(problem, grid, 0, 3, expect_of(problem, 3), run);
        ++run;
    }
}

TEST_P(SharedClones, WithLateSumsTrainAsTheSimulationDoes) {
    int run = 0;
    for (const auto& [grid, delay, epochs] : {std::tuple(Grid{2, 1, 1}, 1, 5), std::tuple(Grid{3, 2, 1}, 2, 9),
                                              std::tuple(Grid{4, 1, 1}, 3, 12), std::tuple(Grid{2, 2, 1}, 5, 12)}) {
        const TestProblem problem(graph_of(of_), network_of(of_, run % 2 == 1));
        const data::Cut cut = data::cut(problem.dataset().graph(), CutRule::libra, grid.x, 0);
        const Cloned cloned = clone(problem, cut, grid.x);
        const Expected expected = expect_of(problem, serial_of(problem, cloned, delay), epochs);
        check(problem, grid, delay, epochs, expected, run);
        // Another delay would be noticed.
        const auto other = train(serial_of(problem, cloned, delay + 1), problem.serial_settings(run_weight_decay),
                                 initial_parameters(problem.serial(), run_seed), epochs);
        EXPECT_GT(std::abs(other.back().before.loss - expected.epochs.back().before.loss), 1e-5);
        ++run;
    }
}

// Every leaf's row, in each part once a round of epochs: in the first round only owners get any of late sums.
void check_sent(const Schedule& schedule, const exec::GraphCounts& counts, std::int64_t leaves) {
    const auto numbered = counts.numbered(schedule.numbering);
    const bool late = shares_later(schedule);
    const std::int64_t bins = bins_of(schedule.numbering.delay);
    for (const Step& step : schedule.steps) {
        const auto* sync = std::get_if<SyncRowsStep>(&step.operation);
        if (sync == nullptr) continue;
        const std::int64_t row_bytes = wire_bytes(sync->wire, tensor_of(schedule, sync->rows).columns);
        const auto sent = [&](std::int64_t epoch) {
            std::int64_t bytes = 0;
            for (const Message& message : messages_of(at_turn(schedule, epoch), step, *numbered))
                bytes += message.bytes;
            return bytes;
        };
        std::int64_t round = 0, first = 0;
        for (std::int64_t e = 0; e < bins; ++e) first += sent(e), round += sent(7 * bins + e);
        EXPECT_EQ(round, sync->sends() ? leaves * row_bytes : 0) << step.name;
        EXPECT_EQ(first, sync->part == SyncPart::to_clones && late ? 0 : round) << step.name;
    }
}

TEST_P(SharedClones, SendWhatTheCutSays) {
    const TestProblem problem(graph_of(of_), network_of(of_, false));
    const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
    const Cloned cloned = clone(problem, data::cut(problem.dataset().graph(), CutRule::libra, 4, 0), 4);
    std::int64_t leaves = 0;
    for (std::size_t c = 0; c < cloned.vertex.size(); ++c) leaves += cloned.owned[c] ? 0 : 1;
    for (const int delay : {0, 3}) {
        const SelectResult result =
            select(problem.planner_problem(counts, 4), test_machine(), options_of({4, 1, 1}, delay));
        ASSERT_TRUE(result) << result.message;
        Plan plan = result.selection->plan;
        EXPECT_EQ(exact(plan.candidates.front().configuration), delay == 0);
        const std::string text = io::write_plan(plan);
        const Plan read = io::read_plan(text, "plan.json");
        EXPECT_EQ(io::write_plan(read), text);
        check_sent(read.candidates.front().schedule, counts, leaves);
        if (wanted_device()) continue;  // the trainer of tests runs on the host
        for (const Wire wire : {Wire::fp32, Wire::bfloat16}) {
            plan.candidates.front().configuration.wire = wire;
            set_wire(plan.candidates.front().schedule, wire);
            ASSERT_NO_THROW(validate(plan));
            check_sent(plan.candidates.front().schedule, counts, leaves);
            train::TrainOptions options;
            options.epochs = 8, options.autotune = 0;
            for (const RunReport& report : train_ranks(plan, problem.dataset(), options))
                EXPECT_EQ(deploy::byte_mismatch(report), std::nullopt);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Models, SharedClones, ::testing::Range<std::size_t>(0, std::size(variants)),
                         [](const auto& instance) { return variants[instance.param].name; });

TEST(SharedClonesOf, ModelsWithoutSumsAreRefused) {
    Network network{{6}, true};
    network.model.name = "gat", network.model.heads = 2;
    network.matrix = models::matrix_of(network.model);
    const TestProblem problem(random_symmetric(41, 6, features, classes, 23), network);
    const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
    for (const int delay : {0, 2}) {
        const SelectResult result =
            select(problem.planner_problem(counts, 4), test_machine(), options_of({4, 1, 1}, delay));
        EXPECT_FALSE(result);
        EXPECT_EQ(result.code, ErrorCode::usage) << result.message;
    }
}

TEST(SharedClonesOf, LateSumsHaveOneOrder) {
    const TestProblem problem(random_symmetric(41, 6, features, classes, 23), network_of(variants[0], false));
    const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
    SelectOptions options = options_of({4, 1, 1}, 2);
    options.forward = parse_orders("SD");
    const SelectResult result = select(problem.planner_problem(counts, 4), test_machine(), options);
    EXPECT_FALSE(result);
    EXPECT_EQ(result.code, ErrorCode::usage) << result.message;
}

}  // namespace
}  // namespace gnnplan::testing
