// gnnplan enumerate: the paper space as scripts read it.
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace gnnplan::testing {
namespace {

const std::string reddit = "enumerate --widths 602,128,41 --vertices 232965 --nonzeros 114848857 --ranks 8 ";

std::vector<int> pareto_ids(const nlohmann::ordered_json& enumeration) {
    std::vector<int> ids;
    for (const auto& c : enumeration["configurations"]) {
        if (c["pareto"].get<bool>()) ids.push_back(c["id"]);
    }
    return ids;
}

TEST(Enumerate, RedditHasTheRowsOfTableIV) {
    const Outcome outcome = gnnplan(reddit + "--space paper --json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto json = outcome.json();
    EXPECT_EQ(json["schema"], "gnnplan.enumeration/1");
    EXPECT_EQ(json["truncated"], false);
    ASSERT_EQ(json["configurations"].size(), 16U);
    const auto& c = json["configurations"][10];
    EXPECT_EQ(c["id"], 10);
    EXPECT_EQ(c["forward"], "DS");
    EXPECT_EQ(c["backward"], "DS");
    EXPECT_EQ(c["redistribution_units"], 512);
    EXPECT_EQ(c["sparse_units"], 512);
    EXPECT_EQ(c["pareto"], true);
    EXPECT_EQ(c["spmm_ops"], 114848857LL * 512);
    // R_A = P = 8: N * 7 / 8 * 512.
    EXPECT_EQ(c["communication_elements"], 232965LL * 7 * 64);
    // Table VI.
    EXPECT_THAT(pareto_ids(json), ::testing::ElementsAre(2, 3, 10));
}

TEST(Enumerate, ReplicationEntersTheElementsOnly) {
    const auto json = gnnplan(reddit + "--replication 2 --json").json();
    EXPECT_EQ(json["replication"], 2);
    // N * [1 / 2 * 512 + (4 - 1) * 512].
    EXPECT_EQ(json["configurations"][10]["communication_elements"], 232965LL * (256 + 1536));
    EXPECT_EQ(json["configurations"][10]["redistribution_units"], 512);
}

TEST(Enumerate, CardFillsTheSizes) {
    const auto card = gnnplan("enumerate --graph reddit --hidden 128 --ranks 8 --json").json();
    const auto sizes = gnnplan(reddit + "--json").json();
    EXPECT_EQ(card["configurations"], sizes["configurations"]);
    EXPECT_EQ(card["vertices"], 232965);
}

TEST(Enumerate, ThreeLayersAreNumberedByTheirLetters) {
    const auto json = gnnplan("enumerate --widths 8,4,4,2 --vertices 100 --nonzeros 500 --ranks 4 --json").json();
    ASSERT_EQ(json["configurations"].size(), 64U);
    for (int id = 0; id < 64; ++id) {
        const auto& c = json["configurations"][static_cast<std::size_t>(id)];
        int number = 0;
        for (const char letter : c["backward"].get<std::string>() + c["forward"].get<std::string>()) {
            number = 2 * number + (letter == 'D' ? 1 : 0);
        }
        EXPECT_EQ(c["id"], id);
        EXPECT_EQ(number, id);
    }
}

TEST(Enumerate, PeopleGetATable) {
    const Outcome outcome = gnnplan(reddit);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, ::testing::HasSubstr("N=232,965"));
    EXPECT_THAT(outcome.out, ::testing::ContainsRegex("yes +10 +DS +DS +512 +512 "));
    EXPECT_EQ(outcome.err, "");
}

TEST(Enumerate, FullSpaceSaysWhatIsPerformed) {
    const auto json = gnnplan(reddit + "--space full --scheme rdm --replication 8 --json").json();
    EXPECT_EQ(json["space"], "full");
    EXPECT_EQ(json["scheme"], "rdm");
    ASSERT_FALSE(json["configurations"].empty());
    std::vector<int> ids;
    for (const auto& c : json["configurations"]) {
        ids.push_back(c["id"]);
        for (const char* key : {"scheme", "grid", "kept", "exchange", "overlap", "permutation", "total_bytes"}) {
            EXPECT_TRUE(c.contains(key)) << key;
        }
        EXPECT_EQ(c["replication"], 8);
        EXPECT_EQ(c["spmm_ops"].get<double>(), 114848857.0 * c["sparse_units"].get<double>());
        // No other one is as good in both units and better in one.
        for (const auto& other : json["configurations"]) {
            const double redistribution = c["redistribution_units"], sparse = c["sparse_units"];
            const double fewer = other["redistribution_units"], less = other["sparse_units"];
            const bool beaten = fewer <= redistribution && less <= sparse && (fewer < redistribution || less < sparse);
            EXPECT_FALSE(c["pareto"] && beaten) << c["id"] << " by " << other["id"];
        }
    }
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
    EXPECT_FALSE(pareto_ids(json).empty());
}

TEST(Enumerate, DeepNetworksHaveTheirFrontListed) {
    const std::string deep =
        "enumerate --widths 64,32,32,32,32,8 --vertices 1000 --nonzeros 9000 --ranks 4 --space full ";
    const auto json = gnnplan(deep + "--scheme rdm --replication 4 --json").json();
    EXPECT_EQ(json["truncated"], true);
    ASSERT_FALSE(json["configurations"].empty());
    for (const auto& c : json["configurations"]) EXPECT_EQ(c["pareto"], true);
    EXPECT_THAT(gnnplan(deep).out, ::testing::ContainsRegex("too[ \n]many[ \n]to[ \n]list"));
    EXPECT_EQ(gnnplan(reddit + "--space full --scheme rdm --json").json()["truncated"], false);
}

TEST(Enumerate, TrainFractionNeedsFewerRows) {
    const auto fastest = [](const std::string& flags) {
        double bytes = std::numeric_limits<double>::infinity();
        const auto json = gnnplan(reddit + "--space full --scheme rdm --replication 8 --json " + flags).json();
        for (const auto& c : json["configurations"]) bytes = std::min(bytes, c["total_bytes"].get<double>());
        return bytes;
    };
    EXPECT_LT(fastest("--train-fraction 0.01"), fastest(""));
}

TEST(Enumerate, PaperSpaceBeyondSixLayersHasItsFrontListed) {
    const std::string sizes = " --vertices 100 --nonzeros 500 --ranks 4 ";
    const auto listed = gnnplan("enumerate --widths 2,3,2,3,2,3,2 --json" + sizes).json();
    EXPECT_EQ(listed["configurations"].size(), 4096U);
    EXPECT_EQ(listed["truncated"], false);
    const auto front = gnnplan("enumerate --widths 2,3,2,3,2,3,2,9 --json" + sizes).json();
    EXPECT_EQ(front["truncated"], true);
    ASSERT_FALSE(front["configurations"].empty());
    for (const auto& c : front["configurations"]) {
        int number = 0;
        for (const char letter : c["backward"].get<std::string>() + c["forward"].get<std::string>()) {
            number = 2 * number + (letter == 'D' ? 1 : 0);
        }
        EXPECT_EQ(c["id"], number);
        EXPECT_EQ(c["pareto"], true);
        EXPECT_EQ(c["spmm_ops"], 500 * c["sparse_units"].get<double>());
    }
    const Outcome deep = gnnplan("enumerate --hidden 128 --layers 100 --features 602 --classes 41" + sizes);
    EXPECT_EQ(deep.code, 0) << deep.err;
    EXPECT_THAT(deep.out, ::testing::ContainsRegex("too[ \n]many[ \n]to[ \n]list"));
    EXPECT_THAT(deep.out, ::testing::ContainsRegex("\\(?[SD]+\\)?[0-9][0-9]"));  // repetitions counted
    EXPECT_THAT(deep.out, ::testing::Not(::testing::ContainsRegex("[SD]{20}")));
}

// Three layers on 16 ranks are more than 20,000: the fastest and the front, each with its units and bytes.
TEST(Enumerate, TooManyHaveTheFastestAndTheFrontListed) {
    const auto json =
        gnnplan("enumerate --widths 8,4,4,2 --vertices 1000 --nonzeros 9000 --ranks 16 --space full --json").json();
    EXPECT_EQ(json["truncated"], true);
    EXPECT_GT(json["configurations"].size(), 500U);
    EXPECT_LE(json["configurations"].size(), 20000U);
    std::size_t id = 0, on_front = 0;
    for (const auto& c : json["configurations"]) {
        EXPECT_EQ(c["id"], id++);
        EXPECT_TRUE(c.contains("total_bytes"));
        on_front += c["pareto"].get<bool>() ? 1 : 0;
    }
    EXPECT_GT(on_front, 0U);
    EXPECT_LT(on_front, json["configurations"].size());
}

TEST(Enumerate, ManyRanksListShardedSchemesWhenAsked) {
    const std::string sizes =
        "enumerate --widths 8,4,2 --vertices 1000 --nonzeros 9000 --ranks 131 --space full --json ";
    const Outcome outcome = gnnplan(sizes);
    EXPECT_THAT(outcome.err, ::testing::HasSubstr("note: above 128 ranks 2d and 3d"));
    const auto json = outcome.json();
    EXPECT_EQ(json["truncated"], true);
    for (const auto& c : json["configurations"]) EXPECT_NE(c["scheme"], "2d");
    const Outcome asked = gnnplan(sizes + "--scheme 2d");
    EXPECT_EQ(asked.err, "");
    EXPECT_EQ(asked.json()["truncated"], false);
    EXPECT_FALSE(asked.json()["configurations"].empty());
}

}  // namespace
}  // namespace gnnplan::testing
