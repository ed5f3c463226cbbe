// Helpers that the subcommands of gnnplan share.
#pragma once

#include "tools/common/main.hpp"

#include <functional>
#include <string>

namespace gnnplan::tools {

struct Context {
    std::string command_line;
    std::string color = "auto";
    std::function<int()> run;  // the subcommand that was given; empty: none
};

// Registers `run` as what `command` does; `run(options)` returns the exit code.
template <class Options, class Run>
void on_command(CLI::App& command, Context& context, const Options& options, Run run) {
    command.callback(
        [&context, options, run] { context.run = [&context, options, run] { return run(context, *options); }; });
}

// The same for a command of subcommands that is given without one.
template <class Options, class Run>
void when_alone(CLI::App& command, Context& context, const Options& options, Run run) {
    command.require_subcommand(0, 1);
    command.callback([&command, &context, options, run] {
        if (!command.get_subcommands().empty()) return;
        context.run = [&context, options, run] { return run(context, *options); };
    });
}
// Such a command that has nothing to do without one prints its help.
void help_when_alone(CLI::App& command, Context& context);

// Each adds one subcommand.
void add_enumerate(CLI::App& root, Context& context);
void add_plan(CLI::App& root, Context& context);
void add_explain(CLI::App& root, Context& context);
void add_report(CLI::App& root, Context& context);
void add_sweep(CLI::App& root, Context& context);
void add_compare(CLI::App& root, Context& context);
void add_calibrate(CLI::App& root, Context& context);
void add_launch(CLI::App& root, Context& context);
void add_validate(CLI::App& root, Context& context);
void add_graph(CLI::App& root, Context& context);
void add_generate(CLI::App& graph, Context& context);  // of `gnnplan graph`
void add_datasets(CLI::App& root, Context& context);
void add_machines(CLI::App& root, Context& context);
void add_completion(CLI::App& root, Context& context);
void add_help(CLI::App& root, Context& context);

}  // namespace gnnplan::tools
