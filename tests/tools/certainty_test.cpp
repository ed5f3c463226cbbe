// How sure a plan is said to be, and what that rests on.
#include "tools/advise/certainty.hpp"
#include "planner/catalog/machines.hpp"
#include "tests/tools/sweep_sample.hpp"
#include "tools/advise/plan_text.hpp"
#include "tools/advise/sweep/sweep_certainty.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gnnplan::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Prediction taking(double seconds) {
    Prediction predicted;
    predicted.epoch_seconds = seconds;
    return predicted;
}

Configuration on(Sharing sharing, Grid grid) {
    Configuration configuration;
    configuration.sharing = sharing;
    configuration.grid = grid;
    return configuration;
}

// 1d in 10 ms; rdm as given, and layer 1 the other way.
Plan plan_of(double rdm_seconds, double transform_first_seconds, const Machine& machine) {
    Plan plan;
    plan.machine = machine;
    plan.problem.ranks = 4;
    plan.candidates.push_back({on(Sharing::replicated, {4, 1, 1}), {}, taking(0.01)});
    plan.alternatives.push_back({{"scheme", "rdm"}, false, on(Sharing::replicated, {1, 4, 1}), taking(rdm_seconds)});
    plan.alternatives.push_back({{"forward", "D", LayerRange{1, 1}},
                                 false,
                                 plan.candidates.front().configuration,
                                 taking(transform_first_seconds)});
    return plan;
}

TEST(Certainty, TellsWhatIsDecidedAndWhatIsNot) {
    const Machine preset = catalog::find_machine("a6000x8");
    const Certainty open = certainty_of(plan_of(0.011, 0.02, preset));
    EXPECT_EQ(open.text,
              "transform first in layer 1 is slower. Undecided, as less than 25 % apart: 1d and rdm (within 10 %); "
              "gnnrun tries the plan's candidates in its first epochs if the run is long enough. An epoch takes 10 to "
              "63 ms (likely 28 ms).");
    const Certainty decided = certainty_of(plan_of(0.013, 0.0101, preset));
    EXPECT_THAT(decided.text,
                HasSubstr("rdm is slower. Undecided, as less than 25 % apart: the order of layer 1 (within 1 %)"));
    const Certainty all = certainty_of(plan_of(0.02, 0.02, preset));
    EXPECT_THAT(all.text, HasSubstr("rdm and transform first in layer 1 are slower."));
    EXPECT_THAT(all.text, Not(HasSubstr("Undecided")));
}

TEST(Certainty, SaysNothingOfWhatDoesNotFit) {
    Plan plan = plan_of(0.02, 0.02, catalog::find_machine("a6000x8"));
    plan.alternatives.back().predicted.peak_bytes_per_rank = plan.memory_per_rank() + 1;
    EXPECT_THAT(certainty_of(plan).text, Not(HasSubstr("transform first")));
}

TEST(Certainty, IsOfTheCalibrationWhereThereIsOne) {
    Machine machine = catalog::find_machine("cpu-node");
    machine.calibration.emplace();
    machine.calibration->error_median = 0.05;
    machine.calibration->error_p90 = 0.1;
    const Certainty certainty = certainty_of(plan_of(0.013, 0.02, machine));
    EXPECT_THAT(certainty.text, HasSubstr("rdm and transform first in layer 1 are slower."));
    EXPECT_THAT(certainty.text, HasSubstr("An epoch takes 9.09 to 11 ms (likely 10 ms)."));
    EXPECT_EQ(text(certainty.origin), "calibrated elsewhere");
    EXPECT_EQ(
        certainty.evidence,
        "Calibrated elsewhere, as far as is known here: half of the predictions that were checked were off by less "
        "than 5 %, nine in ten by less than 10 %.");
}

ProblemRecord problem_of(const std::string& model, int ranks, Task task = Task::train) {
    ProblemRecord problem;
    problem.model.name = model;
    problem.ranks = ranks;
    problem.task = task;
    return problem;
}

std::string evidence_of(const char* machine, const ProblemRecord& problem) {
    return evidence_text(catalog::find_machine(machine), MachineOrigin::preset, problem);
}

