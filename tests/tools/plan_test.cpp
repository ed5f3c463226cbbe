// gnnplan plan: what it writes, prints, and refuses for lack of memory.
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>

namespace gnnplan::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::ptrdiff_t adjacencies(const nlohmann::ordered_json& plan) {
    const auto& tensors = plan["schedule"]["tensors"];
    return std::count_if(tensors.begin(), tensors.end(),
                         [](const auto& tensor) { return tensor["role"] == "adjacency"; });
}

TEST(Plan, CardPlanHoldsTheContractsKeys) {
    const Folder folder;
    const std::string file = folder / "plan.json";
    const Outcome outcome =
        gnnplan("plan --graph reddit:rdm --hidden 128 --layers 2 --ranks 8 --machine a6000x8 --space paper -o " + file);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("reddit:rdm (card: GNN-RDM Table V)"));
    EXPECT_THAT(outcome.out, HasSubstr("N=232,965  nnz=114,848,857 (self loops included)"));
    EXPECT_THAT(outcome.out, HasSubstr("602 features, 41 classes"));
    EXPECT_THAT(outcome.out, HasSubstr("machine  47 GiB of 48 GiB per rank   a6000x8 (preset, not measured here"));
    EXPECT_THAT(outcome.out, HasSubstr("64 configurations: 64 compared, none over memory"));
    EXPECT_THAT(outcome.out, HasSubstr("mpirun -n 8 gnnrun " + file + " --data DIR"));

    const auto plan = nlohmann::json::parse(read_text(file));
    EXPECT_EQ(plan["schema"], "gnnplan.plan/4");
    EXPECT_EQ(plan["problem"]["model"]["widths"], (std::vector<int>{602, 128, 41}));
    EXPECT_EQ(plan["problem"]["ranks"], 8);
    EXPECT_EQ(plan["machine"]["name"], "a6000x8");
    EXPECT_EQ(plan["fingerprints"]["graph"], "");
    EXPECT_EQ(plan["predicted"]["estimate"], true);
    for (const char* key : {"epoch_seconds", "total_bytes", "max_rank_bytes", "peak_bytes_per_rank"}) {
        EXPECT_GT(plan["predicted"][key].get<double>(), 0) << key;
    }
    for (const char* key : {"id", "scheme", "grid", "replication", "forward", "backward", "kept", "exchange", "overlap",
                            "permutation", "exact"}) {
        EXPECT_TRUE(plan["configuration"].contains(key)) << key;
    }
    EXPECT_FALSE(plan["schedule"]["steps"].empty());
    EXPECT_FALSE(plan["schedule"]["tensors"].empty());
    ASSERT_FALSE(plan["candidates"].empty());
    EXPECT_LE(plan["candidates"].size(), 8U);
    for (const char* key : {"configuration", "schedule", "predicted"}) EXPECT_EQ(plan["candidates"][0][key], plan[key]);
    EXPECT_THAT(plan["command_line"].get<std::string>(), HasSubstr("--machine a6000x8"));
}

// The file of a small graph with features and classes.
std::string planted_graph(const Folder& folder) {
    std::string graph = folder / "graph.npz";
    const std::string sizes = "--vertices 400 --nonzeros 3000 --features 90 --classes 4 --seed 1";
    const Outcome generated = gnnplan("graph generate planted " + sizes + " -o " + graph);
    EXPECT_EQ(generated.code, 0) << generated.err;
    return graph;
}

// The question that the run will ask is the plan's: what is allowed and asked travels in it.
TEST(Plan, KeepsWhatTheRunIsAllowedAndAsked) {
    const Folder folder;
    const std::string graph = planted_graph(folder);
    const std::string flags = "plan --json --graph " + graph + " --hidden 8 --ranks 2 ";
    const auto open = gnnplan(flags).json();
    EXPECT_FALSE(open["problem"].contains("memory_per_rank_bytes"));
    EXPECT_FALSE(open["problem"].contains("run"));
    EXPECT_TRUE(open["configuration"]["constant_input"].get<bool>());

    const auto asked = gnnplan(flags + "--memory 9MiB --dropout 0.5 --epochs 50 --eval-every 5").json();
    EXPECT_EQ(asked["problem"]["memory_per_rank_bytes"], 9 << 20);
    EXPECT_EQ(asked["problem"]["run"],
              nlohmann::ordered_json::parse(R"({"epochs": 50, "dropout": 0.5, "eval_every": 5})"));
    for (const auto& candidate : asked["candidates"]) EXPECT_FALSE(candidate["configuration"]["constant_input"]);

    // Features that are kept let what is made of them be kept, too.
    const auto kept = gnnplan(flags + "--dropout 0.5 --input-dropout 0").json();
    EXPECT_TRUE(kept["configuration"]["constant_input"].get<bool>());
    EXPECT_EQ(gnnplan(flags + "--dropout 0.5 --constant-input").code, 64);
    EXPECT_EQ(gnnplan(flags + "--dropout 1").code, 64);
    const auto sgd = gnnplan(flags + "--memory 9MiB --optimizer sgd --momentum 0.9").json();
    EXPECT_EQ(sgd["problem"]["run"]["optimiser"], "momentum");
    EXPECT_EQ(sgd["problem"]["run"]["momentum"], 0.9);
    EXPECT_LT(sgd["predicted"]["peak_bytes_per_rank"], open["predicted"]["peak_bytes_per_rank"]);
    EXPECT_EQ(gnnplan(flags + "--optimizer rmsprop").json()["problem"]["run"]["optimiser"], "rmsprop");
    EXPECT_EQ(gnnplan(flags + "--optimizer adamw --momentum 0.9").code, 64);
    EXPECT_EQ(gnnplan(flags + "--optimizer momentum").code, 64) << "that is SGD's, with --momentum";
    const auto normalised = gnnplan(flags + "--feature-norm row").json();
    EXPECT_EQ(normalised["problem"]["run"], nlohmann::ordered_json::parse(R"({"epochs": 200, "feature_norm": "row"})"));
    EXPECT_EQ(gnnplan(flags + "--task infer --feature-norm row").code, 0);
    EXPECT_EQ(gnnplan(flags + "--momentum 0.9").code, 64) << "Adam has none";
    EXPECT_EQ(gnnplan(flags + "--epochs 2147483648").code, 64);
}

TEST(Plan, SaysHowLongTheWholeRunTakesAndItsMemoryWhileTuning) {
    const Folder folder;
    const std::string graph = planted_graph(folder);
    const std::string flags = "plan --graph " + graph + " --hidden 8 --ranks 2 ";
    const std::string open = gnnplan(flags).out;
    EXPECT_THAT(open, HasSubstr("run      200 epochs: training "));
    EXPECT_THAT(open, HasSubstr("while gnnrun tries other candidates"));
    EXPECT_THAT(gnnplan(flags + "--epochs 30 --eval-every 10").out, HasSubstr("(3 x "));
    EXPECT_THAT(gnnplan(flags + "--epochs 30 --eval-every 0").out, HasSubstr("no evaluation"));
    EXPECT_THAT(gnnplan(flags + "--epochs 10").out, ::testing::Not(HasSubstr("while gnnrun tries")));
    const auto peak = gnnplan(flags + "--json").json()["predicted"]["peak_bytes_per_rank"].get<std::int64_t>();
    EXPECT_THAT(gnnplan(flags + "--memory " + std::to_string(peak) + "B").out, HasSubstr("too little is allowed"));
}

