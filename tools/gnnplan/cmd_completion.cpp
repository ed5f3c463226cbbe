// gnnplan completion: scripts for shells, made from the command tree itself.
#include "tools/gnnplan/command.hpp"

#include <fmt/format.h>

#include <memory>

namespace gnnplan::tools {
namespace {

struct CompletionOptions {
    std::string shell;
    const CLI::App* root = nullptr;
};

// One command: its path ("gnnplan graph info") and what may follow.
struct Node {
    std::string path;
    std::vector<std::string> subcommands;
    std::vector<std::string> flags;
};

void collect(const CLI::App& app, const std::string& parent, std::vector<Node>& nodes) {
    Node node{parent.empty() ? app.get_name() : parent + " " + app.get_name(), {}, {}};
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) node.flags.push_back("--" + name);
    }
    const auto children = app.get_subcommands([](const CLI::App*) { return true; });
    for (const CLI::App* child : children) node.subcommands.push_back(child->get_name());
    nodes.push_back(node);
    for (const CLI::App* child : children) collect(*child, node.path, nodes);
}

// The longest known path of subcommand names on the line decides what is offered; other words fall back to file names.
std::string bash_script(const std::vector<Node>& nodes) {
    std::string cases;
    for (const Node& node : nodes) {
        cases += fmt::format("        '{}') echo '{} {}' ;;\n", node.path, fmt::join(node.subcommands, " "),
                             fmt::join(node.flags, " "));
    }
    return fmt::format(R"sh(_gnnplan_words() {{
    case "$1" in
{}        *) return 1 ;;
    esac
}}
_gnnplan() {{
    local path=gnnplan word
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        if _gnnplan_words "$path $word" >/dev/null; then path="$path $word"; fi
    done
    COMPREPLY=($(compgen -W "$(_gnnplan_words "$path")" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _gnnplan gnnplan
)sh",
                       cases);
}

std::string zsh_script(const std::vector<Node>& nodes) {
    return "#compdef gnnplan\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script(nodes);
}

std::string fish_script(const std::vector<Node>& nodes) {
    std::string script;
    for (const Node& node : nodes) {
        // Every name of the path has been typed, and none of the names that may follow.
        std::string condition;
        for (std::size_t begin = node.path.find(' '); begin != std::string::npos;) {
            const std::size_t end = node.path.find(' ', begin + 1);
            condition +=
                fmt::format("__fish_seen_subcommand_from {}; and ", node.path.substr(begin + 1, end - begin - 1));
            begin = end;
        }
        condition += node.subcommands.empty()
                         ? "true"
                         : fmt::format("not __fish_seen_subcommand_from {}", fmt::join(node.subcommands, " "));
        if (!node.subcommands.empty()) {
            script +=
                fmt::format("complete -c gnnplan -f -n '{}' -a '{}'\n", condition, fmt::join(node.subcommands, " "));
        }
        for (const std::string& flag : node.flags) {
            script += fmt::format("complete -c gnnplan -n '{}' -l {}\n", condition, flag.substr(2));
        }
    }
    return script;
}

int run_completion(const Context&, const CompletionOptions& options) {
    std::vector<Node> nodes;
    collect(*options.root, "", nodes);
    if (options.shell == "fish") {
        print(fish_script(nodes));
    } else {
        print(options.shell == "zsh" ? zsh_script(nodes) : bash_script(nodes));
    }
    return 0;
}

}  // namespace

void add_completion(CLI::App& root, Context& context) {
    const auto options = std::make_shared<CompletionOptions>();
    options->root = &root;
    CLI::App& command = add_command(root, "completion", "Print a completion script for a shell",
                                    "gnnplan completion bash > ~/.local/share/bash-completion/completions/gnnplan\n"
                                    "gnnplan completion fish > ~/.config/fish/completions/gnnplan.fish");
    command.add_option("shell", options->shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->type_name("SHELL");
    on_command(command, context, options, run_completion);
}

}  // namespace gnnplan::tools
