// --save-layers, what goes on from there, and the other files of an inference.
#include "tests/tools/inference.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace gnnplan::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class Layers : public Inference {
protected:
    const std::string layers = folder / "layers", out = folder / "out.npy";

    std::string plan(const std::string& flags) const {
        std::string path = folder / "infer.json";
        const Outcome planned =
            gnnplan("plan --task infer --graph " + graph + " --layers 3 --hidden 12 " + flags + " -o " + path);
        EXPECT_EQ(planned.code, 0) << planned.err;
        return path;
    }
    Outcome run(const std::string& path, const std::string& flags) const {
        return run_program(GNNRUN_TOOL,
                           path + " --data " + graph + " --in-process --load-weights " + weights + " " + flags);
    }
    std::string layer(int number) const { return layers + "/layer-" + std::to_string(number) + ".npy"; }
    void train3(const std::string& model) { train("--layers 3 " + model); }
};

// A pass that ended after layer 1 or 2 goes on there, on other ranks and another grid, and makes the same.
TEST_F(Layers, AreWhereAPassGoesOn) {
    for (const std::string model : {"--model gcn", "--model gat --heads 4 --residual", "--model sage --aggregator max",
                                    "--model gin", "--model agnn"}) {
        SCOPED_TRACE(model);
        fs::remove_all(layers);
        train3(model);
        const std::vector<float> trained = read_npy(folder / "trained.npy");
        const Outcome whole = run(plan(model + " --ranks 4 --grid 2x2"), "--save-layers " + layers);
        ASSERT_EQ(whole.code, 0) << whole.err;
        EXPECT_THAT(whole.out, HasSubstr("written     " + layer(1)));
        EXPECT_TRUE(near(read_npy(layer(3)), trained));
        for (const int kept : {2, 1}) {
            for (const std::string grid :
                 {"--ranks 1", "--ranks 6 --grid 3x2 --permute on --exchange rows", "--ranks 2 --grid 1x2"}) {
                for (int gone = kept + 1; gone <= 3; ++gone) fs::remove(layer(gone));
                const std::string report = folder / "report.json";
                const Outcome rest = run(plan(fmt::format("{} {}", model, grid)),
                                         "--resume " + layers + " --save-embeddings " + out + " --report " + report);
                ASSERT_EQ(rest.code, 0) << rest.err;
                EXPECT_THAT(rest.err, HasSubstr("going on after layer " + std::to_string(kept)));
                EXPECT_THAT(rest.out, AllOf(HasSubstr("resumed     after layer"), HasSubstr("equal to the byte"),
                                            Not(HasSubstr("NOT"))));
                EXPECT_TRUE(near(read_npy(out), trained)) << grid;
                EXPECT_TRUE(near(read_npy(layer(3)), trained)) << grid;
                const auto json = nlohmann::ordered_json::parse(read_text(report));
                EXPECT_EQ(json["resumed_after"], kept);
                for (const auto& step : json["steps"]) EXPECT_GT(step["origin"]["layer"], kept);
                EXPECT_EQ(json["written"].size(), 3U - static_cast<std::size_t>(kept) + 1U);
            }
        }
    }
}

TEST_F(Layers, AllThereLeaveNothingToCompute) {
    train3("--model gcn");
    const std::string path = plan("--ranks 2 --fanout 4");
    EXPECT_EQ(run(path, "--save-layers " + layers + " --resume auto --save-embeddings " + out).code, 0);
    const std::string first = read_text(out);
    const Outcome again = run(path, "--save-layers " + layers + " --resume auto --save-embeddings " + out);
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(again.out, HasSubstr("all layers were there"));
    EXPECT_EQ(read_text(out), first);
}

