#include "tools/gnnplan/plan_table.hpp"

#include "planner/cost/tie.hpp"
#include "tools/common/format.hpp"
#include "tools/common/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gnnplan::tools {
namespace {

std::string separation_line(const Selection& selection) {
    const std::optional<double> slower = separation(selection);
    if (!slower) return "";
    const Machine& machine = selection.plan.machine;
    const std::string error =
        fmt::format("predictions err by {:.0f} % {}", 100 * cost::model_error(machine),
                    machine.calibration ? "(median, cross-validated)" : "or more without gnnplan calibrate");
    const std::int64_t tied = ties(selection);
    if (tied == 1) return fmt::format("#1 leads #2 by {:.1f} %; {}.\n", 100 * *slower, error);
    return fmt::format(
        "#1 to #{} are a tie, #2 {:.1f} % behind: {}. gnnrun times those that can pay off within 5 % of the run.\n",
        tied, 100 * *slower, error);
}

std::string rejected_table(const std::vector<Rejected>& rejected, bool color) {
    if (rejected.empty()) return "";
    Table table({{"set aside"}, {"count", Align::right}, {"why"}});
    for (const Rejected& r : rejected) table.add({r.what, r.count > 0 ? format_count(r.count) : "-", r.why});
    return "\n" + table.text(color) + "\n";
}

}  // namespace

std::string machine_line(const Machine& machine) {
    return fmt::format("{} ({})", machine.name,
                       machine.measured ? machine.source : "preset, not measured here: expect larger error");
}

std::string graph_line(const ProblemRecord& problem) {
    const GraphRecord& graph = problem.graph;
    const std::string source = graph.source == graph.name ? "" : " (" + graph.source + ")";
    const auto& widths = problem.model.widths;
    return fmt::format("{}{}   N={}  nnz={} (self loops included)  {} features, {} classes", graph.name, source,
                       format_count(graph.vertices), format_count(graph.nonzeros), widths.front(), widths.back());
}

std::string plan_header(const ProblemRecord& problem, const Machine& machine, const Selection& selection) {
    const auto fitting =
        std::count_if(selection.ranked.begin(), selection.ranked.end(), [](const Ranked& r) { return r.fits; });
    std::int64_t over = 0, slower = 0;
    for (const Rejected& rejected : selection.rejected) {
        if (rejected.why.starts_with("over memory")) over += rejected.count;
        if (rejected.why.starts_with("slower")) slower += rejected.count;
    }
    const std::string unseen = slower > 0 ? fmt::format(", {} slower", format_count(slower)) : "";
    return fmt::format(
        "graph    {}\nmodel    {} {}\nmachine  {}   {} per rank\nsearch   {} configurations: {} feasible, {} over "
        "memory{}\n",
        graph_line(problem), problem.model.name, fmt::join(problem.model.widths, "-"), machine_line(machine),
        format_memory(selection.memory_per_rank), format_count(fitting + over + slower), format_count(fitting),
        format_count(over), unseen);
}

std::string plan_table(const Selection& selection, std::int64_t top, bool color) {
    Table table({{" "},
                 {"#", Align::right},
                 {"forward"},
                 {"backward"},
                 {"kept"},
                 {"scheme"},
                 {"grid"},
                 {"choices"},
                 {"epoch", Align::right},
                 {"volume/epoch", Align::right},
                 {"SpMM", Align::right},
                 {"peak/rank", Align::right},
                 {"Pareto"}});
    std::int64_t number = 0;
    for (const Ranked& r : selection.ranked) {
        if (!r.fits || number == top) break;
        ++number;
        const Configuration& c = r.configuration;
        table.add(
            {number == 1 ? "*" : "", std::to_string(number), format_orders_cell(text(c.forward)),
             format_orders_cell(text(c.backward)), kept_text(c), c.scheme, c.grid.text(), choices_text(c),
             format_seconds(r.predicted.epoch_seconds), format_bytes(r.predicted.total_bytes),
             format_number(r.executed.sparse), format_memory(r.predicted.peak_bytes_per_rank), r.pareto ? "yes" : ""},
            number == 1);
    }
    return table.text(color) + rejected_table(selection.rejected, color) + separation_line(selection);
}

std::string infeasible_text(const Infeasible& infeasible) {
    std::string text = fmt::format("needs {} of {} per rank", format_memory(infeasible.needed_bytes),
                                   format_memory(infeasible.available_bytes));
    if (infeasible.smallest_ranks) return text + fmt::format(", fits on {} ranks", *infeasible.smallest_ranks);
    if (infeasible.load_bytes <= infeasible.available_bytes) return text;
    return text + fmt::format("; on no number of ranks, for each holds the graph's {} while loading",
                              format_memory(infeasible.load_bytes));
}

std::int64_t ties(const Selection& selection) {
    const std::vector<Ranked>& ranked = selection.ranked;
    return std::count_if(ranked.begin(), ranked.end(), [&](const Ranked& r) {
        return r.fits &&
               cost::tie(r.predicted.epoch_seconds, ranked.front().predicted.epoch_seconds, selection.plan.machine);
    });
}

std::optional<double> separation(const Selection& selection) {
    const std::vector<Ranked>& ranked = selection.ranked;
    if (ranked.size() < 2 || !ranked[1].fits) return std::nullopt;
    return ranked[1].predicted.epoch_seconds / ranked[0].predicted.epoch_seconds - 1;
}

}  // namespace gnnplan::tools
