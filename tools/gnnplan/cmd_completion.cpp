// gnnplan completion: scripts for shells, made from the command tree itself.
#include "planner/catalog/cards.hpp"
#include "planner/catalog/machines.hpp"
#include "tools/gnnplan/command.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>

namespace gnnplan::tools {
namespace {

struct CompletionOptions {
    std::string shell;
    const CLI::App* root = nullptr;
};

// The values that may follow an option, or stand in a place of their own.
struct Values {
    std::vector<std::string> names;
    bool files = false;  // or a file
};

// One command: its path ("gnnplan graph info") and what may follow.
struct Node {
    std::string path;
    std::vector<std::string> words;        // subcommands, or what stands in its place
    std::vector<std::string> flags;        // all of them, with dashes
    std::map<std::string, Values> values;  // of the flags that take one
};

// The names that a check allows: it describes itself as "{panels,rows}".
std::vector<std::string> allowed_names(const CLI::Option& option) {
    const std::string description = option.get_type_name();
    const std::size_t open = description.find('{');
    const std::size_t close = description.find('}', open);
    if (open == std::string::npos || close == std::string::npos) return {};
    return CLI::detail::split(description.substr(open + 1, close - open - 1), ',');
}

Values values_of(const CLI::Option& option) {
    const std::string& flag = option.get_name();
    const std::string type = option.get_type_name();
    const bool files = type.find("FILE") != std::string::npos || type.find("PATH") != std::string::npos;
    if (flag == "--graph") return {catalog::card_names(), files};
    if (flag == "--machine") return {catalog::machine_names(), files};
    return {allowed_names(option), files};
}

void collect(const CLI::App& app, const std::string& parent, std::vector<Node>& nodes) {
    Node node;
    node.path = parent.empty() ? app.get_name() : parent + " " + app.get_name();
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_positional()) node.words = allowed_names(*option);
        for (const std::string& name : option->get_lnames()) {
            node.flags.push_back("--" + name);
            if (option->get_expected_max() > 0 && option->get_type_size_max() > 0) {
                node.values["--" + name] = values_of(*option);
            }
        }
    }
    if (node.path == "gnnplan datasets show") node.words = catalog::card_names();
    if (node.path == "gnnplan machines show") node.words = catalog::machine_names();
    if (node.path == "gnnplan help") node.words = subcommand_names(*app.get_parent());
    for (std::string& name : subcommand_names(app)) node.words.push_back(std::move(name));
    nodes.push_back(node);
    for (const CLI::App* child : app.get_subcommands([](const CLI::App*) { return true; })) {
        collect(*child, node.path, nodes);
    }
}

// The longest known path of subcommand names on the line decides what is offered, and the flag before the cursor if it
// takes a value; other words fall back to file names.
std::string bash_script(const std::vector<Node>& nodes) {
    std::string words, values;
    for (const Node& node : nodes) {
        words += fmt::format("        '{}') echo '{} {}' ;;\n", node.path, fmt::join(node.words, " "),
                             fmt::join(node.flags, " "));
        for (const auto& [flag, allowed] : node.values) {
            values += fmt::format("        '{} {}') echo '{}' ;;\n", node.path, flag, fmt::join(allowed.names, " "));
        }
    }
    return fmt::format(R"sh(_gnnplan_words() {{
    case "$1" in
{}        *) return 1 ;;
    esac
}}
_gnnplan_values() {{
    case "$1" in
{}        *) return 1 ;;
    esac
}}
_gnnplan() {{
    local path=gnnplan word offered
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        if _gnnplan_words "$path $word" >/dev/null; then path="$path $word"; fi
    done
    offered=$(_gnnplan_values "$path ${{COMP_WORDS[COMP_CWORD-1]}}") || offered=$(_gnnplan_words "$path")
    COMPREPLY=($(compgen -W "$offered" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _gnnplan gnnplan
)sh",
                       words, values);
}

std::string zsh_script(const std::vector<Node>& nodes) {
    return "#compdef gnnplan\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script(nodes);
}

// " -x -a 'panels rows'": a value is required; with -r it may be a file.
std::string fish_values(const Values& values) {
    const std::string offered = values.names.empty() ? "" : fmt::format(" -a '{}'", fmt::join(values.names, " "));
    return (values.files ? " -r" : " -x") + offered;
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
        condition +=
            node.words.empty() ? "true" : fmt::format("not __fish_seen_subcommand_from {}", fmt::join(node.words, " "));
        if (!node.words.empty()) {
            script += fmt::format("complete -c gnnplan -f -n '{}' -a '{}'\n", condition, fmt::join(node.words, " "));
        }
        for (const std::string& flag : node.flags) {
            const auto values = node.values.find(flag);
            const std::string offered = values == node.values.end() ? "" : fish_values(values->second);
            script += fmt::format("complete -c gnnplan -n '{}' -l {}{}\n", condition, flag.substr(2), offered);
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