// Whenever the pass is killed, what it left is whole layers.
TEST_F(Layers, SurviveAKill) {
    const std::string big = folder / "big", train = folder / "train.json", path = folder / "infer.json";
    ASSERT_EQ(
        gnnplan("graph generate planted --classes 3 --vertices 20000 --nonzeros 400000 --features 32 -o " + big).code,
        0);
    ASSERT_EQ(gnnplan("plan --graph " + big + " --layers 3 --hidden 12 --ranks 1 -o " + train).code, 0);
    ASSERT_EQ(run_program(GNNRUN_TOOL, train + " --data " + big + " --epochs 2 --save-weights " + weights +
                                           " --save-embeddings " + out)
                  .code,
              0);
    ASSERT_EQ(gnnplan("plan --task infer --graph " + big + " --layers 3 --hidden 12 --ranks 2 -o " + path).code, 0);
    const std::string command = path + " --data " + big + " --in-process --load-weights " + weights;
    for (const int after : {1, 2}) {
        fs::remove_all(layers);
        const Outcome killed =
            run_program("/bin/sh", std::string("-c '") + GNNRUN_TOOL + " " + command + " --save-layers " + layers +
                                       " & run=$!; while [ ! -e " + layer(after) +
                                       " ]; do kill -0 $run || break; done; kill -9 $run; wait $run'");
        const Outcome rest =
            run_program(GNNRUN_TOOL, command + " --resume " + layers + " --save-embeddings " + (folder / "rest.npy"));
        ASSERT_EQ(rest.code, 0) << rest.err << killed.err;
        EXPECT_TRUE(near(read_npy(folder / "rest.npy"), read_npy(out)));
    }
}

TEST_F(Layers, AreRefusedWithASentence) {
    train3("--model gcn");
    const std::string path = plan("--ranks 2");
    const auto refused = [&](const std::string& flags, int code, const std::string& message) {
        const Outcome outcome = run(path, flags);
        EXPECT_EQ(outcome.code, code) << flags << "\n" << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr(message)) << flags;
    };
    refused("--resume " + layers, 66, "holds no layers of an earlier pass");
    refused("--resume auto", 64, "--save-layers");
    refused("--resume " + layers + " --save-layers elsewhere", 64, "goes on in the folder that it saves");
    ASSERT_EQ(run(path, "--save-layers " + layers).code, 0);
    refused("--save-layers " + layers, 64, "holds layers of an earlier pass");
    const std::string resume = "--resume " + layers;
    refused(resume + " --feature-norm row", 78, "--feature-norm was none");
    const std::string text = read_text(layer(3));
    write_text(layer(3), text.substr(0, text.size() - 100));
    refused(resume, 65, "bytes, where");
    write_text(layer(3), "torn" + text.substr(4));
    refused(resume, 65, "is no .npy of 300 x 3 floats");
    fs::remove(layer(3));
    EXPECT_EQ(run(path, resume).code, 0);
    ASSERT_EQ(
        run_program(GNNRUN_TOOL, (folder / "train.json") + " --data " + graph + " --epochs 3 --save-weights " + weights)
            .code,
        0);
    refused(resume, 78, "the weights: ");
    refused("--save-layers " + (folder / "S") + " --save-embeddings " + (folder / "S/"), 64,
            "is the folder of the layers");
    fs::create_directories(folder / "odd/layers.json");
    refused("--save-layers " + (folder / "odd"), 65, "layers.json: is no regular file");
    write_text(layers + "/layers.json", "{}");
    refused(resume, 65, "does not say what layers were computed from");
    const Outcome jumps = run(plan("--ranks 2 --jk concat"), "--save-layers " + (folder / "others"));
    EXPECT_EQ(jumps.code, 69);
    EXPECT_THAT(jumps.err, HasSubstr("layer 1 hands on 2 matrices, and is saved as one"));
    EXPECT_EQ(run(plan("--ranks 2 --residual sums"), "--save-layers " + (folder / "others")).code, 69);
    const Outcome training = run_program(
        GNNRUN_TOOL, (folder / "train.json") + " --data " + graph + " --save-layers " + (folder / "others"));
    EXPECT_EQ(training.code, 64);
    EXPECT_THAT(training.err, HasSubstr("is of inference, and this is training"));
}

