#include "tools/advise/analysis_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gnnplan::tools {
namespace {

constexpr double most_of = 0.75;         // of the time
constexpr double counts = 0.05;          // of the epoch: work below says nothing about the machine
constexpr std::int64_t small = 1 << 16;  // bytes of the busiest rank below which latency decides

bool late(const StepAnalysis& step) {
    const bool meets = step.work == Work::communication || step.work == Work::spmm_exchange;
    return meets && step.seconds.error() > 0;
}

bool near(double a, double b) { return a > 0 && b > 0 && a / b < same_factor && b / a < same_factor; }

}  // namespace

Pattern::Pattern(const Analysis& analysis) : analysis_(analysis) {
    for (const WorkTotal& total : analysis.totals) error_ += std::abs(total.seconds.error());
}

const WorkTotal& Pattern::worst() const {
    return *std::max_element(analysis_.totals.begin(), analysis_.totals.end(), [](const auto& a, const auto& b) {
        return std::abs(a.seconds.error()) < std::abs(b.seconds.error());
    });
}

std::string Pattern::others(const WorkTotal& total) const {
    double predicted = 0;
    double measured = 0;
    for (const WorkTotal& other : analysis_.totals) {
        if (other.work == total.work) continue;
        predicted += other.seconds.predicted;
        measured += other.seconds.measured;
    }
    if (predicted <= 0 || near(measured / predicted, 1)) return "other work about what was predicted";
    return fmt::format("other work {:.2f}x", measured / predicted);
}

const StepAnalysis& Pattern::worst_step(Work work) const {
    const auto error = [&](const StepAnalysis& s) { return s.work == work ? std::abs(s.seconds.error()) : -1; };
    return *std::max_element(analysis_.steps.begin(), analysis_.steps.end(),
                             [&](const auto& a, const auto& b) { return error(a) < error(b); });
}

bool Pattern::uniform(const WorkTotal& total) const {
    const double ratio = total.seconds.ratio().value_or(0);
    double agreeing = 0;
    for (const StepAnalysis& step : analysis_.steps) {
        const std::optional<double> own = step.seconds.ratio();
        if (step.work == total.work && own && near(*own, ratio)) agreeing += step.seconds.predicted;
    }
    return total.steps > 1 && agreeing >= most_of * total.seconds.predicted;
}

bool Pattern::everything_alike() const {
    const double ratio = analysis_.epoch.ratio().value_or(0);
    int kinds = 0;
    for (const WorkTotal& total : analysis_.totals) {
        if (total.seconds.measured < counts * analysis_.epoch.measured) continue;
        const double own = total.seconds.ratio().value_or(0);
        const bool as_predicted = ratio > 1 ? own * own < ratio : own * own > ratio;
        if (as_predicted || !near(own, ratio)) return false;
        ++kinds;
    }
    return kinds > 1;
}

bool Pattern::from_small_messages(Work work) const {
    double of_small = 0, of_all = 0;
    for (const StepAnalysis& step : analysis_.steps) {
        if (step.work != work) continue;
        of_all += std::abs(step.seconds.error());
        if (step.max_rank_bytes < small) of_small += std::abs(step.seconds.error());
    }
    return of_small > dominates * of_all;
}

double Pattern::late_seconds() const {
    double seconds = 0;
    for (const StepAnalysis& step : analysis_.steps) seconds += late(step) ? step.seconds.error() : 0;
    return seconds;
}

const StepAnalysis* Pattern::where_ranks_wait() const {
    const StepAnalysis* longest = nullptr;
    for (const StepAnalysis& step : analysis_.steps) {
        if (!late(step)) continue;
        if (longest == nullptr || step.seconds.error() > longest->seconds.error()) longest = &step;
    }
    return longest;
}

}  // namespace gnnplan::tools
