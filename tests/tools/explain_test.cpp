// gnnplan explain: the schedule adds up to the plan's own figures; runs are laid beside what was predicted.
#include "planner/io/fingerprint.hpp"
#include "planner/io/parse.hpp"
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace gnnplan::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

nlohmann::ordered_json explain(const std::string& plan_flags) {
    const Folder folder;
    const std::string file = folder / "plan.json";
    const Outcome planned =
        gnnplan("plan --vertices 103 --nonzeros 900 --ranks 4 --space paper -o " + file + " " + plan_flags);
    EXPECT_EQ(planned.code, 0) << planned.err;
    return gnnplan("explain --json " + file).json();
}

std::string orders(int number, int layers) {
    std::string letters;
    for (int bit = layers - 1; bit >= 0; --bit) letters += ((number >> bit) & 1) != 0 ? 'D' : 'S';
    return letters;
}

TEST(Explain, StepsAddUpToThePrediction) {
    const auto json = explain("--widths 9,6,5,3 --replication 2");
    double seconds = 0;
    std::int64_t bytes = 0;
    for (const auto& step : json["steps"]) {
        if (step["phase"] != "epoch") continue;
        seconds += step["predicted_seconds"].get<double>();
        bytes += step["total_bytes"].get<std::int64_t>();
        EXPECT_LE(step["max_rank_bytes"], step["total_bytes"]);
    }
    EXPECT_EQ(bytes, json["predicted"]["total_bytes"]);
    // The same numbers, added in the same order.
    EXPECT_EQ(seconds, json["predicted"]["epoch_seconds"]);
    EXPECT_EQ(json["memory"]["peak_bytes_per_rank"], json["predicted"]["peak_bytes_per_rank"]);
    EXPECT_FALSE(json["memory"]["largest_tensors"].empty());
}

// Work beyond the paper's units is exactly what the remarks name.
void check_remarks(const std::string& widths, int layers, int id) {
    const std::string pins = " --backward " + orders(id >> layers, layers) + " --forward " + orders(id, layers);
    const auto units = explain("--replication 4 --widths " + widths + pins)["units"];
    double named = 0;
    for (const auto& remark : units["differences"]) named += remark["redistribution"].get<double>();
    EXPECT_EQ(units["executed"]["redistribution"].get<double>(), units["paper"]["redistribution"].get<double>() + named)
        << "id " << id << " " << units.dump();
    EXPECT_EQ(units["executed"]["sparse"], units["paper"]["sparse"]) << "id " << id;
}

// Widths are multiples of 32, so that masks count whole units.
TEST(Explain, RemarksNameEveryMoveBeyondThePaperOfTwoLayers) {
    for (int id = 0; id < 16; ++id) check_remarks("96,64,32", 2, id);
}

// Ids that move a mask (12), wait with it, move an operand (36, 37, 44, 45).
TEST(Explain, RemarksNameEveryMoveBeyondThePaperOfThreeLayers) {
    for (const int id : {0, 12, 21, 36, 37, 44, 45, 51, 63}) check_remarks("96,64,64,32", 3, id);
}

TEST(Explain, MasksThatMoveAndMasksThatWait) {
    const auto differences = [](int id) {
        return explain("--replication 4 --widths 96,64,32 --backward " + orders(id >> 2, 2) + " --forward " +
                       orders(id, 2))["units"]["differences"];
    };
    EXPECT_TRUE(differences(0).empty());
    ASSERT_EQ(differences(6).size(), 1U);
    EXPECT_EQ(differences(6)[0]["redistribution"], 2);
    EXPECT_THAT(differences(6)[0]["step"].get<std::string>(), HasSubstr("mask.1"));
    ASSERT_EQ(differences(2).size(), 1U);
    EXPECT_EQ(differences(2)[0]["redistribution"], 0);
    EXPECT_THAT(differences(2)[0]["reason"].get<std::string>(), HasSubstr("anyway"));
}

