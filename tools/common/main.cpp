#include "tools/common/main.hpp"

#include "planner/catalog/suggest.hpp"
#include "planner/io/parse.hpp"
#include "tools/common/other_words.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/option_names.hpp"
#include "tools/text/streams.hpp"
#include "tools/text/version.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/known_error.hpp>
#include <gnnplan/base/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <set>
#include <sstream>

namespace gnnplan::tools {
namespace {

constexpr int ok = 0;
constexpr std::size_t option_column = 32;

int code_of(ErrorCode code) { return static_cast<int>(code); }

// Results that did not arrive are an error, too, unless there is another one.
int code_after_printing(int code) { return finish_printing() || code != ok ? code : code_of(ErrorCode::io); }

constexpr const char* exit_codes =
    "Exit codes:\n"
    "   0  done\n"
    "   1  the answer to what was asked is no: an invalid plan, slower than allowed,\n"
    "      results that are not finite\n"
    "   3  no plan fits the memory\n"
    "  64  wrong usage            65  malformed data          66  missing input\n"
    "  69  MPI, or something else of the system or this build, is unavailable; a rank stopped\n"
    "  70  internal error         73  cannot create output    74  reading or writing failed\n"
    "  75  interrupted            78  plan, data and launch do not match\n";

// Keeps the examples in CLI11's footer, and prints them first.
class ExamplesFirst : public CLI::Formatter {
public:
    explicit ExamplesFirst(std::string closing) : closing_(std::move(closing)) {}
    std::string make_description(const CLI::App* app) const override {
        const std::string examples = app->get_footer();
        std::string text = examples.empty() ? "" : "Examples:\n";
        for (std::size_t begin = 0; begin < examples.size();) {
            const std::size_t end = std::min(examples.find('\n', begin), examples.size());
            text += "  " + examples.substr(begin, end - begin) + "\n";
            begin = end + 1;
        }
        return text + "\n" + CLI::Formatter::make_description(app);
    }
    std::string make_footer(const CLI::App* app) const override {
        if (app->get_parent() == nullptr) return closing_ + "\n" + exit_codes;
        const CLI::App* root = app;
        while (root->get_parent() != nullptr) root = root->get_parent();
        return fmt::format("Exit codes: 0 done, 1 the answer is no, 3 nothing fits, 64 and up errors: see {} --help\n",
                           root->get_name());
    }
    // As CLI11 does, with long descriptions broken into lines.
    std::string make_option(const CLI::Option* option, bool is_positional) const override {
        std::string name = "  " + make_option_name(option, is_positional) + make_option_opts(option);
        const std::string description = make_option_desc(option);
        if (description.empty()) return name + "\n";
        const std::string blanks(get_column_width(), ' ');
        const bool fits = name.size() < blanks.size();
        const std::string first = fits ? name + blanks.substr(name.size()) : blanks;
        return (fits ? "" : name + "\n") + wrapped(first, blanks, description);
    }
    // Type and default; CLI11 would add every check and exclusion.
    std::string make_option_opts(const CLI::Option* option) const override {
        const std::string type = option->get_type_name();
        const std::size_t names = type.find(":{");
        const std::size_t end = names == std::string::npos ? type.find(':') : names;
        std::string text = option->get_expected_max() == 0 || type.empty() ? "" : " " + type.substr(0, end);
        if (!option->get_default_str().empty() && option->get_expected_min() > 0)
            text += "=" + option->get_default_str();
        return text;
    }

    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
        ExamplesFirst shown(*this);
        if (mode == CLI::AppFormatMode::All) shown.left_out_.clear();
        return shown.CLI::Formatter::make_help(app, std::move(name), mode);
    }
    std::string make_group(std::string heading, bool is_positional,
                           std::vector<const CLI::Option*> opts) const override {
        if (heading != left_out_ || heading.empty()) return CLI::Formatter::make_group(heading, is_positional, opts);
        return fmt::format("\n{}:\n  {} options; --help-all lists them\n", heading, opts.size());
    }
    std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override {
        return CLI::Formatter::make_subcommands(app, expands_ ? CLI::AppFormatMode::All : mode);
    }

