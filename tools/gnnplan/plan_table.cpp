#include "tools/gnnplan/plan_table.hpp"

#include "planner/search/candidates.hpp"
#include "tools/common/format.hpp"
#include "tools/common/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gnnplan::tools {
namespace {

// How the runner-up compares; times closer than a thousandth are equal for any model.
std::string runner_up_line(const std::vector<Ranked>& ranked) {
    if (ranked.size() < 2 || !ranked[1].fits) return "";
    const double ratio = ranked[1].predicted.epoch_seconds / ranked[0].predicted.epoch_seconds;
    if (ratio < 1.001) return "#1 and #2 are predicted equally fast.\n";
    return fmt::format("#2 is predicted {:.1f} % slower than #1.\n", 100 * (ratio - 1));
}

}  // namespace

std::string machine_line(const Machine& machine) {
    return machine.name + (machine.measured ? " (measured)" : " (preset, not measured here: expect larger error)");
}

std::string graph_line(const ProblemRecord& problem) {
    const GraphRecord& graph = problem.graph;
    const std::string source = graph.source == graph.name ? "" : " (" + graph.source + ")";
    const auto& widths = problem.model.widths;
    return fmt::format("{}{}   N={}  nnz={} (self loops included)  {} features, {} classes", graph.name, source,
                       format_count(graph.vertices), format_count(graph.nonzeros), widths.front(), widths.back());
}

std::string kept_text(const Configuration& configuration) {
    std::string text;
    for (const std::string& name : configuration.kept) {
        if (!text.empty()) text += ",";
        // T<l> = A^T H<l-1>
        text += "ÂH" + std::to_string(std::stoi(name.substr(1)) - 1);
    }
    return text.empty() ? "-" : text;
}

std::string plan_header(const ProblemRecord& problem, const Machine& machine, const Selection& selection) {
    const auto fitting =
        std::count_if(selection.ranked.begin(), selection.ranked.end(), [](const Ranked& r) { return r.fits; });
    const auto all = static_cast<std::ptrdiff_t>(selection.ranked.size());
    const bool thinned = static_cast<int>(problem.model.widths.size()) - 1 > search::max_fully_costed_layers;
    return fmt::format(
        "graph    {}\nmodel    {} {}\nmachine  {}   {} per rank\nsearch   {} configurations{}: {} feasible, {} over "
        "memory\n",
        graph_line(problem), problem.model.name, fmt::join(problem.model.widths, "-"), machine_line(machine),
        format_memory(selection.memory_per_rank), format_count(all), thinned ? " of the Pareto front" : "",
        format_count(fitting), format_count(all - fitting));
}

std::string plan_table(const Selection& selection, std::int64_t top, bool color) {
    Table table({{" "},
                 {"#", Align::right},
                 {"forward"},
                 {"backward"},
                 {"kept"},
                 {"grid"},
                 {"epoch", Align::right},
                 {"volume/epoch", Align::right},
                 {"SpMM", Align::right},
                 {"peak/rank", Align::right},
                 {"Pareto"}});
    std::int64_t number = 0;
    for (const Ranked& r : selection.ranked) {
        if (!r.fits || number == top) break;
        ++number;
        table.add(
            {number == 1 ? "*" : "", std::to_string(number), text(r.configuration.forward),
             text(r.configuration.backward), kept_text(r.configuration), r.configuration.grid.text(),
             format_seconds(r.predicted.epoch_seconds), format_bytes(r.predicted.total_bytes),
             format_number(r.executed.sparse), format_memory(r.predicted.peak_bytes_per_rank), r.pareto ? "yes" : ""},
            number == 1);
    }
    return table.text(color) + runner_up_line(selection.ranked);
}

}  // namespace gnnplan::tools
