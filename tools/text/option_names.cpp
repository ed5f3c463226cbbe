#include "tools/text/option_names.hpp"

#include <gnnplan/base/option.hpp>

#include <algorithm>

namespace gnnplan::tools {
namespace {

// gnnrun runs plans, and every other question is a subcommand of gnnplan: `graph-info/` is "gnnplan graph info".
std::string command_of(std::string_view question) {
    if (question == "run") return "gnnrun";
    std::string command = "gnnplan " + std::string(question);
    std::ranges::replace(command, '-', ' ');
    return command;
}

std::string in_dashes(const NamedOption& option) {
    std::string text = option.question.empty() ? "" : command_of(option.question);
    if (!option.id.empty()) text += (text.empty() ? "--" : " --") + std::string(option.id);
    return option.value.empty() ? text : text + " " + std::string(option.value);
}

}  // namespace

std::string with_dashes(std::string_view message) {
    std::string text;
    while (const auto option = first_option(message)) {
        const auto before = static_cast<std::size_t>(option->text.data() - message.data());
        text += message.substr(0, before);
        text += in_dashes(*option);
        message.remove_prefix(before + option->text.size());
    }
    return text.append(message);
}

}  // namespace gnnplan::tools
