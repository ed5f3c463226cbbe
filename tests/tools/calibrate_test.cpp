// gnnplan calibrate and who uses what it leaves behind. Measures as little as it can; no figure is judged.
#include "tests/tools/calibration_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace gnnplan::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Every test of this program runs without the developer's own calibration, and as if nothing else ran beside it.
class NoCache : public ::testing::Environment {
public:
    void SetUp() override {
        setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
        setenv("GNNPLAN_BUSY", "0", 1);
    }

private:
    Folder folder_;
};
[[maybe_unused]] const auto* const no_cache = ::testing::AddGlobalTestEnvironment(new NoCache);

TEST(Calibrate, IsKeptAndUsedUntilAnotherMachineIsNamed) {
    const Cache cache;
    EXPECT_EQ(plan_machine(), "cpu-node");
    EXPECT_THAT(gnnplan("machines detect").out, HasSubstr("calibrated  no"));

    const auto profile = cache.calibrate();
    EXPECT_EQ(profile["schema"], "gnnplan.machine/1");
    EXPECT_EQ(profile["measured"], true);
    EXPECT_EQ(profile["ranks_per_node"], 2);
    EXPECT_THAT(profile["source"], HasSubstr("threads of one process"));
    EXPECT_THAT(profile["source"], HasSubstr("between nodes taken over from cpu-node"));
    EXPECT_EQ(profile["fingerprint"]["ranks"], 2);
    EXPECT_EQ(profile["fingerprint"]["mpi"], "");
    EXPECT_GT(profile["samples"].size(), 50U);
    EXPECT_EQ(profile["calibration"]["gather"].size(), 8U);
    EXPECT_EQ(profile["calibration"]["gemm"].size(), 48U);
    EXPECT_FALSE(profile["calibration"]["all_reduce"].is_null());

    EXPECT_EQ(plan_machine(), "calibrated");
    EXPECT_EQ(plan_machine("--machine summit"), "summit");
    EXPECT_EQ(gnnplan("plan --graph cora --ranks 2").err, "");
    EXPECT_THAT(gnnplan("machines detect").out, HasSubstr("calibrated  2x1; "));
    EXPECT_THAT(gnnplan("sweep --graph cora --vary ranks=1,2").out, HasSubstr("calibrated"));
    EXPECT_EQ(gnnplan("validate " + cache.file()).code, 0);
}

TEST(Calibrate, WarnsWhenStale) {
    const Cache cache;
    auto profile = cache.calibrate();
    profile["fingerprint"]["cpu"] = "Another CPU";
    profile["fingerprint"]["cores"] = 12345;
    write_text(cache.file(), profile.dump());
    const Outcome plan = gnnplan("plan --graph cora --ranks 2 --json");
    EXPECT_EQ(plan.code, 0);
    EXPECT_THAT(plan.err, HasSubstr("warning: the calibration of this machine is stale: the CPU: Another CPU then"));
    EXPECT_THAT(plan.err, HasSubstr("the number of cores: 12345 then"));
    EXPECT_THAT(plan.err, Not(HasSubstr("kernels")));
    EXPECT_EQ(plan.json()["machine"]["name"], "calibrated");
    EXPECT_THAT(gnnplan("machines detect").out, HasSubstr("2x1 (stale)"));
}

TEST(Calibrate, AnotherNumberOfRanksIsSaid) {
    const Cache cache;
    cache.keep("2x1", 2, 1, "2031-01-02T00:00:00Z");
    const auto said = [&](const std::string& command) { return gnnplan(command).err; };
    const std::string fewer = "note: the profile is of 2 ranks a node, all busy; 1 may be faster than predicted";
    const std::string more = "ranks are planned as ";
    EXPECT_THAT(said("plan --graph cora --ranks 1"), HasSubstr(fewer + ": gnnplan calibrate --ranks 1"));
    EXPECT_THAT(said("plan --graph cora --ranks 2"), Not(HasSubstr("note: ")));
    EXPECT_THAT(said("plan --graph cora --ranks 4"), HasSubstr("note: 4 " + more + "2 nodes"));
    EXPECT_THAT(said("plan --graph cora --ranks 4 --machine summit"), Not(HasSubstr("note: ")));

    const std::string sweep = said("sweep --graph cora --space paper --vary hidden=8,16 --vary ranks=1,2,4,6");
    EXPECT_THAT(sweep, HasSubstr(fewer));
    EXPECT_THAT(sweep, HasSubstr("note: 4, 6 " + more + "2, 3 nodes, because the profile was measured with 2 ranks"));
    EXPECT_THAT(sweep, HasSubstr(": mpirun -n 6 gnnplan calibrate\n"));
    EXPECT_EQ(std::ranges::count(sweep, '\n'), 3) << sweep;  // stale, too

    const Folder folder;
    const std::string a = folder / "a.json", b = folder / "b.json";
    ASSERT_EQ(gnnplan("plan --graph cora --ranks 4 -o " + a).code, 0);
    ASSERT_EQ(gnnplan("plan --graph cora --ranks 4 --scheme 1d -o " + b).code, 0);
    const std::string both = said("compare " + a + " " + b);
    EXPECT_THAT(both, HasSubstr("note: 4 " + more));
    EXPECT_EQ(std::ranges::count(both, '\n'), 1) << both;
}

TEST(Calibrate, OldOnesAreSaid) {
    const Cache cache;
    auto profile = cache.calibrate();
    EXPECT_EQ(gnnplan("plan --graph cora --ranks 2").err, "");
    profile["fingerprint"]["date"] = "2001-02-03T04:05:06Z";
    write_text(cache.file(), profile.dump());
    EXPECT_THAT(gnnplan("plan --graph cora --ranks 2").err,
                ::testing::MatchesRegex("note: the calibration of this machine is [0-9]+ days old .run gnnplan "
                                        "calibrate.\n"));
    profile["fingerprint"]["date"] = "some day";
    write_text(cache.file(), profile.dump());
    EXPECT_EQ(gnnplan("plan --graph cora --ranks 2").err, "");
}

