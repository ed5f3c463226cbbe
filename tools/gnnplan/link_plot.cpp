// Times over the bandwidth of a link as a picture, with what a break-even search has found.
#include "tools/gnnplan/plot_scale.hpp"
#include "tools/gnnplan/sweep_plot.hpp"

#include "tools/advise/sweep/sweep_units.hpp"
#include "tools/text/format.hpp"
#include "tools/text/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gnnplan::tools {
namespace {

constexpr double giga = 1e9;
constexpr double shown_beyond = 16;  // times below and above the rates that are marked

std::string rate_of(double bytes_per_second, const Machine& machine) {
    return format_bytes(std::llround(trusted_digits(bytes_per_second, machine))) + "/s";
}

// The rates at which the choice changes next, away from the link there is.
std::vector<double> nearest_changes(const LinkBreakEven& link) {
    std::vector<double> rates;
    for (const ChoiceChange& change : link.changes) {
        if (change.at < link.bytes_per_second) rates.assign(1, change.at);
    }
    for (const ChoiceChange& change : link.changes) {
        if (change.at < link.bytes_per_second) continue;
        rates.push_back(change.at);
        break;
    }
    return rates;
}

}  // namespace

PlotPanel link_panel(const LinkBreakEven& link, const Machine& machine) {
    const bool near = link.link == "intra_node";
    PlotPanel panel{fmt::format("Time over the bandwidth {}{}", near ? "within a node" : "between nodes",
                                link.settings.empty() ? "" : ", " + link.settings),
                    {"bandwidth of the link [GB/s]", true},
                    {"", true},
                    {}};
    std::vector<double> marked = nearest_changes(link);
    for (const double rate : marked) panel.limits.push_back({rate / giga, "changes at " + rate_of(rate, machine)});
    marked.push_back(link.bytes_per_second);
    panel.limits.push_back({link.bytes_per_second / giga, "now " + rate_of(link.bytes_per_second, machine)});
    const double low = std::ranges::min(marked) / shown_beyond, high = std::ranges::max(marked) * shown_beyond;
    double slowest = 0;
    for (const LinkCurve& curve : link.curves) slowest = std::max(slowest, std::ranges::max(curve.seconds));
    const Unit unit = time_unit(slowest);
    panel.y.title = fmt::format("time [{}]", unit.name);
    for (const LinkCurve& curve : link.curves) {
        if (panel.series.size() == most_series) break;
        PlotSeries series{curve.choice, {}};
        for (std::size_t i = 0; i < link.rates.size(); ++i) {
            if (link.rates[i] < low || link.rates[i] > high) continue;
            series.points.push_back(
                {link.rates[i] / giga, curve.seconds[i] / unit.size,
                 fmt::format("{}: {} at {}", curve.choice, format_seconds(curve.seconds[i], machine),
                             rate_of(link.rates[i], machine))});
        }
        panel.series.push_back(std::move(series));
    }
    return panel;
}

}  // namespace gnnplan::tools
