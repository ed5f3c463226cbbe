// The rate of dense products of any shape, from those that were measured.
#include "planner/cost/bracket.hpp"
#include "planner/cost/rates.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace gnnplan {
namespace {

// A product whose weights are inner x columns: seconds for each row of its long side. The side that lies along the rows
// of the result is computed a whole vector at a time, and is as long here as the vectors are together.
struct GemmTime {
    double inner = 0;
    double columns = 0;
    double seconds = 0;

    double flops() const { return 2 * inner * columns; }
};

GemmTime padded(GemmKind product, std::int64_t inner, std::int64_t columns, std::int64_t lanes) {
    const auto whole = [&](std::int64_t side) {
        const std::int64_t vectors = (side + lanes - 1) / lanes;
        return static_cast<double>(vectors * lanes);
    };
    const bool inner_is_result = product == GemmKind::input_gradient;
    return {inner_is_result ? whole(inner) : static_cast<double>(inner),
            inner_is_result ? static_cast<double>(columns) : whole(columns)};
}

std::vector<GemmTime> measured_times(const Calibration& calibration, GemmKind product) {
    std::vector<GemmTime> times;
    for (const GemmRate& rate : calibration.gemm) {
        if (rate.product != product) continue;
        GemmTime time = padded(product, rate.inner, rate.columns, calibration.gemm_lanes.value_or(1));
        const double flops = 2 * static_cast<double>(rate.inner) * static_cast<double>(rate.columns);
        time.seconds = flops / rate.flops_per_second;
        times.push_back(time);
    }
    return times;
}

std::vector<double> distinct(const std::vector<GemmTime>& times, double GemmTime::*side) {
    std::vector<double> values;
    values.reserve(times.size());
    for (const GemmTime& time : times) values.push_back(time.*side);
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

// Between four corners of a grid, if all were measured; beyond the longest sides in proportion to them.
std::optional<double> bilinear(const std::vector<GemmTime>& times, const GemmTime& shape) {
    const std::vector<double> inners = distinct(times, &GemmTime::inner);
    const std::vector<double> columns = distinct(times, &GemmTime::columns);
    const Bracket i = bracket(inners, shape.inner);
    const Bracket j = bracket(columns, shape.columns);
    const auto corner = [&](std::size_t a, std::size_t b) {
        return std::ranges::find_if(times,
                                    [&](const GemmTime& t) { return t.inner == inners[a] && t.columns == columns[b]; });
    };
    const auto ll = corner(i.low, j.low), lh = corner(i.low, j.high);
    const auto hl = corner(i.high, j.low), hh = corner(i.high, j.high);
    if (ll == times.end() || lh == times.end() || hl == times.end() || hh == times.end()) return std::nullopt;
    const double longer = std::max(1.0, shape.inner / inners.back()) * std::max(1.0, shape.columns / columns.back());
    return longer *
           between(between(ll->seconds, lh->seconds, j.share), between(hl->seconds, hh->seconds, j.share), i.share);
}

// At the mean rate of the shapes, weighted by 1 / distance^2 in octaves.
double by_distance(const std::vector<GemmTime>& times, const GemmTime& shape) {
    double rates = 0;
    double weights = 0;
    for (const GemmTime& time : times) {
        const double squared =
            std::pow(std::log2(time.inner / shape.inner), 2) + std::pow(std::log2(time.columns / shape.columns), 2);
        if (squared == 0) return time.seconds;
        rates += time.flops() / time.seconds / squared;
        weights += 1 / squared;
    }
    return shape.flops() / (rates / weights);
}

}  // namespace

double gemm_flops_per_second(const Machine& machine, GemmKind product, std::int64_t inner, std::int64_t columns) {
    std::vector<GemmTime> times;
    if (machine.calibration) times = measured_times(*machine.calibration, product);
    if (times.empty()) return machine.gemm_flops_per_second;
    inner = std::max<std::int64_t>(1, inner);
    columns = std::max<std::int64_t>(1, columns);
    const GemmTime shape = padded(product, inner, columns, machine.calibration->gemm_lanes.value_or(1));
    const std::optional<double> within = bilinear(times, shape);
    const double seconds = within ? *within : by_distance(times, shape);
    return 2 * static_cast<double>(inner) * static_cast<double>(columns) / seconds;
}

}  // namespace gnnplan
