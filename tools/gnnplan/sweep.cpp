#include "tools/gnnplan/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace gnnplan::tools {
namespace {

bool numeric(const Variation& variation) {
    return std::all_of(variation.settings.begin(), variation.settings.end(),
                       [](const Setting& setting) { return setting.number.has_value(); });
}

// Positions of a variation's settings, by increasing number where they are numbers.
std::vector<std::size_t> in_order(const Variation& variation) {
    std::vector<std::size_t> order(variation.settings.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (!numeric(variation)) return order;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return *variation.settings[a].number < *variation.settings[b].number;
    });
    return order;
}

}  // namespace

std::vector<std::vector<std::size_t>> combinations(const std::vector<Variation>& variations) {
    std::vector<std::vector<std::size_t>> all{{}};
    for (const Variation& variation : variations) {
        std::vector<std::vector<std::size_t>> longer;
        for (const auto& combination : all) {
            for (std::size_t i = 0; i < variation.settings.size(); ++i) {
                longer.push_back(combination);
                longer.back().push_back(i);
            }
        }
        all = std::move(longer);
    }
    return all;
}

std::vector<Ranked> time_memory_front(const std::vector<Ranked>& ranked) {
    std::vector<Ranked> front;
    for (const Ranked& r : ranked) {
        if (r.fits) front.push_back(r);
    }
    std::stable_sort(front.begin(), front.end(), [](const Ranked& a, const Ranked& b) {
        return std::pair(a.predicted.peak_bytes_per_rank, a.predicted.epoch_seconds) <
               std::pair(b.predicted.peak_bytes_per_rank, b.predicted.epoch_seconds);
    });
    double fastest = std::numeric_limits<double>::infinity();
    std::erase_if(front, [&](const Ranked& r) {
        if (r.predicted.epoch_seconds >= fastest) return true;
        fastest = r.predicted.epoch_seconds;
        return false;
    });
    return front;
}

std::optional<std::size_t> main_variation(const std::vector<Variation>& variations) {
    if (variations.empty()) return std::nullopt;
    const auto position = [&](const auto& found) { return static_cast<std::size_t>(found - variations.begin()); };
    const auto ranks =
        std::find_if(variations.begin(), variations.end(), [](const auto& v) { return v.name == "ranks"; });
    if (ranks != variations.end()) return position(ranks);
    const auto numbers = std::find_if(variations.begin(), variations.end(), numeric);
    return numbers != variations.end() ? position(numbers) : 0;
}

std::vector<SweepLine> lines_along(const Sweep& sweep, std::size_t variation) {
    std::vector<SweepLine> lines;
    std::map<std::vector<std::size_t>, std::size_t> line_of;
    for (const SweepPoint& point : sweep.points) {
        std::vector<std::size_t> others = point.at;
        others[variation] = 0;
        const auto [entry, added] = line_of.emplace(others, lines.size());
        if (added) lines.push_back({others, {}});
        lines[entry->second].points.push_back(&point);
    }
    const std::vector<std::size_t> order = in_order(sweep.variations[variation]);
    for (SweepLine& line : lines) {
        std::vector<const SweepPoint*> sorted;
        sorted.reserve(order.size());
        for (const std::size_t setting : order) sorted.push_back(line.points[setting]);
        line.points = std::move(sorted);
    }
    return lines;
}

std::vector<std::string> nothing_fits_lines(const Sweep& sweep) {
    const auto ranks = std::find_if(sweep.variations.begin(), sweep.variations.end(),
                                    [](const Variation& v) { return v.name == "ranks"; });
    const bool varies = ranks != sweep.variations.end();
    const auto axis = static_cast<std::size_t>(ranks - sweep.variations.begin());
    std::vector<SweepLine> groups;
    if (varies) {
        groups = lines_along(sweep, axis);
    } else {
        for (const SweepPoint& point : sweep.points) groups.push_back({point.at, {&point}});
    }
    std::vector<std::string> lines;
    for (const SweepLine& group : groups) {
        const bool nothing = std::all_of(group.points.begin(), group.points.end(), [](const SweepPoint* p) {
            return p->code == ErrorCode::infeasible && !p->best;
        });
        if (!nothing) continue;
        const std::string settings =
            settings_text(sweep.variations, group.others, varies ? std::vector{axis} : std::vector<std::size_t>{});
        std::string asked;
        for (const SweepPoint* point : group.points) {
            if (varies)
                asked += (asked.empty() ? " on " : ", ") + sweep.variations[axis].settings[point->at[axis]].text;
        }
        // Of the point with the fewest ranks: every larger number was looked at.
        const std::optional<int> smallest = group.points.front()->smallest_ranks;
        lines.push_back(fmt::format(
            "{}nothing fits{}{}; {}", settings.empty() ? "" : settings + ": ", asked, varies ? " ranks" : "",
            smallest ? fmt::format("{} ranks would do", *smallest) : group.points.front()->why));
    }
    return lines;
}

std::string settings_text(const std::vector<Variation>& variations, const std::vector<std::size_t>& at,
                          const std::vector<std::size_t>& skip) {
    std::string out;
    for (std::size_t v = 0; v < variations.size(); ++v) {
        if (std::find(skip.begin(), skip.end(), v) != skip.end()) continue;
        out += (out.empty() ? "" : ", ") + variations[v].name + "=" + variations[v].settings[at[v]].text;
    }
    return out;
}

}  // namespace gnnplan::tools