TEST(Plan, JsonIsThePlanItself) {
    const Folder folder;
    const std::string file = folder / "plan.json";
    const Outcome outcome = gnnplan("plan --graph cora --ranks 2 --json -o " + file);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, read_text(file));
}

TEST(Plan, PinsAreKept) {
    const auto pinned = [](const std::string& pins) {
        return gnnplan("plan --graph cora --ranks 6 --space paper --json " + pins).json()["configuration"];
    };
    EXPECT_EQ(pinned("--replication 3")["grid"], (std::vector<int>{2, 3, 1}));
    EXPECT_EQ(pinned("--grid 2x3")["replication"], 3);
    EXPECT_EQ(pinned("--grid 6x1")["exchange"], "panels");
    EXPECT_EQ(pinned("--grid 1x6")["exchange"], "none");
    const auto orders = pinned("--forward SD --backward DS --scheme rdm");
    EXPECT_EQ(orders["forward"], "SD");
    EXPECT_EQ(orders["backward"], "DS");
    EXPECT_EQ(orders["id"], 9);
    EXPECT_EQ(pinned("--constant-input")["constant_input"], true);
}

// Messages are rounded where a slow link makes that faster, and only if it is allowed.
TEST(Plan, MessagesAreRoundedBehindSlowLinksIfAsked) {
    const Folder folder;
    const auto machine = [&](double bytes_per_second) {
        auto profile = gnnplan("machines show cpu-node --json").json();
        profile["name"] = "a cluster";
        profile["intra_node"]["bytes_per_second"] = bytes_per_second;
        const std::string path = folder / "machine.json";
        std::ofstream(path) << profile.dump();
        return " --ranks-per-node 4 --machine " + path;
    };
    const auto wire = [&](double bytes_per_second, const std::string& flags) {
        const auto configuration =
            gnnplan("plan --graph ogbn-arxiv --ranks 4 --scheme rdm --json " + flags + machine(bytes_per_second))
                .json()["configuration"];
        EXPECT_EQ(configuration["exact"], !configuration.contains("wire"));
        return configuration.value("wire", "fp32");
    };
    EXPECT_EQ(wire(3e7, "--wire bf16"), "bf16");
    EXPECT_EQ(wire(3e7, ""), "fp32");
    EXPECT_EQ(wire(3e7, "--wire fp32"), "fp32");
    EXPECT_EQ(wire(1e11, "--wire bf16"), "fp32") << "ranks of one node";
    EXPECT_THAT(gnnplan("plan --graph ogbn-arxiv --ranks 4 --wire bf16" + machine(1e11)).err,
                HasSubstr("note: --wire has no effect"));
    const auto refused = gnnplan("plan --graph ogbn-arxiv --model gat --ranks 4 --wire bf16");
    EXPECT_EQ(refused.code, 64);
    EXPECT_THAT(refused.err, HasSubstr("--wire bf16"));
}

// Rounding is never chosen unasked, and where nothing can be rounded the plan is exact and says so.
TEST(Plan, Bf16IsInexactAndOnlyIfAsked) {
    const auto planned = [](const std::string& flags) {
        return gnnplan("plan --graph ogbn-arxiv --ranks 4 --json " + flags).json();
    };
    const auto products = [](const nlohmann::json& plan) {
        return std::ranges::count_if(plan["schedule"]["steps"],
                                     [](const auto& step) { return step["kind"] == "spmm" && step.contains("bf16"); });
    };
    EXPECT_EQ(planned("")["configuration"]["exact"], true);
    EXPECT_FALSE(planned("")["configuration"].contains("bf16"));
    for (const char* space : {"full", "paper"}) {
        const auto plan = planned(std::string("--bf16 --overlap off --exchange panels --scheme 1d --space ") + space);
        EXPECT_EQ(plan["configuration"]["bf16"], true) << space;
        EXPECT_EQ(plan["configuration"]["exact"], false) << space;
        EXPECT_GT(products(plan), 0) << space;
    }
    const auto overlapped = planned("--bf16 --overlap on --scheme 1d");
    EXPECT_EQ(overlapped["configuration"]["exact"], true);
    EXPECT_EQ(products(overlapped), 0);
    EXPECT_THAT(gnnplan("plan --graph ogbn-arxiv --ranks 4 --bf16 --overlap on --scheme 1d").err,
                HasSubstr("note: --bf16 has no effect"));
}

// Groups that train apart have other results: the first line says so, and nothing makes such plans unasked.
TEST(Plan, GroupsThatTrainApartAreInexactAndOnlyIfAsked) {
    const Folder folder;
    const std::string asked = "plan --graph reddit --ranks 16 --machine a6000x8 ", file = folder / "plan.json";
    const Outcome outcome = gnnplan(asked + "--inexact 0c:owners --grid 8x2 -o " + file);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out.find("inexact  results differ from full-batch training: 8 groups of ranks"), 0U)
        << outcome.out;
    EXPECT_THAT(on_one_line(outcome.out), HasSubstr("docs/cuts.md"));
    EXPECT_LE(widest_line(outcome.out), 100U) << outcome.out;
    const auto plan = nlohmann::json::parse(read_text(file));
    EXPECT_EQ(plan["configuration"]["exact"], false);
    EXPECT_EQ(plan["configuration"]["scheme"], "groups");
    EXPECT_EQ(plan["configuration"]["clones"], "owners");
    EXPECT_EQ(plan["configuration"]["groups"].size(), 9U);
    EXPECT_EQ(gnnplan("validate " + file).code, 0);
    EXPECT_EQ(gnnplan("explain " + file).out.find("inexact  results differ from full-batch training"), 0U);
    ASSERT_EQ(gnnplan(asked + "-o " + (folder / "all.json")).code, 0);
    EXPECT_THAT(on_one_line(gnnplan("compare " + file + " " + (folder / "all.json")).out),
                HasSubstr("results differ from full-batch training"));
    const Outcome sweep = gnnplan("sweep --graph reddit --machine a6000x8 --inexact 0c --vary ranks=4,8");
    EXPECT_EQ(sweep.out.find("inexact  rows with 0c have other results"), 0U) << sweep.out;
    const Outcome late = gnnplan("sweep --graph reddit --machine a6000x8 --ranks 4 --vary inexact=cd:0,cd:2");
    EXPECT_EQ(late.out.find("inexact  rows with cd:2 have other results"), 0U) << late.out;
    EXPECT_EQ(gnnplan(asked + "--inexact 0c --bf16").out.find("inexact  results differ"), 0U);
    EXPECT_THAT(outcome.out, HasSubstr("not counted"));
    EXPECT_EQ(gnnplan("explain --pytorch " + file).code, 64);
    EXPECT_EQ(gnnplan(asked + "--json").json()["configuration"]["exact"], true);
    EXPECT_EQ(gnnplan(asked + "--inexact 0c --scheme rdm").code, 64);
    EXPECT_EQ(gnnplan("plan --graph com-orkut --ranks 4 --machine a6000x8 --inexact 0c").code, 64) << "nobody knows";
}

