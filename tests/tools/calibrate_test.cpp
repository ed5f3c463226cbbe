// gnnplan calibrate and who uses what it leaves behind. Measures as little as it can; no figure is judged.
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace gnnplan::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string little = " --quick --seconds 0 --largest 64KiB --ranks 2";

// The user's cache folder as the tools see it, until the end of the test.
class Cache {
public:
    Cache() : before_(std::getenv("XDG_CACHE_HOME")) { setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1); }
    ~Cache() { setenv("XDG_CACHE_HOME", before_.c_str(), 1); }
    Cache(const Cache&) = delete;
    Cache& operator=(const Cache&) = delete;

    std::string file() const { return folder_ / "cache/gnnplan/machine.json"; }
    // A calibration of this machine.
    nlohmann::ordered_json calibrate() const {
        const Outcome outcome = gnnplan("calibrate" + little);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return nlohmann::ordered_json::parse(read_text(file()));
    }

private:
    Folder folder_;
    std::string before_;
};

// Every test of this program runs without the developer's own calibration.
class NoCache : public ::testing::Environment {
public:
    void SetUp() override { setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1); }

private:
    Folder folder_;
};
[[maybe_unused]] const auto* const no_cache = ::testing::AddGlobalTestEnvironment(new NoCache);

std::string plan_machine(const std::string& flags = "") {
    const Outcome outcome = gnnplan("plan --graph cora --ranks 2 --json " + flags);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.json()["machine"]["name"];
}

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
    EXPECT_EQ(profile["calibration"]["gather"].size(), 7U);
    EXPECT_EQ(profile["calibration"]["gemm"].size(), 48U);
    EXPECT_FALSE(profile["calibration"]["all_reduce"].is_null());

    EXPECT_EQ(plan_machine(), "calibrated");
    EXPECT_EQ(plan_machine("--machine summit"), "summit");
    EXPECT_EQ(gnnplan("plan --graph cora --ranks 2").err, "");
    EXPECT_THAT(gnnplan("machines detect").out, HasSubstr(cache.file()));
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
    EXPECT_THAT(gnnplan("machines detect").out, HasSubstr("stale"));
}

TEST(Calibrate, WhatCannotBeReadCountsAsNone) {
    const Cache cache;
    std::filesystem::create_directories(std::filesystem::path(cache.file()).parent_path());
    write_text(cache.file(), "{\"schema\": \"gnnplan.machine/2\"}");
    const Outcome plan = gnnplan("plan --graph cora --ranks 2 --json");
    EXPECT_EQ(plan.code, 0);
    EXPECT_THAT(plan.err, HasSubstr("planning for cpu-node instead"));
    EXPECT_EQ(plan.json()["machine"]["name"], "cpu-node");
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
    const Outcome outcome = gnnplan("calibrate --quick --seconds 0 --largest 64KiB --ranks 1 --threads 2 --json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto profile = outcome.json();
    EXPECT_EQ(profile["ranks_per_node"], 1);
    EXPECT_EQ(profile["fingerprint"]["threads"], 2);
    EXPECT_THAT(profile["source"], HasSubstr("links taken over from cpu-node"));
    EXPECT_EQ(outcome.err, "");
}

TEST(Calibrate, TableSaysWhatWasMeasured) {
    const Cache cache;
    const Outcome outcome = gnnplan("calibrate" + little);
    for (const char* word :
         {"SpMM", "GEMM", "activate+dropout", "within a node", "between nodes", "overlap", "error", "kept     "}) {
        EXPECT_THAT(outcome.out, HasSubstr(word));
    }
    EXPECT_THAT(outcome.err, HasSubstr("mpirun -n 2"));
}

TEST(Calibrate, Refuses) {
    const Cache cache;
    EXPECT_EQ(gnnplan("calibrate --quick -o /nonexistent/m.json").code, 73);
    for (const char* flags : {"--ranks 0", "--threads x", "--seconds -1", "--largest 0", "extra"}) {
        EXPECT_EQ(gnnplan(std::string("calibrate ") + flags).code, 64) << flags;
    }
}

}  // namespace
}  // namespace gnnplan::testing
