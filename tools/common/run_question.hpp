// The flags that `gnnplan plan` and gnnrun share, so that a plan is made for what the run is asked.
#pragma once

#include <gnnplan/ir/plan.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace gnnplan::tools {

struct RunQuestion {
    std::optional<std::int64_t> epochs, eval_every;
    std::optional<double> dropout, input_dropout, attention_dropout;
    std::optional<std::string> optimizer;
    std::optional<double> momentum;
    std::optional<std::string> feature_norm;  // of inference, too
};

// `of_a_plan`: the flags are given to a run, and what they do not say is said by the plan.
void add_run_question(CLI::App& app, RunQuestion& question, bool of_a_plan);

// The settings of the flags, and the rest as planned. A dropout of either flag replaces both of the plan's. Throws
// Error{usage} where another optimiser than SGD is to have momentum.
RunRecord run_record(const RunQuestion& question, const RunRecord& planned = {});

// Throws Error{usage} naming the first question that only training answers; the second asks for one flag.
void refuse_training_questions(const RunQuestion& question);
void refuse_of_training(bool given, const char* name);

}  // namespace gnnplan::tools
