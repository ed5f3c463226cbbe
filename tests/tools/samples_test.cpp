// Trainings on batches and on drawn neighbours, as users meet them.
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gnnplan::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Samples : public ::testing::Test {
protected:
    const Folder folder;
    const std::string graph = folder / "graph.npz", plan = folder / "plan.json", report = folder / "report.json";

    Samples() {
        const std::string size = "--vertices 300 --nonzeros 2400 --classes 3 --features 8 ";
        EXPECT_EQ(gnnplan("graph generate planted " + size + "-o " + graph).code, 0);
    }

    Outcome planned(const std::string& flags, const std::string& ranks = "--ranks 2") const {
        return gnnplan("plan --graph " + graph + " --hidden 8 " + ranks + " " + flags + " -o " + plan);
    }
    Outcome run(const std::string& flags) const {
        return run_program(GNNRUN_TOOL, plan + " --data " + graph + " --in-process --report " + report + " " + flags);
    }
    nlohmann::json reported() const { return nlohmann::json::parse(read_text(report)); }
};

TEST_F(Samples, ReportsSayWhatBatchesAre) {
    const Outcome outcome = planned("--sampler walk:20:2 --batches-per-update 4 --coverage 10");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(on_one_line(outcome.out), HasSubstr("batches an epoch is one update, of 4 batches, on 2 groups"));
    EXPECT_EQ(gnnplan("validate " + plan).code, 0);
    const Outcome ran = run("--epochs 10 --autotune 0");
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("batches     of an update 4: drawing "), HasSubstr("equal to the byte")));
    const auto batches = reported()["batches"];
    EXPECT_EQ(batches["per_update"], 4);
    EXPECT_GT(batches["pool"], 50);
    EXPECT_GT(batches["vertices"], 20);
    EXPECT_GT(batches["draw_seconds"], 0);
    EXPECT_GT(batches["predicted_seconds"], 0);
    EXPECT_EQ(batches["predicted_seconds"], reported()["predicted"]["batch_seconds"]);
    EXPECT_THAT(on_one_line(gnnplan("explain " + plan).out),
                HasSubstr("batches drawing them, cutting their blocks and filling their rows takes "));
    EXPECT_THAT(gnnplan("explain --analyze " + report).out, HasSubstr("\nbatches "));
    const auto analysis = nlohmann::json::parse(gnnplan("explain --analyze " + report + " --json").out);
    EXPECT_EQ(analysis["batches"]["predicted_seconds"], batches["predicted_seconds"]);
    const auto pool = reported()["setup"][1];
    EXPECT_EQ(pool["name"], "setup.load.pool");
    EXPECT_EQ(pool["predicted_bytes"], pool["counted_bytes"]);
    EXPECT_GT(pool["counted_bytes"], 0);
}

TEST_F(Samples, PlansSayHowMuchOfTheGraphIsInNoBatch) {
    const Outcome few = planned("--sampler node:20 --coverage 1");
    ASSERT_EQ(few.code, 0) << few.err;
    EXPECT_THAT(on_one_line(few.out), HasSubstr("are in no batch, so nothing learns from them: raise --coverage"));
    const Outcome clusters = planned("--sampler cluster:1:30 --coverage 3");
    ASSERT_EQ(clusters.code, 0) << clusters.err;
    EXPECT_THAT(on_one_line(clusters.out), HasSubstr("draw more parts for a batch"));
    EXPECT_THAT(on_one_line(planned("--sampler node:1 --coverage 3").out),
                AllOf(HasSubstr(" batches have no training vertex"), HasSubstr("; 1 vertex and 1 nonzero a batch")));
    const Outcome many = planned("--sampler walk:100:2 --coverage 200");
    ASSERT_EQ(many.code, 0) << many.err;
    EXPECT_THAT(on_one_line(many.out), Not(HasSubstr("nothing learns")));
}

TEST_F(Samples, BatchesTakeNoPartitionAndNoBuffer) {
    for (const std::string flag : {"--partition", "--buffer 1MiB"}) {
        const Outcome outcome = planned("--sampler node:20 " + flag);
        EXPECT_EQ(outcome.code, 64) << flag;
        EXPECT_THAT(outcome.err, HasSubstr("updates cannot be of batches: ")) << flag;
    }
}

// Samplers that draw by edges find no vertex that has none.
TEST_F(Samples, TrainingVerticesThatNoBatchHasAreCounted) {
    const Outcome by_edges = planned("--sampler node:5 --sampled-graph train --coverage 30");
    ASSERT_EQ(by_edges.code, 0) << by_edges.err;
    EXPECT_THAT(
        on_one_line(by_edges.out),
        ::testing::ContainsRegex("; [0-9]+ of [0-9]+ training vertices are in no batch, as batches are drawn by"));
    ASSERT_EQ(run("--epochs 3 --autotune 0").code, 0);
    EXPECT_GT(reported()["batches"]["uncovered_training"], 0);
    EXPECT_EQ(reported()["batches"]["sampling"]["training_graph"], true);
    EXPECT_THAT(planned("--sampler walk:50:2 --coverage 50").out, Not(HasSubstr("training vertices are in no batch")));
}