TEST(Plan, AReplicationFactorIsANumberAndOfCuts) {
    const std::string asked = "plan --graph cora --ranks 4 --machine a6000x8 --replication-factor ";
    EXPECT_EQ(gnnplan(asked + "nan --scheme cut").code, 64);
    EXPECT_EQ(gnnplan(asked + "0.5 --scheme cut").code, 64);
    EXPECT_EQ(gnnplan(asked + "2 --scheme cut").code, 0);
    EXPECT_THAT(gnnplan(asked + "2 --scheme rdm").err, HasSubstr("note: --replication-factor has no effect"));
}

TEST(Plan, ChoiceThatDoesNotExistIsWrongUsage) {
    for (const char* pins : {"--replication 4",
                             "--grid 4x2",
                             "--grid 2x2",
                             "--grid 6",
                             "--grid 2x3x2",
                             "--grid 0x6",
                             "--grid x",
                             "--grid 1x2x3x1",
                             "--grid 2x3 --replication 2",
                             "--forward SDS",
                             "--backward S",
                             "--forward SX",
                             "--forward ''",
                             "--scheme 4d",
                             "--space half",
                             "--model gatt",
                             "--heads 2",
                             "--model gat --heads 0",
                             "--model gat --heads 7 --hidden 16",
                             "--model gat --slope 2",
                             "--model gat --forward SS",
                             "--model gat --grid 1x2x3",
                             "--model gat --space paper",
                             "--aggregator mean",
                             "--model sage --aggregator median",
                             "--model sage --space paper",
                             "--exchange some",
                             "--overlap maybe",
                             "--permute maybe",
                             "--partition",
                             "--scheme 1d --grid 2x3",
                             "--loss-rows maybe",
                             "--train-fraction 0",
                             "--train-fraction 1.5",
                             "--train-fraction nan",
                             "--pareto speed",
                             "--pareto time,"}) {
        const Outcome outcome = gnnplan(std::string("plan --graph cora --ranks 6 ") + pins);
        EXPECT_EQ(outcome.code, 64) << pins << "\n" << outcome.err;
        EXPECT_THAT(outcome.err, ::testing::StartsWith("error: ")) << pins;
        EXPECT_EQ(outcome.out, "") << pins;
    }
}

TEST(Plan, TopLimitsTheRowsOnly) {
    const std::string out = gnnplan("plan --graph cora --ranks 2 --space paper --top 3").out;
    EXPECT_THAT(out, HasSubstr("\n    3  "));
    EXPECT_THAT(out, ::testing::Not(HasSubstr("\n    4  ")));
    EXPECT_THAT(out, HasSubstr("32 configurations"));
}

std::size_t longest_line(const std::string& text) {
    std::size_t longest = 0;
    std::size_t width = 0;
    for (const char c : text) {
        if (c == '\n')
            width = 0;
        else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U)
            longest = std::max(longest, ++width);
    }
    return longest;
}

TEST(Plan, LinesFitAHundredColumns) {
    std::vector<std::string> questions{"--graph reddit --ranks 8 --layers 100",
                                       "--graph ogbn-products --ranks 64 --layers 3 --train-fraction 0.1 --top 40",
                                       "--graph reddit --ranks 8 --layers 7 --forward SDDSDSS --train-fraction 0.1",
                                       "--graph ogbn-papers100m --ranks 128 --machine summit --scheme 1d --top 40",
                                       "--graph amazon --ranks 16 --machine summit --memory 3GB --top 40",
                                       "--graph cora --ranks 1 --space paper --top 40"};
    const auto cards = gnnplan("datasets list --json").json();
    for (const auto& card : cards["datasets"]) {
        const std::string classes = card["classes"].is_null() ? " --classes 40" : "";
        questions.push_back("--memory 1TiB --ranks 6 --graph " + card["selector"].get<std::string>() + classes);
    }
    const auto machines = gnnplan("machines list --json").json();
    for (const auto& machine : machines["machines"]) {
        questions.push_back("--graph reddit --ranks 8 --machine " + machine["name"].get<std::string>());
    }
    ASSERT_GT(questions.size(), 30U);
    for (const std::string& question : questions) {
        const Outcome outcome = gnnplan("plan " + question);
        EXPECT_EQ(outcome.code, 0) << question << outcome.err;
        EXPECT_LE(longest_line(outcome.out), 100U) << question << "\n" << outcome.out;
    }
    EXPECT_LE(longest_line(gnnplan("enumerate --graph reddit --ranks 8 --space full").out), 100U);
    EXPECT_LE(longest_line(gnnplan("enumerate --graph reddit --ranks 8 --layers 100").out), 100U);
}

// Each scheme has a row before the second of any; what the words of the rows mean follows, and no others.
TEST(Plan, TableBeginsWithTheBestOfEachScheme) {
    const std::string out = gnnplan("plan --graph reddit --ranks 8 --machine a6000x8").out;
    const std::size_t begin = out.find("best of each scheme");
    const std::string best = out.substr(begin, out.find("the defaults of frameworks") - begin);
    const std::string first = out.substr(0, out.find("the next fastest"));
    for (const char* scheme : {" 1d ", " 1.5d ", " 2d ", " 3d ", " rdm "}) {
        EXPECT_EQ(best.find(scheme), best.rfind(scheme)) << scheme;
        EXPECT_NE(best.find(scheme), std::string::npos) << scheme;
    }
    EXPECT_THAT(first, HasSubstr("\nthe defaults of frameworks\n"));
    EXPECT_THAT(first, ::testing::ContainsRegex("  -  1d  .*8x1  .*DD .*as PyTorch Geometric: no ÂX once"));
    EXPECT_THAT(out, HasSubstr("\nsure     2d, 3d, transform first in layer 1"));
    EXPECT_THAT(out, HasSubstr("1d, 1.5d and rdm (within 10 %)"));
    EXPECT_THAT(on_one_line(out), HasSubstr("An epoch takes 9.2 to 58 ms (likely"));
    EXPECT_THAT(out, HasSubstr("among the "));
    EXPECT_THAT(out, ::testing::Not(HasSubstr("pruned: ")));
    EXPECT_THAT(gnnplan("plan --graph reddit --ranks 8 --train-fraction 0.01").out, HasSubstr("pruned: "));
}

