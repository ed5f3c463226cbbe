#include "tools/gnnplan/plan_table.hpp"

#include "tools/advise/configuration_text.hpp"
#include "tools/advise/plan_text.hpp"
#include "tools/gnnplan/plan_answer.hpp"
#include "tools/gnnplan/plan_legend.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/model_text.hpp"
#include "tools/text/option_names.hpp"
#include "tools/text/table.hpp"
#include "tools/text/trust.hpp"

#include <gnnplan/base/memory_text.hpp>
#include <gnnplan/ir/memory.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gnnplan::tools {
namespace {

// Classes that are set aside for one reason share a row.
std::string rejected_table(const std::vector<Rejection>& rejected, bool color) {
    std::vector<Rejection> classes;
    for (const Rejection& r : rejected) {
        const auto same =
            std::find_if(classes.begin(), classes.end(), [&](const Rejection& c) { return c.why == r.why; });
        if (same == classes.end()) {
            classes.push_back(r);
        } else {
            same->what += ", " + r.what;
            same->count += r.count;
        }
    }
    if (classes.empty()) return "";
    Table table({{"not compared"}, {"count", Align::right}, {"why"}});
    for (const Rejection& r : classes)
        table.add({r.what, r.count > 0 ? format_count(r.count) : "-", with_dashes(r.why)});
    return "\n" + table.text(color, line_width()) + "\n";
}

// A tenth less, in whole MiB: a limit that leaves a device some room.
std::string reserved_limit(std::int64_t allowed) {
    constexpr std::int64_t mebibyte = 1 << 20;
    return fmt::format("{}MiB", std::max<std::int64_t>(1, (allowed - allowed / 10) / mebibyte));
}

// Whether what is allowed is what the machine leaves beside a reserve of its own.
bool beside_reserve(const Selection& selection) {
    const Machine& machine = selection.plan.machine;
    return machine.reserved_bytes > 0 && selection.memory_per_rank == machine.usable_memory();
}

// "47 GiB of 48 GiB" there.
std::string memory_allowed(const Selection& selection) {
    return limit_text(selection.memory_per_rank) +
           (beside_reserve(selection) ? " of " + limit_text(selection.plan.machine.memory_per_rank) : std::string());
}

// Indices of the ranking: the fastest of each scheme that fits.
std::vector<std::size_t> best_of_schemes(const std::vector<RankedConfiguration>& ranked) {
    std::vector<std::size_t> best;
    for (std::size_t i = 0; i < ranked.size(); ++i) {
        const auto same = [&](std::size_t other) {
            return scheme_of(ranked[other].configuration) == scheme_of(ranked[i].configuration);
        };
        if (ranked[i].fits && std::none_of(best.begin(), best.end(), same)) best.push_back(i);
    }
    return best;
}

// The rest of the `top` fastest.
std::vector<std::size_t> next_fastest(const std::vector<RankedConfiguration>& ranked, std::int64_t top,
                                      const std::vector<std::size_t>& shown) {
    std::vector<std::size_t> rest;
    for (std::size_t i = 0; i < std::min(ranked.size(), static_cast<std::size_t>(top)) && ranked[i].fits; ++i) {
        if (std::find(shown.begin(), shown.end(), i) == shown.end()) rest.push_back(i);
    }
    return rest;
}

// Rows of one selection; orders of long networks go where cells may be broken.
class Rows {
public:
    Rows(const Selection& selection, const std::vector<std::size_t>& shown) : selection_(selection) {
        for (const std::size_t i : shown) {
            long_orders_ = long_orders_ || orders_text(selection.ranked[i].configuration).size() > widest_orders;
        }
    }

    Table table() const {
        return Table({{"  "},
                      {"#", Align::right},
                      {"scheme"},
                      {"grid"},
                      {long_orders_ ? "" : "orders"},
                      {ranked_time_name(selection_.plan.problem.task), Align::right},
                      {"ratio", Align::right},
                      {"volume", Align::right},
                      {"peak/rank", Align::right},
                      {long_orders_ ? "orders, choices" : "choices"}});
    }

    void add(Table& table, std::size_t i) const {
        const RankedConfiguration& r = selection_.ranked[i];
        table.add(cells((i == 0 ? "*" : " ") + std::string(r.pareto ? "+" : " "), std::to_string(i + 1),
                        r.configuration, r.predicted, choices_cell(r.configuration)),
                  i == 0);
    }

    // Adds the rows that compare the plan with the defaults of frameworks, where it is compared with them.
    void add_baselines(Table& table) const {
        bool titled = false;
        for (const Alternative& a : selection_.plan.alternatives) {
            if (a.choice.key != "baseline") continue;
            if (!std::exchange(titled, true)) table.add_title("the defaults of frameworks");
            const char* who = a.choice.value == "pyg" ? "PyTorch Geometric" : "DGL";
            const bool could_keep =
                selection_.ranked.front().configuration.cached_aggregation && !a.configuration.cached_aggregation;
            table.add(cells("", "-", a.configuration, a.predicted,
                            fmt::format("as {}{}", who, could_keep ? ": no ÂX once" : "")));
        }
    }

private:
    std::vector<std::string> cells(std::string marks, std::string number, const Configuration& c, const Prediction& p,
                                   const std::string& words) const {
        const std::string orders = orders_text(c);
        return {std::move(marks),
                std::move(number),
                scheme_of(c),
                c.grid.text(),
                long_orders_ ? "" : orders,
                format_seconds(p.shown_seconds(), selection_.plan.machine),
                fmt::format("{:.2f}", p.ranked_seconds() / selection_.ranked.front().predicted.ranked_seconds()),
                format_bytes(p.total_bytes),
                memory_cell(p.peak_bytes_per_rank),
                (long_orders_ ? orders + ", " : "") + words};
    }

