#include "tools/text/probe_text.hpp"

#include <fmt/format.h>

#include <optional>

namespace gnnplan::tools {

std::string change_text(const ProbeFigures& then, const ProbeFigures& now) {
    const auto ratio = [&](double ProbeFigures::*figure) { return now.*figure / then.*figure; };
    std::string links;
    const auto add_link = [&](const char* what, const std::optional<double>& before,
                              const std::optional<double>& after) {
        if (before && after) links += fmt::format(", messages {} at {:.2f}", what, *after / *before);
    };
    add_link("within a node", then.exchange_bytes_per_second, now.exchange_bytes_per_second);
    add_link("between nodes", then.between_bytes_per_second, now.between_bytes_per_second);
    return fmt::format(
        "dense products run at {:.2f}, copies at {:.2f}, gathering from near at {:.2f} and from far at "
        "{:.2f}{} of the rates that the calibration saw",
        ratio(&ProbeFigures::gemm_flops_per_second), ratio(&ProbeFigures::copy_bytes_per_second),
        ratio(&ProbeFigures::near_bytes_per_second), ratio(&ProbeFigures::far_bytes_per_second), links);
}

bool has_changed(const ProbeReference& calibrated, const ProbeFigures& then, const ProbeFigures& now) {
    constexpr double noise = 1.05;
    // Ratios to the state then, as the calibration's figures differed from their middle.
    const auto beyond = [](double ratio, double least, double most) {
        return ratio < least / noise || ratio > most * noise;
    };
    const ProbeFigures& middle = calibrated.middle;
    const ProbeFigures& least = calibrated.least;
    const ProbeFigures& most = calibrated.most;
    for (const auto figure : {&ProbeFigures::gemm_flops_per_second, &ProbeFigures::copy_bytes_per_second,
                              &ProbeFigures::near_bytes_per_second, &ProbeFigures::far_bytes_per_second}) {
        if (beyond(now.*figure / then.*figure, least.*figure / middle.*figure, most.*figure / middle.*figure))
            return true;
    }
    for (const auto figure : {&ProbeFigures::exchange_bytes_per_second, &ProbeFigures::between_bytes_per_second}) {
        if (!(now.*figure && then.*figure && middle.*figure)) continue;
        if (beyond(*(now.*figure) / *(then.*figure), *(least.*figure) / *(middle.*figure),
                   *(most.*figure) / *(middle.*figure)))
            return true;
    }
    return false;
}

}  // namespace gnnplan::tools
