// Sweeps made up for tests: no search.
#pragma once

#include "tools/advise/sweep/sweep.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::testing {

inline RankedConfiguration ranked(double seconds, std::int64_t peak, bool fits = true) {
    RankedConfiguration r;
    r.configuration.grid = {1, 4, 1};
    r.configuration.forward = parse_orders("SD");
    r.configuration.backward = parse_orders("SS");
    r.configuration.operands = parse_operands("TG");
    r.predicted.epoch_seconds = seconds;
    r.predicted.total_bytes = 1500000;
    r.predicted.peak_bytes_per_rank = peak;
    r.executed = {82.5, 338};
    r.fits = fits;
    return r;
}

inline tools::Variation names(const std::string& name, const std::vector<std::string>& values) {
    tools::Variation variation{name, name, {}};
    for (const std::string& value : values) variation.settings.push_back({value, std::nullopt});
    return variation;
}

inline tools::Variation numbers(const std::string& name, const std::vector<int>& values) {
    tools::Variation variation{name, name, {}};
    for (const int value : values) variation.settings.push_back({std::to_string(value), value});
    return variation;
}

// Points with the milliseconds that `time` gives for their settings' texts; none: does not fit. The machine is a
// preset.
inline tools::Sweep sweep_of(std::vector<tools::Variation> variations,
                             const std::function<std::optional<double>(const std::vector<std::string>&)>& time) {
    tools::Sweep sweep{std::move(variations), {}, {}};
    for (const auto& at : tools::combinations(sweep.variations)) {
        std::vector<std::string> texts;
        for (std::size_t v = 0; v < at.size(); ++v) texts.push_back(sweep.variations[v].settings[at[v]].text);
        tools::SweepPoint point;
        point.at = at;
        point.memory_limit = std::int64_t{1} << 30;
        if (const std::optional<double> milliseconds = time(texts)) {
            point.best = ranked(*milliseconds / 1e3, 1 << 20);
            point.pareto = {*point.best};
        } else {
            point.code = ErrorCode::infeasible;
            point.why = "needs 2 GiB of 1 GiB per rank";
            point.needed_bytes = std::int64_t{2} << 30;
        }
        sweep.points.push_back(point);
    }
    return sweep;
}

}  // namespace gnnplan::testing
