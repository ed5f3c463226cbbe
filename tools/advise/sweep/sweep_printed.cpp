#include "tools/advise/sweep/sweep_printed.hpp"

#include "tools/text/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gnnplan::tools {
namespace {

using catalog::PrintedQuantity;

bool is_figure(double printed) { return printed > 0; }

// The point with the fewest ranks of the same case.
const SweepPoint* base_of(const Sweep& sweep, const SweepPoint& point) {
    const std::string along = sweep.published->along.substr(0, sweep.published->along.find('='));
    const auto found = std::ranges::find(sweep.variations, along, &Variation::name);
    for (const SweepLine& line : lines_along(sweep, static_cast<std::size_t>(found - sweep.variations.begin()))) {
        if (std::ranges::find(line.points, &point) != line.points.end()) return line.points.front();
    }
    return nullptr;
}

struct Agreement {
    std::vector<double> ratios;
    int judged = 0, fit_as_printed = 0;
};

Agreement agreement_of(const Sweep& sweep) {
    Agreement found;
    for (const SweepPoint& point : sweep.points) {
        if (point.printed == catalog::nothing_printed) continue;
        ++found.judged;
        if (point.best.has_value() == (point.printed != catalog::out_of_memory)) ++found.fit_as_printed;
        const auto predicted = predicted_as_printed(sweep, point);
        if (predicted && is_figure(point.printed)) found.ratios.push_back(*predicted / point.printed);
    }
    return found;
}

}  // namespace

std::optional<double> predicted_as_printed(const Sweep& sweep, const SweepPoint& point) {
    if (!point.best) return std::nullopt;
    if (sweep.published->printed == PrintedQuantity::seconds) return point.best->predicted.shown_seconds();
    const SweepPoint* base = base_of(sweep, point);
    if (!base->best) return std::nullopt;
    return base->best->predicted.epoch_seconds / point.best->predicted.epoch_seconds;
}

std::string printed_text(const Sweep& sweep, const SweepPoint& point) {
    if (point.printed == catalog::out_of_memory) return "OOM";
    if (point.printed == catalog::ran) return "ran";
    if (!is_figure(point.printed)) return "";
    return sweep.published->printed == PrintedQuantity::seconds ? format_seconds(point.printed)
                                                                : fmt::format("{:.2f}x", point.printed);
}

std::string printed_ratio_text(const Sweep& sweep, const SweepPoint& point) {
    if (!is_figure(point.printed)) return "";
    const auto predicted = predicted_as_printed(sweep, point);
    return predicted ? fmt::format("{:.2f}", *predicted / point.printed) : "";
}

std::string printed_sentence(const Sweep& sweep) {
    if (sweep.published == nullptr) return "";
    const Agreement found = agreement_of(sweep);
    std::string text = "printed: " + sweep.published->title + ".";
    if (!found.ratios.empty()) {
        double logarithms = 0;
        for (const double ratio : found.ratios) logarithms += std::log(ratio);
        const auto [least, most] = std::ranges::minmax_element(found.ratios);
        text += fmt::format(" Predicted is {:.2f} of printed in the mean ({:.2f} to {:.2f}, {} figures).",
                            std::exp(logarithms / static_cast<double>(found.ratios.size())), *least, *most,
                            found.ratios.size());
    }
    return text + fmt::format(" Of {} runs {} fit or do not fit as printed.", found.judged, found.fit_as_printed);
}

}  // namespace gnnplan::tools
