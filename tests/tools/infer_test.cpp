// Inference at the command line: what is planned, what is refused and why, and what runs.
#include "tests/tools/inference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace gnnplan::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string infer = "plan --task infer --graph cora --ranks 4 --hidden 16 ";

TEST_F(Inference, PlansOnePassWithWhatComesBeforeIt) {
    const auto plan = gnnplan(infer + "--exchange rows --grid 4x1 --json").json();
    EXPECT_EQ(plan["problem"]["task"], "infer");
    EXPECT_EQ(plan["configuration"]["backward"], "");
    EXPECT_EQ(plan["configuration"]["operands"], "");
    EXPECT_TRUE(plan["configuration"]["kept"].empty());
    EXPECT_GT(plan["predicted"]["setup_seconds"].get<double>(), 0);
    EXPECT_GT(plan["predicted"]["loading_seconds"]["total"].get<double>(), 0);
    EXPECT_TRUE(plan["schedule"].contains("output"));
    for (const auto& step : plan["schedule"]["steps"]) {
        EXPECT_NE(step["phase"], "evaluation");
        EXPECT_NE(step["kind"], "loss");
        EXPECT_NE(step["kind"], "update");
    }
    for (const auto& tensor : plan["schedule"]["tensors"]) EXPECT_NE(tensor["role"], "moment");
    const Outcome shown = gnnplan(infer);
    EXPECT_THAT(shown.out, AllOf(HasSubstr("load + pass"), HasSubstr("run      loading "), HasSubstr("one pass "),
                                 Not(HasSubstr("epoch"))));
}

// DEAL's graph on its machines: what is picked is the fastest from the file to the outputs, with the edges sorted by
// all 32 cores of a rank, and it is DEAL's P x M. One core would take longer to load than the pass takes, and pick
// another.
TEST_F(Inference, PlansDealsOwnCase) {
    const std::string deal =
        "plan --task infer --fanout 50 --graph ogbn-papers100m:deal --widths 128,128,128,128 --ranks 16 --json ";
    const auto seconds_of = [](const auto& plan) {
        const auto& predicted = plan["predicted"];
        return std::pair{predicted["loading_seconds"]["total"].template get<double>(),
                         predicted.value("setup_seconds", 0.0) + predicted["epoch_seconds"].template get<double>()};
    };
    const auto chosen = gnnplan(deal + "--machine r5-16xlarge").json();
    EXPECT_EQ(chosen["configuration"]["scheme"], "rdm");
    EXPECT_GT(chosen["configuration"]["grid"][1], 1);
    const auto [load, pass] = seconds_of(chosen);
    for (const char* pin : {"--scheme 2d --grid 4x4", "--scheme 1d", "--scheme 1.5d"}) {
        const auto [other_load, other_pass] = seconds_of(gnnplan(deal + "--machine r5-16xlarge " + pin).json());
        EXPECT_LE(load + pass, other_load + other_pass) << pin;
    }
    auto one_core = gnnplan("machines show r5-16xlarge --json").json();
    one_core.erase("threads_per_rank");
    std::ofstream(folder / "one-core.json") << one_core;
    const auto [long_load, same_pass] =
        seconds_of(gnnplan(deal + "--machine " + (folder / "one-core.json") + " --scheme rdm --grid 1x16").json());
    EXPECT_GT(long_load, 5 * load);
    EXPECT_GT(long_load, same_pass);
}

TEST_F(Inference, DrawsAtMostWhatIsAskedFor) {
    const auto nonzeros = [&](const std::string& fanout) {
        const auto plan = gnnplan(infer + "--grid 4x1 --fanout " + fanout + " --json").json();
        EXPECT_TRUE(plan["predicted"]["estimate"].get<bool>());
        return plan["problem"].value("fanout", std::vector<int>{});
    };
    EXPECT_EQ(nonzeros("full"), std::vector<int>());
    EXPECT_EQ(nonzeros("2"), (std::vector<int>{2, 2}));
    EXPECT_EQ(nonzeros("3,1"), (std::vector<int>{3, 1}));
    const auto memory = [&](const std::string& fanout) {
        return gnnplan(
                   "plan --task infer --graph reddit --hidden 16 --ranks 4 --machine a6000x8 --grid 4x1 --forward DD "
                   "--exchange panels --overlap off --values stored --json --fanout " +
                   fanout)
            .json()["predicted"]["peak_bytes_per_rank"]
            .get<std::int64_t>();
    };
    EXPECT_LT(memory("10"), memory("full"));
}