TEST_F(Samples, MoreRanksThatWouldFitAreFound) {
    for (const std::string flags : {"--sampler walk:100:2 --batches-per-update 2", "--fanout 3"}) {
        const auto peak = [&](const std::string& ranks) {
            const std::string command = "plan --graph " + graph + " --hidden 64 --machine cpu-node " + flags;
            const Outcome outcome = gnnplan(command + " --ranks " + ranks + " --json");
            EXPECT_EQ(outcome.code, 0) << outcome.err;
            return nlohmann::json::parse(outcome.out)["candidates"][0]["predicted"]["peak_bytes_per_rank"].get<int>();
        };
        const int least = (peak("1") + peak("4")) / 2;
        const Outcome outcome = gnnplan("plan --graph " + graph + " --hidden 64 --machine cpu-node " + flags +
                                        " --ranks 1 --memory " + std::to_string(least) + "B");
        EXPECT_EQ(outcome.code, 3);
        EXPECT_THAT(outcome.err, ::testing::ContainsRegex("it would fit on [234] ranks")) << flags;
    }
}

TEST_F(Samples, ComparisonsTellPoolsApart) {
    ASSERT_EQ(planned("--sampler walk:20:2").code, 0);
    const std::string other = plan + ".other.json";
    const auto differs = [&](const std::string& flags) {
        const Outcome made = gnnplan("plan --graph " + graph + " --hidden 8 --ranks 2 -o " + other + " " + flags);
        EXPECT_EQ(made.code, 0) << made.err;
        return on_one_line(gnnplan("compare " + plan + " " + other).out);
    };
    EXPECT_THAT(differs("--sampler walk:20:2 --seed 9"), HasSubstr("the batches' seed"));
    EXPECT_THAT(differs("--sampler walk:20:2 --coefficients off"), HasSubstr("the batches' weighing by coefficients"));
    EXPECT_THAT(differs(""), HasSubstr("the batches' sampler"));
}

TEST_F(Samples, WhatDrawnNeighboursDoNotTakeIsSaidOfThem) {
    for (const std::string flag : {"--partition", "--scheme rdm", "--buffer 1MiB"}) {
        const Outcome outcome = planned("--fanout 3 " + flag);
        EXPECT_EQ(outcome.code, 64) << flag;
        EXPECT_THAT(outcome.err, AllOf(HasSubstr("updates cannot draw neighbours: "), Not(HasSubstr("batch")))) << flag;
    }
    ASSERT_EQ(planned("--fanout 3").code, 0);
    EXPECT_THAT(gnnplan("explain " + plan + " --pytorch").err, HasSubstr("plans that draw neighbours"));
}

// Batches are drawn from edges, which a card does not have.
TEST_F(Samples, PlansOfCardsAreToBeMadeAgain) {
    const std::string card = "plan --graph cora --hidden 8 --ranks 2 -o " + plan;
    EXPECT_THAT(gnnplan(card + " --sampler walk:20:2").out, HasSubstr("to run it:  plan again with --graph PATH"));
    EXPECT_THAT(gnnplan(card).out, HasSubstr("run it:  mpirun"));
}

TEST_F(Samples, SchemesAreNotComparedOnBatches) {
    const Outcome outcome = gnnplan("sweep --graph cora --hidden 8 --ranks 2 --sampler walk:20:2 --compare-schemes");
    EXPECT_EQ(outcome.code, 64);
    EXPECT_THAT(outcome.err, HasSubstr("there is no other scheme"));
}

TEST_F(Samples, ABatchDoesNotDrawTheGraphAHundredTimes) {
    for (const char* sampler : {"walk:2147483647:2147483647", "node:2147483647", "edge:300000000"}) {
        const Outcome outcome = planned(std::string("--sampler ") + sampler);
        EXPECT_EQ(outcome.code, 64) << sampler;
        EXPECT_THAT(outcome.err, HasSubstr("a hundred times as many as the graph's 300")) << sampler;
    }
}

// Losses of batches scatter, which is no reason to train otherwise.
TEST_F(Samples, LossesThatScatterDoNotRise) {
    ASSERT_EQ(planned("--sampler node:10 --coverage 10").code, 0);
    const Outcome ran = run("--epochs 60 --autotune 0 --lr 0.0001");
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.err, Not(HasSubstr("the loss rose")));
    ASSERT_EQ(planned("--sampler walk:60:2 --coverage 10").code, 0);
    EXPECT_THAT(run("--epochs 60 --autotune 0 --lr 100").err, HasSubstr("the loss rose"));
}