TEST(Certainty, APresetHasTheEvidenceOfItsTaskAndModel) {
    const Machine& compared = catalog::find_machine("a6000x8");
    const std::string gcn = evidence_of("a6000x8", problem_of("gcn", 8));
    EXPECT_THAT(gcn, HasSubstr("21 of 24"));
    EXPECT_THAT(gcn, Not(HasSubstr("No published")));
    EXPECT_THAT(evidence_of("a6000x8", problem_of("sage", 8)), HasSubstr("No published GraphSAGE run was compared. "));
    EXPECT_THAT(evidence_of("h100x8", problem_of("gcn", 8)), HasSubstr("No published run on h100x8 was compared. "));
    EXPECT_THAT(evidence_of("a6000x8", problem_of("gat", 8, Task::infer)),
                HasSubstr("the order of the cases was not confirmed"));
    EXPECT_FALSE(time_factors({}, compared, Task::infer).has_value());
}

// Seconds were off by more on sockets than on GPUs, and schemes were confirmed on one node alone.
TEST(Certainty, APresetSaysWhatWasFoundOnItsMachineAndOnHowManyNodes) {
    const std::string sockets = evidence_of("xeon-9242", problem_of("sage", 2));
    EXPECT_THAT(sockets, HasSubstr("0.5 to 17 times as long as predicted"));
    EXPECT_THAT(sockets, Not(HasSubstr("No published")));
    EXPECT_EQ(time_factors({}, catalog::find_machine("xeon-9242"), Task::train)->most, 17);
    EXPECT_EQ(time_factors({}, catalog::find_machine("dgx-a100"), Task::train)->most, 3.6);
    EXPECT_EQ(time_factors({}, catalog::find_machine("h100x8"), Task::train)->most, 6.3);
    EXPECT_THAT(evidence_of("summit", problem_of("gcn", 6)), Not(HasSubstr("several nodes")));
    EXPECT_THAT(evidence_of("summit", problem_of("gcn", 7)), HasSubstr("Schemes on several nodes are less sure"));
    const Machine& compared = catalog::find_machine("a6000x8");
    EXPECT_TRUE(was_compared(compared, MachineOrigin::preset, problem_of("gcn", 8)));
    EXPECT_FALSE(was_compared(compared, MachineOrigin::preset, problem_of("gcn", 16)));
    EXPECT_FALSE(was_compared(catalog::find_machine("dgx-a100"), MachineOrigin::preset, problem_of("gcn", 8)));
}

TEST(Certainty, AFileOfOnesOwnHasNotTheEvidenceOfPresets) {
    Machine own = catalog::find_machine("a6000x8");
    EXPECT_EQ(origin_of(own), MachineOrigin::preset);
    own.step_seconds *= 2;
    EXPECT_EQ(origin_of(own), MachineOrigin::own_file);
    EXPECT_THAT(machine_line(own), Not(HasSubstr("preset")));
    const Certainty certainty = certainty_of(plan_of(0.02, 0.02, own));
    EXPECT_THAT(sure_text(certainty), HasSubstr("are predicted to be slower. An epoch takes 10 to 63 ms (likely"))
        << "data sheets are no surer for being one's own";
    EXPECT_THAT(sure_text(certainty), HasSubstr("nothing was compared with it"));
    EXPECT_THAT(sure_text(certainty), Not(HasSubstr("21 of 24")));
    Machine spread = catalog::find_machine("a6000x8");
    spread.ranks_per_node = 4;
    EXPECT_EQ(origin_of(spread), MachineOrigin::preset) << "on more nodes";
}

TEST(Certainty, OfASweepNamesItsCompetitors) {
    const auto time = [](const std::vector<std::string>& at) {
        const bool few = at[0] == "2";
        return std::optional<double>(at[1] == "1d" ? 10 : at[1] == "rdm" ? (few ? 11 : 20) : 30);
    };
    Sweep sweep =
        testing::sweep_of({testing::numbers("ranks", {2, 4}), testing::names("scheme", {"1d", "rdm", "2d"})}, time);
    const SweepCertainty certainty = certainty_of(sweep);
    EXPECT_EQ(certainty.slower, std::vector<std::string>{"2d"});
    EXPECT_EQ(certainty.undecided, (std::vector<std::string>{"1d", "rdm"}));
    EXPECT_THAT(certainty.text,
                HasSubstr("2d is predicted to be slower everywhere. Undecided at some points, as less than 25 % apart: "
                          "1d and rdm."));
    sweep.machine = catalog::find_machine("a6000x8");
    EXPECT_THAT(certainty_of(sweep).text, HasSubstr("2d is slower everywhere.")) << "as in published runs";
}

}  // namespace
}  // namespace gnnplan::tools