TEST_F(Inference, PlansRings) {
    const std::string on = infer + "--layers 3 --scheme rdm --grid 2x2 --forward DDD --ring on ";
    const auto plan = gnnplan(on + "--json").json();
    EXPECT_TRUE(plan["configuration"]["ring"].get<bool>());
    int rings = 0;
    for (const auto& step : plan["schedule"]["steps"]) rings += step["kind"] == "ring_gemm" ? 1 : 0;
    EXPECT_EQ(rings, 2) << "layers 2 and 3";
    const Outcome shown = gnnplan(on);
    EXPECT_THAT(shown.out, AllOf(HasSubstr(", ring"), HasSubstr("ring: dense products exchange tiles of")));
    EXPECT_FALSE(gnnplan(infer + "--layers 3 --grid 2x2 --ring off --json").json()["configuration"].contains("ring"));
    const std::string file = folder / "plan.json";
    ASSERT_EQ(gnnplan(on + "-o " + file).code, 0);
    EXPECT_EQ(gnnplan("validate " + file).code, 0);
    EXPECT_THAT(gnnplan("explain " + file).out, AllOf(HasSubstr("C -> R -> C"), HasSubstr("forward.2.gemm")));
}

TEST_F(Inference, RefusesWithASentence) {
    const std::pair<std::string, std::string> cases[] = {
        {"--task infer --backward SS", "--backward: an inference has no backward pass"},
        {"--task infer --loss-rows on", "--loss-rows: an inference has no loss"},
        {"--task infer --dropout 0.5", "--dropout: is of training"},
        {"--task infer --space paper", "--space: the paper's space is of training"},
        {"--task infer --fanout 0", "'0' is no number of neighbours"},
        {"--task infer --fanout 3,2,1", "--fanout: 3 numbers of neighbours for 2 layers"},
        {"--task infer --fanout 3 --values factored", "--values: an edge that was drawn stands for several"},
        {"--task infer --epochs 3", "--epochs: is of training"},
        {"--task inferr", "--task"},
        {"--task train --ring on", "--ring: weight gradients need whole rows"},
        {"--task infer --ring on --grid 4x1", "no such grid splits them"},
        {"--task infer --ring on --scheme 1d", "no such grid splits them"},
        {"--task infer --ring on --model sage", "--ring: no dense product of this sage"},
        {"--task infer --ring yes", "--ring"},
        {"--task infer --buffer 4KiB --grid 4x1 --forward SS", "bytes are enough"},
        {"--buffer 1MiB --space paper", "--buffer: the paper's space sends whole blocks"},
        {"--buffer 1MB/s", "--buffer"},
        {"--exchange panels --grid 1x4", "rows for the aggregation on 1x4 ("},
        {"--fanout 3,2", "--fanout: the layers of a training share the neighbours"},
        {"--fanout 3 --sampler node:5", "--fanout: updates are of batches already"}};
    for (const auto& [flags, message] : cases) {
        const Outcome outcome = gnnplan("plan --graph cora --ranks 4 " + flags);
        EXPECT_EQ(outcome.code, 64) << flags;
        EXPECT_THAT(outcome.err, HasSubstr(message)) << flags;
    }
}

TEST_F(Inference, IsTheEvaluationOfTrainingOnAnyGrid) {
    for (const std::string model : {"--model gcn --bias", "--model gat --heads 4", "--model sage --aggregator max"}) {
        train(model);
        const std::vector<float> trained = read_npy(folder / "trained.npy");
        ASSERT_EQ(trained.size(), 900U);
        for (const std::string grid : {"--ranks 1", "--ranks 2 --grid 1x2", "--ranks 4 --grid 2x2 --exchange rows",
                                       "--ranks 6 --grid 6x1 --permute on"}) {
            EXPECT_TRUE(near(embeddings(model + " " + grid), trained)) << model << " " << grid;
        }
    }
}

