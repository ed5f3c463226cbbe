// gnnplan sweep: graphs, networks and machines that vary, and papers asked again.
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace gnnplan::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

nlohmann::json points_of(const std::string& flags) {
    const Outcome outcome = gnnplan("sweep --json " + flags);
    EXPECT_EQ(outcome.code, 0) << flags << "\n" << outcome.err;
    return outcome.json()["points"];
}

nlohmann::json plan_of(const std::string& flags) {
    const Outcome outcome = gnnplan("plan --json " + flags);
    EXPECT_EQ(outcome.code, 0) << flags << "\n" << outcome.err;
    return outcome.json();
}

void expect_same(const nlohmann::json& point, const std::string& flags) {
    const nlohmann::json plan = plan_of(flags);
    EXPECT_EQ(point["best"]["configuration"], plan["configuration"]) << flags;
    EXPECT_EQ(point["best"]["epoch_seconds"], plan["predicted"]["epoch_seconds"]) << flags;
}

TEST(SweepAs, GraphsModelsAndMachinesVary) {
    const auto points = points_of(
        "--space paper --ranks 4 --vary bandwidth=1GB --vary machine=a6000x8,dgx-a100 --vary graph=reddit,ogbn-arxiv");
    ASSERT_EQ(points.size(), 4U);
    EXPECT_EQ(points[3]["settings"]["machine"], "dgx-a100");
    EXPECT_EQ(points[3]["settings"]["graph"], "ogbn-arxiv");
    // The bandwidth is that of the machine, although it was said before it.
    const auto slow = points_of("--space paper --ranks 4 --machine dgx-a100 --graph ogbn-arxiv --vary bandwidth=1GB");
    EXPECT_EQ(points[3]["best"]["epoch_seconds"], slow[0]["best"]["epoch_seconds"]);
    const auto models =
        points_of("--graph cora --ranks 2 --machine cpu-node --heads 8 --vary hidden=64 --vary model=gat,sage:gcn");
    expect_same(models[0], "--graph cora --ranks 2 --machine cpu-node --hidden 64 --model gat --heads 8");
    expect_same(models[1], "--graph cora --ranks 2 --machine cpu-node --hidden 64 --model sage --aggregator gcn");
}

TEST(SweepAs, SizesFanoutAndSwitchesVary) {
    const std::string shape = "--symmetric --widths 16,16,4 --ranks 2 --machine cpu-node ";
    const auto sizes = points_of(shape + "--vary vertices=1k,2k --vary nonzeros=10k,1M");
    expect_same(sizes[1], shape + "--vertices 1000 --nonzeros 1000000");
    const std::string inference = "--graph ogbn-products --task infer --hidden 32 --ranks 4 --machine r5-16xlarge ";
    const auto drawn = points_of(inference + "--vary fanout=10,full,10/5");
    expect_same(drawn[0], inference + "--fanout 10");
    expect_same(drawn[1], inference);
    expect_same(drawn[2], inference + "--fanout 10,5");
    const std::string panels = "--graph reddit --ranks 4 --machine a6000x8 --scheme 1d ";
    expect_same(points_of(panels + "--vary exchange=rows,panels")[1], panels + "--exchange panels");
    expect_same(points_of(panels + "--vary forward=SS,SD --backward S-")[1], panels + "--forward SD --backward S-");
}

TEST(SweepAs, SamplersAndNumbersOfBatchesVary) {
    const std::string training = "--graph ogbn-arxiv --hidden 64 --ranks 4 --machine cpu-node ";
    const auto points = points_of(training +
                                  "--coverage 20 --sampler node:9 --vary batches-per-update=1,4 "
                                  "--vary sampler=walk:2000:2,edge:3000");
    expect_same(points[1], training + "--coverage 20 --sampler edge:3000");
    expect_same(points[2], training + "--coverage 20 --sampler walk:2000:2 --batches-per-update 4");
    const auto full = points_of(training + "--vary sampler=walk:2000:2,full --vary batches-per-update=2,4");
    expect_same(full[0], training + "--sampler walk:2000:2 --batches-per-update 2");
    expect_same(full[2], training);
    expect_same(full[3], training);
    EXPECT_EQ(gnnplan("sweep " + training + "--vary batches-per-update=1,2").code, 64);
    const Outcome wrong = gnnplan("sweep " + training + "--vary sampler=walk:9");
    EXPECT_EQ(wrong.code, 64);
    EXPECT_THAT(wrong.err, HasSubstr("--vary sampler"));
}

TEST(SweepAs, AGraphThatIsReadStandsBesideACard) {
    const Folder folder;
    const std::string graph = folder / "g.npz";
    ASSERT_EQ(
        gnnplan("graph generate planted --vertices 300 --nonzeros 3000 --features 8 --classes 3 -o " + graph).code, 0);
    const auto points = points_of("--hidden 16 --ranks 2 --machine cpu-node --vary graph=cora," + graph);
    expect_same(points[1], "--hidden 16 --ranks 2 --machine cpu-node --graph " + graph);
    EXPECT_EQ(gnnplan("sweep --ranks 2 --machine cpu-node --vary graph=cora,nowhere.npz").code, 66);
}

