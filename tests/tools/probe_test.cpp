// Plans for the state in which this machine is. No figure is judged.
#include "tests/tools/calibration_cache.hpp"

namespace gnnplan::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Plans may probe this machine unasked, until the end of the test.
class Probing {
public:
    Probing() { setenv("GNNPLAN_PROBE", "on", 1); }
    ~Probing() { setenv("GNNPLAN_PROBE", "off", 1); }
    Probing(const Probing&) = delete;
    Probing& operator=(const Probing&) = delete;
};

TEST(ProbedPlan, RescalesTheCalibrationOfThisMachine) {
    const Cache cache;
    auto profile = cache.calibrate();
    const Outcome plan = gnnplan("plan --graph cora --ranks 2 --json --probe");
    ASSERT_EQ(plan.code, 0) << plan.err;
    EXPECT_THAT(plan.err, HasSubstr("note: this machine was probed for "));
    EXPECT_THAT(plan.err, HasSubstr("of the rates that the calibration saw; predictions are rescaled"));
    const auto machine = plan.json()["machine"];
    const auto then = profile["calibration"]["probe"]["middle"];
    EXPECT_EQ(machine["name"], "calibrated");
    EXPECT_EQ(machine["probe"]["largest_bytes"], then["largest_bytes"]);
    EXPECT_EQ(machine["calibration"]["probe"], profile["calibration"]["probe"]) << "the reference is the calibration's";
    const double ratio =
        machine["probe"]["copy_bytes_per_second"].get<double>() / then["copy_bytes_per_second"].get<double>();
    EXPECT_NEAR(machine["memory_bytes_per_second"].get<double>(),
                ratio * profile["memory_bytes_per_second"].get<double>(),
                1e-6 * ratio * profile["memory_bytes_per_second"].get<double>());
    EXPECT_THAT(gnnplan("plan --graph cora --ranks 2 --probe").out, HasSubstr("rescaled to a probe"));
    EXPECT_FALSE(gnnplan("plan --graph cora --ranks 2 --json").json()["machine"].contains("probe")) << "unasked";
}

TEST(ProbedPlan, NeedsFiguresOfThisMachine) {
    const Cache cache;
    const std::string plan = "plan --graph cora --ranks 2 --probe";
    const Outcome preset = gnnplan(plan + " --machine a6000x8");
    EXPECT_EQ(preset.code, 64);
    EXPECT_THAT(preset.err, HasSubstr("the profile a6000x8 has no figures of a probe, which this machine could be "
                                      "compared with (plan for this machine as gnnplan calibrate measures it"));
    auto profile = cache.calibrate();
    auto other = profile;
    other["calibration"]["probe"]["cpu"] = "Another CPU";
    write_text(cache.file(), other.dump());
    const Outcome elsewhere = gnnplan(plan);
    EXPECT_EQ(elsewhere.code, 78);
    EXPECT_THAT(elsewhere.err, HasSubstr("the profile calibrated is of another machine (Another CPU, "));
    profile["calibration"].erase("probe");
    write_text(cache.file(), profile.dump());
    const Outcome older = gnnplan(plan);
    EXPECT_EQ(older.code, 64);
    EXPECT_THAT(older.err, HasSubstr("(measure it again: gnnplan calibrate)"));
    EXPECT_EQ(plan_machine(), "calibrated") << "without a probe it is good as before";
}

