// The question of `gnnplan sweep`, from its flags.
#pragma once

#include "tools/advise/sweep/sweep_question.hpp"
#include "tools/common/run_question.hpp"
#include "tools/gnnplan/problem_flags.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

struct SweepOptions {
    ProblemFlags problem;
    RunQuestion run;
    std::optional<std::string> as;               // a publication
    std::vector<const CLI::Option*> said_by_as;  // flags whose values a publication says
    std::vector<std::string> vary;
    bool compare_schemes = false;
    std::optional<std::string> break_even, csv, plot;
    bool json = false;
};

// Those of --vary and --compare-schemes, and of the publication of --as.
std::vector<Variation> variations_of(const SweepOptions& options);

// All numbers of ranks that are asked about.
std::vector<std::int64_t> ranks_of(const SweepOptions& options, const std::vector<Variation>& variations);

// The question before anything varies, with the graph of the first point that is possible. Of machines that vary, the
// first stands for the machine that nobody names. Says what there is to say of graph and machine.
Question question_of(const SweepOptions& options, const std::vector<Variation>& variations, SweepGraphs& graphs);

}  // namespace gnnplan::tools
