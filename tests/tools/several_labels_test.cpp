// Data whose vertices have several labels: what plan makes of it, how runs are judged, and what is refused.
#include "tests/support/test_files.hpp"
#include "tests/tools/inference.hpp"

#include <limits>

namespace gnnplan::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class SeveralLabels : public ::testing::Test {
protected:
    using Array = data::files::Array;
    using I64 = std::int64_t;
    static constexpr I64 vertices = 60, labels = 3;

    // A ring; vertex v has label j where bit j of v is set, which its features say. Vertices are trained, validated and
    // tested in turn. In the set `plain` no vertex has a label, in `unknown` all of them are unknown.
    std::string write(const std::string& name, bool masked, I64 plain = -1, I64 unknowns = -1) const {
        std::vector<I64> ends;
        for (I64 v = 0; v < vertices; ++v) ends.push_back(v);
        for (I64 v = 0; v < vertices; ++v) ends.push_back((v + 1) % vertices);
        std::vector<float> x, y;
        std::string masks[3];
        for (I64 v = 0; v < vertices; ++v) {
            for (I64 j = 0; j < labels; ++j) {
                const bool has = (v >> j & 1) != 0;
                const bool unknown = (masked && (v + j) % 5 == 0) || v % 3 == unknowns;
                x.push_back(has ? 1.0F : -1.0F);
                y.push_back(unknown ? std::numeric_limits<float>::quiet_NaN() : has && v % 3 != plain ? 1.0F : 0.0F);
            }
            for (I64 s = 0; s < 3; ++s) masks[s] += v % 3 == s ? '\1' : '\0';
        }
        std::vector<Array> arrays{{"edge_index", "<i8", {2, vertices}, data::files::bytes_of(ends)},
                                  {"x", "<f4", {vertices, labels}, data::files::bytes_of(x)},
                                  {"y", "<f4", {vertices, labels}, data::files::bytes_of(y)}};
        for (I64 s = 0; s < 3; ++s)
            arrays.push_back(
                {std::vector<std::string>{"train", "val", "test"}[s] + "_mask", "|b1", {vertices}, masks[s]});
        const std::filesystem::path path = folder.path() / name;
        std::filesystem::rename(data::files::write_npz(folder, arrays), path);
        return path;
    }
    Outcome make_plan(const std::string& graph, const std::string& flags = "") const {
        return gnnplan("plan --model sage --machine cpu-node --graph " + graph + " -o " + plan + " " + flags);
    }
    Outcome run(const std::string& graph, const std::string& flags) const {
        return run_program(GNNRUN_TOOL, plan + " --in-process --threads 1 --data " + graph + " " + flags);
    }
    Json reported(const std::string& graph, const std::string& flags) const {
        const Outcome ran = run(graph, "--report " + report + " " + flags);
        EXPECT_EQ(ran.code, 0) << ran.err;
        return Json::parse(read_text(report));
    }

    const data::files::TempFolder folder;
    const std::string plan = folder / "plan.json", report = folder / "report.json";
    const std::string all = write("all.npz", false), some = write("some.npz", true);
};