    // Configurations of the ranking fit; defaults of frameworks may not.
    std::string memory_cell(std::int64_t bytes) const {
        return bytes > selection_.memory_per_rank ? fmt::format("OOM ({})", format_memory(bytes))
                                                  : format_memory(bytes);
    }

    static constexpr std::size_t widest_orders = 11;
    const Selection& selection_;
    bool long_orders_ = false;
};

}  // namespace

std::string plan_header(const ProblemRecord& problem, const Machine& machine, const Selection& selection) {
    const auto fitting = std::count_if(selection.ranked.begin(), selection.ranked.end(),
                                       [](const RankedConfiguration& r) { return r.fits; });
    std::int64_t over = 0, over_buffer = 0, slower = 0;
    for (const Rejection& rejected : selection.rejected) {
        if (rejected.reason == Rejection::Reason::over_memory) over += rejected.count;
        if (rejected.reason == Rejection::Reason::over_buffer) over_buffer += rejected.count;
        if (rejected.reason == Rejection::Reason::slower) slower += rejected.count;
    }
    std::string search = fmt::format("{} configurations: {} compared",
                                     format_count(fitting + over + over_buffer + slower), format_count(fitting));
    if (slower > 0) search += fmt::format(", {} slower", format_count(slower));
    if (over_buffer > 0) search += fmt::format(", {} over the buffer", format_count(over_buffer));
    search += over > 0 ? fmt::format(", {} over memory", format_count(over)) : ", none over memory";
    const std::string buffer = buffer_text(selection.plan);
    return answer_line(selection) + labelled("graph", graph_line(problem)) +
           labelled("model", fmt::format("{}{}, {}", network_text(problem.model), loss_text(problem.model),
                                         ranks_text(problem.ranks, machine))) +
           labelled("machine", fmt::format("{} per rank   {}", memory_allowed(selection), machine_line(machine))) +
           labelled("search", search) + (buffer.empty() ? "" : labelled("buffers", buffer));
}

std::string plan_table(const Selection& selection, const std::vector<Objective>& objectives, std::int64_t top,
                       bool color) {
    const std::vector<std::size_t> best = best_of_schemes(selection.ranked);
    const std::vector<std::size_t> next = next_fastest(selection.ranked, top, best);
    std::vector<std::size_t> shown = best;
    shown.insert(shown.end(), next.begin(), next.end());
    const Rows rows(selection, shown);
    Table table = rows.table();
    table.add_title("best of each scheme");
    for (const std::size_t i : best) rows.add(table, i);
    rows.add_baselines(table);
    if (!next.empty()) table.add_title("the next fastest of any scheme (--top N lists more)");
    for (const std::size_t i : next) rows.add(table, i);
    std::vector<const RankedConfiguration*> legend;
    legend.reserve(shown.size());
    for (const std::size_t i : shown) legend.push_back(&selection.ranked[i]);
    const auto compared = std::count_if(selection.ranked.begin(), selection.ranked.end(),
                                        [](const RankedConfiguration& r) { return r.fits; });
    if (line_width() < page_width) table.leave_out_if_wider("ratio", line_width());
    return table.text(color, line_width()) +
           plan_legend(legend, selection.plan.problem.task, objectives, static_cast<std::size_t>(compared)) +
           rejected_table(selection.rejected, color) + sure_line(selection);
}

std::string memory_lines(const Selection& selection, const GraphStats& graph) {
    const Machine& machine = selection.plan.machine;
    if (!machine.accelerators) return "";
    const Schedule& schedule = selection.plan.candidates.front().schedule;
    const std::int64_t loading = load_bytes(schedule, *graph.numbered(schedule.numbering), 0);
    std::string lines = labelled(
        "loading",
        fmt::format("loading the graph also needs {} of CPU memory per rank ({} per node); peak/rank is GPU memory",
                    format_memory(loading), format_memory(loading * machine.ranks_per_node)));
    const std::int64_t peak = selection.ranked.front().predicted.peak_bytes_per_rank;
    const std::int64_t allowed = selection.memory_per_rank;
    if (!beside_reserve(selection) && peak > allowed - allowed / 10) {
        lines += labelled("reserve",
                          fmt::format("#1 leaves {} of {} free, and peak/rank does not count the CUDA "
                                      "context, library workspaces and what an allocator wastes, often 1 "
                                      "GiB and more; plan with --memory {}",
                                      format_memory(allowed - peak), limit_text(allowed), reserved_limit(allowed)));
    }
    return lines;
}

}  // namespace gnnplan::tools
