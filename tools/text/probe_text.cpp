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

}  // namespace gnnplan::tools