TEST(Explain, WithoutReplicationNothingIsRedistributed) {
    const auto units = explain("--replication 1 --widths 9,6,3")["units"];
    EXPECT_EQ(units["executed"]["redistribution"], 0);
    EXPECT_THAT(units["differences"][0]["reason"].get<std::string>(), HasSubstr("R_A = 1"));
}

// A processor does an elementwise step while it makes the rows, and a GPU one after the other.
TEST(Explain, ElementwiseStepsWithinProducts) {
    const std::string flags = "--widths 9,6,3 --replication 1 --forward SD --backward SS --machine ";
    const auto within = [&](const std::string& machine) {
        std::map<std::string, std::string> found;
        const auto json = explain(flags + machine);
        for (const auto& step : json["steps"]) {
            if (!step["within"].is_null()) found[step["name"]] = step["within"].get<std::string>();
        }
        return found;
    };
    const std::map<std::string, std::string> expected{
        {"backward.1.mask", "backward.2.gemm"},
        {"evaluation.forward.1.activate", "evaluation.forward.1.gemm"},
        {"forward.1.activate", "forward.1.gemm"},
    };
    EXPECT_EQ(within("cpu-node"), expected);
    EXPECT_TRUE(within("a6000x8").empty());
    const Folder folder;
    const std::string file = folder / "plan.json";
    ASSERT_EQ(gnnplan("plan --vertices 103 --nonzeros 900 --ranks 4 -o " + file + " " + flags + "cpu-node").code, 0);
    EXPECT_THAT(gnnplan("explain " + file).out, HasSubstr("within backward.2.gemm"));
}

