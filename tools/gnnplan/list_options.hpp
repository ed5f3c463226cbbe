// Options of the commands that list and show: datasets and machines.
#pragma once

#include "tools/gnnplan/command.hpp"

#include <memory>
#include <string>

namespace gnnplan::tools {

struct ListOptions {
    std::string name;  // of show
    bool json = false;
};

inline CLI::App& add_json(CLI::App& command, const std::shared_ptr<ListOptions>& options) {
    command.add_flag("--json", options->json, "Print one JSON object");
    return command;
}

// The part of a source before the details, which `show` has.
inline std::string short_source(const std::string& source, const char* details) {
    std::string text = source.substr(0, source.find_first_of(details));
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

}  // namespace gnnplan::tools
