// The full space against brute force over everything it could choose.
#include "planner/cost/predict.hpp"
#include "planner/search/deep_network.hpp"
#include "tests/planner/search/problems.hpp"
#include "tests/support/sampled.hpp"

#include <gnnplan/models.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

namespace gnnplan::search {
namespace {

using test::describe;
using test::epoch_seconds;
using test::frame_on;

// Problems, machines and grids of one question.
struct Setting {
    std::vector<std::int64_t> widths;
    int ranks = 4;
    double train_fraction = 1;
    const char* model = "gcn";
    const char* aggregator = "";
    Residual residual = Residual::none;
    bool jk_concat = false;
    std::vector<std::int64_t> pre{}, post{};
    NormAfter after = NormAfter::sum;
    Norm norm = Norm::none;

    ModelRecord record() const {
        ModelRecord made;
        made.name = model;
        made.widths = widths;
        made.aggregator = aggregator;
        made.residual = residual;
        made.jk = jk_concat ? JumpingKnowledge::concat : JumpingKnowledge::none;
        made.pre = pre, made.post = post;
        made.norm = norm, made.norm_after = after;
        return made;
    }
};

const std::vector<Setting> settings = {
    {{24, 7}, 4},
    {{602, 41}, 6, 0.1},
    {{100, 128, 47}, 4},
    {{602, 128, 41}, 6},
    {{16, 64, 128}, 8, 0.1},
    {{128, 128, 349}, 8},
    {{60, 32, 48, 16}, 4},
    {{16, 100, 20, 200}, 4, 0.1},
    {{100, 128, 47}, 6, 0.1, "sage"},
    {{60, 32, 48, 16}, 4, 0.1, "sage"},
    {{100, 128, 47}, 6, 1, "gin"},
    {{60, 32, 48, 16}, 4, 1, "gin"},
    {{100, 128, 47}, 6, 0.1, "gat"},
    {{60, 32, 48, 16}, 4, 1, "gat"},
    {{100, 32, 47}, 6, 0.1, "agnn"},
    {{60, 32, 32, 16}, 4, 0.1, "agnn"},
    {{100, 128, 47}, 6, 0.1, "sage", "max"},
    {{100, 47}, 6, 0.1, "sgc"},
    {{60, 32, 48, 16}, 4, 0.1, "sgc"},
    {{60, 32, 48, 16}, 4, 1, "appnp"},
    {{100, 128, 47}, 6, 0.1, "appnp", "", Residual::none, false, {24}},
    {{60, 32, 48, 16}, 4, 1, "sage", "pool"},
    {{60, 48, 48, 16}, 4, 0.1, "gcn", "", Residual::input},
    {{60, 32, 48, 16}, 4, 1, "gcn", "", Residual::none, true},
    {{60, 32, 48, 16}, 4, 0.1, "gcn", "", Residual::none, false, {100, 24}, {64}},
    {{100, 128, 47}, 6, 1, "sage", "", Residual::input, false, {24}, {20, 60}},
    {{60, 32, 48, 16}, 4, 0.1, "gcn", "", Residual::none, false, {}, {}, NormAfter::sum, Norm::layer},
    {{60, 64, 64, 16}, 6, 1, "gcn", "", Residual::input, false, {}, {24}, NormAfter::activation, Norm::layer},
    {{60, 32, 48, 16}, 4, 1, "sage", "", Residual::none, true, {}, {}, NormAfter::dropout, Norm::layer},
    {{60, 32, 48, 16}, 4, 0.1, "gcn", "", Residual::none, false, {}, {}, NormAfter::sum, Norm::batch},
    {{60, 64, 64, 16}, 6, 0.1, "gcn", "", Residual::input, false, {}, {24}, NormAfter::activation, Norm::batch},
    {{60, 48, 48, 16}, 4, 0.1, "gcn", "", Residual::sums},
    {{60, 64, 64, 16}, 6, 1, "sage", "", Residual::sums, false, {24}, {24}, NormAfter::sum, Norm::layer},
    {{60, 32, 48, 16}, 4, 0.1, "gcn", "", Residual::sums, true, {}, {}, NormAfter::activation, Norm::batch},
};

Problem problem_of(const Setting& setting, const GraphStats& graph) {
    Problem problem = test::problem(setting.widths, setting.ranks, graph);
    problem.ops = models::build(setting.record());
    return problem;
}

class Search {
public:
    Search(const Setting& setting, const Machine& machine, const SelectOptions& options = {})
        : graph_(20'000, 400'000, true, setting.train_fraction),
          machine_(machine),
          problem_(problem_of(setting, graph_)),
          space_(make_space(problem_, machine_, options)),
          graphs_(graph_) {}