TEST(Plan, TheAnswerComesFirst) {
    const std::string question = "plan --graph reddit --ranks 8 --machine a6000x8 ";
    const std::string answer =
        "answer   fits (474 MiB of 47 GiB a rank); fastest: 1d on 8x1, aggregate first in layer 1, transform\n"
        "         first in layer 2; 5.0 times as fast as PyG's default; a tie with 1.5d and rdm\n";
    EXPECT_EQ(gnnplan(question).out.rfind(answer, 0), 0U);
    const std::string brief = gnnplan(question + "--brief").out;
    EXPECT_EQ(brief.rfind(answer + "sure     2d, 3d", 0), 0U) << brief;
    EXPECT_THAT(brief, HasSubstr("\ndropout  with dropout on the features"));
    EXPECT_THAT(brief, HasSubstr("\nto keep it:  add -o plan.json\n"));
    EXPECT_THAT(brief, ::testing::Not(HasSubstr("legend")));
    EXPECT_EQ(gnnplan(question + "--brief --json").code, 64);
    EXPECT_THAT(gnnplan(question + "--brief --dropout 0.5").out,
                HasSubstr("fastest: 1d on 8x1, transform first in layers 1 and 2; "));
    EXPECT_THAT(gnnplan("plan --graph reddit --ranks 8 --layers 100 --brief").out, HasSubstr("orders S99D"));
}

TEST(Plan, DefaultsOfFrameworksThatDoNotFitAreOutOfMemory) {
    const std::string out = gnnplan("plan --graph ogbn-papers100m --layers 3 --ranks 4 --machine dgx-a100").out;
    EXPECT_THAT(out, HasSubstr("PyG's default does not fit; a tie with 2d and rdm\n"));
    EXPECT_THAT(out, ::testing::ContainsRegex("DDD SS-.*  OOM \\(101 GiB\\)  as PyTorch Geometric"));
}

const nlohmann::ordered_json& alternative_of(const nlohmann::ordered_json& plan, const char* key) {
    static const nlohmann::ordered_json none;
    for (const auto& alternative : plan["alternatives"]) {
        if (alternative["choice"]["key"] == key) return alternative;
    }
    return none;
}
const nlohmann::ordered_json& feature_dropout_of(const nlohmann::ordered_json& plan) {
    return alternative_of(plan, "feature_dropout");
}

// A plan with maps before layer 1 says of the network without them what its own plan says.
TEST(Plan, TellsThePriceOfMapsBeforeLayerOne) {
    const std::string reddit = "plan --graph reddit --ranks 8 --machine a6000x8 --dropout 0.5 --input-dropout 0 ";
    const auto mapped = gnnplan(reddit + "--pre 64 --json").json(), plain = gnnplan(reddit + "--json").json();
    const auto& without = alternative_of(mapped, "pre");
    EXPECT_EQ(without["choice"]["value"], "off");
    EXPECT_EQ(without["configuration"], plain["configuration"]);
    EXPECT_EQ(without["predicted"]["epoch_seconds"], plain["predicted"]["epoch_seconds"]);
    EXPECT_EQ(plain["configuration"]["cached_aggregation"], true);
    EXPECT_FALSE(mapped["configuration"].value("cached_aggregation", false));
    EXPECT_TRUE(alternative_of(plain, "pre").is_null());
    EXPECT_THAT(
        gnnplan(reddit + "--pre 64").out,
        ::testing::ContainsRegex("maps     without the linear maps before layer 1 \\(--pre\\): 1d 8x1 SD S- with "
                                 "ÂX kept over epochs"));
    EXPECT_THAT(gnnplan(reddit).out, ::testing::Not(HasSubstr("maps  ")));
}

// Layers are made again where the fastest plan does not fit otherwise, and not where it does.
TEST(Plan, MemoryBuysRecomputation) {
    const std::string deep =
        "plan --graph ogbn-arxiv --machine a6000x8 --ranks 8 --model gcnii --layers 16 --hidden 256 ";
    const auto peak = [&](const std::string& flags) {
        return gnnplan(deep + flags + " --json")
            .json()["candidates"][0]["predicted"]["peak_bytes_per_rank"]
            .get<double>();
    };
    const auto remade = [&](const std::string& flags) {
        return gnnplan(deep + flags + " --json").json()["candidates"][0]["configuration"].value("remade", 0);
    };
    const double kept = peak("--recompute off"), least = peak("--recompute 4");
    EXPECT_LT(least, 0.75 * kept);
    EXPECT_EQ(remade(""), 0);
    EXPECT_GT(remade("--memory " + std::to_string(static_cast<std::int64_t>(least * 1.2))), 0);
    const Outcome none =
        gnnplan(deep + "--recompute off --memory " + std::to_string(static_cast<std::int64_t>(least * 1.2)));
    EXPECT_EQ(none.code, 3);
    EXPECT_THAT(none.err, HasSubstr("without --recompute off"));
    EXPECT_THAT(gnnplan("plan --graph cora --ranks 2 --recompute 2").err,
                HasSubstr("at most 1 of 2 layers are made again at once"));
    EXPECT_THAT(gnnplan("plan --graph cora --ranks 2 --recompute 1 --task infer").err,
                HasSubstr("an inference keeps nothing for a backward pass"));
}

// With norms H can be made again from the sums beside it, at less cost than whole layers.
TEST(Plan, ActivationsAreMadeAgainFromTheSumsThatNormsRead) {
    const std::string deep =
        "plan --graph ogbn-arxiv --machine a6000x8 --ranks 8 --layers 6 --hidden 256 --norm batch --scheme rdm ";
    const auto predicted = [&](const std::string& flags) {
        return gnnplan(deep + flags + " --json").json()["candidates"][0]["predicted"];
    };
    const auto peak = [](const nlohmann::json& of) { return of["peak_bytes_per_rank"].get<double>(); };
    const auto seconds = [](const nlohmann::json& of) { return of["epoch_seconds"].get<double>(); };
    const auto kept = predicted("--recompute off"), again = predicted("--recompute activations"),
               layers = predicted("--recompute 1");
    EXPECT_LT(peak(again), 0.92 * peak(kept));
    EXPECT_GT(seconds(again), seconds(kept));
    EXPECT_LT(seconds(again), seconds(layers));
    const Outcome bought =
        gnnplan(deep + "--memory " + std::to_string(static_cast<std::int64_t>(0.95 * peak(kept))) + " --json");
    EXPECT_EQ(bought.json()["candidates"][0]["configuration"].value("remade", 0), -1);
    const Folder folder;
    const std::string file = folder / "plan.json";
    EXPECT_THAT(gnnplan(deep + "--recompute activations -o " + file).out, HasSubstr("orders SDSDSD, activations"));
    EXPECT_EQ(gnnplan("validate " + file).code, 0);
    EXPECT_THAT(gnnplan("plan --graph cora --ranks 2 --recompute activations").err,
                HasSubstr("activations are made in place of sums that no norm reads"));
}