// Rings are the same products, of matrices that no rank has in whole rows.
TEST_F(Inference, IsTheSameWithRings) {
    for (const std::string model :
         {"--model gcn --bias --layers 3", "--model gat --heads 4 --output-heads 2 --layers 3"}) {
        train(model);
        const std::vector<float> trained = read_npy(folder / "trained.npy");
        for (const std::string grid : {"--ranks 2 --grid 1x2", "--ranks 4 --grid 2x2 --exchange rows --permute on",
                                       "--ranks 4 --grid 2x2 --fanout 1000 --overlap on"}) {
            EXPECT_TRUE(near(embeddings(model + " --ring on " + grid), trained)) << model << " " << grid;
        }
    }
}

// Behind slow links tiles are rounded where that is allowed: outputs move a little, and bytes are those of the plan.
TEST_F(Inference, MovesALittleWithRingsThatRound) {
    auto profile = gnnplan("machines show cpu-node --json").json();
    profile["name"] = "a cluster", profile["intra_node"]["bytes_per_second"] = 1e7;
    const std::string machine = folder / "machine.json";
    std::ofstream(machine) << profile.dump();
    const std::string model = "--model gcn --bias --layers 3";
    train(model);
    const std::vector<float> trained = read_npy(folder / "trained.npy");
    for (const std::string grid : {"--ranks 2 --grid 1x2", "--ranks 4 --grid 2x2 --exchange rows"}) {
        const std::string slow = model + " --ring on --ranks-per-node 4 --machine " + machine + " " + grid;
        EXPECT_TRUE(near(embeddings(slow), trained)) << grid;
        const std::vector<float> rounded = embeddings(slow + " --wire bf16");
        EXPECT_FALSE(near(rounded, trained)) << grid;
        EXPECT_TRUE(near(rounded, trained, 0.03F)) << grid;
        int rings = 0;
        const auto plan = nlohmann::json::parse(read_text(folder / "infer.json"));
        for (const auto& step : plan["candidates"][0]["schedule"]["steps"]) {
            if (step["kind"] != "ring_gemm") continue;
            EXPECT_EQ(step.value("wire", "fp32"), "bf16");
            ++rings;
        }
        EXPECT_GT(rings, 0) << grid;
    }
}

// Blocks come in pieces, of needed rows or of all, on their way one at a time or several: what is computed stays the
// same.
TEST_F(Inference, IsTheSameWithinSmallBuffers) {
    for (const std::string model :
         {"--model gcn --bias", "--model gat --heads 4", "--model sage --aggregator max", "--model agnn"}) {
        train(model);
        const std::vector<float> trained = read_npy(folder / "trained.npy");
        for (const std::string how : {"--ranks 4 --grid 4x1 --exchange panels --overlap on --buffer 2KiB",
                                      "--ranks 4 --grid 2x2 --exchange rows --overlap off --buffer 1KiB",
                                      "--ranks 3 --grid 3x1 --exchange rows --overlap on --permute on --buffer 4KiB"})
            EXPECT_TRUE(near(embeddings(model + " " + how), trained)) << model << " " << how;
    }
    const Outcome shown = gnnplan("explain " + (folder / "infer.json"));
    EXPECT_THAT(shown.out,
                HasSubstr("buffers  4 KiB a rank for what others send to a product; blocks come in 3 pieces, "
                          "1 ahead"));
}

TEST_F(Inference, SaysHowBlocksAreCut) {
    const std::string four = infer + "--grid 4x1 --exchange panels --forward DD ";
    const auto splits = [&](const std::string& buffer) {
        const auto plan = gnnplan(four + buffer + " --overlap off --json").json();
        EXPECT_EQ(plan["problem"].value("buffer_bytes", 0), buffer.empty() ? 0 : 4096);
        int most = 0;
        for (const auto& tensor : plan["schedule"]["tensors"]) most = std::max(most, tensor["splits"].get<int>());
        return most;
    };
    EXPECT_EQ(splits(""), 1);
    EXPECT_EQ(splits("--buffer 4KiB"), 11) << "677 rows of 16 floats, 64 of which are 4 KiB";
    EXPECT_THAT(gnnplan(four + "--buffer 4KiB --overlap off").out,
                HasSubstr("buffers  4 KiB a rank for what others send to a product; blocks come in 11 pieces"));
    EXPECT_THAT(gnnplan(infer + "--grid 1x4 --buffer 4KiB").out, HasSubstr("here they send it nothing"));
}

