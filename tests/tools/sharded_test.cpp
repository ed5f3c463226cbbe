// Graphs that ranks load in shares: the same results as from the whole graph, and what is said of it.
#include "planner/io/fingerprint.hpp"
#include "planner/io/parse.hpp"
#include "tests/tools/inference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace gnnplan::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Sharded : public Inference {
protected:
    const std::string plan = folder / "plan.json", report = folder / "report.json";

    // A run on a graph in a file, and its report.
    nlohmann::json run(const std::string& planning, const std::string& data, const std::string& flags) {
        const Outcome planned = gnnplan("plan --hidden 12 --graph " + data + " " + planning + " -o " + plan);
        EXPECT_EQ(planned.code, 0) << planned.err;
        const Outcome ran =
            run_program(GNNRUN_TOOL, plan + " --data " + data + " --in-process --report " + report + " " + flags);
        EXPECT_EQ(ran.code, 0) << ran.err;
        said = ran.err;
        return nlohmann::json::parse(read_text(report));
    }
    std::string said;
};

// Steps of loading by name, and that all predictions were right.
std::map<std::string, std::int64_t> loaded_bytes(const nlohmann::json& report) {
    std::map<std::string, std::int64_t> bytes;
    for (const auto& step : report["setup"]) {
        EXPECT_EQ(step["predicted_bytes_by_rank"], step["counted_bytes_by_rank"]) << step["name"];
        if (step["kind"] == "load") bytes[step["name"]] = step["counted_bytes"].get<std::int64_t>();
    }
    EXPECT_EQ(report["predicted"]["peak_bytes_per_rank"], report["measured"]["peak_bytes_per_rank"]);
    return bytes;
}

// That the report has the predicted times of loading beside those that were measured.
void expect_predicted_loading(const nlohmann::json& report) {
    const auto& predicted = report["predicted"]["loading_seconds"];
    const std::map<std::string, double> expected{{"setup.load.deal", predicted["deal"]},
                                                 {"setup.load.rows", predicted["rows"]},
                                                 {"setup.load.degrees", predicted["degrees"]},
                                                 {"setup.load.features", predicted.value("features", 0.0)},
                                                 {"setup.partition", predicted["cut"]}};
    EXPECT_GT(predicted["total"], 0);
    for (const auto& step : report["setup"]) {
        const auto found = expected.find(step["name"]);
        if (found == expected.end()) continue;
        EXPECT_EQ(step["predicted_seconds"], found->second) << step["name"];
    }
}

// A plan whose bytes were altered is refused as damaged before the pass.
TEST_F(Sharded, AlteredBytesOfDealingAreThePlansFault) {
    train("--model gcn");
    ASSERT_EQ(gnnplan("plan --task infer --hidden 12 --graph " + graph + " --ranks 2 -o " + plan).code, 0);
    auto altered = nlohmann::ordered_json::parse(read_text(plan));
    for (auto& candidate : altered["candidates"]) {
        auto& dealt = candidate["predicted"]["dealt_bytes_by_rank"];
        ASSERT_EQ(dealt.size(), 2U);
        dealt[1] = 2 * dealt[1].get<std::int64_t>();
    }
    altered["predicted"] = altered["candidates"][0]["predicted"];
    altered["fingerprints"]["content"] = io::content_fingerprint(io::parse(altered.dump(), plan));
    write_text(plan, altered.dump());
    const Outcome run = run_program(GNNRUN_TOOL, plan + " --data " + graph + " --in-process --load-weights " + weights);
    EXPECT_EQ(run.code, 65) << run.err;
    EXPECT_THAT(run.err, AllOf(HasSubstr("predicted.dealt_bytes_by_rank: rank 1 has dealt"), Not(HasSubstr("bug"))));
}

