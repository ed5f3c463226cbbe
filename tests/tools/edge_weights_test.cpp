// Weights of edges at the command line: what is planned and run, and what is refused with which sentence.
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace gnnplan::testing {
namespace {

using ::testing::HasSubstr;

// Edges in both directions, weights of which are different functions of both ends where `directed`.
std::string edge_lines(bool directed, double scale = 1) {
    std::string text;
    for (int u = 0; u < 40; ++u) {
        for (int step : {1, 3, 7, 12}) {
            const int v = (u * step + 5) % 40;
            if (u == v) continue;
            const std::string weight = std::to_string(scale * (0.25 + (u + v) % 7));
            const std::string back = std::to_string(scale * (0.25 + (u + v + (directed ? 1 : 0)) % 7));
            text += std::to_string(u) + " " + std::to_string(v) + " " + weight + "\n";
            text += std::to_string(v) + " " + std::to_string(u) + " " + back + "\n";
        }
    }
    return text;
}

const std::string generated = " --features 6 --classes 3 --hidden 5 ";

nlohmann::json run_report(const Folder& folder, const std::string& plan, const std::string& data) {
    const std::string report = folder / "report.json";
    const Outcome run =
        run_program(GNNRUN_TOOL, plan + " --data " + data + " --in-process --epochs 6 --report " + report);
    EXPECT_EQ(run.code, 0) << run.err;
    return nlohmann::json::parse(read_text(report));
}

// On every grid the same losses, and to the byte what was predicted.
void expect_same_runs(const std::string& edges, const std::string& model) {
    const Folder folder;
    const std::string data = folder / "edges.txt", plan = folder / "plan.json";
    write_text(data, edges);
    std::vector<double> losses;
    for (const std::string on : {"1 --grid 1x1", "2 --grid 2x1", "3 --grid 3x1 --exchange rows", "4 --grid 2x2",
                                 "4 --scheme 2d --grid 2x2", "6 --grid 3x2 --permute on"}) {
        const Outcome planned =
            gnnplan("plan --graph " + data + generated + model + " --edge-weights --ranks " + on + " -o " + plan);
        ASSERT_EQ(planned.code, 0) << planned.err;
        const auto report = run_report(folder, plan, data);
        EXPECT_EQ(report["measured"]["total_bytes"], report["predicted"]["total_bytes"]) << on;
        EXPECT_EQ(report["measured"]["peak_bytes_per_rank"], report["predicted"]["peak_bytes_per_rank"]) << on;
        losses.push_back(report["epochs"].back()["loss"].get<double>());
    }
    for (const double loss : losses) EXPECT_NEAR(loss, losses.front(), 1e-5 * losses.front());
    ASSERT_EQ(gnnplan("plan --graph " + data + generated + model + " -o " + plan).code, 0);
    const double unweighted = run_report(folder, plan, data)["epochs"].back()["loss"].get<double>();
    EXPECT_GT(std::abs(unweighted - losses.front()), 1e-4 * losses.front());
}

TEST(EdgeWeights, GcnTrainsTheSameNetworkOnAnyGrid) {
    expect_same_runs(edge_lines(false), "--model gcn");
    expect_same_runs(edge_lines(true), "--model gcn");
}

TEST(EdgeWeights, SageTrainsTheSameNetworkOnAnyGrid) {
    expect_same_runs(edge_lines(true), "--model sage");
    expect_same_runs(edge_lines(false, 0.1), "--model sage --aggregator sum");
}

TEST(EdgeWeights, AreRecordedAndSaid) {
    const Folder folder;
    const std::string data = folder / "edges.txt", plan = folder / "plan.json";
    write_text(data, edge_lines(false));
    const Outcome planned = gnnplan("plan --graph " + data + generated + "--ranks 4 --edge-weights -o " + plan);
    ASSERT_EQ(planned.code, 0) << planned.err;
    EXPECT_THAT(planned.out, HasSubstr("(self loops included, weighted)"));
    EXPECT_THAT(planned.out, HasSubstr("not applicable: with weights of edges, values are no products"));
    EXPECT_THAT(planned.err, HasSubstr("edges read with their weights"));
    const auto document = nlohmann::json::parse(read_text(plan));
    EXPECT_EQ(document["problem"]["graph"]["edge_weights"], true);
    EXPECT_EQ(document["problem"]["graph"]["symmetric"], true);
    for (const auto& candidate : document["candidates"])
        EXPECT_EQ(candidate["configuration"]["factored_values"], false);
    EXPECT_EQ(gnnplan("validate " + plan).code, 0);
    EXPECT_EQ(gnnplan("explain " + plan).code, 0);

    const Outcome without = gnnplan("plan --graph " + data + generated);
    EXPECT_THAT(without.err, HasSubstr("ignored: plan with --edge-weights to use weights"));
    const auto info = gnnplan("graph info --json --edge-weights " + data).json();
    EXPECT_EQ(info["edge_weights"], true);
    EXPECT_EQ(info["edge_values_ignored"], 0);
    write_text(data, edge_lines(true));
    EXPECT_EQ(gnnplan("graph info --json --edge-weights " + data).json()["symmetric"], false);
    EXPECT_EQ(gnnplan("graph info --json " + data).json()["symmetric"], true);
}

TEST(EdgeWeights, APlanIsForTheWeightsItWasMadeFor) {
    const Folder folder;
    const std::string data = folder / "edges.txt", plan = folder / "plan.json";
    write_text(data, edge_lines(false));
    ASSERT_EQ(gnnplan("plan --graph " + data + generated + "--edge-weights -o " + plan).code, 0);
    write_text(data, edge_lines(false, 2));
    const Outcome run = run_program(GNNRUN_TOOL, plan + " --data " + data + " --epochs 1");
    EXPECT_EQ(run.code, 78);
    EXPECT_THAT(run.err, HasSubstr("the plan's graph has the fingerprint"));
}

TEST(EdgeWeights, APlanOfSizesReadsThemFromTheData) {
    const Folder folder;
    const std::string data = folder / "edges.txt", plan = folder / "plan.json";
    write_text(data, edge_lines(false));
    const auto info = gnnplan("graph info --json " + data).json();
    const std::string sizes = "plan --vertices 40 --nonzeros " + std::to_string(info["nonzeros"].get<int>()) +
                              " --symmetric --edge-weights -o " + plan + generated;
    ASSERT_EQ(gnnplan(sizes).code, 0);
    const std::string run = plan + " --data " + data + " --epochs 1";
    const Outcome lacking = run_program(GNNRUN_TOOL, run);
    EXPECT_EQ(lacking.code, 78) << lacking.err;  // features and labels, which only a plan of the data generates
    write_text(data, edge_lines(true));
    const Outcome directed = run_program(GNNRUN_TOOL, run);
    EXPECT_EQ(directed.code, 78);
    EXPECT_THAT(directed.err, HasSubstr("this one is directed: some edges and their reverses differ in weight"));
    write_text(data, "0 1\n1 0\n");
    const Outcome missing = run_program(GNNRUN_TOOL, run);
    EXPECT_EQ(missing.code, 65);
    EXPECT_THAT(missing.err, HasSubstr("edges.txt:1: malformed line: edge weight is missing"));
}

TEST(EdgeWeights, BadOnesAreRefused) {
    const Folder folder;
    const std::string data = folder / "edges.txt";
    const std::pair<std::string, std::string> cases[] = {
        {"0 1 0.5\n1 2\n", "edges.txt:2: malformed line: edge weight is missing"},
        {"0 1 nan\n", "edges.txt:1: edge weight 'nan' is not finite"},
        {"0 1 1\n1 0 1\n1 2 -4\n2 1 -4\n", "into vertex 1 (counted from 0) add up to -2, and symmetric normalisation"}};
    for (const auto& [edges, message] : cases) {
        write_text(data, edges);
        const Outcome outcome = gnnplan("plan --edge-weights --graph " + data + generated);
        EXPECT_EQ(outcome.code, 65) << edges;
        EXPECT_THAT(outcome.err, HasSubstr(message));
    }
    const std::string model = "plan --edge-weights --model sage --graph " + data + generated;
    EXPECT_EQ(gnnplan(model).code, 0) << "negative weights have means";
    const std::string ogb = folder / "ogb";
    ASSERT_EQ(gnnplan("graph generate planted --vertices 60 --nonzeros 300 -o " + ogb).code, 0);
    const Outcome missing = gnnplan("graph info --edge-weights " + ogb);
    EXPECT_EQ(missing.code, 66);
    EXPECT_THAT(missing.err, HasSubstr("raw/edge-feat.csv: no weights of edges: not found"));
}

TEST(EdgeWeights, WhatDoesNotReadThemIsRefused) {
    const std::pair<std::string, std::string> cases[] = {
        {"--model gat", "layer 1 of gat weighs edges by attention alone"},
        {"--model sage --aggregator max", "layer 1 of sage takes maxima, whatever edges weigh"},
        {"--model sage --aggregator pool", "takes maxima"},
        {"--values factored", "values are no products of two scales"}};
    for (const auto& [flags, message] : cases) {
        const Outcome outcome = gnnplan("plan --graph cora --ranks 4 --edge-weights " + flags);
        EXPECT_EQ(outcome.code, 64) << flags;
        EXPECT_THAT(outcome.err, HasSubstr(message)) << flags;
    }
    EXPECT_EQ(gnnplan("plan --graph cora --ranks 4 --edge-weights").code, 0);
}

}  // namespace
}  // namespace gnnplan::testing
