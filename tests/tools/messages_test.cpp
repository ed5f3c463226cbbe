// The messages on mistakes that people make who know other programs, and on odd questions: they name the way out.
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gnnplan::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Outcome gnnrun(const std::string& arguments) { return run_program(GNNRUN_TOOL, arguments); }

void expect_error(const Outcome& outcome, int code, const std::string& words) {
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("error: "));
    EXPECT_THAT(outcome.err, HasSubstr(words));
}

TEST(Messages, FlagsOfOtherProgramsLeadToOurs) {
    expect_error(gnnplan("plan --gpus 8"), 64, "'--gpus', did you mean --ranks?");
    expect_error(gnnplan("plan --gpus=8"), 64, "did you mean --ranks?");
    expect_error(gnnplan("plan -n 8"), 64, "'-n', did you mean --ranks?");
    expect_error(gnnplan("plan --nodes 4"), 64, "'--nodes', did you mean --ranks, --ranks-per-node?");
    expect_error(gnnplan("sweep --dataset reddit"), 64, "'--dataset', did you mean --graph?");
    expect_error(gnnplan("plan reddit"), 64, "'reddit', did you mean --graph reddit?");
    expect_error(gnnrun("plan.json --graph cora"), 64, "'--graph', did you mean --data?");
    EXPECT_THAT(gnnplan("compare a b --gpus 8").err, Not(HasSubstr("did you mean")));  // it has no --ranks
}

TEST(Messages, FlagsThatThePlanDecidesAreThePlans) {
    for (const char* flag : {"--model", "--hidden", "--ranks", "--scheme"}) {
        const std::string words = std::string("which the plan decides: gnnplan plan ") + flag;
        expect_error(gnnrun(std::string("plan.json --data x ") + flag + " 3"), 64, words);
        expect_error(gnnrun(std::string("plan.json ") + flag + "=3"), 64, words);  // --data is missing, too
    }
    EXPECT_THAT(gnnrun("plan.json --colour red").err, Not(HasSubstr("gnnplan plan")));
}

TEST(Messages, WhatACommandTakesIsSaidWhereItIsMissing) {
    expect_error(gnnplan("compare a.json"), 64, "B is missing: write gnnplan compare A B (see");
    expect_error(gnnrun(""), 64, "PLAN is missing: write gnnrun PLAN");
    expect_error(gnnrun("plan.json"), 64, "--data is required");
}

TEST(Messages, FilesOfOtherKindsAreRecognised) {
    const Folder folder;
    const std::string graph = folder / "graph.npz", plan = folder / "plan.json", array = folder / "weights.npy";
    ASSERT_EQ(gnnplan("graph generate planted --vertices 50 --nonzeros 200 --features 4 --classes 2 -o " + graph).code,
              0);
    expect_error(gnnplan("explain " + graph), 65, graph + ": is a zip archive (.npz, .pt), and no JSON (graphs are");
    ASSERT_EQ(gnnplan("plan --graph " + graph + " --ranks 1 -o " + plan).code, 0);
    write_text(array, std::string("\x93NUMPY\x01\0v\0{}", 12));
    expect_error(gnnrun(plan + " --data " + graph + " --load-weights " + array), 65,
                 array + ": is an .npy array, and no safetensors file");
    write_text(array, std::string("{\0}", 3));
    expect_error(gnnplan("explain " + array), 65, "a byte of value 0 is no part of JSON");
}

TEST(Messages, MachinesThatThereAreNotAreToBeDescribed) {
    expect_error(gnnplan("plan --graph cora --machine nosuch.json"), 66,
                 "nosuch.json: there is no such file (gnnplan machines new makes");
    expect_error(gnnplan("plan --graph cora --machine here/cluster"), 66, "here/cluster: there is no such file");
    expect_error(gnnplan("plan --graph cora --machine tpu-v5p"), 66,
                 "no such machine profile (known: cpu-node, a6000x8, ");
    expect_error(gnnplan("plan --graph cora --machine tpu-v5p"), 66,
                 "; gnnplan machines new makes a profile of a machine of your own)");
    expect_error(gnnplan("plan --graph cora --machine a6000x"), 66,
                 "(did you mean a6000x8? gnnplan machines new makes a profile");
}

