// gnnplan help: the help of a subcommand, as `gnnplan SUBCOMMAND --help` prints it.
#include "planner/catalog/suggest.hpp"
#include "tools/gnnplan/command.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace gnnplan::tools {
namespace {

struct HelpOptions {
    CLI::App* root = nullptr;
    std::vector<std::string> command;  // "graph", "info"
};

int run_help(const Context&, const HelpOptions& options) {
    CLI::App* found = options.root;
    for (const std::string& name : options.command) {
        const std::vector<std::string> known = subcommand_names(*found);
        if (std::ranges::find(known, name) == known.end()) {
            const std::vector<std::string> near = catalog::near_names(name, known);
            throw Error(ErrorCode::usage,
                        fmt::format("unknown subcommand '{}'{} (see gnnplan help)", name,
                                    near.empty() ? "" : fmt::format(", did you mean {}?", fmt::join(near, ", "))));
        }
        found = found->get_subcommand(name);
    }
    print(help_text(*found));
    return 0;
}

}  // namespace

void help_when_alone(CLI::App& command, Context& context) {
    when_alone(command, context, std::make_shared<HelpOptions>(HelpOptions{&command, {}}), run_help);
}

void add_help(CLI::App& root, Context& context) {
    const auto options = std::make_shared<HelpOptions>(HelpOptions{&root, {}});
    CLI::App& command = add_command(root, "help", "Print the help of a subcommand", "gnnplan help\ngnnplan help plan");
    command.add_option("command", options->command, "The subcommand, e.g. plan, or graph info")->type_name("NAME");
    on_command(command, context, options, run_help);
}

}  // namespace gnnplan::tools