TEST_F(SeveralLabels, AreFoundInTheDataAndLearnt) {
    for (const std::string& graph : {all, some}) {
        const Outcome planned = make_plan(graph, "--rocauc --ranks 2");
        ASSERT_EQ(planned.code, 0) << planned.err;
        EXPECT_THAT(planned.out, HasSubstr(graph == all ? "several labels a vertex ranked by ROC-AUC"
                                                        : "several labels a vertex (not all known) ranked by ROC-AUC"));
        EXPECT_THAT(gnnplan("graph info " + graph).out,
                    HasSubstr("classes      3, of which a vertex may have several"));
        const Json model = Json::parse(read_text(plan))["problem"]["model"];
        EXPECT_EQ(model["loss"], graph == all ? "sigmoid" : "masked_sigmoid");
        EXPECT_EQ(model["rocauc"], true);
        const Json found = reported(graph, "--epochs 150 --lr 0.05 --eval-every 50");
        for (const char* key : {"train_f1", "valid_f1", "test_f1", "valid_rocauc", "test_rocauc"})
            EXPECT_GT(found["epochs"].back()[key], 0.95) << graph << " " << key;
        EXPECT_TRUE(found["epochs"].back()["valid_accuracy"].is_null());
        EXPECT_EQ(found["settings"]["best_by"], "rocauc");
        for (const char* phase : {"steps", "evaluation"}) {
            for (const Json& step : found[phase])
                EXPECT_EQ(step["counted_bytes_by_rank"], step["predicted_bytes_by_rank"]) << step["name"];
        }
        EXPECT_EQ(found["measured"]["peak_bytes_per_rank"], found["predicted"]["peak_bytes_per_rank"]);
    }
}

// Where there are two classes, vertices without either are not ranked.
TEST_F(SeveralLabels, TwoClassesAreRanked) {
    const std::string graph = folder / "graph.npz";
    ASSERT_EQ(gnnplan("graph generate planted --vertices 90 --nonzeros 400 --features 5 --classes 2 -o " + graph).code,
              0);
    Json before;
    for (const char* ranks : {"", "--ranks 2", "--ranks 4 --grid 2x2", "--ranks 3 --loss-rows on"}) {
        const Outcome planned = make_plan(graph, std::string("--rocauc ") + ranks);
        ASSERT_EQ(planned.code, 0) << planned.err;
        const Json found = reported(graph, "--epochs 5 --eval-every 5");
        const Json& epoch = found["epochs"].back();
        EXPECT_TRUE(epoch["valid_accuracy"].is_number() && epoch["valid_rocauc"].is_number());
        EXPECT_TRUE(before.is_null() || epoch["test_rocauc"] == before) << ranks;
        before = epoch["test_rocauc"];
        EXPECT_EQ(found["settings"]["best_by"], "rocauc");
        EXPECT_EQ(found["measured"]["peak_bytes_per_rank"], found["predicted"]["peak_bytes_per_rank"]);
        for (const Json& step : found["evaluation"])
            EXPECT_EQ(step["counted_bytes_by_rank"], step["predicted_bytes_by_rank"]) << step["name"];
    }
}

TEST_F(SeveralLabels, JudgeTheBestEpochAndRuns) {
    ASSERT_EQ(make_plan(all).code, 0);
    const std::string flags = "--epochs 12 --eval-every 2 --lr 0.05 ";
    const Json kept = reported(all, flags + "--keep-best");
    double best = 0;
    for (const Json& epoch : kept["epochs"]) best = std::max(best, epoch.value("valid_f1", 0.0));
    EXPECT_EQ(kept["epochs"][kept["best_epoch"].get<int>() - 1]["valid_f1"], best);
    const Json runs = reported(all, flags + "--runs 3");
    EXPECT_EQ(runs["runs"].size(), 3U);
    EXPECT_TRUE(runs["f1_of_runs"]["valid"].contains("deviation"));
    EXPECT_FALSE(runs.contains("accuracies_of_runs"));
    EXPECT_THAT(run(all, flags + "--runs 2").out, HasSubstr("valid f1"));
    for (const auto& [by, message] : {std::pair("accuracy", "find no accuracy (several labels have f1)"),
                                      std::pair("rocauc", "find no rocauc (plan with --rocauc)")}) {
        const Outcome refused = run(all, flags + "--keep-best --best-by " + by);
        EXPECT_EQ(refused.code, 78) << refused.err;
        EXPECT_THAT(refused.err, HasSubstr(message));
    }
}

