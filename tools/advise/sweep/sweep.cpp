#include "tools/advise/sweep/sweep.hpp"

#include "tools/advise/switch_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
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

// Whether its values say what they are.
bool named_bare(const Variation& variation) {
    static constexpr std::array names{"scheme", "grid", "graph", "model", "machine", "case"};
    return std::ranges::find(names, variation.name) != names.end();
}

constexpr double equal_fraction = 1e-3;  // predictions closer than this are equal for any model

bool as_fast(const SweepPoint& a, const SweepPoint& b) {
    if (!a.best || !b.best) return !a.best && !b.best && a.code == b.code;
    const double first = a.best->predicted.ranked_seconds(), second = b.best->predicted.ranked_seconds();
    return std::abs(first - second) <= equal_fraction * second;
}

// The settings of a variation that one setting of it is as fast as, one at least at every point where anything is
// planned: as few as suffice. Empty where it is faster or slower than all of them at some point.
std::set<std::string> members_of(const Sweep& sweep, std::size_t variation, std::size_t setting) {
    const std::vector<Setting>& settings = sweep.variations[variation].settings;
    std::map<std::vector<std::size_t>, std::vector<const SweepPoint*>> groups;
    for (const SweepPoint& point : sweep.points) {
        std::vector<std::size_t> others = point.at;
        others[variation] = 0;
        groups[others].push_back(&point);
    }
    std::set<std::string> members;
    for (const auto& [others, group] : groups) {
        const auto own =
            std::find_if(group.begin(), group.end(), [&](const SweepPoint* p) { return p->at[variation] == setting; });
        std::set<std::string> equal;
        for (const SweepPoint* p : group) {
            if (p != *own && as_fast(**own, *p)) equal.insert(settings[p->at[variation]].text);
        }
        if (equal.empty()) return {};
        const bool known = std::any_of(equal.begin(), equal.end(), [&](const auto& m) { return members.contains(m); });
        if (!known && (*own)->best) members.insert(*equal.begin());
    }
    return members;
}

void remove_setting(Sweep& sweep, std::size_t variation, std::size_t setting) {
    auto& settings = sweep.variations[variation].settings;
    settings.erase(settings.begin() + static_cast<std::ptrdiff_t>(setting));
    std::erase_if(sweep.points, [&](const SweepPoint& p) { return p.at[variation] == setting; });
    for (SweepPoint& point : sweep.points) {
        if (point.at[variation] > setting) --point.at[variation];
    }
}

}  // namespace

// Configurations of an inference say nothing of a backward pass.
Task Sweep::task() const {
    const bool infers = std::ranges::any_of(
        points, [](const SweepPoint& point) { return point.best && point.best->configuration.backward.empty(); });
    return infers ? Task::infer : Task::train;
}

bool Sweep::varies(const std::string& name) const {
    return std::ranges::any_of(variations,
                               [&](const Variation& each) { return each.name == name && each.settings.size() > 1; });
}

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

std::vector<RankedConfiguration> time_memory_front(const std::vector<RankedConfiguration>& ranked) {
    std::vector<RankedConfiguration> front;
    for (const RankedConfiguration& r : ranked) {
        if (r.fits) front.push_back(r);
    }
    std::stable_sort(front.begin(), front.end(), [](const RankedConfiguration& a, const RankedConfiguration& b) {
        return std::pair(a.predicted.peak_bytes_per_rank, a.predicted.ranked_seconds()) <
               std::pair(b.predicted.peak_bytes_per_rank, b.predicted.ranked_seconds());
    });
    double fastest = std::numeric_limits<double>::infinity();
    std::erase_if(front, [&](const RankedConfiguration& r) {
        if (r.predicted.ranked_seconds() >= fastest) return true;
        fastest = r.predicted.ranked_seconds();
        return false;
    });
    return front;
}

bool is_alternative(const Variation& variation) {
    static constexpr std::array names{"space", "scheme", "grid", "replication", "forward", "backward", "extras"};
    return std::ranges::find(names, variation.name) != names.end() ||
           std::ranges::any_of(pinnable_switches(), [&](const SwitchWords* row) { return row->key == variation.key; });
}

std::optional<std::size_t> main_variation(const std::vector<Variation>& variations) {
    const auto rank_of = [](const Variation& v) {
        if (v.settings.size() < 2) return 0;
        if (v.name == "ranks") return 4;
        if (!numeric(v)) return 1;
        return is_alternative(v) ? 2 : 3;
    };
    std::optional<std::size_t> main;
    for (std::size_t v = 0; v < variations.size(); ++v) {
        if (rank_of(variations[v]) > (main ? rank_of(variations[*main]) : 0)) main = v;
    }
    return main;
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

std::string settings_text(const std::vector<Variation>& variations, const std::vector<std::size_t>& at,
                          const std::vector<std::size_t>& skip) {
    std::string out;
    for (std::size_t v = 0; v < variations.size(); ++v) {
        if (std::find(skip.begin(), skip.end(), v) != skip.end()) continue;
        out += (out.empty() ? "" : ", ") + variations[v].name + "=" + variations[v].settings[at[v]].text;
    }
    return out;
}

std::string short_text(const std::vector<Variation>& variations, const std::vector<std::size_t>& at,
                       const std::vector<std::size_t>& skip) {
    std::string out;
    for (std::size_t v = 0; v < variations.size(); ++v) {
        if (variations[v].settings.size() < 2 || std::find(skip.begin(), skip.end(), v) != skip.end()) continue;
        const std::string& value = variations[v].settings[at[v]].text;
        out += (out.empty() ? "" : ", ") + (named_bare(variations[v]) ? value : variations[v].name + "=" + value);
    }
    return out;
}

std::string place_text(const Variation& variation, std::size_t setting) {
    const std::string& value = variation.settings[setting].text;
    if (variation.name == "ranks") return value + (value == "1" ? " rank" : " ranks");
    return named_bare(variation) ? value : variation.name + "=" + value;
}

WithoutSpaces without_redundant_spaces(Sweep sweep) {
    WithoutSpaces result{std::move(sweep), {}};
    const std::vector<Variation>& variations = result.sweep.variations;
    const auto scheme =
        std::find_if(variations.begin(), variations.end(), [](const auto& v) { return v.name == "scheme"; });
    if (scheme == variations.end()) return result;
    const auto variation = static_cast<std::size_t>(scheme - variations.begin());
    for (const char* space : {"full", "paper"}) {
        const std::vector<Setting>& settings = result.sweep.variations[variation].settings;
        const auto found =
            std::find_if(settings.begin(), settings.end(), [&](const Setting& s) { return s.text == space; });
        if (found == settings.end()) continue;
        const auto setting = static_cast<std::size_t>(found - settings.begin());
        const std::set<std::string> members = members_of(result.sweep, variation, setting);
        if (members.empty()) continue;
        remove_setting(result.sweep, variation, setting);
        result.notes.push_back(
            fmt::format("{} has no column of its own: its best is always {}.", space, fmt::join(members, " or ")));
    }
    return result;
}

}  // namespace gnnplan::tools
