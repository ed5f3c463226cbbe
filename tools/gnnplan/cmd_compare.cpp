// gnnplan compare: two plans, two runs, or one of each, side by side.
#include "planner/cost/tie.hpp"
#include "tools/advise/comparison.hpp"
#include "tools/ask/machine.hpp"
#include "tools/gnnplan/command.hpp"
#include "tools/gnnplan/output.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/table.hpp"
#include "tools/text/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::tools {
namespace {

struct CompareOptions {
    std::string a, b;
    bool json = false;
};

std::string differences_text(const Comparison& comparison) {
    if (comparison.problem.empty()) return "problem  the same, as far as both files tell\n";
    std::string out;
    for (const Difference& d : comparison.problem) {
        out += wrapped(out.empty() ? "differs  " : "         ", std::string(11, ' '),
                       fmt::format("{}: {} against {}", d.name, d.a, d.b));
    }
    return out;
}

std::string side_text(const char* name, const Side& side) {
    return fmt::format("{}        {} ({})\n", name, side.file, side.schema) +
           (side.course.empty() ? "" : labelled("", side.course)) +
           (side.other_results.empty() ? "" : labelled("", side.other_results));
}

std::string settings_text(const std::vector<Difference>& settings) {
    if (settings.empty()) return "";
    std::vector<std::string> texts;
    texts.reserve(settings.size());
    for (const Difference& d : settings) texts.push_back(fmt::format("{} {} against {}", d.name, d.a, d.b));
    const std::string text = fmt::format("the runs differ in {}", fmt::join(texts, ", "));
    return wrapped("settings ", std::string(9, ' '), text, ", ");
}

using Format = std::function<std::string(double)>;
std::string bytes_text(double bytes) { return format_bytes(std::llround(bytes)); }
std::string memory_text(double bytes) { return format_memory(std::llround(bytes)); }

// A row of two quantities: the values, B - A and B / A.
void add_row(Table& table, const std::string& name, const Compared& c, const Format& format) {
    if (!c.a && !c.b) return;
    std::string difference;
    if (c.a && c.b) difference = (*c.b < *c.a ? "-" : "+") + format(std::abs(*c.b - *c.a));
    if (c.a && c.b && *c.a == *c.b) difference = "=";
    table.add({name, c.a ? format(*c.a) : "-", c.b ? format(*c.b) : "-", difference,
               c.ratio() ? fmt::format("{:.3f}", *c.ratio()) : ""});
}

constexpr std::size_t cell_width = 28;

std::vector<std::string> lines_of(std::string text) {
    for (std::size_t comma = text.find(','); comma != std::string::npos; comma = text.find(',', comma + 1)) {
        if (comma + 1 < text.size() && text[comma + 1] != ' ') text.insert(comma + 1, 1, ' ');
    }
    return broken(text, cell_width);
}

// A row, or several where the values are long.
void add_rows(Table& table, const Difference& d) {
    const bool orders = d.name == "forward" || d.name == "backward";
    const std::vector<std::string> a = lines_of(orders ? format_orders_cell(d.a) : d.a);
    const std::vector<std::string> b = lines_of(orders ? format_orders_cell(d.b) : d.b);
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
        table.add({i == 0 ? d.name : "", i < a.size() ? a[i] : "", i < b.size() ? b[i] : "",
                   i == 0 && d.a == d.b ? "=" : "", ""});
    }
}

// Says for a plan and a run of it how far the prediction was off. Empty for anything else.
std::string measured_text(const Comparison& comparison) {
    const Side& run = comparison.a.measured_seconds ? comparison.a : comparison.b;
    const Side& plan = comparison.a.measured_seconds ? comparison.b : comparison.a;
    if (!run.measured_seconds || plan.measured_seconds || !plan.machine) return "";
    if (run.predicted_seconds != plan.predicted_seconds || plan.predicted_seconds.value_or(0) <= 0) return "";
    return "\n" +
           wrapped("", "",
                   fmt::format("The run took {} an epoch or pass, {:.2g} times the {} that its plan predicts.",
                               format_seconds(*run.measured_seconds), *run.measured_seconds / *plan.predicted_seconds,
                               format_seconds(*plan.predicted_seconds, *plan.machine)));
}