TEST_F(SeveralLabels, ResumedRunsAreTheSame) {
    ASSERT_EQ(make_plan(some, "--rocauc").code, 0);
    const std::string checkpoints = folder / "checkpoints", flags = "--eval-every 1 --keep-best ";
    const Json whole = reported(some, flags + "--epochs 8");
    reported(some, flags + "--epochs 5 --checkpoint-every 5 --checkpoint " + checkpoints);
    const Json resumed = reported(some, flags + "--epochs 8 --resume " + checkpoints);
    ASSERT_EQ(resumed["epochs"].size(), 8U);
    for (std::size_t e = 0; e < 8; ++e) {
        for (const char* key : {"loss", "valid_loss", "train_f1", "test_f1", "train_rocauc", "valid_rocauc"})
            EXPECT_EQ(resumed["epochs"][e][key], whole["epochs"][e][key]) << e << " " << key;
    }
    EXPECT_EQ(resumed["best_epoch"], whole["best_epoch"]);
}

TEST_F(SeveralLabels, AreScoredByInference) {
    ASSERT_EQ(make_plan(some).code, 0);
    const std::string weights = folder / "w.safetensors";
    const Json trained = reported(some, "--epochs 20 --lr 0.05 --save-weights " + weights);
    ASSERT_EQ(make_plan(some, "--task infer --ranks 3").code, 0);
    const Json inferred = reported(some, "--load-weights " + weights);
    for (const char* set : {"train", "valid", "test"})
        EXPECT_EQ(inferred["f1"][set], trained["epochs"].back()[std::string(set) + "_f1"]);
    EXPECT_FALSE(inferred.contains("accuracies"));
    EXPECT_THAT(run(some, "--load-weights " + weights).out, HasSubstr("f1          train "));
}

TEST_F(SeveralLabels, AreNotNeededForInference) {
    const std::string untrained = write("untrained.npz", true, -1, 0);
    const std::string message = "no vertex of the train set has a label that is known";
    EXPECT_THAT(make_plan(untrained).err, HasSubstr(message));
    const Outcome planned = make_plan(untrained, "--task infer");
    EXPECT_EQ(planned.code, 0) << planned.err;
    for (const char* flag : {"--rocauc", "--loss sigmoid"}) {
        const Outcome refused = make_plan(some, std::string("--task infer ") + flag);
        EXPECT_EQ(refused.code, 64);
        EXPECT_THAT(refused.err, HasSubstr("is of training, and this is inference"));
    }
}

TEST_F(SeveralLabels, NeedBothKindsWhereTheAreaJudges) {
    const std::string plain = write("plain.npz", false, 1);
    ASSERT_EQ(make_plan(plain, "--rocauc").code, 0);
    EXPECT_TRUE(reported(plain, "--epochs 2")["epochs"].back()["valid_rocauc"].is_null());
    for (const char* flag : {"--keep-best", "--patience 3"}) {
        const Outcome refused = run(plain, std::string("--epochs 2 --eval-every 1 ") + flag);
        EXPECT_EQ(refused.code, 78) << refused.err;
        EXPECT_THAT(refused.err, HasSubstr("so they have no ROC-AUC (judge by another score"));
        EXPECT_EQ(run(plain, std::string("--epochs 2 --eval-every 1 --best-by f1 ") + flag).code, 0);
    }
}

TEST_F(SeveralLabels, ResumedRunsSayWhichScoreJudged) {
    ASSERT_EQ(make_plan(all, "--rocauc").code, 0);
    const std::string checkpoints = " --checkpoint " + (folder / "c") + " --keep-best --eval-every 1 ";
    ASSERT_EQ(run(all, "--epochs 3" + checkpoints).code, 0);
    const Outcome resumed = run(all, "--epochs 6 --best-by f1 --resume auto" + checkpoints);
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_THAT(resumed.err, HasSubstr("--best-by was rocauc up to epoch 3, and is f1 from here on; the weights that "
                                       "--keep-best keeps are the best of later epochs"));
    EXPECT_THAT(resumed.out, HasSubstr("  f1 train "));
    EXPECT_THAT(resumed.out, HasSubstr("  rocauc train "));
}