// The disk is looked at before the data is.
TEST_F(Layers, NeedRoomOnTheDisk) {
    train3("--model gcn");
    const std::string path = plan("--ranks 2");
    setenv("GNNPLAN_DISK_FREE", "20000", 1);
    const Outcome refused = run(path, "--save-layers " + layers + " --save-embeddings " + out);
    const Outcome small = run(path, "--save-embeddings " + out);
    unsetenv("GNNPLAN_DISK_FREE");
    EXPECT_EQ(refused.code, 73);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("are to be written, and"), HasSubstr("are free on the disk")));
    EXPECT_EQ(small.code, 0) << small.err;
}

// A link stays one; what ranks cannot write together is refused before the pass.
TEST_F(Layers, EmbeddingsBehindALink) {
    train3("--model gcn");
    const std::string path = plan("--ranks 2"), link = folder / "link.npy";
    fs::create_symlink(out, link);
    write_text(out, "");
    ASSERT_EQ(run(path, "--save-embeddings " + link).code, 0);
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_TRUE(near(read_npy(out), read_npy(folder / "trained.npy")));
    const Outcome refused = run(path, "--save-embeddings /dev/full");
    EXPECT_EQ(refused.code, 73);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("is no regular file"), Not(HasSubstr("nonzeros"))));
}

TEST_F(Layers, EmbeddingsBehindALinkToNothing) {
    train3("--model gcn");
    const std::string link = folder / "dangling.npy";
    fs::create_symlink(out, link);
    ASSERT_EQ(run(plan("--ranks 2"), "--save-embeddings " + link).code, 0);
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_TRUE(near(read_npy(out), read_npy(folder / "trained.npy")));
}

// Leftovers of a killed run are removed: of a file that ranks write together, and in a folder without an index.
TEST_F(Layers, LeftoversOfAKilledRunGo) {
    train3("--model gcn");
    const std::string path = plan("--ranks 2"), parts = folder / "parts";
    write_text(out + ".tmp-1-0", "of process 1, which lives");
    ASSERT_EQ(run(path, "--save-embeddings " + out).code, 0);
    EXPECT_FALSE(fs::exists(out + ".tmp-1-0"));
    fs::create_directories(parts);
    for (const std::string name : {"part-00000.npy", "vertices-00001.npy", "part-00001.npy.tmp-1-0"})
        write_text(fmt::format("{}/{}", parts, name), "left");
    ASSERT_EQ(run(path, "--save-embeddings " + parts + "/").code, 0);
    EXPECT_EQ(std::distance(fs::directory_iterator(parts), fs::directory_iterator()), 5) << "two ranks, and the index";
    fs::remove(parts + "/index.json");
    write_text(parts + "/notes.txt", "of a user");
    EXPECT_EQ(run(path, "--save-embeddings " + parts).code, 64);
    EXPECT_TRUE(fs::exists(parts + "/part-00000.npy"));
    fs::create_directories(layers);
    for (const std::string name : {"layer-2.npy.tmp-1-0", "layers.json.tmp-1-0"})
        write_text(layers + "/" + name, "left");
    ASSERT_EQ(run(path, "--save-layers " + layers).code, 0);
    EXPECT_EQ(std::distance(fs::directory_iterator(layers), fs::directory_iterator()), 4) << "three and layers.json";
}

// A folder that was made for a run that then could not begin is removed.
TEST_F(Layers, ARunThatDoesNotBeginLeavesNoFolder) {
    train3("--model gcn");
    const std::string path = plan("--ranks 2");
    const std::string command = path + " --data " + (folder / "none") + " --in-process --load-weights " + weights;
    EXPECT_EQ(run_program(GNNRUN_TOOL, command + " --save-embeddings " + (folder / "new/")).code, 66);
    EXPECT_EQ(run_program(GNNRUN_TOOL, command + " --save-layers " + (folder / "new")).code, 66);
    EXPECT_FALSE(fs::exists(folder / "new"));
}