TEST(Messages, AllMissingFiguresOfAMachineAreNamedAtOnce) {
    expect_error(gnnplan("machines new"), 64,
                 "a machine needs --ranks-per-node, --memory, --memory-bandwidth, --fp32, --in-node, --between-nodes");
    expect_error(gnnplan("machines new --ranks-per-node 8 --memory 80GiB --memory-bandwidth 3TB/s --fp32 67TF"), 64,
                 "a machine needs --in-node, --between-nodes (see");
}

TEST(Messages, RatesOfAProfileMustBePositive) {
    const Folder folder;
    const std::string file = folder / "mine.json";
    auto profile = gnnplan("machines show a6000x8 --json").json();
    profile["intra_node"]["bytes_per_second"] = -1;
    write_text(file, profile.dump());
    expect_error(gnnplan("plan --graph cora --machine " + file), 65,
                 "intra_node.bytes_per_second must be positive and finite");
}

TEST(Messages, QuestionsBeyondTheMachineOrTheDataAreNoted) {
    const auto said = [](const std::string& flags) {
        const Outcome outcome = gnnplan("plan --graph reddit --ranks 2 --machine a6000x8 " + flags);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return outcome.err;
    };
    EXPECT_THAT(said("--memory 999TiB"),
                HasSubstr("note: --memory 999 TiB is more than the 48 GiB that a rank of a6000x8 has\n"));
    EXPECT_THAT(said("--features 10"),
                HasSubstr("note: the data of the card reddit has 602 features, and the network takes 10\n"));
    EXPECT_THAT(said("--widths 602,16,7"),
                HasSubstr("note: the data of the card reddit has 41 classes, and the network takes 7\n"));
    EXPECT_EQ(said("--memory 48GiB --features 602 --classes 41"), "");
}

TEST(Messages, FlagsOfGnnrunAreNamedAsSuch) {
    expect_error(gnnplan("train"), 64, "unknown subcommand 'train', gnnrun does this: gnnrun PLAN --data PATH");
    expect_error(gnnplan("plan --graph cora --lr 0.1"), 64, "'--lr', which the run decides: gnnrun PLAN --lr");
    expect_error(gnnplan("plan --graph cora --batch-size 8"), 64,
                 "an epoch trains on the whole graph, or on batches that --sampler draws");
}

TEST(Messages, AnEdgeListNeedsBothWidths) {
    const Folder folder;
    write_text(folder / "edges.txt", "0 1\n1 2\n2 0\n");
    const std::string plan = "plan --graph " + (folder / "edges.txt");
    EXPECT_THAT(gnnplan(plan).err, HasSubstr("(give --features and --classes, or --widths: what the data lacks"));
    EXPECT_THAT(gnnplan(plan + " --classes 3").err, HasSubstr("(give --features, too)"));
    EXPECT_EQ(gnnplan(plan + " --classes 3 --features 4").code, 0);
}

TEST(Messages, LargeCountsCanBeShort) {
    const auto header = [](const std::string& vertices, const std::string& nonzeros) {
        const Outcome outcome =
            gnnplan("plan --widths 16,8,4 --vertices " + vertices + " --nonzeros " + nonzeros + " --machine a6000x8");
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return outcome.out;
    };
    EXPECT_THAT(header("1e6", "1.6B"), HasSubstr("N=1,000,000  nnz=1,600,000,000 "));
    EXPECT_THAT(header("12.5k", "0.25M"), HasSubstr("N=12,500  nnz=250,000 "));
    for (const char* none : {"1.5", "1.2345k", "1e-3", "e6", "k", "1e30", "1.6BB", "0x10", "1e", ".", "-1k"}) {
        expect_error(gnnplan(std::string("plan --widths 16,8,4 --nonzeros 1000 --vertices=") + none), 64,
                     std::string("--vertices: '") + none + "' is not a whole number from 1 to 2,147,483,647");
    }
}