TEST_F(SeveralLabels, AreDifferencesBetweenPlans) {
    ASSERT_EQ(make_plan(all, "--rocauc").code, 0);
    const std::string other = folder / "other.json";
    std::filesystem::copy_file(plan, other);
    ASSERT_EQ(make_plan(all, "--loss masked-sigmoid").code, 0);
    const std::string found = gnnplan("compare " + other + " " + plan).out;
    EXPECT_THAT(found, HasSubstr("several labels a vertex ranked by ROC-AUC against sage"));
    EXPECT_THAT(found, HasSubstr("(not all known)"));
}

TEST_F(SeveralLabels, OtherLossesAreRefused) {
    const auto refused = [&](const std::string& flags, const std::string& message) {
        const Outcome outcome = gnnplan("plan " + flags + " --machine cpu-node");
        EXPECT_EQ(outcome.code, 64) << flags;
        EXPECT_THAT(outcome.err, HasSubstr(message)) << flags;
    };
    refused("--graph " + all + " --loss softmax", "--loss: the data has several labels for each vertex");
    refused("--graph " + some + " --loss sigmoid", "several labels for each vertex, not all of which are known");
    refused("--graph cora --rocauc",
            "--rocauc: the area under the ROC curve is of several labels for a vertex, or of two classes");
    EXPECT_EQ(gnnplan("plan --graph cora --loss sigmoid --rocauc --machine cpu-node").code, 0);
    EXPECT_EQ(gnnplan("plan --graph yelp --rocauc --ranks 4 --machine cpu-node").code, 0);
    EXPECT_THAT(gnnplan("plan --graph yelp --rocauc --ranks 4 --machine a6000x8").err,
                HasSubstr("finds ROC-AUC on CPUs alone"));
    EXPECT_EQ(gnnplan("plan --graph " + all + " --loss masked-sigmoid --machine cpu-node").code, 0);
}

TEST_F(SeveralLabels, PlansAreForTheDataThatTheySay) {
    const std::string sizes =
        "plan --model sage --vertices 60 --nonzeros 60 --widths 3,8,3 --machine cpu-node -o " + plan;
    ASSERT_EQ(gnnplan(sizes).code, 0);
    Outcome refused = run(all, "--epochs 2");
    EXPECT_EQ(refused.code, 78);
    EXPECT_THAT(refused.err, HasSubstr("the plan is for one class for each vertex, the data has several labels"));
    EXPECT_THAT(refused.err, HasSubstr("--loss sigmoid"));
    ASSERT_EQ(gnnplan(sizes + " --loss sigmoid").code, 0);
    EXPECT_EQ(run(all, "--epochs 2").code, 0);
    refused = run(some, "--epochs 2");
    EXPECT_EQ(refused.code, 78);
    EXPECT_THAT(refused.err, HasSubstr("labels that are not known"));
    EXPECT_THAT(refused.err, HasSubstr("--loss masked-sigmoid"));
    ASSERT_EQ(gnnplan(sizes + " --loss masked-sigmoid").code, 0);
    EXPECT_EQ(run(some, "--epochs 2").code, 0);
    EXPECT_EQ(run(all, "--epochs 2").code, 0) << "all are known";
}

TEST_F(SeveralLabels, AreGeneratedWhereAskedFor) {
    const std::string edges = folder / "edges.txt";
    data::files::write_bytes(edges, "0 1\n1 2\n2 3\n3 4\n4 0\n");
    const std::string flags = "--features 4 --classes 3 --loss sigmoid";
    const Outcome planned = make_plan(edges, flags);
    ASSERT_EQ(planned.code, 0) << planned.err;
    EXPECT_THAT(planned.err + planned.out, HasSubstr("3 labels a vertex"));
    EXPECT_TRUE(reported(edges, "--epochs 2")["epochs"].back().contains("train_f1"));
}

}  // namespace
}  // namespace gnnplan::testing
