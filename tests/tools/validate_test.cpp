// gnnplan validate and the codes of what other commands read.
#include "planner/io/checkpoint.hpp"
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
    EXPECT_EQ(outcome.out, plan_ + ": ok (gnnplan.plan/4)\n" + machine + ": ok (gnnplan.machine/1)\n");
}

TEST_F(Validate, AlteredPlansAreInvalidHereAndMalformedElsewhere) {
    const std::vector<std::pair<std::string, std::string>> changes = {
        {"gnnplan.plan/4", "gnnplan.plan/5"},
        {"gnnplan.plan/4", "gnnplan.recipe/1"},
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
    EXPECT_EQ(json["files"][0]["file_schema"], "gnnplan.plan/4");
    EXPECT_EQ(json["files"][1]["valid"], false);
    EXPECT_THAT(json["files"][1]["error"].get<std::string>(), HasSubstr("text"));
}

// As a run writes it; checkpoint_test.cpp of planner/io has the values that are refused.
class ValidateCheckpoints : public ::testing::Test {
protected:
    void SetUp() override {
        io::Checkpoint checkpoint;
        checkpoint.facts = {{"--seed", "7"}};
        checkpoint.state.epoch = 1;
        checkpoint.state.tensors = {{"layers.1.weight", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"layers.1.bias", {3}, {1, 2, 3}}};
        checkpoint.state.epochs = {{1, 2.5, {}, 0.25}};
        write_text(newest_, io::write_checkpoint(checkpoint));
        write_text(weights_, io::write_weights(checkpoint.state.tensors));
    }
    Folder folder_;
    std::string newest_ = folder_ / "checkpoint-000001.safetensors";
    std::string weights_ = folder_ / "w.safetensors";
};

TEST_F(ValidateCheckpoints, SaysWhatTheyAre) {
    const std::string what = ": ok (gnnplan.checkpoint/1: epoch 1, layers 2x3 with biases, --seed 7)\n";
    const Outcome outcome = gnnplan("validate " + newest_ + " " + weights_);
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out, newest_ + what + weights_ + ": ok (weights: layers 2x3 with biases)\n");
    const Outcome folder = gnnplan("validate " + (folder_ / ""));
    EXPECT_EQ(folder.code, 0);
    EXPECT_THAT(folder.out, ::testing::EndsWith("checkpoint-000001.safetensors" + what));
    const auto json = gnnplan("validate --json " + newest_ + " " + weights_).json();
    EXPECT_EQ(json["files"][0]["file_schema"], "gnnplan.checkpoint/1");
    EXPECT_EQ(json["files"][0]["content"], "epoch 1, layers 2x3 with biases, --seed 7");
    EXPECT_EQ(json["files"][1]["file_schema"], nullptr);
    // By what is in it, whatever its name.
    const std::string renamed = folder_ / "renamed";
    write_text(renamed, read_text(newest_));
    EXPECT_EQ(gnnplan("validate " + renamed).out, renamed + what);
}

TEST_F(ValidateCheckpoints, SaysWhatIsWrong) {
    const std::string whole = read_text(newest_);
    for (const std::size_t length : {std::size_t{0}, std::size_t{4}, std::size_t{30}, whole.size() - 1}) {
        write_text(newest_, whole.substr(0, length));
        const Outcome outcome = gnnplan("validate " + newest_);
        EXPECT_EQ(outcome.code, 1) << length;
        EXPECT_THAT(outcome.out, ::testing::StartsWith("invalid: " + newest_)) << length;
    }
    std::string altered = whole;
    altered[whole.size() - 12] = static_cast<char>(altered[whole.size() - 12] ^ 1);
    write_text(newest_, altered);
    EXPECT_THAT(gnnplan("validate " + newest_).out, HasSubstr("its hash does not match"));
    std::filesystem::create_directory(folder_ / "empty");
    const Outcome empty = gnnplan("validate " + weights_ + " " + (folder_ / "empty"));
    EXPECT_EQ(empty.code, 66);
    EXPECT_THAT(empty.out, HasSubstr(": ok (weights"));
    EXPECT_THAT(empty.err, HasSubstr("is a folder without checkpoints"));
}

}  // namespace
}  // namespace gnnplan::testing