TEST_F(Sharded, InfersWhatTheWholeGraphMakes) {
    train("--model gcn");
    for (const std::string grid :
         {"--ranks 1", "--ranks 3 --grid 3x1", "--ranks 4 --grid 2x2 --exchange rows --node-axis y",
          "--ranks 2 --grid 1x2 --permute on", "--ranks 4 --scheme 1.5d --node-axis y",
          "--ranks 4 --scheme 2d --node-axis y", "--ranks 3 --grid 3x1 --permute on --fanout 4",
          "--ranks 6 --grid 3x2 --fanout 3,5 --node-axis y"}) {
        const std::string flags = "--load-weights " + weights + " --save-embeddings " + (folder / "e.npy");
        const auto in_shares = run("--task infer " + grid, graph, flags);
        const std::vector<float> shared = read_npy(folder / "e.npy");
        const auto bytes = loaded_bytes(in_shares);
        EXPECT_EQ(bytes.count("setup.load.deal"), 1U);
        EXPECT_EQ(bytes.at("setup.load.deal") > 0, grid != "--ranks 1");
        EXPECT_EQ(bytes.at("setup.load.features") > 0, grid != "--ranks 1") << "of one compressed file";
        expect_predicted_loading(in_shares);
        const auto whole = run("--task infer --load whole " + grid, graph, flags);
        EXPECT_EQ(loaded_bytes(whole).size(), 1U) << "only what is read";
        expect_predicted_loading(whole);
        EXPECT_EQ(read_npy(folder / "e.npy"), shared) << grid << ": the same blocks, so the same bits";
        EXPECT_EQ(in_shares["fingerprints"]["graph"], whole["fingerprints"]["graph"]);
    }
}

// Rows of features without order in two files of text, in place of those that the graph has.
class FeaturesOfIds : public Sharded {
protected:
    void SetUp() override {
        Sharded::SetUp();
        ASSERT_TRUE(std::filesystem::remove(graph + "/raw/node-feat.csv.gz"));
        std::filesystem::create_directory(folder_of_features);
        write();
        train("--model gcn");
    }
    void write(int changed = 0) const {
        std::string parts[2];
        for (int i = 0; i < 300; ++i) {
            const int vertex = i * 7 % 300;
            parts[i % 2] += std::to_string(vertex);
            for (int j = 0; j < 8; ++j)
                parts[i % 2] += "," + std::to_string((vertex * (j + 3) + changed) % 13 - 6) + ".25";
            parts[i % 2] += "\n";
        }
        write_text(folder_of_features + "/part-00000.csv", parts[0]);
        write_text(folder_of_features + "/part-00001.csv", parts[1]);
    }
    const std::string folder_of_features = graph + "/raw/node-feat";
};

TEST_F(FeaturesOfIds, AreReadOnceByRanks) {
    const std::string flags = "--load-weights " + weights + " --save-embeddings " + (folder / "e.npy");
    for (const std::string grid :
         {"--ranks 1", "--ranks 2 --grid 2x1", "--ranks 3 --grid 1x3", "--ranks 4 --grid 2x2 --node-axis y",
          "--ranks 5 --grid 5x1 --permute on", "--ranks 6 --grid 3x2 --permute on", "--ranks 4 --scheme 1.5d"}) {
        for (const std::string orders : {" --forward SS", " --forward DS"}) {
            const auto in_shares = run("--task infer " + grid + orders, graph, flags);
            EXPECT_THAT(said, Not(HasSubstr("One rank has read the features")));
            const std::vector<float> shared = read_npy(folder / "e.npy");
            EXPECT_EQ(loaded_bytes(in_shares).at("setup.load.features") > 0, grid != "--ranks 1");
            EXPECT_GT(in_shares["predicted"]["loading_seconds"]["features"], 0);
            expect_predicted_loading(in_shares);
            const auto whole = run("--task infer --load whole " + grid + orders, graph, flags);
            EXPECT_EQ(loaded_bytes(whole).count("setup.load.features"), 0U);
            EXPECT_EQ(read_npy(folder / "e.npy"), shared) << grid << orders << ": the same rows, so the same bits";
        }
    }
    const auto trained = run("--load sharded --loss-rows off --ranks 3", graph, "--epochs 3 --autotune 0");
    EXPECT_GT(loaded_bytes(trained).at("setup.load.features"), 0);
    const auto whole = run("--loss-rows off --ranks 3", graph, "--epochs 3 --autotune 0");
    EXPECT_EQ(trained["epochs"][2]["loss"], whole["epochs"][2]["loss"]);
}

