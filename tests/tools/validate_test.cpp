// gnnplan validate and the codes of what other commands read.
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gnnplan::testing {
namespace {

using ::testing::HasSubstr;

class Validate : public ::testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(gnnplan("plan --graph reddit --ranks 2 --machine cpu-node -o " + plan_).code, 0);
        text_ = read_text(plan_);
    }
    // The plan with `from` replaced, in a file of its own.
    std::string altered(const std::string& from, const std::string& to) {
        std::string text = text_;
        const std::size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        if (at != std::string::npos) text.replace(at, from.size(), to);
        const std::string file = folder_ / "altered.json";
        write_text(file, text);
        return file;
    }

    Folder folder_;
    std::string plan_ = folder_ / "plan.json";
    std::string text_;
};

TEST_F(Validate, PlanAndMachineAreOk) {
    const std::string machine = folder_ / "machine.json";
    ASSERT_EQ(gnnplan("machines show dgx-a100 --json > " + machine).code, 0);
    const Outcome outcome = gnnplan("validate " + plan_ + " " + machine);
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out, plan_ + ": ok (gnnplan.plan/2)\n" + machine + ": ok (gnnplan.machine/1)\n");
}

TEST_F(Validate, AlteredPlansAreInvalidHereAndMalformedElsewhere) {
    const std::vector<std::pair<std::string, std::string>> changes = {
        {"gnnplan.plan/2", "gnnplan.plan/3"},
        {"gnnplan.plan/2", "gnnplan.recipe/1"},
        {"\"vertices\": 232965", "\"vertices\": 232966"},
        {"\"vertices\": 232965", "\"vertices\": -1"},
        {"\"vertices\": 232965", "\"vertices\": 1e400"},
        {"\"problem\": {", "\"problem\": {\"colour\": 1, "},
        {"\"replication\": ", "\"replications\": "},
        {"\"forward\": \"", "\"forward\": \"S"},
        {"\"total_bytes\": ", "\"total_bytes\": 1"},
        {"{", ""},
    };
    for (const auto& [from, to] : changes) {
        const std::string file = altered(from, to);
        const Outcome outcome = gnnplan("validate " + file);
        EXPECT_EQ(outcome.code, 1) << from << " -> " << to;
        EXPECT_THAT(outcome.out, ::testing::StartsWith("invalid: " + file)) << from;
        const Outcome explained = gnnplan("explain " + file);
        EXPECT_EQ(explained.code, 65) << from << " -> " << to;
        EXPECT_THAT(explained.err, ::testing::StartsWith("error: " + file)) << from;
    }
}

TEST_F(Validate, TextThatIsNotJsonIsInvalid) {
    const std::string file = folder_ / "text";
    for (const std::string text : {"", "hello", "[1,2", "{\"schema\": 3}", "{}", "\xff\xfe"}) {
        write_text(file, text);
        EXPECT_EQ(gnnplan("validate " + file).code, 1) << text;
        EXPECT_EQ(gnnplan("explain " + file).code, 65) << text;
    }
}

TEST_F(Validate, MissingFiles) {
    const Outcome outcome = gnnplan("validate " + plan_ + " /nonexistent/plan.json");
    EXPECT_EQ(outcome.code, 66);
    EXPECT_THAT(outcome.out, HasSubstr(plan_ + ": ok"));
    EXPECT_THAT(outcome.err, HasSubstr("/nonexistent/plan.json"));
    EXPECT_EQ(gnnplan("explain /nonexistent/plan.json").code, 66);
}

TEST_F(Validate, MemoryOfAMachine) {
    EXPECT_EQ(gnnplan("validate --machine dgx-a100 " + plan_).code, 0);
    std::string machine = gnnplan("machines show cpu-node --json").out;
    const std::string key = "\"memory_per_rank_bytes\": ";
    const std::size_t at = machine.find(key) + key.size();
    machine.replace(at, machine.find_first_of(",\n", at) - at, "1000000");
    const std::string small = folder_ / "small.json";
    write_text(small, machine);
    const Outcome outcome = gnnplan("validate --machine " + small + " " + plan_);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.out, HasSubstr("per rank"));
    EXPECT_EQ(gnnplan("validate --machine nonesuch " + plan_).code, 66);
}

TEST_F(Validate, Json) {
    const std::string file = folder_ / "text";
    write_text(file, "hello");
    const auto json = gnnplan("validate --json " + plan_ + " " + file).json();
    ASSERT_EQ(json["files"].size(), 2U);
    EXPECT_EQ(json["files"][0]["valid"], true);
    EXPECT_EQ(json["files"][0]["file_schema"], "gnnplan.plan/2");
    EXPECT_EQ(json["files"][1]["valid"], false);
    EXPECT_THAT(json["files"][1]["error"].get<std::string>(), HasSubstr("text"));
}

}  // namespace
}  // namespace gnnplan::testing
