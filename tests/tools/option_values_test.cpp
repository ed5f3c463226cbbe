// Numbers at the limits of options: either plan refuses them, or all programs that read its plan take them.
#include "planner/io/checkpoint.hpp"
#include "planner/io/files.hpp"
#include "tests/tools/inference.hpp"

#include <sstream>

namespace gnnplan::testing {
namespace {

// The values are separated by blanks and quoted for a shell.
const std::string values =
    "0 -0 -1 -0.5 1e-320 -1e-320 1e-9 0.5 0.99999998 0.9999999999999999 1 2 1e10 3e38 -3e38 3.5e38 1e400 nan inf -inf "
    "1025 2147483647 2147483648 4611686018427387905 9223372036854775807 9223372036854775808 ''";

// Options that take a number, each behind the options without which it has no effect.
const std::vector<std::string> options = {"--model gin --epsilon",
                                          "--model gin --normalisation symmetric --epsilon",
                                          "--model gat --slope",
                                          "--model gat --heads",
                                          "--model gat --output-heads",
                                          "--model gat --attention-dropout",
                                          "--task infer --fanout",
                                          "--fanout",
                                          "--dropout",
                                          "--input-dropout",
                                          "--optimizer sgd --momentum",
                                          "--epochs",
                                          "--eval-every",
                                          "--hidden",
                                          "--seed",
                                          "--memory",
                                          "--buffer"};

TEST(OptionValues, WhatPlanTakesIsValidAndRuns) {
    const Folder folder;
    const std::string graph = folder / "graph.npz", plan = folder / "plan.json";
    ASSERT_EQ(gnnplan("graph generate planted --vertices 30 --nonzeros 200 --classes 3 --features 4 -o " + graph).code,
              0);
    int taken = 0;
    for (const std::string& option : options) {
        std::istringstream words(values);
        for (std::string value; words >> value;) {
            const std::string flags = option + "=" + value;
            const Outcome planned = gnnplan("plan --graph " + graph + " " + flags + " -o " + plan);
            // A configuration that takes more memory than there is gives no plan.
            if (planned.code == 64 || planned.code == 3) continue;
            ASSERT_EQ(planned.code, 0) << flags << ": " << planned.err;
            const Outcome valid = gnnplan("validate " + plan);
            EXPECT_EQ(valid.code, 0) << flags << ": " << valid.out;
            const Outcome run = run_program(GNNRUN_TOOL, plan + " --data " + graph + " --in-process --dry-run");
            EXPECT_EQ(run.code, 0) << flags << ": " << run.err;
            ++taken;
        }
    }
    EXPECT_GT(taken, 3 * static_cast<int>(options.size()));
}

// Removes from the weights the facts about their model, which is the same except for epsilon and normalisation.
void leave_out_facts(const std::string& weights) {
    write_text(weights, io::write_weights(io::read_weights(io::read_file(weights), weights), {}));
}

// The function of gin is continuous at epsilon 0, however the terms of the neighbours are normalised.
TEST_F(Inference, GinWithoutEpsilonIsThatOfATinyOne) {
    train("--model gin --bias");
    leave_out_facts(weights);
    for (const std::string normalisation : {"none", "symmetric", "row_mean"}) {
        for (const std::string on : {"--ranks 1", "--ranks 2 --grid 2x1", "--ranks 4 --grid 2x2 --exchange rows",
                                     "--ranks 4 --grid 1x4", "--ranks 1 --fanout 3"}) {
            const std::string flags = "--model gin --bias --normalisation " + normalisation + " " + on + " --epsilon ";
            EXPECT_TRUE(near(embeddings(flags + "0"), embeddings(flags + "1e-9"))) << flags;
        }
    }
}

// With epsilon -1 only the neighbours of a vertex count, so that one without neighbours has the sum 0.
TEST_F(Inference, GinTakesNegativeEpsilons) {
    const std::string model = "--model gin --normalisation row_mean ";  // sums of all neighbours silence every ReLU
    train(model);
    leave_out_facts(weights);
    const std::vector<float> alone = embeddings(model + "--epsilon -1 --ranks 1");
    EXPECT_FALSE(near(alone, embeddings(model + "--ranks 1")));
    EXPECT_TRUE(near(alone, embeddings(model + "--epsilon -0.999999999 --ranks 1")));
    EXPECT_TRUE(near(alone, embeddings(model + "--epsilon -1 --ranks 4 --grid 2x2")));
    EXPECT_TRUE(
        near(embeddings(model + "--epsilon -3 --ranks 1"), embeddings(model + "--epsilon -3 --ranks 3 --grid 3x1")));
}

}  // namespace
}  // namespace gnnplan::testing