// A plan knows who deals what of the files that it was made with, and refuses other features.
TEST_F(FeaturesOfIds, BelongToThePlan) {
    const std::string planning = "plan --task infer --hidden 12 --ranks 2 -o " + plan;
    const std::string running =
        plan + " --in-process --data " + graph + " --load-weights " + weights + " --report " + report;
    ASSERT_EQ(gnnplan(planning + " --graph " + graph).code, 0);
    auto altered = nlohmann::ordered_json::parse(read_text(plan));
    const auto& bytes = altered["candidates"][0]["predicted"]["feature_bytes_by_rank"];
    ASSERT_EQ(bytes.size(), 2U);

    // The same rows in files that are read by other ranks: the plan does not know their bytes.
    std::filesystem::rename(folder_of_features + "/part-00001.csv", folder_of_features + "/part-.csv");
    ASSERT_EQ(run_program(GNNRUN_TOOL, running).code, 0);
    const std::int64_t moved = loaded_bytes(nlohmann::json::parse(read_text(report))).at("setup.load.features");
    EXPECT_GT(moved, 0);
    std::filesystem::remove(folder_of_features + "/part-.csv");
    write(5);
    const Outcome other = run_program(GNNRUN_TOOL, running);
    EXPECT_EQ(other.code, 78) << other.err;
    EXPECT_THAT(other.err, HasSubstr("the features are not those that the plan was made for"));

    write();
    for (auto& candidate : altered["candidates"])
        candidate["predicted"]["feature_bytes_by_rank"][1] = bytes[1].get<std::int64_t>() + 4;
    altered["predicted"] = altered["candidates"][0]["predicted"];
    altered["fingerprints"]["content"] = io::content_fingerprint(io::parse(altered.dump(), plan));
    write_text(plan, altered.dump());
    const Outcome run = run_program(GNNRUN_TOOL, running);
    EXPECT_EQ(run.code, 65) << run.err;
    EXPECT_THAT(run.err, HasSubstr("predicted.feature_bytes_by_rank: rank 1 has dealt"));

    // A plan of sizes knows neither features nor bytes.
    ASSERT_EQ(gnnplan(planning + " --vertices 300 --nonzeros 9300 --features 8 --classes 3").code, 0);
    const Outcome unknown = run_program(GNNRUN_TOOL, running);
    ASSERT_EQ(unknown.code, 0) << unknown.err;
    EXPECT_GT(loaded_bytes(nlohmann::json::parse(read_text(report))).at("setup.load.features"), 0);
}

TEST_F(Sharded, TrainsAsFromTheWholeGraph) {
    for (const std::string flags : {"--ranks 3 --grid 3x1", "--ranks 4 --grid 2x2 --model gat --heads 2",
                                    "--ranks 2 --grid 2x1 --exchange rows --model sage --permute on"}) {
        const auto whole = run("--loss-rows off " + flags, graph, "--epochs 4 --autotune 0");
        const auto shares = run("--loss-rows off --load sharded " + flags, graph, "--epochs 4 --autotune 0");
        EXPECT_THAT(said, HasSubstr("shares"));
        loaded_bytes(shares);
        for (std::size_t epoch = 0; epoch < 4; ++epoch)
            EXPECT_EQ(shares["epochs"][epoch]["loss"], whole["epochs"][epoch]["loss"]) << flags;
    }
}

// A plan is of a graph, which may lie in other files than when it was planned: who deals what is another matter then.
TEST_F(Sharded, TakesTheSameGraphFromOtherFiles) {
    const std::string edges = folder / "edges.txt", sorted = folder / "sorted.csv";
    write_text(edges, "3 0\n0 1\n# a comment\n2 3\n1 2\n4 1\n1 2\n");
    write_text(sorted, "0,1\n1,2\n2,3\n3,0\n4,1\n");
    ASSERT_EQ(gnnplan("plan --task infer --features 4 --classes 2 --hidden 3 --ranks 3 --grid 3x1 --graph " + edges +
                      " -o " + plan)
                  .code,
              0);
    for (const std::string& data : {edges, sorted}) {
        const Outcome ran = run_program(GNNRUN_TOOL, plan + " --in-process --data " + data + " --report " + report);
        EXPECT_EQ(ran.code, 0) << ran.err;
        loaded_bytes(nlohmann::json::parse(read_text(report)));
    }
}

// Rows that are dealt for the scores of edges lie within those that a rank keeps.
TEST_F(Sharded, MakesScoresOfDealtRows) {
    train("--model agnn");
    const std::string flags = "--load-weights " + weights + " --save-embeddings " + (folder / "e.npy");
    for (const std::string load : {"sharded", "whole"}) {
        loaded_bytes(
            run("--task infer --model agnn --ranks 4 --grid 2x2 --scores dealt-rows --load " + load, graph, flags));
        EXPECT_TRUE(near(read_npy(folder / "e.npy"), read_npy(folder / "trained.npy"))) << load;
    }
}