// The widths of appnp are those of linear maps before its one layer, and sgc has one layer, unless more are asked for.
TEST(Plan, OfModelsThatPropagate) {
    const auto model_of = [](const std::string& flags) {
        return nlohmann::json::parse(gnnplan("plan --graph cora --ranks 4 --json " + flags).out)["problem"]["model"];
    };
    const auto sgc = model_of("--model sgc");
    EXPECT_EQ(sgc["widths"], (std::vector<int>{1433, 7}));
    EXPECT_EQ(sgc["hops"], 2);
    EXPECT_EQ(model_of("--model sgc --layers 2 --hidden 16")["widths"], (std::vector<int>{1433, 16, 7}));
    const auto appnp = model_of("--model appnp --hidden 64");
    EXPECT_EQ(appnp["widths"], (std::vector<int>{1433, 7}));
    EXPECT_EQ(appnp["pre"], (std::vector<int>{64}));
    EXPECT_EQ(appnp["teleport"], 0.1);
    EXPECT_EQ(model_of("--model appnp --pre 32 --hidden 64")["pre"], (std::vector<int>{32, 64}));
    const auto sign = model_of("--model sign --hops 3 --hidden 64");
    EXPECT_EQ(sign["widths"], (std::vector<int>{1433, 1433, 1433, 7}));
    EXPECT_EQ(sign["post"], (std::vector<int>{64}));
    const auto gcnii = model_of("--model gcnii --layers 4 --hidden 32 --bias");
    EXPECT_EQ(gcnii["widths"], (std::vector<int>{1433, 32, 32, 32, 7}));
    EXPECT_EQ(gcnii["pre"], (std::vector<int>{32}));
    EXPECT_EQ(gcnii["jk_last"], true);
    EXPECT_EQ(gcnii["teleport"], 0.1);
    EXPECT_EQ(gcnii["theta"], 0.5);
    EXPECT_EQ(model_of("--model gcnii --hidden 32 --pre 64,32 --post 16")["pre"], (std::vector<int>{64, 32}));
    EXPECT_THAT(gnnplan("plan --graph cora --ranks 4 --model gcnii --layers 64 --hidden 64 --theta 1").out,
                HasSubstr("model    gcnii, teleport 0.1, theta 1 1433-(63 x 64)-7, 4 ranks"));
    const std::string few = "plan --graph cora --ranks 4 --model sgc --epochs ";
    EXPECT_THAT(gnnplan(few + "200").out, HasSubstr("ÂX once"));
    EXPECT_THAT(on_one_line(gnnplan(few + "200").out),
                ::testing::ContainsRegex("ÂX once, [0-9.]+ .s, pays from epoch"));
    EXPECT_THAT(on_one_line(gnnplan(few + "2").out),
                ::testing::ContainsRegex("ÂX once, [0-9.]+ .s, would pay from epoch"));
    EXPECT_THAT(gnnplan("plan --graph cora --ranks 4 --model appnp --hidden 64 --bias").out,
                HasSubstr("model    appnp, 10 hops, teleport 0.1 with bias 1433-64-7, 4 ranks"));
    EXPECT_THAT(gnnplan(few + "2 --brief").out, HasSubstr("transform first in layer 1"));
    const std::vector<std::pair<std::string, std::string>> refused = {
        {"--hops 2", "a layer of 'gcn' aggregates once"},
        {"--model sgc --hops 0", "--hops"},
        {"--model sgc --teleport 0.5", "the model 'sgc' does not teleport"},
        {"--model appnp --teleport 2", "--teleport"},
        {"--model sgc --fanout 5", "neighbours are drawn for one sum a layer"},
        {"--model sign --pre 8", "sign aggregates the features themselves"},
        {"--model sign --post 8", "sign has linear maps of its own"},
        {"--model sign --jk last", "sign has a linear map of each hop"},
        {"--model sign --pre-activation", "there is no linear map before layer 1"},
        {"--model appnp --inexact cd:2 --ranks 4", "late sums are of layers that aggregate once"},
        {"--model sign --residual", "sign has a linear map of each hop"},
        {"--model sign --fanout 5 --task infer", "neighbours are drawn for one sum a layer"},
        {"--model sgc --fanout 5 --task infer", "neighbours are drawn for one sum a layer"},
        {"--model appnp --bias --forward D", "layer 1 aggregates alone"},
        {"--theta 0.5", "the model 'gcn' has no identity in its weights"},
        {"--model gcnii --theta 0", "--theta"},
        {"--model gcnii --teleport 1", "layers of gcnii would aggregate nothing"},
        {"--model gcnii --layers 1", "gcnii adds what linear maps before layer 1 make"},
        {"--model gcnii --pre 8", "each layer of gcnii has as many columns as the linear map before layer 1"},
        {"--model gcnii --jk concat", "gcnii has a linear map behind its layers"},
        {"--model gcnii --forward DD", "layer 1 adds H^0 between its products"},
        {"--model gcnii --space paper", "the paper's space covers only layers of one summing aggregation"},
        {"--model sgc --space paper", "the paper's space covers only layers of one summing aggregation"},
    };
    for (const auto& [flags, message] : refused) {
        const Outcome outcome = gnnplan("plan --graph cora " + flags);
        EXPECT_EQ(outcome.code, 64) << flags;
        EXPECT_THAT(outcome.err, HasSubstr(message)) << flags;
    }
}

TEST(Plan, RefusesMapsThatThereCannotBe) {
    const std::vector<std::pair<std::string, std::string>> refused = {
        {"--pre 0", "--pre"},
        {"--pre-activation", "there is no linear map before layer 1"},
        {"--post 64 --jk last", "--post excludes --jk"},
        {"--pre 64 --backward S-", "its backward letter is S or D"},
        {"--model agnn --pre 64", "agnn has one linear map before its layers"},
        {"--pre 64 --space paper", "the paper's space covers only layers of one summing aggregation"},
        {"--norm-after activation", "there is no norm to put behind something"},
        {"--model agnn --norm layer", "agnn has no norms"},
        {"--norm batch --fanout 5,5", "batch norms keep statistics of all vertices"},
        {"--norm batch --inexact 0c --ranks 4", "batch norms keep statistics of all vertices"},
        {"--norm layer --space paper", "the paper's space covers only layers of one summing aggregation"},
        {"--residual sideways", "sideways is none of input, linear"},
    };
    for (const auto& [flags, message] : refused) {
        const Outcome outcome = gnnplan("plan --graph cora " + flags);
        EXPECT_EQ(outcome.code, 64) << flags;
        EXPECT_THAT(outcome.err, HasSubstr(message)) << flags;
    }
}