TEST(ProbedPlan, StandsInForACalibration) {
    const Cache cache;
    const Probing probing;
    const std::string file = cache.probe();
    const Outcome first = gnnplan("plan --graph cora --ranks 2 --json");
    ASSERT_EQ(first.code, 0) << first.err;
    EXPECT_THAT(first.err, HasSubstr("note: rates of this machine were probed for "));
    EXPECT_EQ(first.json()["machine"]["name"], "probed");
    EXPECT_EQ(first.json()["machine"]["measured"], false);
    const Outcome second = gnnplan("plan --graph cora --ranks 2 --json");
    EXPECT_EQ(second.err, "") << "it is kept";
    EXPECT_TRUE(second.json()["machine"] == first.json()["machine"]);
    const std::string said = on_one_line(gnnplan("plan --graph cora --ranks 2").out);
    EXPECT_THAT(said, HasSubstr("gnnplan calibrate measures them all"));
    EXPECT_THAT(said, Not(HasSubstr("not measured here")));

    EXPECT_THAT(gnnplan("machines").out, HasSubstr("  " + file + "\n"));
    const auto listed = gnnplan("machines --json").json()["probes"];
    ASSERT_EQ(listed.size(), 1U);
    EXPECT_EQ(listed[0]["kind"], "2x1");
    EXPECT_TRUE(listed[0]["stale"].empty());
    auto old = nlohmann::ordered_json::parse(read_text(file));
    old["fingerprint"]["date"] = "2001-01-01T00:00:00Z";
    write_text(file, old.dump());
    EXPECT_THAT(gnnplan("machines").out, HasSubstr("it no longer holds: it is older than a day"));
    EXPECT_THAT(gnnplan("plan --graph cora --ranks 2 --json").err, HasSubstr("were probed for ")) << "again";
}

TEST(ProbedPlan, IsNoneWhereAMachineIsNamedOrCalibrated) {
    const Cache cache;
    const Probing probing;
    EXPECT_EQ(plan_machine("--machine cpu-node"), "cpu-node");
    EXPECT_FALSE(std::filesystem::exists(cache.probe()));
    cache.calibrate();
    EXPECT_EQ(plan_machine(), "calibrated");
    EXPECT_FALSE(std::filesystem::exists(cache.probe()));
}

// Training is short, but its machine says that it takes long.
TEST(ProbedRun, SaysByHowMuchTheMachineHasChanged) {
    const Cache cache;
    const Folder folder;
    auto profile = cache.calibrate();
    for (const char* which : {"middle", "least", "most"}) {
        auto& copies = profile["calibration"]["probe"][which]["copy_bytes_per_second"];
        copies = 1e4 * copies.get<double>();
    }
    const std::string graph = folder / "graph.npz", machine = folder / "machine.json", plan = folder / "plan.json",
                      report = folder / "run.json";
    ASSERT_EQ(gnnplan("graph generate planted --vertices 60 --nonzeros 300 -o " + graph).code, 0);
    const auto run = [&] {
        write_text(machine, profile.dump());
        const Outcome planned =
            gnnplan("plan --ranks 2 --hidden 4 --graph " + graph + " --machine " + machine + " -o " + plan);
        EXPECT_EQ(planned.code, 0) << planned.err;
        const Outcome outcome =
            run_program(GNNRUN_TOOL, plan + " --data " + graph +
                                         " --in-process --threads 1 --epochs 2 --autotune 0 --report " + report);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return outcome.err;
    };
    const auto found = [&] { return nlohmann::json::parse(read_text(report)); };
    EXPECT_THAT(run(), Not(HasSubstr("has changed since")));
    EXPECT_FALSE(found().contains("probe")) << "it is over before a probe is";
    profile["step_seconds"] = 10;
    EXPECT_THAT(run(),
                AllOf(HasSubstr("note: this machine has changed since the plan's rates were measured: dense"),
                      ::testing::ContainsRegex("; epochs should take [0-9]+\\.[0-9][0-9] times as long as predicted")));
    ASSERT_TRUE(found().contains("probe"));
    EXPECT_EQ(found()["probe"]["largest_bytes"], profile["calibration"]["probe"]["middle"]["largest_bytes"]);
    profile["calibration"]["probe"]["cpu"] = "Another CPU";
    EXPECT_THAT(run(), Not(HasSubstr("has changed since")));
    EXPECT_FALSE(found().contains("probe"));
}

}  // namespace
}  // namespace gnnplan::testing