// More ranks take less memory each.
TEST_F(Sharded, ARankHoldsItsShare) {
    const auto peak = [&](const std::string& load, int ranks) {
        const Outcome planned = gnnplan(
            "plan --task infer --hidden 2 --features 4 --classes 2 --vertices 1000000 "
            "--nonzeros 50000000 --forward SS --grid " +
            std::to_string(ranks) + "x1 --json --load " + load + " --ranks " + std::to_string(ranks));
        return planned.json()["predicted"]["peak_bytes_per_rank"].get<double>();
    };
    EXPECT_LT(peak("sharded", 8), 0.2 * peak("sharded", 1));
    EXPECT_GT(peak("whole", 8), 0.4 * peak("whole", 1));
}

TEST_F(Sharded, RefusesWithASentence) {
    const Outcome planned = gnnplan("plan --hidden 12 --ranks 2 --loss-rows on --graph " + graph + " -o " + plan);
    ASSERT_EQ(planned.code, 0) << planned.err;
    const std::string training = "plan --load sharded --hidden 12 --ranks 2 --graph " + graph;
    EXPECT_FALSE(gnnplan(training + " --json").json()["configuration"]["loss_rows"].get<bool>());
    for (const std::string flag : {" --loss-rows on", " --partition"}) {
        const Outcome whole = gnnplan(training + flag);
        EXPECT_EQ(whole.code, 64) << flag;
        EXPECT_THAT(whole.err, HasSubstr("the whole graph")) << flag;
    }
    const Outcome by_need = run_program(GNNRUN_TOOL, plan + " --in-process --load sharded --data " + graph);
    EXPECT_EQ(by_need.code, 64);
    EXPECT_THAT(by_need.err, AllOf(HasSubstr("--load sharded"), HasSubstr("--loss-rows off")));

    const std::string edges = folder / "edges.txt";
    write_text(edges, "0 1\n1 2\n2 3\n3 0\n");
    ASSERT_EQ(
        gnnplan("plan --task infer --features 4 --classes 2 --hidden 3 --ranks 3 --graph " + edges + " -o " + plan)
            .code,
        0);
    const std::string command = plan + " --in-process --data " + edges;
    EXPECT_EQ(run_program(GNNRUN_TOOL, command).code, 0);
    write_text(edges, "0 1\n1 2\n2 3\n3 1\n");
    const Outcome other = run_program(GNNRUN_TOOL, command);
    EXPECT_EQ(other.code, 78);
    EXPECT_THAT(other.err, HasSubstr("the fingerprint"));
    write_text(edges, "0 1\n1 2\n2 3\n3 0\n4 0\n");
    EXPECT_EQ(run_program(GNNRUN_TOOL, command).code, 78);
    write_text(edges, "0 1\n1 2\n2 x\n3 0\n");
    const Outcome broken = run_program(GNNRUN_TOOL, command);
    EXPECT_EQ(broken.code, 65);
    EXPECT_THAT(broken.err, HasSubstr("edges.txt:3"));
}

// Whatever else the data has, a plan for another number of vertices is of another graph.
TEST_F(Sharded, ComparesVerticesBeforeFeatures) {
    const std::string sizes =
        "plan --vertices 400 --nonzeros 9000 --features 8 --classes 3 --hidden 3 --ranks 2 -o " + plan;
    const std::string npz = folder / "graph.npz";
    ASSERT_EQ(gnnplan("graph generate planted --classes 3 --vertices 300 --nonzeros 9000 --features 8 -o " + npz).code,
              0);
    for (const std::string task : {" --task infer", " --load sharded"}) {
        ASSERT_EQ(gnnplan(sizes + task).code, 0);
        for (const std::string& data : {graph, npz}) {
            const Outcome larger = run_program(GNNRUN_TOOL, plan + " --in-process --data " + data);
            EXPECT_EQ(larger.code, 78) << task << " " << data;
            EXPECT_THAT(larger.err, HasSubstr("the plan's graph has 400 vertices, the data has 300"));
        }
    }
}

}  // namespace
}  // namespace gnnplan::testing
