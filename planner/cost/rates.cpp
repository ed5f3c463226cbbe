#include "planner/cost/rates.hpp"

#include "planner/cost/bracket.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

namespace gnnplan {
namespace {

double log2_of(std::int64_t value) { return std::log2(static_cast<double>(value)); }

// The integral from 0 to `bytes` of the cost by distance, in byte-seconds per nonzero.
double cumulative(const GatherCurve& curve, double bytes) {
    const auto& costs = curve.costs;
    const auto working_set = [&](std::size_t i) { return static_cast<double>(costs[i].working_set_bytes); };
    const std::size_t last = costs.size() - 1;
    if (bytes <= working_set(0)) return bytes * costs[0].seconds_per_nonzero;
    double slope = 0;  // of g, by log(bytes)
    for (std::size_t i = 0; i < last; ++i) {
        slope = (costs[i + 1].seconds_per_nonzero - costs[i].seconds_per_nonzero) /
                std::log(working_set(i + 1) / working_set(i));
        if (bytes > working_set(i + 1)) continue;
        return bytes * (costs[i].seconds_per_nonzero + slope * std::log(bytes / working_set(i)));
    }
    const double beyond = costs[last].seconds_per_nonzero + std::max(0.0, slope);
    return working_set(last) * costs[last].seconds_per_nonzero + (bytes - working_set(last)) * beyond;
}

// Noise may let the integral fall; no nonzero costs less than the cheapest measured.
double mean_between(const GatherCurve& curve, double from, double to) {
    const auto cheapest = std::ranges::min_element(curve.costs, {}, &GatherCost::seconds_per_nonzero);
    return std::max((cumulative(curve, to) - cumulative(curve, from)) / (to - from), cheapest->seconds_per_nonzero);
}

using Fit = std::function<bool(const GatherCurve&)>;

struct Around {
    const GatherCurve* low = nullptr;
    const GatherCurve* high = nullptr;  // the first that is not narrower
};
Around curves_around(const Calibration& calibration, std::int64_t width, const Fit& fit) {
    Around around;
    for (const GatherCurve& curve : calibration.gather) {
        if (fit && !fit(curve)) continue;
        if (curve.width < width) around.low = &curve;
        if (curve.width >= width && around.high == nullptr) around.high = &curve;
    }
    return around;
}

// Slices of rows that are whole kibibytes long meet only some of the sets of a cache, so they stay in it no better than
// whole rows do: such widths are like each other, and others like each other.
bool whole_kibibytes(std::int64_t width) { return width % 256 == 0; }

// The answer of `of` for the widths around: among those that are `fit`, if any is, else among those that are like this
// one, if there are some on both sides, else among all.
double by_width(const Calibration& calibration, std::int64_t width, const std::function<double(const GatherCurve&)>& of,
                const Fit& fit = {}) {
    const auto alike = [&](const GatherCurve& curve) { return whole_kibibytes(curve.width) == whole_kibibytes(width); };
    Around around = curves_around(calibration, width, fit ? fit : alike);
    const bool exact = around.high != nullptr && around.high->width == width;
    const bool both = around.low != nullptr && around.high != nullptr;
    const bool either = around.low != nullptr || around.high != nullptr;
    if (!(fit ? either : exact || both)) around = curves_around(calibration, width, {});
    const auto [low, high] = around;
    if (low == nullptr) return of(*high);
    const auto at = static_cast<double>(width);
    if (high == nullptr) return of(*low) * at / static_cast<double>(low->width);
    const double share = (at - static_cast<double>(low->width)) / static_cast<double>(high->width - low->width);
    return between(of(*low), of(*high), share);
}

}  // namespace

double message_seconds(const Link& link, double bytes) {
    if (link.segments.empty()) return link.latency_seconds + bytes / link.bytes_per_second;
    double least = 0;
    for (std::size_t i = 0;; ++i) {
        const LinkSegment& segment = link.segments[i];
        const auto line = [&](double size) { return segment.latency_seconds + size / segment.bytes_per_second; };
        const bool last = i + 1 == link.segments.size();
        const double end = last ? bytes : static_cast<double>(link.segments[i + 1].from_bytes);
        if (last || bytes < end) return std::max(least, line(bytes));
        least = std::max(least, line(end));
    }
}

double elementwise_bytes_per_second(const Machine& machine, ElementwiseKind stream, std::int64_t bytes) {
    std::vector<double> working_sets;
    std::vector<double> rates;
    if (machine.calibration) {
        const auto& measured = machine.calibration->streams;
        const bool known = std::ranges::find(measured, stream, &StreamRate::stream) != measured.end();
        for (const StreamRate& rate : measured) {
            if (rate.stream != (known ? stream : ElementwiseKind::copy)) continue;
            working_sets.push_back(log2_of(rate.working_set_bytes));
            rates.push_back(rate.bytes_per_second);
        }
    }
    if (rates.empty()) return machine.memory_bytes_per_second;
    const Bracket at = bracket(working_sets, log2_of(std::max<std::int64_t>(1, bytes)));
    return between(rates[at.low], rates[at.high], at.share);
}

double cached_bytes_per_second(const Machine& machine, ElementwiseKind stream, std::int64_t bytes) {
    double best = elementwise_bytes_per_second(machine, stream, bytes);
    if (!machine.calibration) return best;
    for (const StreamRate& rate : machine.calibration->streams) {
        if (rate.stream == stream && rate.working_set_bytes <= bytes) best = std::max(best, rate.bytes_per_second);
    }
    return best;
}

double gather_seconds(const Calibration& calibration, std::int64_t width, double from_bytes, double to_bytes) {
    return by_width(calibration, width,
                    [&](const GatherCurve& curve) { return mean_between(curve, from_bytes, to_bytes); });
}

double packed_gather_seconds(const Machine& machine, const PackedPanel& packed, double from_bytes, double to_bytes) {
    const auto fit = [&blocking = machine.blocking](const GatherCurve& curve) {
        return curve.width * 4 % blocking.unit_bytes == 0 && curve.width <= blocking.slice_columns;
    };
    const auto mean = [&](const GatherCurve& curve) { return mean_between(curve, from_bytes, to_bytes); };
    return static_cast<double>(packed.slices) *
           by_width(machine.calibration.value(), packed.row_bytes() / 4, mean, fit);
}

ProgramSeconds program_seconds(const Calibration& calibration, Program program, std::int64_t heads, std::int64_t width,
                               bool dropout) {
    const auto at = [columns = static_cast<double>(width)](const ColumnCost& cost) {
        return cost.seconds + cost.seconds_per_column * columns;
    };
    std::vector<const ProgramCost*> measured;  // by heads
    for (const ProgramCost& cost : calibration.programs) {
        if (cost.program == program && cost.dropout == dropout) measured.push_back(&cost);
    }
    if (measured.empty()) return {};
    // Between two measured numbers of heads, and beyond the largest.
    std::size_t above = 0;
    while (above + 1 < measured.size() && measured[above]->heads < heads) ++above;
    const ProgramCost &less = *measured[above > 0 ? above - 1 : 0], &more = *measured[above];
    const double share =
        above > 0 ? static_cast<double>(heads - less.heads) / static_cast<double>(more.heads - less.heads) : 0;
    return {between(at(less.nonzero), at(more.nonzero), share), between(at(less.row), at(more.row), share),
            static_cast<double>(less.working_set_bytes), between(less.waiting, more.waiting, std::min(share, 1.0))};
}

double row_seconds(const Calibration& calibration, std::int64_t width) {
    return by_width(calibration, width, [](const GatherCurve& curve) { return curve.seconds_per_row; });
}

std::optional<double> row_again_seconds(const Calibration& calibration, std::int64_t width) {
    const auto known = [](const GatherCurve& curve) { return curve.seconds_per_row_again.has_value(); };
    if (!std::ranges::all_of(calibration.gather, known)) return std::nullopt;
    return by_width(calibration, width, [](const GatherCurve& curve) { return curve.seconds_per_row_again.value(); });
}

LoadingCost loading_cost(const Machine& machine) {
    if (machine.calibration && machine.calibration->loading) return *machine.calibration->loading;
    const std::optional<int> calibrated = machine.calibration ? machine.calibration->threads : std::nullopt;
    const int threads = std::max(1, machine.threads_per_rank.value_or(calibrated.value_or(1)));
    return {50e-9 / threads, 10e-9 / threads, 50e-9 / threads, 22e-9 / threads};
}

PassingCost passing_cost(const Calibration& calibration, std::int64_t width) {
    const auto known = [](const GatherCurve& curve) { return curve.passing.has_value(); };
    if (std::ranges::none_of(calibration.gather, known)) return {};
    const auto of = [&](double PassingCost::*part) {
        return by_width(
            calibration, width, [part](const GatherCurve& curve) { return curve.passing.value().*part; }, known);
    };
    return {of(&PassingCost::seconds_per_row), of(&PassingCost::seconds_per_change)};
}

}  // namespace gnnplan