// Each of the two plans says of the other what the other says of itself.
TEST(Plan, TellsTheAnswerWithFeaturesTreatedOtherwise) {
    const std::string reddit = "plan --graph reddit --ranks 8 --machine a6000x8 ";
    const auto constant = gnnplan(reddit + "--json").json(), dropped = gnnplan(reddit + "--dropout 0.5 --json").json();
    EXPECT_EQ(feature_dropout_of(constant)["choice"]["value"], "on");
    EXPECT_EQ(feature_dropout_of(dropped)["choice"]["value"], "off");
    for (const auto& [one, other] : {std::pair(constant, dropped), std::pair(dropped, constant)}) {
        EXPECT_EQ(feature_dropout_of(one)["configuration"], other["configuration"]);
        EXPECT_EQ(feature_dropout_of(one)["predicted"]["epoch_seconds"], other["predicted"]["epoch_seconds"]);
        EXPECT_EQ(feature_dropout_of(one)["predicted"]["peak_bytes_per_rank"],
                  other["predicted"]["peak_bytes_per_rank"]);
    }
    EXPECT_THAT(
        gnnplan(reddit).out,
        ::testing::ContainsRegex("dropout  with dropout on the features \\(--dropout 0.5\\): 1d 8x1 DD S-, 34 ms, "
                                 "3.6x\n"));
    EXPECT_THAT(
        gnnplan(reddit + "--dropout 0.5").out,
        HasSubstr("dropout  without dropout on the features (--input-dropout 0): 1d 8x1 SD S-, 9.2 ms, 3.6x as fast"));
}

TEST(Plan, SaysNothingOfDropoutThatIsNoQuestion) {
    const std::string reddit = "plan --graph reddit --ranks 8 --machine a6000x8 --json ";
    for (const char* settled : {"--dropout 0", "--dropout 0.5 --input-dropout 0", "--constant-input", "--task infer"}) {
        EXPECT_TRUE(feature_dropout_of(gnnplan(reddit + settled).json()).is_null()) << settled;
    }
}

// A device is judged by what it holds; what its host needs to load stands apart, and so does what is not counted.
TEST(Plan, DevicesAreNotJudgedByWhatTheirHostsLoad) {
    const std::string papers = "plan --graph ogbn-papers100m --machine summit --ranks 128 --scheme 1.5d";
    const Outcome planned = gnnplan(papers);
    ASSERT_EQ(planned.code, 0) << planned.err;
    EXPECT_THAT(planned.out, HasSubstr("loading  loading the graph also needs 16.2 GiB of CPU memory per rank"));
    EXPECT_EQ(gnnplan("machines show summit --json").json()["accelerators"], true);
    EXPECT_FALSE(gnnplan("machines show cpu-node --json").json().contains("accelerators"));
    const std::string reddit = "plan --graph reddit --machine a6000x8 --ranks 8";
    const auto peak = gnnplan(reddit + " --json").json()["predicted"]["peak_bytes_per_rank"].get<std::int64_t>();
    EXPECT_THAT(gnnplan(reddit).out, ::testing::Not(HasSubstr("CUDA context")));
    EXPECT_THAT(gnnplan(reddit + " --memory " + std::to_string(peak)).out, HasSubstr("CUDA"));
}

// The memory that is needed is the same whatever is allowed, and enough.
TEST(Plan, WhatIsNeededIsEnough) {
    const auto needed = [](const std::string& memory) {
        const std::string command = "plan --graph reddit --ranks 4 --machine cpu-node --json --memory ";
        return gnnplan(command + memory).json()["needed_bytes_per_rank"].get<std::int64_t>();
    };
    const std::int64_t least = needed("1MiB");
    EXPECT_EQ(needed("470MiB"), least) << "more than loading alone";
    EXPECT_EQ(needed(std::to_string(least - 1)), least);
    const std::string command = "plan --graph reddit --ranks 4 --machine cpu-node --memory ";
    EXPECT_EQ(gnnplan(command + std::to_string(least)).code, 0);
    const Outcome refused = gnnplan(command + "290MB");
    EXPECT_EQ(refused.code, 3);
    EXPECT_THAT(refused.err, HasSubstr("290 MB (277 MiB) are allowed"));
}

TEST(Plan, WidthsStandInForFeaturesHiddenLayersAndClasses) {
    const auto problem = [](const std::string& flags) {
        return gnnplan("plan --vertices 1000 --nonzeros 9000 --json " + flags).json()["problem"];
    };
    const auto with_widths = problem("--widths 20,128,5");
    EXPECT_EQ(with_widths, problem("--features 20 --classes 5"));
    EXPECT_EQ(with_widths["graph"]["name"], "sizes");
    EXPECT_EQ(with_widths["graph"]["symmetric"], false);
    EXPECT_EQ(problem("--widths 20,5 --symmetric")["graph"]["symmetric"], true);
    EXPECT_EQ(problem("--features 20 --classes 5 --layers 3 --hidden 7")["model"]["widths"],
              (std::vector<int>{20, 7, 7, 5}));
    EXPECT_EQ(problem("--features 20 --classes 5 --layers 1")["model"]["widths"], (std::vector<int>{20, 5}));
    EXPECT_EQ(problem("--widths 20,5 --bias")["model"]["bias"], true);
    EXPECT_EQ(gnnplan("plan --vertices 10 --nonzeros 20 --widths 20,5 --features 20").code, 64);
}

TEST(Plan, NothingFitsSaysWhatWould) {
    const Outcome outcome = gnnplan("plan --graph reddit --ranks 2 --memory 450MB");
    EXPECT_EQ(outcome.code, 3);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("A^T"));
    EXPECT_THAT(outcome.err, HasSubstr("per rank"));
    const auto json = gnnplan("plan --graph reddit --ranks 2 --memory 450MB --json").json();
    EXPECT_EQ(json["available_bytes_per_rank"], 450000000);
    EXPECT_GT(json["needed_bytes_per_rank"], 450000000);
    EXPECT_EQ(json["largest_tensors"].size(), 3U);
}

TEST(Plan, MemoryIsTheLimitThatIsObeyed) {
    const auto plan = gnnplan("plan --graph reddit --ranks 8 --space paper --json").json();
    const auto peak = plan["predicted"]["peak_bytes_per_rank"].get<std::int64_t>();
    const std::string same = "plan --graph reddit --ranks 8 --space paper --json --memory ";
    EXPECT_EQ(gnnplan(same + std::to_string(peak)).json()["configuration"], plan["configuration"]);
    EXPECT_NE(gnnplan(same + std::to_string(peak - 1)).json()["configuration"], plan["configuration"]);
}