TEST_F(Samples, NeighboursAreDrawnInTraining) {
    const Outcome outcome = planned("--fanout 3");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(on_one_line(outcome.out),
                HasSubstr("draws 3 in-neighbours of each vertex, anew for each epoch, which all layers share"));
    EXPECT_EQ(gnnplan("validate " + plan).code, 0);
    EXPECT_THAT(gnnplan("explain " + plan).out, HasSubstr("1x2"));
    const Outcome ran = run("--epochs 10 --autotune 0");
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("equal to the byte"));
    EXPECT_EQ(reported()["batches"]["vertices"], 300);
    EXPECT_EQ(gnnplan("explain --analyze " + report).code, 0)
        << "there is no pool, and the report is read all the same";
    EXPECT_EQ(reported()["predicted"]["total_bytes"], reported()["measured"]["total_bytes"]);
}

TEST_F(Samples, ARunGoesOnWithItsOwnPoolAlone) {
    const std::string pool = "--sampler walk:20:2 --batches-per-update 2 --coverage 10 ";
    const std::string checkpoints = folder / "c", resumed = "--epochs 9 --resume " + checkpoints;
    ASSERT_EQ(planned(pool).code, 0);
    ASSERT_EQ(run("--epochs 9 --autotune 0").code, 0);
    const auto whole = reported()["epochs"];
    ASSERT_EQ(run("--epochs 5 --autotune 0 --checkpoint " + checkpoints).code, 0);
    for (const std::string& other :
         {pool + "--seed 2", std::string("--sampler walk:20:2 --batches-per-update 2 --coverage 11"),
          std::string("--sampler walk:20:3 --batches-per-update 2 --coverage 10"),
          std::string("--sampler node:20 --batches-per-update 2 --coverage 10"), pool + "--coefficients off",
          pool + "--sampled-graph train", std::string("--fanout 3"), std::string()}) {
        const Outcome outcome = planned(other);
        ASSERT_EQ(outcome.code, 0) << other << outcome.err;
        const Outcome ran = run(resumed);
        EXPECT_EQ(ran.code, 78) << other;
        EXPECT_THAT(ran.err, AllOf(HasSubstr("the batches' "), HasSubstr("resume with a plan of the same batches")))
            << other;
    }
    ASSERT_EQ(planned(pool).code, 0);
    ASSERT_EQ(run(resumed + " --autotune 0").code, 0);
    const auto rest = reported()["epochs"];
    ASSERT_EQ(rest.size(), whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(rest[i]["loss"], whole[i]["loss"]) << i;
}

// The model is the same, however it was trained.
TEST_F(Samples, WeightsAreOfTheModelAndNotOfTheBatches) {
    const std::string weights = folder / "weights";
    for (const std::string how : {"--sampler walk:20:2 --coverage 10", "--fanout 3"}) {
        ASSERT_EQ(planned(how).code, 0);
        ASSERT_EQ(run("--epochs 5 --autotune 0 --save-weights " + weights).code, 0);
        ASSERT_EQ(planned("--task infer").code, 0);
        const Outcome ran = run("--load-weights " + weights);
        EXPECT_EQ(ran.code, 0) << ran.err;
    }
}

TEST_F(Samples, EveryModelDrawsNeighbours) {
    for (const std::string model : {"gcn", "sage", "sage --aggregator max", "gin", "gat", "agnn"}) {
        ASSERT_EQ(planned("--fanout 3 --model " + model).code, 0) << model;
        EXPECT_EQ(gnnplan("validate " + plan).code, 0) << model;
        const Outcome ran = run("--epochs 3 --autotune 0");
        EXPECT_EQ(ran.code, 0) << model << ran.err;
    }
}

TEST_F(Samples, SamplersThatMakeNoBatchesAreRefusedByName) {
    for (const std::string of : {"--vertices 1000 --nonzeros 5000 --features 8 --classes 3 --hidden 8", "--hidden 8"}) {
        const std::string problem = (of == "--hidden 8" ? "plan --graph " + graph + " " : "plan ") + of + " ";
        for (const std::string sampler : {"cluster:5:3", "cluster:5:9999"}) {
            const Outcome outcome = gnnplan(problem + "--sampler " + sampler);
            EXPECT_EQ(outcome.code, 64) << of << sampler;
            EXPECT_THAT(outcome.err, HasSubstr("--sampler: ")) << of << sampler;
        }
    }
    EXPECT_THAT(planned("--fanout 3 --grid 2x1").err, HasSubstr("leave it out: there is 1x2 alone"));
}

TEST_F(Samples, AreSwept) {
    const std::string sweep = "sweep --graph " + graph + " --hidden 8 --json ";
    const auto groups = gnnplan(sweep + "--vary ranks=1,2,4 --sampler walk:20:2 --batches-per-update 4").json();
    ASSERT_EQ(groups["points"].size(), 3U);
    for (const auto& point : groups["points"]) EXPECT_EQ(point["best"]["configuration"]["scheme"], "groups");
    const auto draws = gnnplan(sweep + "--ranks 2 --vary fanout=2,full").json();
    EXPECT_EQ(draws["points"][0]["best"]["configuration"]["scheme"], "groups");
    EXPECT_NE(draws["points"][1]["best"]["configuration"]["scheme"], "groups");
}

}  // namespace
}  // namespace gnnplan::testing