// The drawn neighbours depend on the seed alone, not on the distribution.
TEST_F(Inference, DrawsTheSameOnAnyGrid) {
    for (const std::string model : {"--model gcn", "--model gat --heads 2", "--model agnn"}) {
        train(model);
        const std::vector<float> one = embeddings(model + " --ranks 1 --fanout 3");
        EXPECT_FALSE(near(one, read_npy(folder / "trained.npy"))) << "all neighbours were read";
        for (const std::string grid : {"--ranks 2 --grid 1x2", "--ranks 4 --grid 2x2 --exchange rows",
                                       "--ranks 3 --grid 3x1 --permute on", "--ranks 4 --grid 4x1 --overlap on"}) {
            EXPECT_TRUE(near(embeddings(model + " --fanout 3 " + grid), one)) << model << " " << grid;
        }
        EXPECT_FALSE(near(embeddings(model + " --ranks 1 --fanout 3 --seed 5"), one));
        EXPECT_TRUE(near(embeddings(model + " --ranks 1 --fanout 1000"), read_npy(folder / "trained.npy")));
    }
}

// The accuracies of a pass are those of the last evaluation of training, however many ranks make it.
TEST_F(Inference, SaysTheAccuracies) {
    train("--model gcn");
    const std::string plan = folder / "plan.json", report = folder / "report.json";
    const auto accuracies = [&](const std::string& planning, const std::string& flags = "") {
        EXPECT_EQ(gnnplan("plan --hidden 12 --graph " + graph + " " + planning + " -o " + plan).code, 0);
        const Outcome ran = run_program(GNNRUN_TOOL, plan + " --data " + graph + " --in-process --load-weights " +
                                                         weights + " --report " + report + " " + flags);
        EXPECT_EQ(ran.code, 0) << ran.err;
        const auto of = nlohmann::json::parse(read_text(report));
        EXPECT_EQ(ran.out.starts_with("accuracy    train "), of.contains("accuracies")) << ran.out;
        return of.value("accuracies", nlohmann::json());
    };
    // A rate of learning at which the evaluation is of the weights that were loaded.
    accuracies("--ranks 1", "--epochs 1 --lr 1e-30");
    const auto last = nlohmann::json::parse(read_text(report))["epochs"][0];
    for (const std::string grid : {"--ranks 1", "--ranks 4 --grid 2x2 --permute on", "--ranks 3 --load whole",
                                   "--ranks 2 --grid 1x2", "--ranks 2 --fanout 1000"}) {
        const auto found = accuracies("--task infer " + grid);
        for (const std::string set : {"train", "valid", "test"}) {
            EXPECT_GT(found[set], 0.34) << grid << ": better than a guess";
            EXPECT_EQ(found[set], last[set + "_accuracy"]) << grid << " " << set;
        }
    }
    std::filesystem::remove_all(graph + "/split");
    EXPECT_TRUE(accuracies("--task infer --ranks 2").is_null());
}

// Labels or a split that cannot be read cost an inference its accuracies alone.
TEST_F(Inference, DoesWithoutAccuracies) {
    const std::string plan = folder / "plan.json";
    ASSERT_EQ(gnnplan("plan --task infer --hidden 12 --graph " + graph + " --ranks 2 -o " + plan).code, 0);
    std::filesystem::create_directories(graph + "/split/other");
    write_text(folder / "graph/split/other/train.csv", "0\n");
    for (const std::string load : {"whole", "sharded"}) {
        const Outcome ran = run_program(GNNRUN_TOOL, plan + " --data " + graph + " --in-process --load " + load);
        EXPECT_EQ(ran.code, 0) << ran.err;
        EXPECT_THAT(ran.err, HasSubstr("note: no accuracies: " + graph + "/split: several splits"));
        EXPECT_THAT(ran.out, Not(HasSubstr("accuracy")));
    }
}

