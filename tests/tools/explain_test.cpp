// gnnplan explain: the schedule adds up to the plan's own figures.
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gnnplan::testing {
namespace {

using ::testing::HasSubstr;

nlohmann::ordered_json explain(const std::string& plan_flags) {
    const Folder folder;
    const std::string file = folder / "plan.json";
    const Outcome planned =
        gnnplan("plan --vertices 103 --nonzeros 900 --ranks 4 --space paper -o " + file + " " + plan_flags);
    EXPECT_EQ(planned.code, 0) << planned.err;
    return gnnplan("explain --json " + file).json();
}

std::string orders(int number, int layers) {
    std::string letters;
    for (int bit = layers - 1; bit >= 0; --bit) letters += ((number >> bit) & 1) != 0 ? 'D' : 'S';
    return letters;
}

TEST(Explain, StepsAddUpToThePrediction) {
    const auto json = explain("--widths 9,6,5,3 --replication 2");
    double seconds = 0;
    std::int64_t bytes = 0;
    for (const auto& step : json["steps"]) {
        if (step["phase"] != "epoch") continue;
        seconds += step["predicted_seconds"].get<double>();
        bytes += step["total_bytes"].get<std::int64_t>();
        EXPECT_LE(step["max_rank_bytes"], step["total_bytes"]);
    }
    EXPECT_EQ(bytes, json["predicted"]["total_bytes"]);
    // The same numbers, added in the same order.
    EXPECT_EQ(seconds, json["predicted"]["epoch_seconds"]);
    EXPECT_EQ(json["memory"]["peak_bytes_per_rank"], json["predicted"]["peak_bytes_per_rank"]);
    EXPECT_FALSE(json["memory"]["largest_tensors"].empty());
}

// What is executed beyond the paper's units is exactly what the remarks name.
void check_remarks(const std::string& widths, int layers, int id) {
    const std::string pins = " --backward " + orders(id >> layers, layers) + " --forward " + orders(id, layers);
    const auto units = explain("--replication 4 --widths " + widths + pins)["units"];
    double named = 0;
    for (const auto& remark : units["differences"]) named += remark["redistribution"].get<double>();
    EXPECT_EQ(units["executed"]["redistribution"].get<double>(), units["paper"]["redistribution"].get<double>() + named)
        << "id " << id << " " << units.dump();
    EXPECT_EQ(units["executed"]["sparse"], units["paper"]["sparse"]) << "id " << id;
}

// Widths are multiples of 32, so that masks count whole units.
TEST(Explain, RemarksNameEveryMoveBeyondThePaperOfTwoLayers) {
    for (int id = 0; id < 16; ++id) check_remarks("96,64,32", 2, id);
}

// Ids that move a mask (12), wait with it, move an operand (36, 37, 44, 45).
TEST(Explain, RemarksNameEveryMoveBeyondThePaperOfThreeLayers) {
    for (const int id : {0, 12, 21, 36, 37, 44, 45, 51, 63}) check_remarks("96,64,64,32", 3, id);
}

TEST(Explain, MasksThatMoveAndMasksThatWait) {
    const auto differences = [](int id) {
        return explain("--replication 4 --widths 96,64,32 --backward " + orders(id >> 2, 2) + " --forward " +
                       orders(id, 2))["units"]["differences"];
    };
    EXPECT_TRUE(differences(0).empty());
    ASSERT_EQ(differences(6).size(), 1U);
    EXPECT_EQ(differences(6)[0]["redistribution"], 2);
    EXPECT_THAT(differences(6)[0]["step"].get<std::string>(), HasSubstr("mask.1"));
    ASSERT_EQ(differences(2).size(), 1U);
    EXPECT_EQ(differences(2)[0]["redistribution"], 0);
    EXPECT_THAT(differences(2)[0]["reason"].get<std::string>(), HasSubstr("anyway"));
}

TEST(Explain, WithoutReplicationNothingIsRedistributed) {
    const auto units = explain("--replication 1 --widths 9,6,3")["units"];
    EXPECT_EQ(units["executed"]["redistribution"], 0);
    EXPECT_THAT(units["differences"][0]["reason"].get<std::string>(), HasSubstr("R_A = 1"));
}

TEST(Explain, TreeForPeople) {
    const Folder folder;
    const std::string file = folder / "plan.json";
    ASSERT_EQ(gnnplan("plan --graph cora --ranks 4 -o " + file).code, 0);
    const Outcome outcome = gnnplan("explain " + file);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    for (const char* text : {"epoch\n", "  forward, layer 1\n", "  backward, layer 2\n", "evaluation, when asked\n",
                             "all_reduce.W1", "2708x128", "units    redistribution", "memory   peak", "runner-up  "}) {
        EXPECT_THAT(outcome.out, HasSubstr(text));
    }
}

TEST(Explain, OneCandidateHasNoRunnerUp) {
    const auto json = explain("--replication 4 --widths 9,6,3 --forward SD --backward SS");
    EXPECT_TRUE(json["runner_up"].is_null());
    const auto searched = explain("--widths 9,6,3");
    EXPECT_GE(searched["runner_up"]["epoch_seconds_ratio"], 1);
}

}  // namespace
}  // namespace gnnplan::testing