    const Space& space() const { return space_; }
    NumberedGraphs& graphs() { return graphs_; }
    const Machine& machine() const { return machine_; }

    StepCosts costs(const ConfigurationFrame& frame) {
        const Choices any = all_choices(space_, frame.on, true).front();
        samples_.push_back(lower::lower(space_.model, configuration_of(frame, any), space_.shape));
        return {samples_.back(), graphs_.numbered(samples_.back().numbering), machine_};
    }

    // Seconds of every member of a frame, fastest first.
    std::vector<double> brute_force(const ConfigurationFrame& frame, bool undominated_only) {
        StepCosts memo = costs(frame);
        std::vector<double> seconds;
        for (const Choices& choices : all_choices(space_, frame.on, undominated_only)) {
            seconds.push_back(epoch_seconds(space_, frame, choices, memo));
        }
        std::sort(seconds.begin(), seconds.end());
        return seconds;
    }

private:
    UniformStats graph_;
    Machine machine_;
    Problem problem_;
    Space space_;
    NumberedGraphs graphs_;
    std::deque<Schedule> samples_;  // addresses stay
};

std::vector<ConfigurationFrame> frames_of(const Space& space, double train_fraction) {
    std::vector<ConfigurationFrame> frames;
    for (const Distribution& on : space.grids) {
        frames.push_back(frame_on(on, false));
        if (train_fraction < 1) frames.push_back(frame_on(on, true, true));
    }
    return frames;
}

// Choices that undominated_only leaves out are beaten by one that it keeps, on every grid, machine and network.
TEST(FullSpace, LeanChoicesKeepTheFastest) {
    int index = 0;
    for (const Setting& setting : settings) {
        const bool deep = setting.widths.size() > 3;  // thousands of members a frame
        const std::vector<Machine> machines = test::machines();
        for (const Machine& machine : deep ? std::vector{machines.front(), machines.back()} : machines) {
            for (const bool constant : deep ? std::vector{false} : std::vector{false, true}) {
                SelectOptions options;
                options.constant_input = constant;
                Search search(setting, machine, options);
                for (const ConfigurationFrame& frame : frames_of(search.space(), setting.train_fraction)) {
                    if (!testing::sampled(index++)) continue;
                    const double undominated_only = search.brute_force(frame, true).front();
                    const double all = search.brute_force(frame, false).front();
                    EXPECT_DOUBLE_EQ(undominated_only, all)
                        << scheme_of(frame.on) << " " << frame.on.grid.text() << ", " << setting.widths.size() - 1
                        << " layers, loss rows " << frame.switches.loss_rows;
                }
            }
        }
    }
}

// Dynamic programming finds the fastest members in their order, and says their times.
void expect_deep_equals_brute_force(Search& search, const ConfigurationFrame& frame) {
    const std::vector<double> expected = search.brute_force(frame, true);
    auto found = fastest_of_deep(search.space(), frame, {frame.switches}, search.machine(), search.graphs()).front();
    const auto varies = [](const DeepMember& member) { return !member.choices.front().constant_input; };
    EXPECT_TRUE(std::any_of(found.begin(), found.end(), varies));
    ASSERT_GE(found.size(), std::min(expected.size(), deep_members));
    found.resize(std::min(expected.size(), deep_members));  // behind them are more that let the input vary, at times
    StepCosts memo = search.costs(frame);
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::string what = std::to_string(i) + ": " + describe(frame, found[i].choices);
        EXPECT_NEAR(found[i].seconds, expected[i], 1e-12 * expected[i]) << what;
        EXPECT_NEAR(epoch_seconds(search.space(), frame, found[i].choices, memo), expected[i], 1e-12 * expected[i])
            << what;
        for (std::size_t j = 0; j < i; ++j) EXPECT_NE(found[j].choices, found[i].choices) << what;
    }
}

TEST(DeepNetwork, EqualsBruteForce) {
    int index = 0;
    for (const Setting& setting : settings) {
        for (const Machine& machine : test::machines()) {
            Search search(setting, machine);
            for (ConfigurationFrame frame : frames_of(search.space(), setting.train_fraction)) {
                if (!testing::sampled(index++)) continue;
                if (setting.norm != Norm::none && index % 2 == 0) frame.switches.remade = remade_from_norms;
                SCOPED_TRACE(scheme_of(frame.on) + " " + frame.on.grid.text());
                expect_deep_equals_brute_force(search, frame);
                if (HasFailure()) return;  // the first failure says enough
            }
        }
    }
}

TEST(DeepNetwork, EqualsBruteForceWithPinnedLetters) {
    SelectOptions options;
    options.forward = parse_orders("DSD");
    options.backward = parse_orders("SD-");
    for (const double fraction : {1.0, 0.1}) {
        const Setting setting{{60, 32, 48, 16}, 4, fraction};
        Search search(setting, test::machines().front(), options);
        for (const ConfigurationFrame& frame : frames_of(search.space(), fraction)) {
            SCOPED_TRACE(scheme_of(frame.on) + " " + frame.on.grid.text());
            expect_deep_equals_brute_force(search, frame);
        }
    }
}

// Ranking adds up memoised steps; a plan's prediction folds over the schedule. Both are the same sum.
TEST(FullSpace, MemoisedTimesAreThePredicted) {
    for (const Setting& setting :
         {Setting{{100, 128, 47}, 6, 0.1}, Setting{{60, 32, 16}, 4}, Setting{{24, 24, 24, 24, 24, 7}, 4, 0.1, "sign"},
          Setting{{100, 128, 47}, 6, 0.1, "sage"}, Setting{{60, 32, 16}, 4, 1, "gin"}}) {
        for (const Machine& machine : test::machines()) {
            Search search(setting, machine);
            const Members all = rank_members(search.space(), search.space().grids, search.machine(), search.graphs());
            ASSERT_GT(all.members.size(), 100U);
            for (std::size_t i = 0; i < all.members.size(); i += 31) {
                const Member& member = all.members[i];
                const Configuration configuration =
                    configuration_of(all.frames[member.frame], all.choices[member.choices]);
                const Candidate candidate =
                    cost_configuration(search.space(), configuration, search.machine(), search.graphs());
                const double ranked = candidate.predicted.ranked_seconds();
                EXPECT_NEAR(member.seconds, ranked, 1e-12 * ranked)
                    << describe(all.frames[member.frame], all.choices[member.choices]);
                EXPECT_GE(member.seconds, all.members[i > 0 ? i - 1 : 0].seconds);
            }
        }
    }
}

// Every grid, exchange, overlap and pruning is among the ranked, as often as it has choices.
TEST(FullSpace, RanksEveryMemberOfEveryFrame) {
    Search search({{100, 128, 47}, 4, 0.1}, test::machine());
    const Members all = rank_members(search.space(), search.space().grids, search.machine(), search.graphs());
    std::vector<std::size_t> members(all.frames.size(), 0);
    for (const Member& member : all.members) ++members[member.frame];
    std::size_t expected_frames = 0;
    for (const Distribution& on : search.space().grids) {
        const std::size_t switches = on.grid.x > 1 ? 4 : on.sends_nonzeros() ? 2 : 1;
        const std::size_t values = on.sends_nonzeros() ? 2 : 1;  // stored, and factored where they are sent
        expected_frames += 2 * switches * values;                // with and without pruned rows
    }
    ASSERT_EQ(all.frames.size(), expected_frames);
    for (std::size_t i = 0; i < members.size(); ++i) {
        EXPECT_EQ(members[i], all_choices(search.space(), all.frames[i].on, true).size());
    }
}

}  // namespace
}  // namespace gnnplan::search