// Data without labels says nothing of classes.
TEST_F(Inference, NeedsNoLabels) {
    train("--model gcn");
    const std::string edges = folder / "edges.txt";
    write_text(edges, "0 1\n1 2\n2 3\n3 0\n");
    const std::string plan = folder / "plan.json";
    const Outcome planned = gnnplan("plan --task infer --symmetrise --graph " + edges +
                                    " --features 8 --classes 3 --hidden 12 --ranks 2 -o " + plan);
    ASSERT_EQ(planned.code, 0) << planned.err;
    EXPECT_THAT(planned.err, Not(HasSubstr("classes generated")));
    const Outcome run = run_program(GNNRUN_TOOL, plan + " --data " + edges + " --in-process --load-weights " + weights +
                                                     " --save-embeddings " + (folder / "four.npy"));
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(read_npy(folder / "four.npy").size(), 12U);
}

TEST_F(Inference, RefusesWhatIsOfTraining) {
    train("--model gcn");
    const std::string plan = folder / "infer.json";
    ASSERT_EQ(gnnplan("plan --task infer --graph " + graph + " --hidden 12 --ranks 1 -o " + plan).code, 0);
    const std::string run = plan + " --data " + graph;
    for (const std::string flag : {"--epochs 3", "--lr 0.1", "--keep-best", "--metrics m.jsonl", "--save-weights w",
                                   "--dropout 0.5", "--autotune 0"}) {
        const Outcome outcome = run_program(GNNRUN_TOOL, run + " " + flag);
        EXPECT_EQ(outcome.code, 64) << flag;
        EXPECT_THAT(outcome.err, HasSubstr("is of training")) << flag;
    }
    const Outcome untrained = run_program(GNNRUN_TOOL, run + " --save-embeddings " + (folder / "e.npy"));
    EXPECT_EQ(untrained.code, 64);
    EXPECT_THAT(untrained.err, HasSubstr("logits and layers need trained weights"));
    EXPECT_EQ(run_program(GNNRUN_TOOL, run + " --dry-run").code, 0);
    EXPECT_EQ(run_program(GNNRUN_TOOL, run).code, 0) << "to see how long it takes";
}

// The file says what its weights are of.
TEST_F(Inference, RefusesWeightsOfAnotherModel) {
    train("--model sage --aggregator mean");
    const std::string path = folder / "infer.json";
    const auto run = [&](const std::string& model, const std::string& flags) {
        EXPECT_EQ(
            gnnplan("plan --task infer --graph " + graph + " --hidden 12 --ranks 1 " + model + " -o " + path).code, 0);
        return run_program(GNNRUN_TOOL, path + " --data " + graph + " --load-weights " + weights + " " + flags);
    };
    EXPECT_EQ(run("--model sage --aggregator mean", "").code, 0);
    for (const std::string model : {"--model sage --aggregator sum", "--model sage --aggregator max",
                                    "--model sage --aggregator mean --activation elu"}) {
        const Outcome refused = run(model, "");
        EXPECT_EQ(refused.code, 78) << model;
        EXPECT_THAT(refused.err,
                    AllOf(HasSubstr("the model was sage mean"), HasSubstr("when the weights were trained")));
    }
    const Outcome divided = run("--model sage --aggregator mean", "--feature-norm row");
    EXPECT_EQ(divided.code, 78);
    EXPECT_THAT(divided.err, HasSubstr("use --feature-norm none"));
    // A model's defaults may be said.
    train("--model gat --heads 2");
    EXPECT_EQ(run("--model gat --heads 2 --activation elu --slope 0.2 --output-heads 1", "").code, 0);
    EXPECT_EQ(run("--model gat --heads 2 --activation relu", "").code, 78);
    train("--model sage --aggregator mean");
    // Training may begin with them.
    const std::string elu = folder / "elu.json";
    ASSERT_EQ(gnnplan("plan --graph " + graph + " --hidden 12 --ranks 1 --model sage --activation elu -o " + elu).code,
              0);
    const Outcome tuned = run_program(GNNRUN_TOOL, elu + " --data " + graph + " --epochs 2 --load-weights " + weights);
    EXPECT_EQ(tuned.code, 0) << tuned.err;
    EXPECT_THAT(tuned.err, HasSubstr("note: the model was sage mean"));
}