TEST(Messages, ASweepOfNothingSaysHowToVary) {
    const std::string words = "note: nothing varies; --vary ranks=1,2,4 compares numbers of ranks\n";
    EXPECT_THAT(gnnplan("sweep --graph cora --machine a6000x8").err, HasSubstr(words));
    EXPECT_THAT(gnnplan("sweep --graph cora --machine a6000x8 --vary ranks=1,2").err, Not(HasSubstr(words)));
}

TEST(Messages, ALossThatRoseAndARunBesideItsPlanAreSaid) {
    const Folder folder;
    const std::string graph = folder / "graph.npz", plan = folder / "plan.json", report = folder / "run.json";
    ASSERT_EQ(
        gnnplan("graph generate planted --vertices 200 --nonzeros 2000 --features 8 --classes 4 -o " + graph).code, 0);
    ASSERT_EQ(gnnplan("plan --graph " + graph + " --ranks 1 --layers 3 --hidden 16 -o " + plan).code, 0);
    const std::string run = plan + " --data " + graph + " --epochs 3 --report " + report;
    EXPECT_THAT(gnnrun(run + " --lr 10").err,
                ::testing::ContainsRegex("note: the loss rose from .* to .*: lower --lr"));
    const Outcome sane = gnnrun(run);
    ASSERT_EQ(sane.code, 0) << sane.err;
    EXPECT_THAT(sane.err, Not(HasSubstr("the loss rose")));
    const std::string compared = gnnplan("compare " + plan + " " + report).out;
    EXPECT_THAT(compared, HasSubstr(" that its plan predicts.\n"));
    EXPECT_THAT(compared, Not(HasSubstr("tie")));
    EXPECT_THAT(gnnplan("compare " + plan + " " + plan).out, Not(HasSubstr("that its plan predicts")));
}

TEST(Messages, PlansSayOnHowManyNodesTheirRanksAre) {
    const Folder folder;
    const std::string file = folder / "plan.json";
    const auto model_line = [&](const std::string& flags) {
        const Outcome outcome = gnnplan("plan --graph cora --machine dgx-a100 -o " + file + " " + flags);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return outcome.out;
    };
    EXPECT_THAT(model_line("--ranks 16"), HasSubstr(", 16 ranks on 2 nodes of 8\n"));
    EXPECT_THAT(model_line("--ranks 4"), HasSubstr(", 4 ranks on one node of 8\n"));
    EXPECT_THAT(model_line("--ranks 12 --ranks-per-node 4"), HasSubstr(", 12 ranks on 3 nodes of 4\n"));
    EXPECT_THAT(on_one_line(gnnplan("explain " + file).out), HasSubstr(", 12 ranks on 3 nodes of 4 "));
    EXPECT_EQ(nlohmann::json::parse(read_text(file))["machine"]["ranks_per_node"], 4);
}

TEST(Messages, RanksOfANodeDecideTheLinkOfASweep) {
    const auto link = [](const std::string& flags) {
        const Outcome outcome =
            gnnplan("sweep --graph reddit --machine dgx-a100 --ranks 8 --break-even bandwidth --json " + flags);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return outcome.json()["bandwidth_break_even"][0]["link"].get<std::string>();
    };
    EXPECT_EQ(link(""), "intra_node");
    EXPECT_EQ(link("--ranks-per-node 4"), "inter_node");
}

TEST(Messages, AMeasuredProfileKeepsItsRanksOfANode) {
    const Folder folder;
    const std::string file = folder / "mine.json";
    auto profile = gnnplan("machines show cpu-node --json").json();
    profile["measured"] = true;
    write_text(file, profile.dump());
    const std::string plan = "plan --graph cora --ranks 4 --machine " + file;
    expect_error(
        gnnplan(plan + " --ranks-per-node 4"), 64,
        "--ranks-per-node: the profile cpu-node was measured with 2 ranks on a node, all busy (measure with so "
        "many: mpirun -n 4 gnnplan calibrate)");
    EXPECT_EQ(gnnplan(plan + " --ranks-per-node 2").code, 0);
}

}  // namespace
}  // namespace gnnplan::testing