// Version 1 of plans did not say where steps come from; they are lowered again for it.
TEST(Explain, APlanOfVersion1HasItsLayers) {
    const Outcome outcome = gnnplan(std::string("explain --json ") + GNNPLAN_JSON_CORPUS + "/plan_version_1.json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    std::set<std::string> sections;
    const auto json = outcome.json();
    for (const auto& step : json["steps"]) sections.insert(step["section"].get<std::string>());
    for (const char* section :
         {"forward, layer 1", "forward, layer 2", "loss", "backward, layer 2", "backward, layer 1"})
        EXPECT_TRUE(sections.contains(section)) << section;
}

TEST(Explain, TreeForPeople) {
    const Folder folder;
    const std::string file = folder / "plan.json";
    ASSERT_EQ(gnnplan("plan --graph cora --ranks 4 -o " + file).code, 0);
    const Outcome outcome = gnnplan("explain " + file);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    for (const char* text : {"epoch\n", "  forward, layer 1\n", "  backward, layer 2\n", "evaluation, when asked\n",
                             "all_reduce.W1", "2708x128", "units    redistribution", "memory   peak", "runner-up  "}) {
        EXPECT_THAT(outcome.out, HasSubstr(text));
    }
}

TEST(Explain, OneCandidateHasNoRunnerUp) {
    const auto json = explain("--replication 4 --widths 9,6,3 --forward SD --backward SS");
    EXPECT_TRUE(json["runner_up"].is_null());
    const auto searched = explain("--widths 9,6,3");
    EXPECT_GE(searched["runner_up"]["epoch_seconds_ratio"], 1);
}

std::string planned(const Folder& folder, const std::string& flags) {
    const std::string file = folder / "plan.json";
    const Outcome outcome = gnnplan("plan " + flags + " -o " + file);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return file;
}

TEST(Explain, SaysWhatEachChoiceIsWorth) {
    const Folder folder;
    const std::string file = planned(folder, "--graph reddit --ranks 8 --machine a6000x8");
    const Outcome outcome = gnnplan("explain " + file);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    for (const char* text :
         {"Each choice and how much it is worth", "in layer 1", "transform first", "the best rdm", "a tie",
          "the defaults of PyG", "candidate 2 of 8 differs in", "\nsure     2d, 3d, transform first in layer 1"}) {
        EXPECT_THAT(outcome.out, HasSubstr(text));
    }
    EXPECT_LE(widest_line(outcome.out), 100U) << outcome.out;
    const auto alternatives = gnnplan("explain --json " + file).json()["alternatives"];
    ASSERT_FALSE(alternatives.empty());
    for (const auto& alternative : alternatives) {
        EXPECT_GE(alternative["more_seconds"].get<double>(), -1e-12) << alternative;
        EXPECT_EQ(alternative["tie"].get<bool>(), alternative["ratio"].get<double>() <= 1.25) << alternative;
    }
}

TEST(Explain, LinesFitATerminal) {
    const Folder folder;
    for (const char* flags : {"--graph ogbn-products --ranks 64 --machine dgx-a100", "--graph cora --ranks 1",
                              "--graph reddit --ranks 8 --layers 12 --machine a6000x8",
                              "--graph reddit --ranks 4 --scheme cut --machine a6000x8",
                              "--graph cora --ranks 4 --space paper --replication 2"}) {
        const std::string file = planned(folder, flags);
        for (const std::string how : {"", "--pytorch "}) {
            const Outcome outcome = gnnplan("explain " + how + file);
            ASSERT_EQ(outcome.code, 0) << outcome.err;
            EXPECT_LE(widest_line(outcome.out), 100U) << flags << " " << how << "\n" << outcome.out;
        }
    }
}

TEST(Explain, InTheWordsOfPyTorch) {
    const Folder folder;
    const std::string sizes = "--vertices 103 --nonzeros 900 --widths 9,6,3 --machine a6000x8 ";
    const auto program = [&](const std::string& flags) {
        return gnnplan("explain --pytorch " + planned(folder, sizes + flags)).out;
    };
    const std::string natural = program("--ranks 1 --forward SD");
    EXPECT_THAT(natural, HasSubstr("A @ X, before the first epoch. It needs features that never change"));
    EXPECT_THAT(natural, HasSubstr("z1 = self.aggregated(A, x) @ layers[1].weight  # A @ X is made once"));
    EXPECT_THAT(natural, HasSubstr("return A @ (h1 @ layers[2].weight)  # D: transform first"));
    const std::string own = program("--ranks 1 --forward SS --backward S-");
    EXPECT_THAT(own, HasSubstr("not what autograd does"));
    EXPECT_THAT(own, HasSubstr("return Product.apply(A, h1, layers[2].weight, \"S\", \"S\", \"T\")"));
    const std::string rows = program("--ranks 8 --scheme 1d --exchange panels --overlap off");
    for (const char* text : {"init_device_mesh(\"cuda\", (8,), mesh_dim_names=(\"x\",))", "[Shard(0)]", "[Replicate()]",
                             "all_gather_into_tensor", "all_reduce over all ranks", "torchrun --nproc-per-node 8"}) {
        EXPECT_THAT(rows, HasSubstr(text));
    }
    EXPECT_THAT(program("--ranks 8 --grid 2x4 --scheme rdm"), HasSubstr("all_to_all_single over y"));
    EXPECT_EQ(gnnplan("explain --pytorch --analyze run.json").code, 64);
}

// A line of the class for each thing that a model does, with the names that files of weights have.
TEST(Explain, EveryModelIsAPyTorchClass) {
    const Folder folder;
    const std::vector<std::pair<std::string, std::vector<std::string>>> models = {
        {"--bias --residual --dropout 0.5",
         {"x = F.dropout(x, self.input_dropout, self.training)", "\"1.residual.weight\": glorot(9, 6)",
          "h1 = drop(torch.relu(z1 + layers[1].bias))", "z2 = z2 + h1 @ layers[2].residual.weight"}},
        {"--jk concat --activation leaky_relu",
         {"jk = h1 @ layers[1].jk.weight", "h2 = drop(F.leaky_relu(z2))", "return jk + h2 @ layers[2].jk.weight"}},
        {"--jk last --bias", {"z2 = drop(torch.relu(z2 + layers[2].bias))", "z2 = z2 @ layers[2].jk.weight"}},
        {"--model sage", {"z1 = z1 + x @ layers[1].self.weight", "NORMALISATION = False, False, \"row_mean\""}},
        {"--model sage --loss-rows on --train-fraction 0.1 --aggregator max",
         {"A[2].maxima(h1) @ layers[2].neighbour.weight", "A[2].own(h1) @ layers[2].self.weight",
          "def forward(self, x, edge_index, rows=None)"}},
        {"--model sage --aggregator max",
         {"self.aggregated = Once(lambda A, x: A.maxima(x).detach())", "where M = maxima(A, X) is made once"}},
        {"--model sage --aggregator pool --bias", {"pool = torch.relu(pool + layers[2].pool.bias)", "A.maxima(pool)"}},
        {"--model gin --epsilon 0.5", {"ITSELF = 1.5", "z1 = torch.relu(z1)", "return z2 @ layers[2].mlp[1].weight"}},
        {"--model gin --epsilon train", {"\"2.epsilon\": torch.zeros(1)", "layers[2].epsilon * "}},
        {"--model gat --heads 2 --output-heads 3 --attention-dropout 0.5 --slope 0.1",
         {"glorot(6, 9)", "SLOPE = 0.1", "attention_dropout=0.5",
          "A.attend(h1 @ layers[2].weight, layers[2].attention, drop_edges, average=True)"}},
        {"--model agnn --bias",
         {"embedding = torch.relu(embedding + layers[1].embedding.bias)", "h1 = A.compare(embedding, layers[1].beta)",
          "layers[2].output.weight"}},
        {"--task infer --model sage --aggregator gcn --edge-weights",
         {"def forward(self, x, edge_index, edge_weight)", "required=True", "A @ "}},
    };
    write_text(folder / "edges.txt", "0 1 0.5\n1 2 2\n2 0 1\n0 2 0.25\n");
    for (const auto& [flags, lines] : models) {
        const bool weighted = flags.find("--edge-weights") != std::string::npos;
        const std::string graph = weighted
                                      ? "--graph " + (folder / "edges.txt") + " --features 9 --classes 3 --hidden 6 "
                                      : "--vertices 103 --nonzeros 900 --widths 9,6,3 ";
        const Outcome outcome = gnnplan("explain --pytorch " + planned(folder, graph + "--machine a6000x8 " + flags));
        ASSERT_EQ(outcome.code, 0) << flags << outcome.err;
        for (const std::string& line : lines) EXPECT_THAT(outcome.out, HasSubstr(line)) << flags;
        EXPECT_LE(widest_line(outcome.out), 100U) << outcome.out;
    }
}

// A plan's names of its graph and its split are text to the program, whatever they say.
TEST(Explain, AStrangersNamesAreNoCode) {
    const Folder folder;
    const std::string file = planned(folder, "--graph cora --ranks 2 --machine a6000x8");
    auto plan = nlohmann::ordered_json::parse(read_text(file));
    const auto explained = [&](const std::string& flags) {
        plan["fingerprints"]["content"] = io::content_fingerprint(io::parse(plan.dump(), file));
        write_text(file, plan.dump());
        return gnnplan("explain " + flags + file);
    };
    plan["problem"]["graph"]["split"] = "\"; import os";
    const Outcome program = explained("--pytorch ");
    ASSERT_EQ(program.code, 0) << program.err;
    EXPECT_THAT(program.out, HasSubstr(R"(SPLIT = "\"; import os")"));
    // A line break would begin a line of the program, and terminals obey escape codes.
    for (const char* name : {"cora\nimport os", "\x1b[2J",
                             "\xc2\x9b"
                             "2J"}) {
        plan["problem"]["graph"]["name"] = name;
        const Outcome refused = explained("");
        EXPECT_EQ(refused.code, 65) << name;
        EXPECT_THAT(refused.err, HasSubstr("problem.graph.name: control characters in"));
        EXPECT_EQ(io::printable(refused.err.substr(0, refused.err.size() - 1)) + "\n", refused.err);
    }
}

// A run of two ranks and its plan, which was made for a preset.
class ExplainRun : public ::testing::Test {
protected:
    ExplainRun() {
        const std::string graph = folder_ / "graph.npz";
        for (const Outcome& outcome :
             {gnnplan("graph generate planted --vertices 120 --nonzeros 900 --features 9 --classes 3 --seed 1 -o " +
                      graph),
              gnnplan("plan --graph " + graph + " --hidden 6 --ranks 2 --scheme rdm --replication 2 " +
                      "--machine a6000x8 -o " + plan_),
              run_program(GNNRUN_TOOL,
                          plan_ + " --data " + graph + " --in-process --threads 1 --epochs 5 -q --report " + run_)}) {
            EXPECT_EQ(outcome.code, 0) << outcome.err;
        }
    }
    nlohmann::ordered_json report() const { return nlohmann::ordered_json::parse(read_text(run_)); }

    Folder folder_;
    std::string plan_ = folder_ / "plan.json";
    std::string run_ = folder_ / "run.json";
};

TEST_F(ExplainRun, StepsAndTotalsAreThoseOfTheReport) {
    const auto run = report();
    const Outcome outcome = gnnplan("explain --json --analyze " + run_);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto json = outcome.json();
    EXPECT_EQ(json["schema"], "gnnplan.analysis/1");
    EXPECT_EQ(json["epoch"]["predicted_seconds"], run["predicted"]["epoch_seconds"]);
    EXPECT_EQ(json["epoch"]["measured_seconds"], run["measured"]["epoch_seconds"]);
    ASSERT_EQ(json["steps"].size(), run["steps"].size());
    double largest = 0, worst = -1, all_steps = 0, all_totals = 0;
    for (std::size_t i = 0; i < run["steps"].size(); ++i) {
        const auto& step = json["steps"][i];
        EXPECT_EQ(step["name"], run["steps"][i]["name"]);
        EXPECT_EQ(step["bytes"], run["steps"][i]["counted_bytes"]);
        EXPECT_EQ(step["measured_seconds"], run["steps"][i]["measured_seconds"]);
        all_steps += step["measured_seconds"].get<double>();
        const double error = std::abs(step["error_seconds"].get<double>());
        largest = std::max(largest, error);
        if (step["worst"] == 1) worst = error;
    }
    EXPECT_EQ(worst, largest);
    for (const auto& total : json["totals"]) all_totals += total["measured_seconds"].get<double>();
    EXPECT_NEAR(all_totals, all_steps, 1e-9 * all_steps);
    EXPECT_FALSE(json["hint"]["text"].get<std::string>().empty());
}

TEST_F(ExplainRun, SlowerExchangesThanPredictedAreTheLinks) {
    auto run = report();
    double epoch = 0;
    for (auto& step : run["steps"]) {
        const bool moves = step["counted_bytes"] > 0;
        step["measured_seconds"] = step["predicted_seconds"].get<double>() * (moves ? 30 : 1);
        epoch += step["measured_seconds"].get<double>();
        if (moves) step["counted_bytes_by_rank"] = {1 << 20, 1 << 20};
    }
    run["measured"]["epoch_seconds"] = epoch;
    write_text(run_, run.dump());
    const auto hint = gnnplan("explain --json --analyze " + run_).json()["hint"];
    EXPECT_EQ(hint["cause"], "bandwidth") << hint;
    EXPECT_THAT(hint["text"].get<std::string>(), HasSubstr("30.00x"));
    // A preset is known by its fingerprint, or the plan tells.
    EXPECT_THAT(hint["text"].get<std::string>(), HasSubstr("a6000x8, is a preset"));
    const Outcome with_plan = gnnplan("explain " + plan_ + " --analyze " + run_);
    EXPECT_THAT(with_plan.out, HasSubstr("a6000x8, is a preset")) << with_plan.err;
}

// Every reader says which command takes the file.
TEST_F(ExplainRun, AFileOfAnotherKindIsTakenElsewhere) {
    const std::string run_hint = run_ + " is a run report: gnnplan explain --analyze " + run_;
    const std::string plan_hint = plan_ + " is a plan: gnnplan explain " + plan_;
    const auto refused = [](const Outcome& outcome, int code, const std::string& hint) {
        EXPECT_EQ(outcome.code, code);
        EXPECT_THAT(outcome.out + outcome.err, HasSubstr(hint));
    };
    refused(gnnplan("explain " + run_), 65, run_hint);
    refused(run_program(GNNRUN_TOOL, run_ + " --data graph.npz --in-process"), 65, run_hint);
    refused(gnnplan("explain --analyze " + plan_), 65, plan_hint);
    const std::string table = folder_ / "table.json";
    ASSERT_EQ(gnnplan("plan --graph cora --table " + table).code, 0);
    refused(gnnplan("compare " + plan_ + " " + table), 65, table + " is the table of a plan");
    refused(gnnplan("validate " + table), 1, table + " is the table of a plan");
    EXPECT_EQ(gnnplan("validate " + plan_ + " " + run_).code, 0);
}

TEST_F(ExplainRun, CandidatesCountFromOne) {
    auto run = report();
    run["autotune"]["chosen"] = 1;
    write_text(run_, run.dump());
    EXPECT_THAT(gnnplan("explain --analyze " + run_).out, HasSubstr("candidate 2 of the plan: "));
    EXPECT_THAT(gnnplan("compare " + plan_ + " " + run_).out, ContainsRegex("candidate +1 of [0-9]+ +2"));
}

// The cells below this title, down to the next empty line.
std::vector<std::string> cells_below(const std::string& title, const std::string& out) {
    const auto cells = [](const std::string& line) {
        static const std::regex gap("  +");
        return std::vector<std::string>(std::sregex_token_iterator(line.begin(), line.end(), gap, -1), {});
    };
    std::vector<std::string> found;
    std::ptrdiff_t column = -1;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line) && (column < 0 || !line.empty());) {
        const std::vector<std::string> row = cells(line);
        if (column >= 0) found.push_back(row.at(static_cast<std::size_t>(column)));
        const auto at = std::find(row.begin(), row.end(), title);
        if (column < 0 && at != row.end()) column = at - row.begin();
    }
    return found;
}