// Other commands know what such a plan is.
TEST_F(Inference, IsExplainedAndCompared) {
    const std::string full = folder / "full.json", drawn = folder / "drawn.json", train = folder / "train.json";
    ASSERT_EQ(gnnplan(infer + "-o " + full).code, 0);
    ASSERT_EQ(gnnplan(infer + "--exchange rows --grid 4x1 --fanout 3,2 -o " + drawn).code, 0);
    ASSERT_EQ(gnnplan("plan --graph cora --ranks 4 --hidden 16 -o " + train).code, 0);
    for (const std::string& plan : {full, drawn}) {
        const Outcome explained = gnnplan("explain " + plan);
        EXPECT_EQ(explained.code, 0) << explained.err;
        EXPECT_THAT(explained.out, AllOf(HasSubstr("pass"), Not(HasSubstr("epoch"))));
        EXPECT_EQ(gnnplan("explain --json " + plan).code, 0);
        EXPECT_EQ(gnnplan("validate " + plan).code, 0);
    }
    const Outcome program = gnnplan("explain --pytorch " + full);
    EXPECT_EQ(program.code, 0) << program.err;
    EXPECT_THAT(program.out, AllOf(HasSubstr("def load(self, path, "), Not(HasSubstr("optimizer"))));
    EXPECT_THAT(gnnplan("explain " + full).out, HasSubstr("gnnplan explain --pytorch PLAN"));
    const Outcome refused = gnnplan("explain --pytorch " + drawn);
    EXPECT_EQ(refused.code, 64);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("draw neighbours"), HasSubstr("plan without --fanout")));
    EXPECT_THAT(gnnplan("explain " + drawn).out, Not(HasSubstr("--pytorch")));
    EXPECT_THAT(gnnplan("explain " + drawn).out,
                AllOf(HasSubstr("before   loading takes "), HasSubstr("cutting blocks "),
                      HasSubstr("requests for rows take ")));
    EXPECT_THAT(gnnplan("compare " + full + " " + drawn).out, HasSubstr("neighbours read: all against 3,2"));
    EXPECT_THAT(gnnplan("compare " + full + " " + train).out, HasSubstr("task: infer against train"));
    const auto compared = gnnplan("compare --json " + full + " " + drawn).json()["epoch_seconds"];
    const auto plan = nlohmann::json::parse(read_text(full))["candidates"][0]["predicted"];
    EXPECT_EQ(compared["predicted"]["a"], plan["epoch_seconds"]) << "of the pass alone";
    const double before = plan["loading_seconds"]["total"].get<double>() + plan.value("setup_seconds", 0.0);
    EXPECT_NEAR(compared["loading"]["a"].get<double>(), before, 1e-12);
    const Outcome swept = gnnplan("sweep --task infer --graph cora --hidden 16 --vary ranks=1,2,4");
    EXPECT_EQ(swept.code, 0) << swept.err;
    EXPECT_THAT(swept.out, AllOf(HasSubstr("pass"), Not(HasSubstr("epoch")), Not(HasSubstr("backward"))));
}

// The time before the pass is shown part by part, and counted alike by plans and runs.
TEST_F(Inference, SaysWhatComesBeforeThePass) {
    const std::string plan = folder / "infer.json", report = folder / "report.json";
    for (const std::string ranks : {"1", "2"}) {
        const std::string flags = "plan --task infer --hidden 12 --grid " + ranks + "x1 --ranks " + ranks;
        const Outcome planned = gnnplan(flags + " --graph " + graph + " -o " + plan);
        ASSERT_EQ(planned.code, 0) << planned.err;
        const std::size_t begin = planned.out.find("run      loading ") + 9;
        const std::string loading = planned.out.substr(begin + 8, planned.out.find(',', begin) - begin - 8);
        const Outcome ran = run_program(GNNRUN_TOOL, plan + " --in-process --data " + graph + " --report " + report);
        ASSERT_EQ(ran.code, 0) << ran.err;
        EXPECT_THAT(ran.out, HasSubstr("\npredicted   load " + loading + ", ")) << planned.out;
        const auto run = nlohmann::ordered_json::parse(read_text(report));
        const auto analysis = gnnplan("explain --json --analyze " + report).json();
        ASSERT_EQ(analysis["setup"].size(), run["setup"].size());
        double predicted = 0, measured = 0;
        for (std::size_t i = 0; i < run["setup"].size(); ++i) {
            const auto& said = analysis["setup"][i];
            EXPECT_EQ(said["name"], run["setup"][i]["name"]);
            for (const char* key : {"predicted_seconds", "measured_seconds"})
                EXPECT_EQ(said[key], run["setup"][i][key]) << said["name"];
            if (said["name"] != "setup.load" && said["name"] != "setup.partition") continue;
            predicted += said["predicted_seconds"].get<double>();
            measured += said["measured_seconds"].get<double>();
        }
        EXPECT_NEAR(predicted, run["predicted"]["loading_seconds"]["total"].get<double>(), 1e-12);
        if (ranks == "1") {
            EXPECT_NEAR(measured, run["wall"]["load_seconds"].get<double>(), 1e-9);
        }
        const Outcome shown = gnnplan("explain --analyze " + report);
        EXPECT_THAT(shown.out,
                    AllOf(HasSubstr("before the pass "), HasSubstr("\nsetup.load.deal "),
                          HasSubstr("\nsetup.partition "), HasSubstr("\nthe pass "), Not(HasSubstr("epoch"))));
    }
}

