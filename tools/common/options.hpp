// Options whose values are checked while they are parsed, with messages that say what is possible.
#pragma once

#include "tools/text/counts.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

CLI::Option* add_count(CLI::App& app, const std::string& name, std::int64_t& value, const std::string& description,
                       const Bounds& bounds = {});
CLI::Option* add_count(CLI::App& app, const std::string& name, std::optional<std::int64_t>& value,
                       const std::string& description, const Bounds& bounds = {});
// "602,128,41": at least `min_size` of them.
CLI::Option* add_counts(CLI::App& app, const std::string& name, std::vector<std::int64_t>& values,
                        const std::string& description, const Bounds& bounds, std::size_t min_size);
// "16GiB"
CLI::Option* add_size(CLI::App& app, const std::string& name, std::int64_t& bytes, const std::string& description);
// "3h50m" or "90s": numbers with the units d, h, m, s, the larger first.
CLI::Option* add_duration(CLI::App& app, const std::string& name, std::optional<std::int64_t>& seconds,
                          const std::string& description);
// The same, or 0.
CLI::Option* add_duration(CLI::App& app, const std::string& name, std::int64_t& seconds,
                          const std::string& description);
// A finite number for which `allowed` holds; `what` names those in the error.
CLI::Option* add_number(CLI::App& app, const std::string& name, std::optional<double>& value,
                        std::function<bool(double)> allowed, const std::string& what, const std::string& description);
// A path, which is not empty: a shell makes "" of a variable that is not set.
CLI::Option* add_path(CLI::App& app, const std::string& name, std::optional<std::string>& path, const char* type,
                      const std::string& description);
// Shows the options that were added since the last call under `heading` in --help.
void under_heading(CLI::App& app, const std::string& heading);
// --bind on|off, of tools that run kernels
CLI::Option* add_bind(CLI::App& app, std::string& when);

}  // namespace gnnplan::tools
