// The tools keep calibrations, plan with one of them, and say so.
#include "tests/tools/calibration_cache.hpp"

namespace gnnplan::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(KeptCalibrations, WhatCannotBeReadCountsAsNone) {
    const Cache cache;
    std::filesystem::create_directories(std::filesystem::path(cache.file()).parent_path());
    write_text(cache.file(), "{\"schema\": \"gnnplan.machine/2\"}");
    const Outcome plan = gnnplan("plan --graph cora --ranks 2 --json");
    EXPECT_EQ(plan.code, 0);
    EXPECT_THAT(plan.err, HasSubstr("it is not used (run gnnplan calibrate)"));
    EXPECT_EQ(plan.json()["machine"]["name"], "cpu-node");
    // Nor does it keep another from its place.
    cache.calibrate();
    EXPECT_EQ(plan_machine(), "calibrated");
}

// A plan takes the calibration of as many ranks a node, else of the next more, else of the most; the latest of those.
TEST(KeptCalibrations, OneOfEachKindIsKept) {
    const Cache cache;
    cache.keep("2x1", 2, 1, "2031-01-02T00:00:00Z");
    cache.keep("4x1", 4, 1, "2031-01-01T00:00:00Z");
    cache.keep("4x2", 4, 2, "2031-01-03T00:00:00Z");
    cache.keep("8x1", 8, 1, "2030-01-01T00:00:00Z");
    const auto chosen = [](const std::string& ranks) {
        return gnnplan("plan --graph cora --json --ranks " + ranks).json()["machine"]["name"];
    };
    EXPECT_EQ(chosen("2"), "2x1");
    EXPECT_EQ(chosen("4"), "4x2");
    EXPECT_EQ(chosen("1"), "2x1");
    EXPECT_EQ(chosen("3"), "4x2");
    EXPECT_EQ(chosen("5"), "8x1");
    EXPECT_EQ(chosen("16"), "8x1");
    EXPECT_EQ(chosen("2 --machine " + cache.file("8x1")), "8x1");
    EXPECT_EQ(gnnplan("sweep --graph cora --json --vary ranks=3,2").json()["machine"], "4x2");
}

// Partitions of a cluster share a home folder: what one of them measured holds for it, whoever plans.
TEST(KeptCalibrations, ThoseWithANameAreOfOtherNodes) {
    const Cache cache;
    ASSERT_EQ(gnnplan("calibrate --name genoa" + little).code, 0);
    const std::string file = std::filesystem::path(cache.file()).parent_path() / "named/genoa/machine-2x1-threads.json";
    auto profile = nlohmann::ordered_json::parse(read_text(file));
    EXPECT_THAT(gnnplan("machines").out, HasSubstr("  --machine genoa\n  " + file));
    EXPECT_EQ(gnnplan("machines --json").json()["calibrations"][0]["name"], "genoa");

    profile["name"] = "measured there";
    profile["fingerprint"]["cpu"] = "Another CPU";
    write_text(file, profile.dump());
    const std::string plan = "plan --graph cora --ranks 2 --json";
    EXPECT_THAT(gnnplan(plan + " --machine genoas").err, HasSubstr("did you mean genoa?"));
    EXPECT_THAT(gnnplan(plan + " --machine tpu").err, HasSubstr("(known: genoa, cpu-node, "));
    const Outcome named = gnnplan(plan + " --machine genoa");
    EXPECT_EQ(named.json()["machine"]["name"], "measured there");
    EXPECT_THAT(named.err, Not(HasSubstr("stale")));
    EXPECT_EQ(gnnplan(plan).json()["machine"]["name"], "cpu-node") << "without its name it is not used";
    write_text(cache.file(), profile.dump());
    EXPECT_THAT(gnnplan(plan).err, HasSubstr("the calibration of this machine is stale: the CPU: Another CPU then"));

    // The node that measures again says that the other does not hold, though that has as many measurements.
    ASSERT_EQ(gnnplan("calibrate --name genoa" + little).code, 0);
    EXPECT_EQ(nlohmann::ordered_json::parse(read_text(file))["name"], "calibrated");
    profile["fingerprint"]["kernels"] = "gnnplan 0.0.1, avx512";
    write_text(file, profile.dump());
    EXPECT_THAT(gnnplan(plan + " --machine genoa").err,
                HasSubstr("the calibration genoa is stale: the kernels: gnnplan 0.0.1, avx512 then"));
    EXPECT_EQ(gnnplan("calibrate --name summit" + little).code, 64);
    EXPECT_EQ(gnnplan("calibrate --name a/b" + little).code, 64);
    EXPECT_EQ(gnnplan("calibrate --name ''" + little).code, 64) << "a variable of the shell that is not set";
}