// No plan knows how long the partitioner takes, nor how long features take of which each rank reads all.
TEST_F(Inference, SaysWhatIsInNoTotal) {
    const std::string four = "plan --task infer --hidden 12 --ranks 4 --machine cpu-node --graph " + graph;
    EXPECT_THAT(gnnplan(four).out, AllOf(HasSubstr(" in all\n"), Not(HasSubstr("without reading features"))));
    EXPECT_THAT(gnnplan(four + " --load whole").out, HasSubstr("in all, without reading features"));
    EXPECT_THAT(gnnplan(four + " --grid 4x1 --permute off --partition").out,
                HasSubstr("in all, without partitioning and reading"));
}

// A plan counts what the outputs need to be written, in whatever order vertices are.
TEST_F(Inference, CountsTheVerticesOfItsOutputs) {
    train("--model gcn");
    const std::string plan = folder / "infer.json", report = folder / "report.json";
    const std::string run =
        plan + " --in-process --data " + graph + " --load-weights " + weights + " --report " + report;
    for (const std::string permute : {"off", "on"}) {
        ASSERT_EQ(gnnplan("plan --task infer --hidden 12 --ranks 4 --grid 2x2 --forward DD --permute " + permute +
                          " --graph " + graph + " -o " + plan)
                      .code,
                  0);
        const auto predicted = nlohmann::json::parse(read_text(plan))["candidates"][0]["predicted"];
        const auto peak = [&](const std::string& flags) {
            const Outcome ran = run_program(GNNRUN_TOOL, run + flags);
            EXPECT_EQ(ran.code, 0) << ran.err;
            const auto of = nlohmann::json::parse(read_text(report));
            EXPECT_EQ(of["predicted"]["peak_bytes_per_rank"], of["measured"]["peak_bytes_per_rank"]);
            return of["measured"]["peak_bytes_per_rank"].get<std::int64_t>();
        };
        EXPECT_EQ(peak(" --save-embeddings " + (folder / "e.npy")), predicted["peak_bytes_per_rank"]) << permute;
        EXPECT_EQ(peak(""), predicted["peak_bytes_per_rank"]) << "they are compared with the labels";
        const std::int64_t rows = permute == "on" ? 75 : 0;
        const std::string label = graph + "/raw/node-label.csv.gz";
        std::filesystem::rename(label, label + ".away");
        EXPECT_EQ(peak(""), predicted["peak_bytes_per_rank"].get<std::int64_t>() - 4 * rows);
        std::filesystem::rename(label + ".away", label);
    }
}

// Heads that are averaged and what a residual adds to them are two things.
TEST_F(Inference, AveragedHeadsAndAResidual) {
    const std::string plan = folder / "plan.json";
    for (const std::string task : {"train", "infer"}) {
        ASSERT_EQ(gnnplan("plan --graph cora --ranks 4 --grid 2x2 --hidden 16 --model gat --heads 4 --average-heads "
                          "--residual --task " +
                          task + " -o " + plan)
                      .code,
                  0);
        const Outcome valid = gnnplan("validate " + plan);
        EXPECT_EQ(valid.code, 0) << valid.out << valid.err;
    }
}

}  // namespace
}  // namespace gnnplan::testing
