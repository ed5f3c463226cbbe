// The flags that `gnnplan plan` and gnnrun share, so that a plan is made for what the run is asked.
#pragma once

#include <gnnplan/ir/plan.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>

namespace gnnplan::tools {

struct RunQuestion {
    std::optional<std::int64_t> epochs, eval_every;
    std::optional<double> dropout, input_dropout;
};

void add_run_question(CLI::App& app, RunQuestion& question);

// What the flags say, and the rest as planned. A dropout of either flag replaces both of the plan's.
RunRecord run_record(const RunQuestion& question, const RunRecord& planned = {});

}  // namespace gnnplan::tools
