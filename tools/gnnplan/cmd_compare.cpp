// gnnplan compare: two plans, two runs, or one of each, side by side.
#include "tools/common/format.hpp"
#include "tools/common/table.hpp"
#include "tools/gnnplan/calibration.hpp"
#include "tools/gnnplan/command.hpp"
#include "tools/gnnplan/comparison.hpp"
#include "tools/gnnplan/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
        out += fmt::format("{}{}: {} against {}\n", out.empty() ? "differs  " : "         ", d.name, d.a, d.b);
    }
    return out;
}

using Format = std::string (*)(double);
std::string bytes_text(double bytes) { return format_bytes(std::llround(bytes)); }
std::string memory_text(double bytes) { return format_memory(std::llround(bytes)); }

// A row of two quantities: the values, B - A and B / A.
void add_row(Table& table, const std::string& name, const Compared& c, Format format) {
    if (!c.a && !c.b) return;
    std::string difference;
    if (c.a && c.b) difference = (*c.b < *c.a ? "-" : "+") + format(std::abs(*c.b - *c.a));
    if (c.a && c.b && *c.a == *c.b) difference = "=";
    table.add({name, c.a ? format(*c.a) : "-", c.b ? format(*c.b) : "-", difference,
               c.ratio() ? fmt::format("{:.3f}", *c.ratio()) : ""});
}

std::string human_text(const Comparison& comparison, bool color) {
    Table table({{""}, {"A"}, {"B"}, {"B-A", Align::right}, {"B/A", Align::right}});
    for (const Difference& d : comparison.configuration) {
        const bool orders = d.name == "forward" || d.name == "backward";
        table.add({d.name, orders ? format_orders_cell(d.a) : d.a, orders ? format_orders_cell(d.b) : d.b,
                   d.a == d.b ? "=" : "", ""});
    }
    table.add({"an epoch", "", "", "", ""}, true);
    for (const Compared& c : comparison.seconds) add_row(table, "  " + c.name, c, format_seconds);
    for (const Compared& c : comparison.bytes) {
        add_row(table, "  " + c.name, c, c.name == "peak memory" ? memory_text : bytes_text);
    }
    table.add(
        {fmt::format("time by kind of step, {}", comparison.kinds_measured ? "measured" : "predicted"), "", "", "", ""},
        true);
    for (const Compared& c : comparison.kind_seconds) add_row(table, "  " + c.name, c, format_seconds);
    table.add({"bytes by kind of step", "", "", "", ""}, true);
    for (const Compared& c : comparison.kind_bytes) {
        if (c.a.value_or(0) != 0 || c.b.value_or(0) != 0) add_row(table, "  " + c.name, c, bytes_text);
    }
    return fmt::format("A        {} ({})\nB        {} ({})\n{}\n{}", comparison.a.file, comparison.a.schema,
                       comparison.b.file, comparison.b.schema, differences_text(comparison), table.text(color));
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
    command.add_option("b", options->b, "What to compare it with")->required()->type_name("B");
    command.add_flag("--json", options->json, "Print one JSON object (gnnplan.comparison/1)");
    on_command(command, context, options, run_compare);
}

}  // namespace gnnplan::tools