TEST(KeptCalibrations, MachinesListsThem) {
    const Cache cache;
    EXPECT_THAT(gnnplan("machines").out, HasSubstr("no calibration is kept"));
    EXPECT_TRUE(gnnplan("machines --json").json()["calibrations"].empty());
    cache.keep("4x2", 4, 2, "2031-01-03T00:00:00Z");
    cache.keep("2x1", 2, 1, "2031-01-02T00:00:00Z");
    const Outcome list = gnnplan("machines");
    EXPECT_EQ(list.code, 0) << list.err;
    EXPECT_THAT(list.out, ::testing::ContainsRegex("2x1 +threads +2031-01-02T.* stale\n  " + cache.file("2x1") +
                                                   "\n  stale: the CPU: "));
    EXPECT_LE(widest_line(list.out), std::max<std::size_t>(100, cache.file("2x1").size() + 2)) << list.out;
    EXPECT_LT(list.out.find("2x1"), list.out.find("4x2"));
    const auto json = gnnplan("machines --json").json();
    EXPECT_EQ(json["schema"], "gnnplan.calibrations/1");
    ASSERT_EQ(json["calibrations"].size(), 2U);
    EXPECT_EQ(json["calibrations"][1]["kind"], "4x2");
    EXPECT_EQ(json["calibrations"][1]["file"], cache.file("4x2"));
    EXPECT_FALSE(json["calibrations"][1]["stale"].empty());
    EXPECT_THAT(gnnplan("machines list").out, HasSubstr("a6000x8"));
}

TEST(KeptCalibrations, OneOfMoreMeasurementsStays) {
    const Cache cache;
    auto longer = cache.calibrate();
    for (int i = 0; i < 2; ++i) longer["samples"].push_back(longer["samples"][0]);
    write_text(cache.file(), longer.dump());

    const Outcome shorter = gnnplan("calibrate" + little);
    EXPECT_EQ(shorter.code, 0) << shorter.err;
    EXPECT_THAT(shorter.err, HasSubstr("note: " + cache.file() + " stays, as it was made from more measurements"));
    EXPECT_THAT(shorter.err, HasSubstr("this one is set aside: " + cache.aside() + "\n"));
    EXPECT_EQ(plan_machine("--machine " + cache.aside()), "calibrated");
    EXPECT_THAT(shorter.out, HasSubstr("SpMM"));
    EXPECT_THAT(shorter.out, Not(HasSubstr("kept     ")));
    EXPECT_EQ(read_text(cache.file()), longer.dump());

    longer["fingerprint"]["cpu"] = "Another CPU";
    write_text(cache.file(), longer.dump());
    EXPECT_LT(cache.calibrate()["samples"].size(), longer["samples"].size());
}

TEST(KeptCalibrations, IsNotKeptWhereOtherProgramsTookTheCores) {
    const Cache cache;
    const Folder folder;
    {
        const Busy busy("0.78");
        const Outcome outcome = gnnplan("calibrate" + little);
        EXPECT_EQ(outcome.code, 1);
        EXPECT_THAT(outcome.err,
                    HasSubstr("error: other programs took 78 % of the cores in the last two seconds (load "));
        EXPECT_THAT(outcome.err, HasSubstr("), and nothing was measured (try again when the machine is quiet, or"));
        EXPECT_EQ(outcome.out, "");
        EXPECT_FALSE(std::filesystem::exists(cache.aside()));
    }
    const Busy later("0:0.78");
    for (const std::string& where : {std::string(), " -o " + (folder / "mine.json")}) {
        const Outcome outcome = gnnplan("calibrate" + little + where);
        const std::string aside = where.empty() ? cache.aside() : folder / "mine.json.aside";
        EXPECT_EQ(outcome.code, 1) << where;
        EXPECT_THAT(outcome.err, HasSubstr("warning: other programs took 78 % of the cores while measuring (load "));
        EXPECT_THAT(outcome.err, HasSubstr("; the profile is set aside, and plans use it only when asked: --machine " +
                                           aside + "\n"));
        EXPECT_EQ(outcome.out, "") << where;
        EXPECT_EQ(nlohmann::json::parse(read_text(aside))["calibration"]["busy"], 0.78);
    }
    EXPECT_EQ(gnnplan("calibrate --json" + little).out, "");
    EXPECT_FALSE(std::filesystem::exists(cache.file()));
    EXPECT_FALSE(std::filesystem::exists(folder / "mine.json"));
    EXPECT_EQ(plan_machine(), "cpu-node");
}

