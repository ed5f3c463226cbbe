// Graph attention at the command line: what is planned, what is refused and why, and what runs.
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gnnplan::testing {
namespace {

using ::testing::HasSubstr;

const std::string gat = "plan --graph cora --ranks 4 --model gat --heads 8 --hidden 64 ";

TEST(PlanAttention, RecordsItsHeadsAndSaysWhatDoesNotApply) {
    const auto model = gnnplan(gat + "--output-heads 2 --slope 0.1 --json").json()["problem"]["model"];
    EXPECT_EQ(model["heads"], 8);
    EXPECT_EQ(model["output_heads"], 2);
    EXPECT_EQ(model["slope"], 0.1);
    const std::string plan = gnnplan(gat).out;
    EXPECT_THAT(plan, HasSubstr("a softmax is no sum, and these grids split"));
    EXPECT_THAT(plan, HasSubstr("attention compares what the weights have made"));
}

TEST(PlanAttention, RefusesWithASentence) {
    const std::pair<std::string, std::string> cases[] = {
        {"--model gat --heads 7 --hidden 16", "7 heads cannot share 16 columns"},
        {"--heads 2", "the model 'gcn' has no heads of attention"},
        {"--slope 0.1", "--slope: the model 'gcn' has no heads of attention and no slope"},
        {"--attention-dropout 0.5", "--attention-dropout: gcn has no weights of attention to drop"},
        {"--model gat --scores columns", "--scores: gat makes no scores of its edges from whole vertices"},
        {"--model gat --bf16", "--bf16: gat has no product that rounds its operand"},
        {"--model gat --forward SS", "attends to what its weights have made of the features"},
        {"--model gat --grid 1x2x2", "neighbours together"},
        {"--attention stored", "--attention: gcn has no additive attention"},
        {"--model agnn --attention recompute", "--attention: agnn has no additive attention"},
        {"--model gat --attention sddmm", "--attention sddmm: scores of gat are sums of one number of each end"},
        {"--model gat --attention stored --scheme 2d --grid 2x2", "stores scores of edges"},
        {"--model gat --attention stored --task infer", "gat has no backward pass in an inference"}};
    for (const auto& [flags, message] : cases) {
        const Outcome outcome = gnnplan("plan --graph cora --ranks 4 " + flags);
        EXPECT_EQ(outcome.code, 64) << flags;
        EXPECT_THAT(outcome.err, HasSubstr(message)) << flags;
    }
}

// A choice that was not compared is not named as chosen.
TEST(PlanAttention, SaysWhyScoresAreNotStoredOnlyWhereTheyAreNotCompared) {
    EXPECT_THAT(gnnplan(gat).out, HasSubstr("dominated: 4 bytes for each nonzero and head"));
    for (const std::string flags : {"--attention stored", "--attention-dropout 0.5", "--task infer"})
        EXPECT_THAT(gnnplan(gat + flags).out, ::testing::Not(HasSubstr("for each nonzero and head"))) << flags;
}

// Heads share the widths of the points, not the default one; a point that they cannot share is told as such.
TEST(PlanAttention, SweepsWidths) {
    for (const std::string values : {"10,12,20", "12,10,20", "12,13,20"}) {
        const Outcome sweep = gnnplan("sweep --graph cora --model gat --heads 5 --vary hidden=" + values);
        EXPECT_EQ(sweep.code, 0) << sweep.err;
        EXPECT_THAT(sweep.out, HasSubstr("5 heads cannot share"));
    }
    const Outcome none = gnnplan("sweep --graph cora --model gat --heads 5 --vary hidden=11,12");
    EXPECT_EQ(none.code, 64);
    EXPECT_THAT(none.err, HasSubstr("5 heads cannot share 11 columns"));
}

// The plan trains, heads cut by y or not, and weights of attention dropped: the same network for any number of ranks.
TEST(RunAttention, TrainsTheSameNetworkOnAnyGrid) {
    const Folder folder;
    const std::string graph = folder / "graph", plan = folder / "plan.json";
    ASSERT_EQ(
        gnnplan("graph generate planted --vertices 300 --nonzeros 3000 --features 8 --classes 3 -o " + graph).code, 0);
    std::vector<double> losses;
    for (const std::string grid : {"1x1", "1x1 stored", "3x1", "1x2 stored", "2x2", "2x2 stored"}) {
        const int ranks = grid.starts_with("1x1") ? 1 : grid == "3x1" ? 3 : grid.starts_with("1x2") ? 2 : 4;
        const std::string on =
            " --model gat --heads 3 --hidden 12 --bias --ranks " + std::to_string(ranks) + " --grid ";
        const std::string scores = grid.ends_with("stored") ? " --attention stored" : " --attention recompute";
        const Outcome planned = gnnplan("plan --graph " + graph + on + grid.substr(0, 3) + scores + " -o " + plan);
        ASSERT_EQ(planned.code, 0) << planned.err;
        const std::string report = folder / "report.json";
        const Outcome run = run_program(GNNRUN_TOOL, plan + " --data " + graph + " --in-process --epochs 5" +
                                                         " --dropout 0.5 --attention-dropout 0.5 --report " + report);
        ASSERT_EQ(run.code, 0) << run.err;
        losses.push_back(nlohmann::json::parse(read_text(report))["epochs"].back()["loss"].get<double>());
    }
    for (const double loss : losses) EXPECT_NEAR(loss, losses.front(), 1e-5 * losses.front());
}

}  // namespace
}  // namespace gnnplan::testing
