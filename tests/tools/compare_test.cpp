// gnnplan compare: two plans side by side, and what cannot be compared.
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gnnplan::testing {
namespace {

using ::testing::HasSubstr;

class Compare : public ::testing::Test {
protected:
    std::string plan(const std::string& name, const std::string& flags) {
        const std::string file = folder_ / name;
        const Outcome outcome = gnnplan("plan --graph cora --space paper -o " + file + " " + flags);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return file;
    }
    Folder folder_;
};

TEST_F(Compare, TwoPlans) {
    const std::string a = plan("a.json", "--ranks 4 --replication 2");
    const std::string b = plan("b.json", "--ranks 4 --replication 4 --forward SD --backward SS");
    const Outcome outcome = gnnplan("compare --json " + a + " " + b);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto json = outcome.json();
    EXPECT_EQ(json["schema"], "gnnplan.comparison/1");
    EXPECT_EQ(json["a"]["file"], a);
    EXPECT_TRUE(json["problem_differences"].empty());
    EXPECT_EQ(json["configuration"]["grid"]["a"], "2x2");
    EXPECT_EQ(json["configuration"]["grid"]["b"], "1x4");
    const auto first = nlohmann::json::parse(read_text(a))["predicted"],
               second = nlohmann::json::parse(read_text(b))["predicted"];
    const auto& seconds = json["epoch_seconds"]["predicted"];
    EXPECT_EQ(seconds["a"], first["epoch_seconds"]);
    EXPECT_EQ(seconds["b"], second["epoch_seconds"]);
    EXPECT_EQ(seconds["ratio"].get<double>(), seconds["b"].get<double>() / seconds["a"].get<double>());
    EXPECT_TRUE(json["epoch_seconds"]["measured"]["a"].is_null());
    EXPECT_EQ(json["kinds_measured"], false);
    // The kinds add up to the epoch.
    double time = 0;
    std::int64_t bytes = 0;
    for (const auto& kind : json["kind_seconds"]) time += kind["a"].get<double>();
    for (const auto& kind : json["kind_bytes"]) bytes += kind["b"].get<std::int64_t>();
    EXPECT_NEAR(time, first["epoch_seconds"].get<double>(), 1e-12);
    EXPECT_EQ(bytes, second["total_bytes"]);
}

TEST_F(Compare, WhatDiffersInTheProblemIsSaidFirst) {
    const std::string a = plan("a.json", "--ranks 4"), b = plan("b.json", "--ranks 2 --hidden 64");
    const std::string out = gnnplan("compare " + a + " " + b).out;
    EXPECT_THAT(out, HasSubstr("differs  widths: 1433-128-7 against 1433-64-7\n         ranks: 4 against 2\n"));
    EXPECT_LT(out.find("ranks: 4 against 2"), out.find("scheme"));
    EXPECT_THAT(out, ::testing::ContainsRegex("peak memory .*iB .*iB "));
    EXPECT_THAT(gnnplan("compare " + a + " " + a).out, HasSubstr("problem  the same"));
}

TEST_F(Compare, SaysWhetherTheModelCanTellThemApart) {
    const std::string a = plan("a.json", "--machine a6000x8 --ranks 8");
    const std::string b = plan("b.json", "--machine a6000x8 --ranks 8 --replication 2");
    const Outcome apart = gnnplan("compare " + a + " " + b);
    EXPECT_THAT(apart.out, HasSubstr("less than 25 %"));
    EXPECT_THAT(apart.out, HasSubstr("In GNN-RDM's training on this machine"));
    EXPECT_THAT(gnnplan("compare " + a + " " + a).out, ::testing::Not(HasSubstr("A tie")));
    EXPECT_EQ(gnnplan("compare --json " + a + " " + a).json()["predicted_tie"], true);
    EXPECT_EQ(gnnplan("compare --json " + a + " " + b).json()["model_error"], 0.25);
}

TEST_F(Compare, FitsHundredColumns) {
    const std::string flags = "--graph reddit --machine a6000x8 --ranks 8 --space full ";
    const std::string a = folder_ / "a.json", b = folder_ / "b.json";
    ASSERT_EQ(gnnplan("plan " + flags + "--scheme 1d -o " + a).code, 0);
    ASSERT_EQ(gnnplan("plan " + flags + "--scheme 1.5d -o " + b).code, 0);
    const std::string out = gnnplan("compare " + a + " " + b).out;
    for (std::size_t at = 0; at < out.size();) {
        const std::size_t end = out.find('\n', at);
        const std::string line = out.substr(at, end - at);
        // Names of files are as long as they are.
        if (!line.starts_with("A ") && !line.starts_with("B ")) {
            EXPECT_LE(line.size(), 110U) << line;
        }
        at = end + 1;
    }
}

TEST_F(Compare, BadInput) {
    const std::string a = plan("a.json", "--ranks 4");
    EXPECT_EQ(gnnplan("compare " + a + " " + (folder_ / "nowhere.json")).code, 66);
    write_text(folder_ / "bad.json", "{");
    EXPECT_EQ(gnnplan("compare " + (folder_ / "bad.json") + " " + a).code, 65);
    EXPECT_EQ(gnnplan("machines show summit --json > " + (folder_ / "machine.json")).code, 0);
    const Outcome machine = gnnplan("compare " + a + " " + (folder_ / "machine.json"));
    EXPECT_EQ(machine.code, 65);
    EXPECT_THAT(machine.err, HasSubstr("is a machine profile: gnnplan plan --machine"));
    EXPECT_EQ(gnnplan("compare " + a).code, 64);
}

}  // namespace
}  // namespace gnnplan::testing
