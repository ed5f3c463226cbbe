#include "planner/calibrate/pilot.hpp"

#include "planner/calibrate/curves.hpp"
#include "planner/calibrate/quantile.hpp"
#include "planner/cost/bracket.hpp"
#include "planner/cost/rescale.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace gnnplan::calibrate {
namespace {

constexpr std::array figures_of_all{&ProbeFigures::gemm_flops_per_second, &ProbeFigures::copy_bytes_per_second,
                                    &ProbeFigures::near_bytes_per_second, &ProbeFigures::far_bytes_per_second};
constexpr std::array figures_of_links{&ProbeFigures::exchange_bytes_per_second,
                                      &ProbeFigures::between_bytes_per_second};

// Calls combine(a member's value of each pilot), for each figure that was measured, and keeps what it returns.
template <class Combine>
ProbeFigures by_figure(std::span<const Pilot> pilots, const Combine& combine) {
    ProbeFigures result = pilots.front().figures;
    for (const auto member : figures_of_all) {
        std::vector<double> values;
        for (const Pilot& pilot : pilots) values.push_back(pilot.figures.*member);
        result.*member = combine(values);
    }
    for (const auto member : figures_of_links) {
        std::vector<double> values;
        for (const Pilot& pilot : pilots) values.push_back((pilot.figures.*member).value_or(0));
        if (result.*member) result.*member = combine(values);
    }
    return result;
}

// Seconds of copying as many bytes as a dense product's long operands have.
double copy_seconds(const Sample& sample, const ProbeFigures& then) {
    return 4.0 * static_cast<double>(sample.at[0] * (sample.at[1] + sample.at[2])) / then.copy_bytes_per_second;
}

// The sample's rate in the reference state over its rate then.
double ratio_of(const Sample& sample, const ProbeFigures& then, const cost::RateRatios& ratios) {
    const std::string_view what = sample.what;
    if (what.starts_with("spmm")) return ratios.gather(static_cast<double>(sample.at[1]));
    if (what.starts_with("program.")) return ratios.gather(static_cast<double>(sample.at[3]));
    if (what == "loss") return ratios.gemm;
    if (what.starts_with("stream.")) return ratios.stream(static_cast<double>(sample.at[0]));
    if (product_of(what)) {
        const double seconds = median(sample.seconds);
        return seconds > 0 ? seconds / ratios.gemm_seconds(seconds, copy_seconds(sample, then)) : 1;
    }
    if (what.starts_with("between.") || what.starts_with("cards.")) return ratios.between_nodes;
    for (const char* link : {"exchange.", "all_reduce.", "reduce_scatter.", "redistribute."}) {
        if (what.starts_with(link)) return ratios.within_node;
    }
    return what.starts_with("overlap.") ? 1 : ratios.copy;
}

}  // namespace

ProbeReference reference_of(std::span<const Pilot> pilots) {
    ensure(!pilots.empty(), "no pilots");
    ProbeReference reference;
    reference.middle = by_figure(pilots, [](std::vector<double>& values) {
        std::ranges::sort(values);
        return values[values.size() / 2];
    });
    reference.least = by_figure(pilots, [](std::vector<double>& values) { return std::ranges::min(values); });
    reference.most = by_figure(pilots, [](std::vector<double>& values) { return std::ranges::max(values); });
    return reference;
}

ProbeFigures figures_at(std::span<const Pilot> pilots, double when) {
    std::vector<double> moments;
    for (const Pilot& pilot : pilots) moments.push_back(pilot.when);
    const Bracket at = bracket(moments, when);
    const std::array both{pilots[at.low], pilots[at.high]};
    return by_figure(both, [&](std::vector<double>& values) { return between(values[0], values[1], at.share); });
}

bool state_changed(const ProbeFigures& before, const ProbeFigures& after) {
    constexpr double most = 1.1;
    const cost::RateRatios ratios = cost::rate_ratios(before, after);
    const auto [least, largest] =
        std::minmax({ratios.gemm, ratios.copy, ratios.near, ratios.far, ratios.within_node, ratios.between_nodes});
    return largest > most || least < 1 / most;
}

void correct(Sample& sample, const ProbeFigures& then, const ProbeFigures& reference) {
    const double ratio = ratio_of(sample, then, cost::rate_ratios(then, reference));
    for (double& seconds : sample.seconds) seconds /= ratio;
}

}  // namespace gnnplan::calibrate