// As in the table of plan.
TEST_F(ExplainRun, TimesOfAPresetHaveTwoDigits) {
    const std::string train =
        plan_ + " --data " + folder_ / "graph.npz" + " --in-process --threads 1 --epochs 3 --autotune 0 ";
    const auto expect_two_digits = [](const std::vector<std::string>& times) {
        EXPECT_GT(times.size(), 3U);
        for (const std::string& time : times) {
            EXPECT_TRUE(std::regex_match(time, std::regex("([1-9][0-9]?0*|[0-9]\\.[0-9]|0) (ns|us|ms|s)"))) << time;
        }
    };
    expect_two_digits(cells_below("time predicted", run_program(GNNRUN_TOOL, train).out));
    expect_two_digits(cells_below("time predicted", run_program(GNNRUN_TOOL, train + "--dry-run").out));
    expect_two_digits(cells_below("predicted", gnnplan("explain --analyze " + run_).out));
}

TEST_F(ExplainRun, LinesOfRunsFitATerminal) {
    const std::string graph = folder_ / "graph.npz", deep = folder_ / "deep.json";
    ASSERT_EQ(gnnplan("plan --graph " + graph + " --layers 12 --ranks 4 --machine a6000x8 -o " + deep).code, 0);
    for (const std::string& plan : {plan_, deep}) {
        const std::string train = plan + " --data " + graph + " --in-process --threads 1 -q ";
        for (const std::string flags : {"--epochs 25 --eval-every 1", "--dry-run"}) {
            const Outcome outcome = run_program(GNNRUN_TOOL, train + flags);
            ASSERT_EQ(outcome.code, 0) << outcome.err;
            EXPECT_LE(widest_line(outcome.out), 100U) << outcome.out;
        }
        ASSERT_EQ(run_program(GNNRUN_TOOL, train + "--epochs 5 --report " + run_).code, 0);
        const std::string analysis = gnnplan("explain --analyze " + run_).out;
        EXPECT_LE(widest_line(analysis), 100U) << analysis;
    }
}