// Sums beyond the range of fp32 are reported, and written in no form, on any number of ranks.
TEST_F(Layers, ValuesThatAreNotFiniteAreNotHandedOut) {
    const std::string edges = folder / "edges.csv", path = folder / "infer.json", report = folder / "report.json";
    const std::string flags =
        "--graph " + edges +
        " --edge-weights --features 6 --classes 3 --layers 3 --hidden 8 --model sage --aggregator sum ";
    std::string lines = "0,1,1\n1,0,1\n";
    for (int v = 2; v < 40; ++v) {
        lines += fmt::format("{0},{1},1\n{1},{0},1\n", v, v - 1);
    }
    write_text(edges, lines);
    ASSERT_EQ(gnnplan("plan " + flags + "-o " + path).code, 0);
    ASSERT_EQ(run_program(GNNRUN_TOOL, path + " --data " + edges + " --epochs 2 --save-weights " + weights).code, 0);
    for (const int to : {20, 21, 22}) lines += fmt::format("7,{0},3e38\n{0},7,3e38\n", to);
    write_text(edges, lines);
    // The order of products decides in which layer a sum is too large first.
    for (const std::string grid : {"--ranks 1", "--ranks 4 --grid 2x2 --permute on", "--ranks 3 --grid 3x1"}) {
        SCOPED_TRACE(grid);
        ASSERT_EQ(gnnplan(fmt::format("plan --task infer {}{} -o {}", flags, grid, path)).code, 0);
        const auto refused = [&](const std::string& outputs) {
            const Outcome outcome =
                run_program(GNNRUN_TOOL, fmt::format("{} --data {} --in-process --load-weights {} --report {} {}", path,
                                                     edges, weights, report, outputs));
            EXPECT_EQ(outcome.code, 1) << outputs << outcome.err;
            EXPECT_THAT(outcome.err,
                        AllOf(HasSubstr("of the values are not finite, of "), HasSubstr("the first of them vertex "),
                              HasSubstr("the weights of edges, the features, the weights of")));
            auto found = nlohmann::ordered_json::parse(read_text(report))["not_finite"];
            EXPECT_GT(found["values"], 0);
            return found;
        };
        write_text(out, "as it was");
        const auto found = refused("--save-embeddings " + out);
        EXPECT_EQ(read_text(out), "as it was");
        EXPECT_EQ(found["layer"], 3);
        EXPECT_EQ(refused("--save-embeddings " + (folder / "parts/")), found);
        EXPECT_FALSE(fs::exists(folder / "parts"));
        const auto of_layer = refused("--save-layers " + layers);
        EXPECT_LT(of_layer["layer"], 3);
        EXPECT_FALSE(fs::exists(layer(of_layer["layer"])));
        EXPECT_EQ(nlohmann::json::parse(read_text(report))["ending"], "diverged");
        fs::remove_all(layers);
    }
}

