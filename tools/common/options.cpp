#include "tools/common/options.hpp"

#include "tools/text/format.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/words.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace gnnplan::tools {
namespace {

// An option of text that `take` reads; its Error{usage} gets the option's name.
CLI::Option* add_text(CLI::App& app, const std::string& name, const std::string& description, const char* type,
                      std::function<void(const std::string&)> take) {
    const auto read = [name, take = std::move(take)](const std::string& text) {
        try {
            take(text);
        } catch (const Error& error) {
            throw CLI::ValidationError(name, error.what());
        }
    };
    return app.add_option_function<std::string>(name, read, description)->type_name(type);
}

}  // namespace

CLI::Option* add_duration(CLI::App& app, const std::string& name, std::optional<std::int64_t>& seconds,
                          const std::string& description) {
    return add_text(app, name, description, "TIME",
                    [&seconds](const std::string& text) { seconds = parse_duration(text); });
}

CLI::Option* add_duration(CLI::App& app, const std::string& name, std::int64_t& seconds,
                          const std::string& description) {
    return add_text(app, name, description, "TIME",
                    [&seconds](const std::string& text) { seconds = text == "0" ? 0 : parse_duration(text); })
        ->default_str(std::to_string(seconds) + "s");
}

CLI::Option* add_count(CLI::App& app, const std::string& name, std::int64_t& value, const std::string& description,
                       const Bounds& bounds) {
    const auto take = [&value, bounds](const std::string& text) { value = parse_count(text, bounds); };
    return add_text(app, name, description, "N", take)->default_str(std::to_string(value));
}

CLI::Option* add_count(CLI::App& app, const std::string& name, std::optional<std::int64_t>& value,
                       const std::string& description, const Bounds& bounds) {
    return add_text(app, name, description, "N",
                    [&value, bounds](const std::string& text) { value = parse_count(text, bounds); });
}

CLI::Option* add_counts(CLI::App& app, const std::string& name, std::vector<std::int64_t>& values,
                        const std::string& description, const Bounds& bounds, std::size_t min_size) {
    return add_text(app, name, description, "N,N,...", [&values, bounds, min_size](const std::string& text) {
        values = parse_counts(text, ',', bounds);
        if (values.size() < min_size) throw Error(ErrorCode::usage, fmt::format("at least {} are needed", min_size));
    });
}

CLI::Option* add_size(CLI::App& app, const std::string& name, std::int64_t& bytes, const std::string& description) {
    return add_text(app, name, description, "SIZE", [&bytes](const std::string& text) { bytes = parse_size(text); });
}

CLI::Option* add_number(CLI::App& app, const std::string& name, std::optional<double>& value,
                        std::function<bool(double)> allowed, const std::string& what, const std::string& description) {
    return add_text(app, name, description, "X", [&value, what, allowed = std::move(allowed)](const std::string& text) {
        const auto number = number_from<double>(text);
        if (!number) throw Error(ErrorCode::usage, "'" + text + "' is not a number");
        if (!std::isfinite(*number) || !allowed(*number)) throw Error(ErrorCode::usage, "must be " + what);
        value = number;
    });
}

CLI::Option* add_path(CLI::App& app, const std::string& name, std::optional<std::string>& path, const char* type,
                      const std::string& description) {
    return add_text(app, name, description, type, [&path](const std::string& text) {
        if (text.empty()) throw Error(ErrorCode::usage, "its value is empty, and a path is needed");
        path = text;
    });
}

void under_heading(CLI::App& app, const std::string& heading) {
    for (CLI::Option* option : app.get_options()) {
        const bool general = option == app.get_help_ptr() || option == app.get_help_all_ptr() ||
                             option == app.get_version_ptr() || option->check_lname("color") ||
                             option->check_lname("quiet") || option->get_positional();
        if (!general && option->get_group() == CLI::OptionDefaults().get_group()) option->group(heading);
    }
}

CLI::Option* add_bind(CLI::App& app, std::string& when) {
    return app
        .add_option("--bind", when, "Whether threads stay on a core of their own, where there are enough: on, off")
        ->check(CLI::IsMember({"on", "off"}))
        ->type_name("WHEN")
        ->capture_default_str();
}

}  // namespace gnnplan::tools
