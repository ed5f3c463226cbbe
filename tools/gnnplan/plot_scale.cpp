#include "tools/gnnplan/plot_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gnnplan::tools {
namespace {

constexpr std::size_t most_ticks = 8;

PlotTick tick(double value) { return {value, fmt::format("{:g}", value)}; }

std::vector<PlotTick> linear_ticks(const PlotScale& scale) {
    const double rough = (scale.high - scale.low) / 5;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double leading = rough / power;
    const double step = power * (leading < 1.5 ? 1 : leading < 3.5 ? 2 : leading < 7.5 ? 5 : 10);
    std::vector<PlotTick> ticks;
    for (double i = std::ceil(scale.low / step); i * step <= scale.high * (1 + 1e-12); ++i)
        ticks.push_back(tick(i * step));
    return ticks;
}

std::vector<PlotTick> log_ticks(const PlotScale& scale, const std::vector<double>& leading) {
    std::vector<PlotTick> ticks;
    const int last = static_cast<int>(std::floor(std::log10(scale.high)));
    for (int exponent = static_cast<int>(std::floor(std::log10(scale.low))); exponent <= last; ++exponent) {
        for (const double digit : leading) {
            const double value = digit * std::pow(10, exponent);
            if (value >= scale.low && value <= scale.high) ticks.push_back(tick(value));
        }
    }
    return ticks;
}

}  // namespace

double PlotScale::pixel(double value) const {
    const auto place = [this](double v) { return log ? std::log(v) : v; };
    return begin + (end - begin) * (place(value) - place(low)) / (place(high) - place(low));
}

PlotScale fit_scale(const std::vector<double>& values, bool log, bool from_zero, double begin, double end) {
    PlotScale scale{1, 2, log, begin, end};
    if (values.empty()) return scale;
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    if (log) {
        const double margin = std::max(1.1, std::pow(*most / *least, 0.06));
        scale.low = *least / margin;
        scale.high = *most * margin;
        return scale;
    }
    const double low = from_zero && *least >= 0 ? 0 : *least;
    const double span = *most > low ? *most - low : std::max(std::abs(*most), 1.0);
    scale.low = low == 0 && from_zero ? 0 : low - 0.06 * span;
    scale.high = *most + 0.06 * span;
    return scale;
}

std::vector<PlotTick> choose_ticks(const PlotScale& scale) {
    if (!scale.log) return linear_ticks(scale);
    for (const auto& leading : {std::vector<double>{1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}, std::vector<double>{1, 2, 3, 5, 7},
                                std::vector<double>{1, 2, 5}, std::vector<double>{1, 3}, std::vector<double>{1}}) {
        std::vector<PlotTick> ticks = log_ticks(scale, leading);
        if (ticks.size() <= most_ticks) return ticks;
    }
    // Many decades: every other one, or fewer.
    const std::vector<PlotTick> decades = log_ticks(scale, {1});
    const std::size_t stride = (decades.size() + most_ticks - 1) / most_ticks;
    std::vector<PlotTick> ticks;
    for (std::size_t i = 0; i < decades.size(); i += stride) ticks.push_back(decades[i]);
    return ticks;
}

std::vector<double> minor_ticks(const PlotScale& scale) {
    std::vector<double> places;
    if (!scale.log || scale.high > scale.low * 1e4) return places;
    for (const PlotTick& minor : log_ticks(scale, {1, 2, 3, 4, 5, 6, 7, 8, 9})) places.push_back(minor.at);
    return places;
}

bool wants_log(const std::vector<double>& values) {
    if (values.empty()) return false;
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return *least > 0 && *most / *least >= 4;
}

void choose_logs(PlotPanel& panel, bool x_numbers) {
    std::vector<double> xs, ys;
    for (const PlotSeries& series : panel.series) {
        for (const PlotPoint& point : series.missing) xs.push_back(point.x);
        if (series.line == PlotLine::reference) continue;
        for (const PlotPoint& point : series.points) {
            xs.push_back(point.x);
            ys.push_back(point.y);
        }
    }
    panel.x.log = x_numbers && wants_log(xs);
    panel.y.log = wants_log(ys);
}

}  // namespace gnnplan::tools