TEST_F(ExplainRun, RunsThatWereAskedOtherThingsAreSaidToDiffer) {
    const std::string other = folder_ / "other.json";
    ASSERT_EQ(
        run_program(GNNRUN_TOOL, plan_ + " --data " + folder_ / "graph.npz" +
                                     " --in-process --threads 1 --epochs 5 -q --lr 0.5 --seed 2 --report " + other)
            .code,
        0);
    const Outcome outcome = gnnplan("compare " + run_ + " " + other);
    EXPECT_THAT(outcome.out, HasSubstr("seed: 1 against 2\n"));
    EXPECT_THAT(outcome.out, HasSubstr("settings the runs differ in learning rate 0.01 against 0.5\n"));
    EXPECT_EQ(gnnplan("compare --json " + run_ + " " + other).json()["settings_differences"]["learning rate"]["b"],
              "0.5");
    EXPECT_THAT(gnnplan("compare " + run_ + " " + run_).out, ::testing::Not(HasSubstr("settings")));
    EXPECT_THAT(gnnplan("compare " + plan_ + " " + run_).out, ::testing::Not(HasSubstr("settings")));
}

TEST_F(ExplainRun, ARunThatWasCutShortOrResumedSaysSo) {
    EXPECT_THAT(gnnplan("explain --analyze " + run_).out, ::testing::Not(HasSubstr("ended early")));
    auto run = report();
    run["ending"] = "patience";
    run["ended"] = "no better validation accuracy in 5 evaluations";
    run["resumed_after"] = 2;
    write_text(run_, run.dump());
    const std::string course =
        "         resumed after epoch 2: its times are of later epochs; ended early: no better validation\n"
        "         accuracy in 5 evaluations after epoch 5 of 5\n";
    EXPECT_THAT(gnnplan("explain --analyze " + run_).out, HasSubstr(course));
    EXPECT_THAT(gnnplan("compare " + plan_ + " " + run_).out, HasSubstr("(gnnplan.run/1)\n" + course));
    const auto json = gnnplan("explain --json --analyze " + run_).json();
    EXPECT_EQ(json["ending"], "patience");
    EXPECT_EQ(json["resumed_after"], 2);
}

TEST_F(ExplainRun, TableForPeople) {
    const Outcome outcome = gnnplan("explain --analyze " + run_);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    for (const char* text : {"2 ranks", "<- #1", "one epoch", "elementwise", "optimiser", "GEMM", "hint     "}) {
        EXPECT_THAT(outcome.out, HasSubstr(text));
    }
}

TEST_F(ExplainRun, RefusesWhatIsNoRunOfThePlan) {
    EXPECT_EQ(gnnplan("explain").code, 64);
    EXPECT_EQ(gnnplan("explain --analyze nowhere.json").code, 66);
    EXPECT_EQ(gnnplan("explain --analyze " + plan_).code, 65);
    ASSERT_EQ(gnnplan("plan --graph cora --ranks 2 -o " + (folder_ / "other.json")).code, 0);
    EXPECT_EQ(gnnplan("explain " + (folder_ / "other.json") + " --analyze " + run_).code, 78);
}

}  // namespace
}  // namespace gnnplan::testing