// A file for each rank, and whose rows they are.
TEST_F(Layers, EmbeddingsInAFolder) {
    train3("--model gcn");
    const std::vector<float> trained = read_npy(folder / "trained.npy");
    const std::string parts = folder / "parts";
    for (const std::string grid : {"--ranks 3 --grid 3x1 --permute on", "--ranks 4 --grid 2x2", "--ranks 1"}) {
        fs::remove_all(parts);
        const Outcome outcome = run(plan(grid), "--save-embeddings " + parts + "/");
        ASSERT_EQ(outcome.code, 0) << outcome.err;
        const auto index = nlohmann::ordered_json::parse(read_text(parts + "/index.json"));
        EXPECT_EQ(index["schema"], "gnnplan.embeddings/1");
        std::vector<float> all(trained.size(), -1);
        for (const auto& part : index["parts"]) {
            const std::vector<float> values = read_npy(parts + "/" + part["values"].get<std::string>());
            const std::string text = read_text(parts + "/" + part["vertices"].get<std::string>());
            std::vector<std::int64_t> vertices(part["rows"].get<std::size_t>());
            std::memcpy(vertices.data(), text.data() + text.find('\n') + 1, vertices.size() * sizeof(std::int64_t));
            for (std::size_t i = 0; i < vertices.size(); ++i) {
                for (std::size_t j = 0; j < 3; ++j)
                    all.at(static_cast<std::size_t>(vertices[i]) * 3 + j) = values.at(i * 3 + j);
            }
        }
        EXPECT_TRUE(near(all, trained)) << grid;
    }
    const Outcome refused = run(plan("--ranks 1"), "--save-embeddings " + parts);
    EXPECT_EQ(refused.code, 64);
    EXPECT_THAT(refused.err, HasSubstr("name another folder, or empty this one"));
}

// Layers with other values of the right size are refused on any grid; those of earlier builds have no hash.
TEST_F(Layers, AreThoseThatWereWritten) {
    train3("--model gcn");
    ASSERT_EQ(run(plan("--ranks 4 --grid 2x2"), "--save-layers " + layers).code, 0);
    fs::remove(layer(3));
    std::string text = read_text(layer(2));
    text.back() = static_cast<char>(text.back() ^ 1);
    ASSERT_NE(text, read_text(layer(2)));
    write_text(layer(2), text);
    for (const std::string grid : {"--ranks 1", "--ranks 3 --permute on", "--ranks 4 --grid 2x2"}) {
        const Outcome refused = run(plan(grid), "--resume " + layers);
        EXPECT_EQ(refused.code, 65) << refused.err;
        EXPECT_THAT(refused.err,
                    HasSubstr("layer-2.npy: its values are not those that were written (remove it to go on"));
    }
    auto index = nlohmann::ordered_json::parse(read_text(layers + "/layers.json"));
    EXPECT_EQ(index["hashes"].size(), 3U);
    index.erase("hashes");
    write_text(layers + "/layers.json", index.dump());
    EXPECT_EQ(run(plan("--ranks 1"), "--resume " + layers).code, 0);
    index = nlohmann::ordered_json::parse(read_text(layers + "/layers.json"));
    EXPECT_EQ(index["hashes"].size(), 1U);
}