    void leave_out(const std::string& heading) { left_out_ = heading; }
    void expand() { expands_ = true; }

private:
    std::string closing_;
    std::string left_out_;  // a heading that only --help-all has the options of
    bool expands_ = false;  // lists the options of subcommands
};

// A formatter of the command's own, as that of the commands above it, if these have one of this kind.
std::shared_ptr<ExamplesFirst> own_formatter(CLI::App& command) {
    const auto* above = dynamic_cast<const ExamplesFirst*>(command.get_formatter().get());
    auto own = std::make_shared<ExamplesFirst>(above == nullptr ? ExamplesFirst(std::string()) : *above);
    command.formatter(own);
    return own;
}

// The command that was being parsed: the deepest subcommand given.
const CLI::App& active(const CLI::App& app) {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? app : active(*chosen.back());
}

// Long flags like the one given that `app` or a command above it takes. Their dashes make none of them alike.
std::vector<std::string> near_flags(const CLI::App& app, const std::string& given) {
    std::set<std::string> names;
    for (const CLI::App* command = &app; command != nullptr; command = command->get_parent()) {
        for (const CLI::Option* option : command->get_options()) {
            const auto& long_names = option->get_lnames();
            names.insert(long_names.begin(), long_names.end());
        }
    }
    const std::string flag_given = given.substr(0, given.find('='));
    const std::string name = flag_given.substr(std::min(flag_given.size(), flag_given.find_first_not_of('-')));
    std::vector<std::string> near = catalog::near_names(name, std::vector(names.begin(), names.end()));
    for (std::string& flag : near) flag.insert(0, "--");
    return near;
}

// The first argument that no option or subcommand took, and what it may have meant. A word in the place of a
// subcommand is what is wrong, whatever flags follow it.
std::string unexpected(const CLI::App& app) {
    const std::vector<std::string> rest = app.remaining(true);
    const std::vector<std::string> children = subcommand_names(active(app));
    const bool subcommand = !children.empty() && !rest.empty() && !rest.front().starts_with("-");
    const auto flag =
        std::find_if(rest.begin(), rest.end(), [](const std::string& word) { return word.starts_with("-"); });
    const std::string given = subcommand ? rest.front() : flag != rest.end() ? *flag : rest.empty() ? "" : rest.back();
    std::string hint = subcommand ? other_commands_hint(given) : other_words_hint(active(app), given);
    const std::vector<std::string> near =
        subcommand ? catalog::near_names(given, children) : near_flags(active(app), given);
    if (hint.empty() && !near.empty()) hint = fmt::format("did you mean {}?", fmt::join(near, ", "));
    return fmt::format("unknown {} '{}'{}{}", subcommand ? "subcommand" : "argument", given, hint.empty() ? "" : ", ",
                       hint);
}

std::string full_name(const CLI::App& app) {
    return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

// "b is required", of a value without a flag, in terms of all that the command takes.
std::string lacking(const CLI::App& command, const std::string& text) {
    const CLI::Option* option = command.get_option_no_throw(text.substr(0, text.find(" is required")));
    if (option == nullptr || !option->get_positional()) return text;
    std::string takes;
    for (const CLI::Option* each : command.get_options()) {
        if (each->get_positional()) takes += " " + each->get_type_name();
    }
    return fmt::format("{} is missing: write {}{}", option->get_type_name(), full_name(command), takes);
}

// CLI11's sentences that say how it counts, in ours.
std::string in_words(const std::string& text) {
    const auto before = [&](std::string_view part) { return text.substr(0, text.find(part)); };
    const auto after = [&](std::string_view part) { return text.substr(text.find(part) + part.size()); };
    const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
    constexpr std::string_view repeated = ": At Most 1 required but received ";
    if (has(repeated)) return fmt::format("{}: given {} times, and takes one value", before(repeated), after(repeated));
    constexpr std::string_view lacking = ": 1 required ";
    if (has(lacking) && text.ends_with(" missing")) return before(lacking) + ": its value is missing";
    constexpr std::string_view outside = " not in {";
    if (!has(outside) || !text.ends_with('}')) return text;
    std::string known;
    for (const std::string& name : split(after(outside).substr(0, after(outside).size() - 1), ",")) {
        known += (known.empty() ? "" : ", ") + name;
    }
    return fmt::format("{} is none of {}", before(outside), known);
}

EarlyEnd wrong_usage(const CLI::App& app, const std::string& what) {
    return {code_of(ErrorCode::usage), fmt::format("{} (see {} --help)", what, full_name(active(app))), {}};
}

}  // namespace

void say_error(std::string_view message) { say("error: {}\n", io::printable(io::shortened(with_dashes(message)))); }

void say_error_of_rank(int rank, const char* message) noexcept { say("error: rank {}: {}\n", rank, message); }

void set_up(CLI::App& app, const std::string& tool, const std::string& examples, const std::string& closing,
            std::string& color) {
    guard_standard_streams();
    const auto formatter = std::make_shared<ExamplesFirst>(closing);
    formatter->column_width(option_column);
    app.name(tool);
    app.formatter(formatter);
    app.footer(examples);
    app.fallthrough();
    app.set_help_flag("-h,--help", "Print this help and exit");
    app.set_version_flag("--version", version_text(tool));
    app.add_option("--color", color,
                   "Whether rows stand out in colour: auto (on a terminal, not with NO_COLOR), always, never")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->type_name("WHEN")
        ->capture_default_str();
}

CLI::App& add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::string& examples) {
    CLI::App& command = *parent.add_subcommand(name, description);
    command.footer(examples);
    return command;
}