// Five epochs of a tiny graph say little about the machine, so nothing is expected of the figures.
TEST(Calibrate, LearnsFromRuns) {
    const Cache cache;
    const auto before = cache.calibrate();
    EXPECT_FALSE(before["epoch_steps"].empty());
    EXPECT_FALSE(before["calibration"]["corrections"].empty());
    const Folder folder;
    const std::string plan = folder / "plan.json", report = folder / "run.json", data = folder / "g.npz";
    ASSERT_EQ(
        gnnplan("graph generate planted --vertices 2000 --nonzeros 20000 --features 16 --classes 4 -o " + data).code,
        0);
    const Outcome planned = gnnplan("plan --graph " + data + " --hidden 8 --ranks 2 -o " + plan);
    ASSERT_EQ(planned.code, 0) << planned.err;
    EXPECT_THAT(on_one_line(planned.out), ::testing::ContainsRegex("epoch takes [0-9.]+ (us |ms )?to [0-9.]+"));
    EXPECT_GT(nlohmann::json::parse(read_text(plan))["predicted"]["seconds_by_part"].size(), 3U);
    const Outcome run =
        run_program(GNNRUN_TOOL, plan + " --in-process --epochs 9 --data " + data + " --report " + report);
    ASSERT_EQ(run.code, 0) << run.err;

    // The epochs of a run that nothing disturbed, whatever else this machine does now.
    auto told = nlohmann::json::parse(read_text(report));
    for (auto& epoch : told["epochs"]) epoch["seconds"] = 0.001;
    write_text(report, told.dump());
    const Outcome learned = gnnplan("calibrate --from " + report);
    ASSERT_EQ(learned.code, 0) << learned.err;
    EXPECT_THAT(learned.out, HasSubstr("learned  from " + report));
    EXPECT_THAT(learned.out, HasSubstr("each graph predicted from the others"));
    const auto after = nlohmann::json::parse(read_text(cache.file()));
    EXPECT_GT(after["epoch_steps"].size(), before["epoch_steps"].size());
    EXPECT_EQ(after["calibration"]["learned_from"][0]["graph"], told["fingerprints"]["graph"]);
    EXPECT_EQ(after["samples"], before["samples"]);

    const Outcome again = gnnplan("calibrate --from " + report);
    EXPECT_EQ(again.code, 65) << "the profile has changed since the run was predicted";
    EXPECT_THAT(again.err, HasSubstr("with a profile that is not kept here"));
    EXPECT_EQ(gnnplan("calibrate --quick --from " + report).code, 64);
    EXPECT_EQ(gnnplan("calibrate --from " + plan).code, 65) << "no report";
}

TEST(Calibrate, WritesWhereItIsTold) {
    const Cache cache;
    const Folder folder;
    const Outcome outcome = gnnplan("calibrate --json --ranks-per-node 1 -o " + (folder / "mine.json") + little);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, read_text(folder / "mine.json"));
    EXPECT_FALSE(std::filesystem::exists(cache.file()));
    const auto profile = outcome.json();
    EXPECT_EQ(profile["ranks_per_node"], 1);
    EXPECT_THAT(profile["source"], HasSubstr("within a node taken over from cpu-node"));
    EXPECT_THAT(profile["source"], Not(HasSubstr("between nodes taken over")));
    EXPECT_EQ(plan_machine("--machine " + (folder / "mine.json")), "calibrated");
}

TEST(Calibrate, OneRankHasNoLinks) {
    const Cache cache;
    const Outcome outcome =
        gnnplan("calibrate --quick --seconds 0 --largest 64KiB --ranks 1 --threads 2 --bind off --json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, read_text(cache.file("1x2-threads")));
    const auto profile = outcome.json();
    EXPECT_EQ(profile["ranks_per_node"], 1);
    EXPECT_EQ(profile["fingerprint"]["threads"], 2);
    EXPECT_THAT(profile["source"], HasSubstr("links taken over from cpu-node"));
    EXPECT_EQ(outcome.err, "");
}

TEST(Calibrate, TableSaysWhatWasMeasured) {
    const Cache cache;
    const Outcome outcome = gnnplan("calibrate" + little);
    for (const char* word : {"SpMM", "GEMM", "activate dropout", "within a node", "between nodes", "portions", "error",
                             "noise    other programs took 0 %", "kept     "}) {
        EXPECT_THAT(outcome.out, HasSubstr(word));
    }
    EXPECT_THAT(outcome.err, HasSubstr("mpirun -n 2"));
}

TEST(Calibrate, Refuses) {
    const Cache cache;
    const Outcome crowd = gnnplan("calibrate --quick --ranks 4096 --threads 4");
    EXPECT_EQ(crowd.code, 64);
    EXPECT_THAT(crowd.err, HasSubstr("would measure for far longer than ten minutes"));
    EXPECT_EQ(gnnplan("calibrate --quick -o /nonexistent/m.json").code, 73);
    for (const char* flags : {"--ranks 0", "--threads x", "--seconds -1", "--seconds nan", "--seconds inf",
                              "--seconds 61", "--bind maybe", "--largest 0", "extra"}) {
        const Outcome outcome = gnnplan(std::string("calibrate ") + flags);
        EXPECT_EQ(outcome.code, 64) << flags;
        EXPECT_THAT(outcome.err, ::testing::StartsWith("error: ")) << flags;
    }
}

}  // namespace
}  // namespace gnnplan::testing