// Whether the predictions can be told apart, and what they were compared with.
std::string certainty_text(const Comparison& comparison) {
    if (std::string measured = measured_text(comparison); !measured.empty()) return measured;
    const std::optional<bool> tie = comparison.tie();
    if (!tie || comparison.a.configuration == comparison.b.configuration) return "";
    const double ratio = comparison.b.ranked_seconds() / comparison.a.ranked_seconds();
    const Machine& machine = *comparison.machine();
    const std::string error = fmt::format("{:.0f} %", 100 * cost::model_error(machine));
    const std::string times =
        fmt::format("the predicted times are {:.1f} % apart", 100 * (std::max(ratio, 1 / ratio) - 1));
    const std::string apart = *tie ? fmt::format("A tie: {}, and less than {} decides nothing.", times, error)
                                   : fmt::format("{} is faster: {}, and less than {} would decide nothing.",
                                                 ratio < 1 ? "B" : "A", times, error);
    return "\n" + wrapped("", "", apart) +
           wrapped("", "", comparison.a.machine ? comparison.a.evidence : comparison.b.evidence);
}

std::string human_text(const Comparison& comparison, bool color) {
    Table table({{""}, {"A"}, {"B"}, {"B-A", Align::right}, {"B/A", Align::right}});
    for (const Difference& d : comparison.configuration) add_rows(table, d);
    const Format measured = [](double seconds) { return format_seconds(seconds); };
    const Format predicted = [machine = comparison.machine()](double seconds) {
        return machine != nullptr ? format_seconds(seconds, *machine) : format_seconds(seconds);
    };
    table.add({"an epoch, or a pass", "", "", "", ""}, true);
    for (const Compared& c : comparison.seconds) {
        const std::string name = c.name == "loading" ? "loading before it, predicted" : c.name;
        add_row(table, "  " + name, c, c.name == "measured" ? measured : predicted);
    }
    for (const Compared& c : comparison.bytes) {
        add_row(table, "  " + c.name, c, c.name == "peak memory" ? Format(memory_text) : Format(bytes_text));
    }
    table.add({comparison.kinds_measured ? "measured, by kind" : "predicted, by kind", "", "", "", ""}, true);
    for (const Compared& c : comparison.kind_seconds) {
        add_row(table, "  " + c.name, c, comparison.kinds_measured ? measured : predicted);
    }
    table.add({"moved, by kind", "", "", "", ""}, true);
    for (const Compared& c : comparison.kind_bytes) {
        if (c.a.value_or(0) != 0 || c.b.value_or(0) != 0) add_row(table, "  " + c.name, c, bytes_text);
    }
    return side_text("A", comparison.a) + side_text("B", comparison.b) + differences_text(comparison) +
           settings_text(comparison.settings) + "\n" + table.text(color) + certainty_text(comparison);
}

// Each said once, if it is of both.
std::vector<std::string> notes_of(const Comparison& comparison) {
    std::vector<std::string> notes;
    for (const Side* side : {&comparison.a, &comparison.b}) {
        if (!side->machine) continue;
        for (std::string& note : node_notes(*side->machine, {side->ranks})) {
            if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
        }
    }
    return notes;
}

int run_compare(const Context& context, const CompareOptions& options) {
    const Comparison comparison = compare(read_side(options.a), read_side(options.b));
    say_notes(notes_of(comparison));
    if (options.json) {
        print_json(encode(comparison));
    } else {
        print(human_text(comparison, use_color(context.color)));
    }
    return 0;
}

}  // namespace

void add_compare(CLI::App& root, Context& context) {
    const auto options = std::make_shared<CompareOptions>();
    CLI::App& command = add_command(root, "compare", "Put two plans, two runs, or one of each side by side",
                                    "gnnplan compare 1d.json rdm.json\ngnnplan compare plan.json run.json --json");
    command.add_option("a", options->a, "A plan or a run report")->required()->type_name("A");
    command.add_option("b", options->b, "The plan or report to compare it with")->required()->type_name("B");
    command.add_flag("--json", options->json, "Print one JSON object (gnnplan.comparison/1)");
    on_command(command, context, options, run_compare);
}

}  // namespace gnnplan::tools
