// gnnplan enumerate: the paper space as scripts read it.
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
    EXPECT_THAT(outcome.out, ::testing::ContainsRegex("10 +DS +DS +512 +512 .*yes"));
    EXPECT_EQ(outcome.err, "");
}

TEST(Enumerate, SixLayersAtMost) {
    const std::string sizes = " --vertices 100 --nonzeros 500 --ranks 4 --json";
    EXPECT_EQ(gnnplan("enumerate --widths 2,2,2,2,2,2,2" + sizes).json()["configurations"].size(), 4096U);
    EXPECT_EQ(gnnplan("enumerate --widths 2,2,2,2,2,2,2,2" + sizes).code, 64);
}

}  // namespace
}  // namespace gnnplan::testing