// Without extras, plans have nothing that no publication has.
TEST(SweepAs, ExtrasCanBeLeftOut) {
    const Folder folder;
    const std::string problem = "plan --graph reddit --train-fraction 0.1 --ranks 4 --machine a6000x8 --top 1 ";
    const auto ranked = [&](const std::string& flags) {
        EXPECT_EQ(gnnplan(problem + flags + " --table " + (folder / "t.json")).code, 0);
        return nlohmann::json::parse(read_text(folder / "t.json"))["ranked"];
    };
    const auto any = [](const nlohmann::json& rows, const char* key) {
        return std::any_of(rows.begin(), rows.end(),
                           [&](const auto& row) { return row["configuration"].value(key, false); });
    };
    const auto with = ranked(""), without = ranked("--extras off");
    for (const char* key : {"constant_input", "cached_aggregation", "factored_values", "loss_rows"}) {
        EXPECT_TRUE(any(with, key)) << key;
        EXPECT_FALSE(any(without, key)) << key;
    }
    EXPECT_LE(with[0]["epoch_seconds"], without[0]["epoch_seconds"]);
}

TEST(SweepAs, APapersFigureIsOneCommand) {
    const Outcome outcome = gnnplan("sweep --as mg-gcn --json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto json = outcome.json();
    EXPECT_EQ(json["publication"]["name"], "mg-gcn");
    EXPECT_EQ(json["machine"], "dgx-a100");
    ASSERT_EQ(json["points"].size(), 16U);
    const auto& last = json["points"][15];
    EXPECT_EQ(last["settings"]["case"], "Papers");
    EXPECT_EQ(last["printed"]["value"], 2.89);
    EXPECT_EQ(last["printed"]["fits"], true);
    EXPECT_EQ(json["points"][12]["printed"]["fits"], false);
    EXPECT_TRUE(json["points"][12]["printed"]["value"].is_null());
    const auto& reddit = json["points"][3];
    EXPECT_EQ(reddit["printed"]["predicted"], reddit["best"]["epoch_seconds"]);
    expect_same(reddit,
                "--graph reddit:mg-gcn --hidden 16 --ranks 8 --machine dgx-a100 --normalisation row_mean "
                "--scheme 1d --forward DS --backward D- --exchange panels --extras off");
}

TEST(SweepAs, PrintedFiguresStandInTables) {
    const std::string text = gnnplan("sweep --as mg-gcn").out;
    EXPECT_THAT(text, ContainsRegex("printed +predicted/printed"));
    EXPECT_THAT(text, HasSubstr("printed: MG-GCN, Table 3"));
    EXPECT_THAT(text, ContainsRegex("Of 16 runs +1[0-9] fit or do not fit as printed"));
    // Nothing was printed for another machine.
    EXPECT_THAT(gnnplan("sweep --as mg-gcn --machine h100x8").out, Not(HasSubstr("printed")));
    EXPECT_THAT(gnnplan("sweep --as mg-gcn --vary memory=40GiB --vary ranks=8").out, Not(HasSubstr("printed:")));
    const Folder folder;
    const std::string csv = folder / "s.csv";
    ASSERT_EQ(gnnplan("sweep --as deal --vary ranks=2,16 --csv " + csv).code, 0);
    EXPECT_THAT(read_text(csv), HasSubstr(",printed,predicted_as_printed\n"));
    EXPECT_THAT(read_text(csv), ContainsRegex("Products GCN,16,.*,2\\.28,[0-9.]+\n"));
    EXPECT_THAT(read_text(csv), ContainsRegex("Products GCN,2,.*,,1\n"));
}

TEST(SweepAs, WhatItSaysIsNotSaidTwice) {
    const Outcome outcome = gnnplan("sweep --as mg-gcn --hidden 64");
    EXPECT_EQ(outcome.code, 64);
    EXPECT_THAT(outcome.err, HasSubstr("--hidden: --as mg-gcn says that already"));
    EXPECT_EQ(gnnplan("sweep --as gnn").code, 64);
    for (const char* values : {"graph=reddit --vary vertices=10", "model=gnn", "machine=nowhere", "extras=some",
                               "fanout=ten", "normalisation=both", "exchange=all"}) {
        const Outcome refused = gnnplan(std::string("sweep --graph cora --vary ") + values);
        EXPECT_NE(refused.code, 0) << values;
        EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << values << "\n" << refused.err;
        EXPECT_EQ(refused.out, "") << values;
    }
}

}  // namespace
}  // namespace gnnplan::testing