TEST(Plan, TableFileHoldsWhatTheTableShows) {
    const Folder folder;
    const std::string file = folder / "ranking.json";
    const Outcome outcome = gnnplan("plan --graph reddit --ranks 8 --space paper --table " + file);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto ranking = nlohmann::json::parse(read_text(file));
    EXPECT_EQ(ranking["schema"], "gnnplan.ranking/1");
    ASSERT_EQ(ranking["ranked"].size(), 64U);
    for (const char* key :
         {"configuration", "epoch_seconds", "total_bytes", "peak_bytes_per_rank", "sparse_units", "pareto", "fits"}) {
        EXPECT_TRUE(ranking["ranked"][0].contains(key)) << key;
    }
    const double slower =
        ranking["ranked"][1]["epoch_seconds"].get<double>() / ranking["ranked"][0]["epoch_seconds"].get<double>() - 1;
    EXPECT_DOUBLE_EQ(ranking["runner_up_slower_by"].get<double>(), slower);
    EXPECT_EQ(ranking["model_error"], 0.25) << "a preset's";
    const auto& ranked = ranking["ranked"];
    const auto near = std::count_if(ranked.begin(), ranked.end(), [&](const auto& r) {
        return r["fits"] == true && r["epoch_seconds"] <= 1.25 * ranked[0]["epoch_seconds"].template get<double>();
    });
    EXPECT_EQ(ranking["ties"], near);
    EXPECT_EQ(ranking["separated"], near == 1);
    ASSERT_GT(near, 1);
    EXPECT_EQ(ranking["sure"]["machine"], "preset");
    EXPECT_EQ(ranking["sure"]["undecided"][1]["name"], "1d");
    EXPECT_THAT(on_one_line(outcome.out), HasSubstr("rdm and 1d (within 16 %)"));
    EXPECT_EQ(gnnplan("plan --graph cora --table /nonexistent/r.json").code, 73);
}

TEST(Plan, TrainFractionIsOfSizesOnly) {
    EXPECT_EQ(gnnplan("plan --graph cora --ranks 2 --train-fraction 0.05").code, 0);
    const Folder folder;
    const std::string edges = folder / "edges.txt";
    write_text(edges, "0 1\n1 2\n");
    EXPECT_EQ(gnnplan("plan --features 4 --classes 2 --train-fraction 0.5 --graph " + edges).code, 64);
}

TEST(Plan, MachineFromAFile) {
    const Folder folder;
    const std::string file = folder / "machine.json";
    ASSERT_EQ(gnnplan("machines show summit --json > " + file).code, 0);
    const auto from_file = gnnplan("plan --graph cora --ranks 2 --json --machine " + file).json();
    const auto preset = gnnplan("plan --graph cora --ranks 2 --json --machine summit").json();
    EXPECT_EQ(from_file["predicted"], preset["predicted"]);
    EXPECT_EQ(from_file["fingerprints"]["machine"], preset["fingerprints"]["machine"]);
    write_text(file, "{\"schema\": \"gnnplan.machine/2\"}");
    EXPECT_EQ(gnnplan("plan --graph cora --machine " + file).code, 65);
}

// GraphSAGE multiplies by means over the neighbours alone, or by sums, GIN by sums that count the vertex itself.
TEST(Plan, AModelSaysWhichMatrixItMultipliesBy) {
    const auto problem = [](const std::string& flags) {
        return gnnplan("plan --graph cora --ranks 4 --json " + flags).json()["problem"];
    };
    const auto gcn = problem("--model gcn"), mean = problem("--model sage"), gin = problem("--model gin");
    EXPECT_FALSE(gcn["model"].contains("aggregator"));
    EXPECT_EQ(mean["model"]["aggregator"], "mean");
    EXPECT_EQ(mean["graph"]["normalisation"], "row_mean");
    EXPECT_EQ(mean["graph"]["self_loops"], false);
    EXPECT_EQ(mean["graph"]["nonzeros"].get<int>(),
              gcn["graph"]["nonzeros"].get<int>() - gcn["graph"]["vertices"].get<int>());
    EXPECT_EQ(problem("--model sage --aggregator sum")["graph"]["normalisation"], "none");
    EXPECT_EQ(problem("--model sage --normalisation symmetric")["graph"]["normalisation"], "symmetric");
    EXPECT_EQ(gin["graph"]["self_loops"], true);
    EXPECT_EQ(gin["graph"]["normalisation"], "none");
}