void leave_to_help_all(CLI::App& command, const std::string& heading) {
    own_formatter(command)->leave_out(heading);
    command.set_help_all_flag("--help-all", "Print all options, those that pin choices of the search too");
}

void expand_help(CLI::App& command) { own_formatter(command)->expand(); }

std::vector<std::string> subcommand_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* child : app.get_subcommands([](const CLI::App*) { return true; })) {
        names.push_back(child->get_name());
    }
    return names;
}

std::string help_text(const CLI::App& app) {
    return app.get_formatter()->make_help(&app, full_name(app), CLI::AppFormatMode::Normal);
}

std::optional<EarlyEnd> parse(CLI::App& app, int argc, const char* const* argv) {
    try {
        app.parse(argc, argv);
        return std::nullopt;
    } catch (const CLI::Success& request) {  // help, version
        std::ostringstream text;
        app.exit(request, text, text);
        return EarlyEnd{ok, {}, text.str()};
    } catch (const CLI::ExtrasError&) {
        return wrong_usage(app, unexpected(app));
    } catch (const CLI::RequiredError& error) {  // which may be lacking because a flag was misspelt
        return wrong_usage(app, app.remaining(true).empty() ? lacking(active(app), error.what()) : unexpected(app));
    } catch (const CLI::ParseError& error) {
        return wrong_usage(app, in_words(error.what()));
    }
}

int end_early(const EarlyEnd& end) {
    if (!end.error.empty()) say_error(end.error);
    if (!end.help.empty()) print(end.help);
    return code_after_printing(end.code);
}

int run_guarded(const std::function<int()>& work) {
    int code = code_of(ErrorCode::internal);
    try {
        code = work();
    } catch (const Error& error) {
        say_error(error.what());
        code = code_of(error.code());
    } catch (const std::exception& failure) {
        const std::optional<Error> known = known_error(failure);
        say_error(known ? known->what() : fmt::format("internal error: {}", failure.what()));
        if (known) code = code_of(known->code());
    }
    return code_after_printing(code);
}

int run_main(CLI::App& app, int argc, const char* const* argv, const std::function<int()>& work) {
    const std::optional<EarlyEnd> end = parse(app, argc, argv);
    return end ? end_early(*end) : run_guarded(work);
}

}  // namespace gnnplan::tools
