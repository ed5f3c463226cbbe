// AGNN at the command line: what is planned, what is refused and why, and what runs.
#include "planner/io/checkpoint.hpp"
#include "planner/io/files.hpp"
#include "tests/tools/inference.hpp"

#include <regex>

namespace gnnplan::testing {
namespace {

using ::testing::HasSubstr;

const std::string agnn = "plan --graph cora --ranks 4 --model agnn --hidden 16 ";

// The output of gnnplan with its lines put together again: a sentence is broken where a line is full.
std::string unbroken(const std::string& arguments) {
    return std::regex_replace(gnnplan(arguments).out, std::regex("\n *"), " ");
}

TEST(PlanCosine, SaysHowScoresAreMadeAndWhatDoesNotApply) {
    const auto scores = [](const std::string& flags) {
        const auto plan = gnnplan(agnn + "--grid 2x2 --json " + flags).json();
        return plan["candidates"][0]["configuration"].value("scores", "columns");
    };
    EXPECT_EQ(scores("--scores columns"), "columns");
    EXPECT_EQ(scores("--scores whole-rows"), "whole_rows");
    EXPECT_EQ(scores("--scores dealt-rows"), "dealt_rows");
    EXPECT_THAT(unbroken(agnn + "--grid 2x2 --scores whole-rows"), HasSubstr("whole-row scores: every rank gathers"));
    EXPECT_THAT(unbroken(agnn + "--grid 2x2 --scores dealt-rows"), HasSubstr("dealt-row scores: each rank computes"));
    const std::string plan = gnnplan(agnn).out;
    EXPECT_THAT(plan, HasSubstr("layers that weigh by cosines have no linear map"));
    EXPECT_THAT(plan, HasSubstr("2d"));
    EXPECT_THAT(gnnplan(agnn + "--grid 4x1 --scores whole-rows").err, HasSubstr("--scores has no effect on the plan"));
}

TEST(PlanCosine, RefusesWithASentence) {
    const std::pair<std::string, std::string> cases[] = {
        {"--model agnn --layers 1", "agnn has a linear map before its layers"},
        {"--model agnn --residual", "agnn has no residual connections"},
        {"--model agnn --heads 2", "--heads: the model 'agnn' has no heads of attention"},
        {"--model agnn --forward DD", "weighs edges by cosines"},
        {"--model agnn --scheme 2d --grid 2x2", "a rank must have all edges of its vertices"},
        {"--model agnn --grid 1x2x2", "a rank must have all edges of its vertices"},
        {"--model agnn --attention-dropout 0.5", "--attention-dropout: agnn has no weights of attention to drop"},
        {"--model agnn --scores both", "--scores"}};
    for (const auto& [flags, message] : cases) {
        const Outcome outcome = gnnplan("plan --graph cora --ranks 4 " + flags);
        EXPECT_EQ(outcome.code, 64) << flags;
        EXPECT_THAT(outcome.err, HasSubstr(message)) << flags;
    }
}

// The plan trains, with any way of making scores: the same network for any number of ranks.
TEST(RunCosine, TrainsTheSameNetworkOnAnyGrid) {
    const Folder folder;
    const std::string graph = folder / "graph", plan = folder / "plan.json";
    ASSERT_EQ(
        gnnplan("graph generate planted --vertices 300 --nonzeros 3000 --features 8 --classes 3 -o " + graph).code, 0);
    std::vector<double> losses;
    for (const std::string grid :
         {"--ranks 1 --grid 1x1", "--ranks 3 --grid 3x1", "--ranks 2 --grid 1x2 --scores columns",
          "--ranks 4 --grid 2x2 --scores whole-rows", "--ranks 4 --grid 2x2 --scores columns --exchange rows",
          "--ranks 4 --grid 1x4 --scores dealt-rows", "--ranks 4 --grid 2x2 --scores dealt-rows --exchange panels"}) {
        const Outcome planned =
            gnnplan("plan --graph " + graph + " --model agnn --hidden 12 --layers 3 --bias " + grid + " -o " + plan);
        ASSERT_EQ(planned.code, 0) << planned.err;
        const std::string report = folder / "report.json";
        const Outcome run = run_program(
            GNNRUN_TOOL, plan + " --data " + graph + " --in-process --epochs 5 --dropout 0.5 --report " + report);
        ASSERT_EQ(run.code, 0) << run.err;
        losses.push_back(nlohmann::json::parse(read_text(report))["epochs"].back()["loss"].get<double>());
    }
    for (const double loss : losses) EXPECT_NEAR(loss, losses.front(), 1e-5 * losses.front());
}

// Cosines depend on directions alone: embeddings times a number give outputs times that number, however large or small
// rows get, and whichever ranks hold their columns.
TEST_F(Inference, CosinesDoNotSeeTheLengthsOfRows) {
    train("--model agnn --layers 3");
    const std::vector<NamedTensor> trained = io::read_weights(io::read_file(weights), weights);
    const std::string flags = "--model agnn --layers 3 ";
    const std::vector<float> plain = embeddings(flags + "--ranks 1");
    for (const int exponent : {-110, -70, 62, 66, 100}) {
        std::vector<NamedTensor> scaled = trained;
        for (NamedTensor& tensor : scaled) {
            if (tensor.name != "layers.1.embedding.weight") continue;
            for (float& weight : tensor.values) weight = std::ldexp(weight, exponent);
        }
        write_text(weights, io::write_weights(scaled, {}));
        for (const std::string on :
             {"--ranks 1", "--ranks 3 --grid 3x1", "--ranks 2 --grid 1x2 --scores columns",
              "--ranks 4 --grid 2x2 --scores columns", "--ranks 4 --grid 2x2 --scores whole-rows",
              "--ranks 4 --grid 1x4 --scores dealt-rows"}) {
            std::vector<float> made = embeddings(flags + on);
            for (float& element : made) element = std::ldexp(element, -exponent);
            EXPECT_TRUE(near(made, plain)) << on << ", 2^" << exponent;
        }
    }
}

}  // namespace
}  // namespace gnnplan::testing
