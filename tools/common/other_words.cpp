#include "tools/common/other_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace gnnplan::tools {
namespace {

struct OtherWord {
    std::string_view given, meant;
};

// Each is a hint for the commands that have the flag which is meant.
constexpr std::array other_words = std::to_array<OtherWord>({
    {"--gpus", "--ranks"},
    {"--num-gpus", "--ranks"},
    {"--processes", "--ranks"},
    {"--world-size", "--ranks"},
    {"--np", "--ranks"},
    {"-np", "--ranks"},
    {"-n", "--ranks"},
    {"--nodes", "--ranks"},
    {"--nodes", "--ranks-per-node"},
    {"--gpus-per-node", "--ranks-per-node"},
    {"--ppn", "--ranks-per-node"},
    {"--dataset", "--graph"},
    {"--data", "--graph"},
    {"--dataset", "--data"},
    {"--graph", "--data"},
    {"--num-layers", "--layers"},
    {"--hidden-channels", "--hidden"},
    {"--hidden-dim", "--hidden"},
    {"--num-hidden", "--hidden"},
    {"--learning-rate", "--lr"},
    {"--sample-coverage", "--coverage"},
    {"--num-neighbors", "--fanout"},
});

// Flags of `gnnplan plan` about what a plan says, and gnnrun takes from it.
constexpr std::array planned =
    std::to_array<std::string_view>({"--activation",   "--aggregator",   "--average-heads", "--batches-per-update",
                                     "--bias",         "--coefficients", "--coverage",      "--edge-weights",
                                     "--epsilon",      "--exchange",     "--fanout",        "--grid",
                                     "--heads",        "--hidden",       "--hops",          "--jk",
                                     "--layers",       "--loss",         "--machine",       "--memory",
                                     "--model",        "--norm",         "--norm-after",    "--normalisation",
                                     "--output-heads", "--post",         "--pre",           "--pre-activation",
                                     "--ranks",        "--residual",     "--rocauc",        "--sampled-graph",
                                     "--sampler",      "--scheme",       "--symmetrise",    "--task",
                                     "--teleport",     "--theta",        "--widths"});

// Flags of gnnrun about how a run learns, which no plan decides.
constexpr std::array of_runs = std::to_array<std::string_view>(
    {"--autotune", "--checkpoint", "--keep-best", "--load-weights", "--lr", "--lr-schedule", "--patience", "--report",
     "--resume", "--save-logits", "--save-weights", "--threads", "--weight-decay"});

// Flags that take what is given without a flag.
constexpr std::array takes_paths = std::to_array<std::string_view>({"--graph", "--data"});

bool has(const CLI::App& command, std::string_view flag) {
    return command.get_option_no_throw(std::string(flag)) != nullptr;
}

}  // namespace

std::string other_commands_hint(const std::string& command) {
    constexpr std::array runs = std::to_array<std::string_view>({"train", "run", "infer", "fit"});
    return std::ranges::find(runs, command) == runs.end() ? "" : "gnnrun does this: gnnrun PLAN --data PATH";
}

std::string other_words_hint(const CLI::App& command, const std::string& argument) {
    if (!argument.starts_with('-')) {
        const auto* const flag =
            std::ranges::find_if(takes_paths, [&](std::string_view name) { return has(command, name); });
        return flag == takes_paths.end() ? "" : fmt::format("did you mean {} {}?", *flag, argument);
    }
    const std::string flag = argument.substr(0, argument.find('='));
    std::vector<std::string_view> meant;
    for (const OtherWord& word : other_words) {
        if (word.given == flag && has(command, word.meant)) meant.push_back(word.meant);
    }
    if (!meant.empty()) return fmt::format("did you mean {}?", fmt::join(meant, ", "));
    if (command.get_name() == "plan" && flag == "--batch-size")
        return "an epoch trains on the whole graph, or on batches that --sampler draws";
    if (command.get_name() == "plan" && std::ranges::find(of_runs, flag) != of_runs.end())
        return fmt::format("which the run decides: gnnrun PLAN {}", flag);
    if (command.get_name() != "gnnrun" || std::ranges::find(planned, flag) == planned.end()) return "";
    return fmt::format("which the plan decides: gnnplan plan {}", flag);
}

}  // namespace gnnplan::tools