TEST(Plan, GraphIsReadAndRecorded) {
    const Folder folder;
    const std::string graph = folder / "graph";
    ASSERT_EQ(
        gnnplan("graph generate planted --vertices 300 --nonzeros 2000 --features 8 --classes 3 -o " + graph).code, 0);
    const Outcome outcome = gnnplan("plan --graph " + graph + " --ranks 3 --json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto plan = outcome.json();
    const auto info = gnnplan("graph info --json " + graph).json();
    EXPECT_EQ(plan["fingerprints"]["graph"], info["fingerprint"]);
    EXPECT_EQ(plan["problem"]["graph"]["nonzeros"], info["nonzeros"]);
    EXPECT_EQ(plan["problem"]["graph"]["exact"], true);
    EXPECT_EQ(plan["problem"]["graph"]["generated_features"], 0);
    EXPECT_EQ(plan["predicted"]["estimate"], false);
    EXPECT_EQ(plan["problem"]["model"]["widths"], (std::vector<int>{8, 128, 3}));
    EXPECT_THAT(outcome.err, HasSubstr("OGB raw folder"));
    EXPECT_THAT(gnnplan("plan --graph " + graph + " --ranks 3").out, HasSubstr("x the mean of sparse work\n"));
    EXPECT_THAT(gnnplan("plan --graph " + graph + " --ranks 3 --permute on").out, HasSubstr("without the permutation"));
    // The data has 8 features.
    EXPECT_EQ(gnnplan("plan --graph " + graph + " --features 9").code, 64);
    EXPECT_EQ(gnnplan("plan --graph " + graph + " --vertices 300").code, 64);
}

TEST(Plan, PrintedCommandsCanBePasted) {
    const Folder folder;
    const std::string data = "'" + (folder / "my data (v2).npz") + "'", file = "'" + (folder / "my plan.json") + "'";
    ASSERT_EQ(gnnplan("graph generate planted --vertices 60 --nonzeros 300 -o " + data).code, 0);
    EXPECT_THAT(gnnplan("plan --hidden 8 --graph " + data + " -o " + file).out,
                HasSubstr("run it:  gnnrun " + file + " --data " + data));
    EXPECT_THAT(gnnplan("enumerate --ranks 2 --widths 6,8,3 --graph " + data).err,
                HasSubstr("gnnplan graph info " + data + " says"));
}

TEST(Plan, SelfLoopsAreAmongTheNonzeros) {
    const std::string sizes = "plan --widths 4,4,2 --ranks 2 --vertices 10 --nonzeros ";
    const Outcome refused = gnnplan(sizes + "9");
    EXPECT_EQ(refused.code, 64);
    EXPECT_THAT(refused.err, HasSubstr("9 nonzeros are fewer than the self loops of 10 vertices"));
    EXPECT_EQ(gnnplan(sizes + "10").code, 0);
    EXPECT_EQ(gnnplan(sizes + "9 --model sage").code, 0);
}

TEST(Plan, FeaturesAndClassesAreGeneratedWhereThereAreNone) {
    const Folder folder;
    const std::string edges = folder / "edges.txt";
    write_text(edges, "0 1\n1 2\n2 3\n3 0\n1 3\n");
    EXPECT_EQ(gnnplan("plan --graph " + edges).code, 64);
    const auto plan = gnnplan("plan --space paper --json --features 4 --classes 2 --seed 9 --graph " + edges).json();
    const auto& graph = plan["problem"]["graph"];
    EXPECT_EQ(graph["generated_features"], 4);
    EXPECT_EQ(graph["generated_classes"], 2);
    EXPECT_EQ(graph["seed"], 9);
    EXPECT_EQ(graph["symmetric"], false);
    EXPECT_EQ(graph["nonzeros"], 9);
    const auto symmetrised =
        gnnplan("plan --space paper --json --features 4 --classes 2 --symmetrise --graph " + edges).json();
    EXPECT_EQ(symmetrised["problem"]["graph"]["symmetric"], true);
    EXPECT_EQ(symmetrised["problem"]["graph"]["symmetrised"], true);
    EXPECT_EQ(symmetrised["problem"]["graph"]["nonzeros"], 14);
    // Row means weigh the two directions of an edge differently: A and A^T are both stored.
    const auto means =
        gnnplan("plan --space paper --json --features 4 --classes 2 --symmetrise --normalisation row_mean --graph " +
                edges)
            .json();
    EXPECT_EQ(means["problem"]["graph"]["symmetric"], true);
    EXPECT_EQ(adjacencies(symmetrised), 1);
    EXPECT_EQ(adjacencies(means), 2);
}

// The card of the undirected graph where there is one, and else as many edges as there can be.
TEST(Plan, SymmetrisedCardsHaveTheirReverses) {
    const std::string flags = "plan --json --ranks 8 --machine dgx-a100 --symmetrise --graph ";
    const Outcome arxiv = gnnplan(flags + "ogbn-arxiv");
    EXPECT_THAT(arxiv.err, HasSubstr("note: with --symmetrise, ogbn-arxiv is the graph of the card ogbn-arxiv:undir"));
    const auto undirected = gnnplan("plan --json --ranks 8 --machine dgx-a100 --graph ogbn-arxiv:undirected").json();
    EXPECT_EQ(arxiv.json()["problem"]["graph"]["nonzeros"], 2'484'941);
    EXPECT_EQ(arxiv.json()["predicted"], undirected["predicted"]);

    const Outcome mag = gnnplan(flags + "ogbn-mag");
    EXPECT_THAT(mag.err, HasSubstr("note: --symmetrise doubles the edges of ogbn-mag at most"));
    EXPECT_EQ(mag.json()["problem"]["graph"]["nonzeros"], 736'389 + 2 * 5'416'271);
    EXPECT_EQ(mag.json()["problem"]["graph"]["symmetric"], true);
    EXPECT_THAT(gnnplan(flags + "reddit").err, ::testing::Not(HasSubstr("note"))) << "symmetric already";
    const Outcome sizes = gnnplan("plan --symmetrise --vertices 99 --nonzeros 500 --features 4 --classes 3");
    EXPECT_EQ(sizes.code, 64);
    EXPECT_THAT(sizes.err, HasSubstr("count them in --nonzeros, and add --symmetric"));
}

TEST(Plan, SaysThatSharesFitWhereWholeGraphsDoNot) {
    const std::string flags = "plan --vertices 1e6 --nonzeros 1.6B --features 100 --classes 10 --ranks 8";
    const Outcome whole = gnnplan(flags);
    EXPECT_EQ(whole.code, 3);
    EXPECT_THAT(whole.err, HasSubstr("with --load sharded ranks load shares, and 4.5"));
    EXPECT_EQ(gnnplan(flags + " --load sharded").code, 0);
    EXPECT_GT(gnnplan(flags + " --json").json()["sharded_bytes_per_rank"], 4'000'000'000);
    EXPECT_THAT(gnnplan("plan --graph reddit --machine a6000x8 --memory 100MiB").err,
                ::testing::Not(HasSubstr("sharded")));
}

TEST(Plan, IdsFromOneAreRecorded) {
    const Folder folder;
    const std::string edges = folder / "edges.txt";
    write_text(edges, "1 2\n2 1\n2 3\n3 2\n");
    const std::string plan = "plan --space paper --json --features 4 --classes 2 --graph " + edges;
    const Outcome unsaid = gnnplan(plan);
    EXPECT_THAT(unsaid.err, HasSubstr("note: vertex 0 has no edges: ids from 1? (--index-base 1)\n"));
    EXPECT_EQ(unsaid.json()["problem"]["graph"]["vertices"], 4);
    EXPECT_FALSE(unsaid.json()["problem"]["graph"].contains("index_base"));
    for (const std::string given : {"1", "auto"}) {
        const Outcome outcome = gnnplan(std::string(plan).append(" --index-base ").append(given));
        EXPECT_EQ(outcome.json()["problem"]["graph"]["vertices"], 3) << given;
        EXPECT_EQ(outcome.json()["problem"]["graph"]["index_base"], 1) << given;
        EXPECT_THAT(outcome.err, ::testing::Not(HasSubstr("note: "))) << given;
    }
}

TEST(Plan, PinsWithoutEffectAreSaid) {
    const std::string cora = "plan --graph cora ";
    EXPECT_THAT(gnnplan(cora + "--ranks 1 --exchange rows --overlap on").err,
                AllOf(HasSubstr("note: --exchange rows has no effect"), HasSubstr("note: --overlap on has no effect")));
    EXPECT_EQ(gnnplan(cora + "--ranks 4 --scheme 1d --exchange rows --overlap on").err, "");
    EXPECT_EQ(gnnplan(cora + "--ranks 4 --scheme 2d --grid 1x4 --overlap on").err, "");
    EXPECT_EQ(gnnplan(cora + "--ranks 4 --scheme rdm --overlap off").err, "");
    // Where RDM's own replications are all searched, one of them exchanges.
    EXPECT_EQ(gnnplan(cora + "--ranks 2 --space paper --exchange rows").code, 0);
}

TEST(Plan, SchemesThatAreNotThemselvesAreSaid) {
    const Outcome prime = gnnplan("plan --graph cora --ranks 7 --scheme 3d");
    EXPECT_EQ(prime.code, 0);
    EXPECT_THAT(prime.err, HasSubstr("note: 7 ranks form no proper 3D grid"));
    EXPECT_EQ(gnnplan("plan --graph cora --ranks 8 --scheme 3d").err, "");
    EXPECT_EQ(gnnplan("plan --graph cora --ranks 7 --scheme 3d --grid 7x1x1").err, "");  // asked for
}

}  // namespace
}  // namespace gnnplan::testing
