#include "planner/io/calibrations.hpp"

#include "planner/io/files.hpp"
#include "planner/io/plan.hpp"
#include "planner/io/profile.hpp"
#include "tests/planner/io/expect_error.hpp"
#include "tests/planner/io/samples.hpp"
#include "tests/support/temporary_folder.hpp"

#include <gnnplan/io.hpp>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

namespace gnnplan::io {
namespace {

// $XDG_CACHE_HOME is a folder of this test's.
class Calibrations : public ::testing::Test {
protected:
    void SetUp() override {
        if (const char* set = std::getenv("XDG_CACHE_HOME")) before_ = set;
        std::filesystem::create_directories(folder_ / "gnnplan");
        setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
    }
    void TearDown() override {
        if (before_) {
            setenv("XDG_CACHE_HOME", before_->c_str(), 1);
        } else {
            unsetenv("XDG_CACHE_HOME");
        }
    }
    void keep(int ranks, int threads, bool accelerators = false) {
        Profile profile = test::sample_profile();
        profile.machine.accelerators = accelerators;
        profile.machine.ranks_per_node = ranks;
        profile.fingerprint->threads = threads;
        write_file_atomically(kept_folder() / calibration_file(profile), write_profile(profile));
    }

    std::filesystem::path kept_folder() const { return folder_.path() / "gnnplan"; }

    const test::TemporaryFolder folder_;
    std::optional<std::string> before_;
};

TEST_F(Calibrations, WithNamesArePlannedWithByName) {
    EXPECT_TRUE(calibration_names().empty());
    keep(2, 1);
    for (const auto& [name, ranks] : {std::pair{"turin", 8}, std::pair{"genoa", 4}}) {
        Profile profile = test::sample_profile();
        profile.machine.ranks_per_node = ranks;
        const std::filesystem::path folder = *calibration_folder(name);
        std::filesystem::create_directories(folder);
        write_file_atomically(folder / calibration_file(profile), write_profile(profile));
    }
    EXPECT_EQ(calibration_names(), (std::vector<std::string>{"genoa", "turin"}));
    const auto of_name = [](const std::string& name) {
        return named_calibration_for(2, read_calibrations(name).kept, name).profile.machine.ranks_per_node;
    };
    EXPECT_EQ(of_name("genoa"), 4);
    EXPECT_EQ(of_name("turin"), 8);
    EXPECT_EQ(calibrated(8)->ranks_per_node, 2) << "without a name it is this machine's";
    EXPECT_EQ(read_calibrations().kept.size(), 1U);
    const std::vector<KeptCalibration> every = every_calibration();
    ASSERT_EQ(every.size(), 3U);
    EXPECT_EQ(every[0].name + "/" + every[1].name + "/" + every[2].name, "/genoa/turin");
    std::filesystem::remove_all(*calibration_folder("turin"));
    std::filesystem::create_directories(*calibration_folder("turin"));
    test::expect_error([&] { of_name("turin"); }, ErrorCode::missing_input, "no calibration of that name");
}

TEST_F(Calibrations, NamesAreWordsThatNoMachineHas) {
    for (const char* name : {"genoa", "our-nodes.2", "A_1"}) EXPECT_NO_THROW(check_calibration_name(name, {"summit"}));
    for (const char* name : {"", "a/b", "..", "-q", "two words", "mine.json", "summit", "cuda"})
        test::expect_error([&] { check_calibration_name(name, {"summit"}); }, ErrorCode::usage, name);
}

TEST_F(Calibrations, NoneIsNone) {
    EXPECT_FALSE(calibrated(2));
    std::filesystem::remove_all(kept_folder());
    EXPECT_FALSE(calibrated(2));
}

TEST_F(Calibrations, OfAsManyRanksElseOfTheNextMoreElseOfTheMost) {
    keep(2, 1);
    keep(8, 1);
    keep(4, 1);
    EXPECT_EQ(calibrated(2)->ranks_per_node, 2);
    EXPECT_EQ(calibrated(3)->ranks_per_node, 4);
    EXPECT_EQ(calibrated(16)->ranks_per_node, 8);
}

TEST_F(Calibrations, OfSoManyThreadsOnly) {
    keep(2, 1);
    keep(4, 2);
    EXPECT_EQ(calibrated(2, 1)->ranks_per_node, 2);
    EXPECT_EQ(calibrated(2, 2)->ranks_per_node, 4);
    EXPECT_FALSE(calibrated(2, 3));
}

TEST_F(Calibrations, OfGpusOnlyWhereTheyAreAskedFor) {
    const auto of_gpus = [](int ranks) {
        return device_calibration_for(ranks, read_calibrations().kept).profile.machine;
    };
    test::expect_error([&] { of_gpus(2); }, ErrorCode::missing_input, "no calibration of this machine's GPUs");
    keep(2, 1);
    EXPECT_THROW(of_gpus(2), Error);
    keep(4, 1, true);
    EXPECT_EQ(calibrated(4)->ranks_per_node, 2);
    EXPECT_EQ(of_gpus(2).ranks_per_node, 4);
    EXPECT_EQ(read_calibrations().kept.size(), 2U) << "each has a file of its own";
}

TEST_F(Calibrations, WhatCannotBeReadIsNamedAndNotUsed) {
    keep(2, 1);
    write_file_atomically(kept_folder() / "machine-4x1.json", "{}");
    const KeptCalibrations all = read_calibrations();
    ASSERT_EQ(all.kept.size(), 1U);
    ASSERT_EQ(all.unreadable.size(), 1U);
    EXPECT_NE(all.unreadable[0].find("machine-4x1.json"), std::string::npos) << all.unreadable[0];
    EXPECT_EQ(calibrated(4)->ranks_per_node, 2);
}

TEST_F(Calibrations, APipeAmongThemIsNotWaitedFor) {
    keep(2, 1);
    ASSERT_EQ(::mkfifo((kept_folder() / "machine-4x1.json").c_str(), 0600), 0);
    EXPECT_EQ(read_calibrations().kept.size(), 1U);
}

TEST_F(Calibrations, ThePublicReaderReadsPlans) {
    const std::string file = folder_ / "plan.json";
    write_file_atomically(file, write_plan(test::sample_plan()));
    EXPECT_EQ(write_plan(gnnplan::read_plan(file)), write_plan(test::sample_plan()));
    EXPECT_THROW(gnnplan::read_plan(folder_ / "none.json"), Error);
}

}  // namespace
}  // namespace gnnplan::io