TEST(KeptCalibrations, ForceKeepsItAndMarksIt) {
    const Cache cache;
    {
        const Busy busy("0.78");
        const Outcome outcome = gnnplan("calibrate --force" + little);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr("warning: other programs took 78 % of the cores"));
    }
    EXPECT_EQ(nlohmann::json::parse(read_text(cache.file()))["calibration"]["busy"], 0.78);
    EXPECT_EQ(gnnplan("validate " + cache.file()).code, 0);
    EXPECT_THAT(gnnplan("machines").out, HasSubstr("busy: other programs took 78 % of the cores"));
    EXPECT_EQ(gnnplan("machines --json").json()["calibrations"][0]["busy"], 0.78);
    const Outcome plan = gnnplan("plan --graph cora --ranks 2 --json");
    EXPECT_THAT(plan.err, HasSubstr("note: other programs took 78 % of the cores while this machine was calibrated"));
    EXPECT_EQ(plan.json()["machine"]["calibration"]["busy"], 0.78);
    // A little is the background, and is not marked.
    const Busy background("0.05");
    EXPECT_FALSE(cache.calibrate()["calibration"].contains("busy"));
}

// Under mpirun messages take other times than between threads; a plan for several ranks is run with mpirun unless told
// otherwise.
TEST(KeptCalibrations, ProcessesAndThreadsAreKeptApart) {
    const Cache cache;
    const auto profile = cache.calibrate();
    EXPECT_EQ(profile["calibration"]["processes"], false);
    auto other = profile;
    other["name"] = "processes";
    other["calibration"]["processes"] = true;
    other["fingerprint"]["date"] = "2001-01-01T00:00:00Z";
    write_text(cache.file("2x1-processes"), other.dump());
    EXPECT_EQ(plan_machine(), "processes");
    EXPECT_EQ(gnnplan("plan --graph cora --ranks 1 --json").json()["machine"]["name"], "calibrated");
    EXPECT_EQ(gnnplan("machines --json").json()["calibrations"][0]["ranks_are"], "processes");
    EXPECT_THAT(gnnplan("machines").out, ::testing::ContainsRegex("2x1 +processes +2001-01-01T"));
}

// Files as they were named and written before ranks were told apart.
TEST(KeptCalibrations, OlderFilesAreStillFound) {
    const Cache cache;
    auto profile = cache.calibrate();
    std::filesystem::remove(cache.file());
    profile["name"] = "older";
    profile["calibration"].erase("processes");
    profile["fingerprint"]["mpi"] = "Some MPI";
    write_text(cache.file("2x1"), profile.dump());
    EXPECT_EQ(plan_machine(), "older");
    EXPECT_EQ(gnnplan("machines --json").json()["calibrations"][0]["ranks_are"], "processes");
    EXPECT_EQ(gnnplan("plan --graph cora --ranks 2 --json").json()["machine"]["calibration"]["processes"], true);
}

TEST(KeptCalibrations, GnnrunSaysWhenItsRanksAreOfTheOtherKind) {
    const Cache cache;
    const Folder folder;
    auto profile = cache.calibrate();
    profile["calibration"]["processes"] = true;
    write_text(cache.file("2x1-processes"), profile.dump());
    const std::string graph = folder / "graph.npz", plan = folder / "plan.json";
    ASSERT_EQ(gnnplan("graph generate planted --vertices 60 --nonzeros 300 -o " + graph).code, 0);
    const auto said = [&](const std::string& machine) {
        EXPECT_EQ(gnnplan("plan --ranks 2 --hidden 4 --graph " + graph + " --machine " + machine + " -o " + plan).code,
                  0);
        const Outcome run =
            run_program(GNNRUN_TOOL, plan + " --data " + graph + " --in-process --threads 1 --epochs 2");
        EXPECT_EQ(run.code, 0) << run.err;
        return run.err;
    };
    const std::string other =
        "the plan's times were measured with ranks that are processes (mpirun), these are threads of one process";
    EXPECT_THAT(said(cache.file("2x1-processes")), HasSubstr(other));
    EXPECT_THAT(said(cache.file()), Not(HasSubstr("the plan's times were measured with ranks")));
}

}  // namespace
}  // namespace gnnplan::testing
