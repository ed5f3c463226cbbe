// The command line of gnnrun.
#pragma once

#include "runtime/run/settings.hpp"
#include "tools/common/run_question.hpp"

#include <gnnplan/ir/plan.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

struct RunFlags {
    std::string plan;
    std::string data;
    std::string split;
    RunQuestion question;
    std::int64_t seed = 1;
    std::int64_t runs = 1;
    std::optional<double> learning_rate, weight_decay;
    std::string lr_schedule;
    std::optional<std::string> decay;
    bool decay_all = false;
    std::optional<std::int64_t> autotune;
    std::optional<std::string> checkpoint;  // folder
    std::optional<std::int64_t> checkpoint_every;
    std::optional<std::string> resume;  // a file, a folder, or "auto"
    std::optional<std::string> load_weights, save_weights, save_logits, save_layers;
    bool keep_best = false;
    std::optional<std::string> best_by;
    std::optional<std::int64_t> patience;
    std::optional<std::int64_t> time_limit;  // seconds
    std::int64_t timeout = 600;              // seconds; 0: none
    std::optional<std::int64_t> threads;
    std::string bind = "on";
    std::string backend = "cpu";
    std::string device_exchange = "auto";
    std::string spmm;
    std::optional<std::string> load;  // whole or sharded, instead of what the plan says
    bool in_process = false;
    std::optional<std::string> report;
    std::optional<std::string> metrics;
    std::optional<std::string> trace;
    bool dry_run = false;
    bool quiet = false;
    bool verbose = false;
    bool json = false;
    std::string color = "auto";
    std::vector<std::string> arguments;  // as the program was started
};

void add_flags(CLI::App& app, RunFlags& flags);

// The settings of a run of this plan, which gives those that the flags do not. `threads`: of a rank, without --threads.
// Throws Error{usage} or Error{mismatch} where flags do not fit each other or the plan.
run::Settings settings_of(const RunFlags& flags, const Plan& plan, int threads);

}  // namespace gnnplan::tools