// A signal ends a pass between two steps; the test runs the command that is printed as it is.
TEST_F(Layers, AnInterruptedPassGoesOn) {
    const std::string big = folder / "big", train = folder / "train.json", path = folder / "infer.json";
    ASSERT_EQ(
        gnnplan("graph generate planted --classes 3 --vertices 20000 --nonzeros 400000 --features 32 -o " + big).code,
        0);
    ASSERT_EQ(gnnplan("plan --graph " + big + " --layers 5 --hidden 64 --ranks 1 -o " + train).code, 0);
    ASSERT_EQ(run_program(GNNRUN_TOOL, train + " --data " + big + " --epochs 2 --save-weights " + weights +
                                           " --save-embeddings " + (folder / "whole.npy"))
                  .code,
              0);
    ASSERT_EQ(gnnplan("plan --task infer --graph " + big + " --layers 5 --hidden 64 --ranks 2 -o " + path).code, 0);
    const std::string command = path + " --data " + big + " --in-process --load-weights " + weights +
                                " --save-embeddings " + out + " --report " + (folder / "report.json");
    const auto interrupted = [&](const std::string& flags, const std::string& when, const std::string& signal) {
        return run_program("/bin/sh", std::string("-c '") + GNNRUN_TOOL + " " + command + " " + flags +
                                          " & run=$!; while [ ! -e " + when +
                                          " ]; do kill -0 $run || break; done; kill -" + signal + " $run; wait $run'");
    };
    for (const std::string signal : {"TERM", "INT", "HUP", "USR1"}) {
        fs::remove_all(layers);
        const Outcome outcome =
            interrupted("--save-layers " + layers + " --trace " + (folder / "trace.json"), layer(1), signal);
        ASSERT_EQ(outcome.code, 75) << outcome.err;
        EXPECT_FALSE(fs::exists(out));
        EXPECT_THAT(outcome.out, HasSubstr("ended early: interrupted by SIG" + signal));
        EXPECT_EQ(nlohmann::json::parse(read_text(folder / "report.json"))["ending"], "interrupted");
        const std::string resume = "resume with: ";
        const std::size_t at = outcome.err.find(resume);
        ASSERT_NE(at, std::string::npos) << outcome.err;
        const std::string line =
            outcome.err.substr(at + resume.size(), outcome.err.find('\n', at) - at - resume.size());
        const Outcome rest = run_program("/bin/sh", "-c '" + line + "'");
        ASSERT_EQ(rest.code, 0) << rest.err;
        EXPECT_TRUE(near(read_npy(out), read_npy(folder / "whole.npy")));
        fs::remove(out);
    }
    // The signal comes at the end of loading, as nothing tells when loading begins.
    const Outcome unsaved = interrupted("--trace " + (folder / "trace.json"), big, "TERM");
    EXPECT_TRUE(unsaved.code == 75 || unsaved.code == 128 + 15) << "before it was ready to be told: " << unsaved.err;
    if (unsaved.code == 75) {
        EXPECT_THAT(unsaved.err, HasSubstr("nothing was saved: with --save-layers DIR a pass goes on"));
    }
}

// With all that looks at the steps of a pass.
TEST_F(Layers, LeaveReportsAndTracesWhole) {
    train3("--model gcn");
    const std::string path = plan("--ranks 2"), report = folder / "report.json", trace = folder / "trace.json";
    ASSERT_EQ(run(path, "--save-layers " + layers).code, 0);
    for (const int kept : {3, 2}) {
        if (kept == 2) fs::remove(layer(3));
        const Outcome rest = run(path, fmt::format("--resume {} --report {} --trace {}", layers, report, trace));
        ASSERT_EQ(rest.code, 0) << rest.err;
        const Outcome analysed = gnnplan("explain --analyze " + report);
        EXPECT_EQ(analysed.code, kept == 3 ? 65 : 0) << analysed.err;
        if (kept == 3) {
            EXPECT_THAT(analysed.err, HasSubstr("has no steps to analyse"));
        }
    }
    EXPECT_THAT(read_text(trace), AllOf(HasSubstr("forward.3."), Not(HasSubstr("forward.2."))));
}

// Earlier layers are not needed, and none of nobody knows what are read.
TEST_F(Layers, AreKnownAndOnlyTheLastIsRead) {
    train3("--model gcn");
    const std::string path = plan("--ranks 2");
    ASSERT_EQ(run(path, "--save-layers " + layers).code, 0);
    fs::remove(layer(1)), fs::remove(layer(3));
    EXPECT_THAT(run(path, "--resume " + layers).err, HasSubstr("going on after layer 2"));
    fs::remove(layers + "/layers.json");
    const Outcome unknown = run(path, "--save-layers " + layers);
    EXPECT_EQ(unknown.code, 65);
    EXPECT_THAT(unknown.err, HasSubstr("no layers.json that says what it was computed from"));
    fs::remove_all(layers);
    for (const std::string other : {"--report ", "--save-embeddings "}) {
        fs::create_directories(layers);
        const Outcome mixed = run(path, "--save-layers " + layers + " " + other + layer(3));
        EXPECT_EQ(mixed.code, 64) << other;
        EXPECT_THAT(mixed.err, HasSubstr("may be the name of a layer"));
    }
    EXPECT_EQ(run(path, "--save-layers " + graph).code, 64) << "the folder of the data";
}

}  // namespace
}  // namespace gnnplan::testing
