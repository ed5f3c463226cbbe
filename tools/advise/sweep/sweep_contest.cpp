#include "tools/advise/sweep/sweep_contest.hpp"

#include <algorithm>
#include <map>

namespace gnnplan::tools {
namespace {

double seconds_of(const SweepPoint& point) { return point.best->predicted.ranked_seconds(); }

const SweepPoint* faster(const SweepPoint* a, const SweepPoint* b) {
    if (a == nullptr || !a->best) return b != nullptr && b->best ? b : nullptr;
    return b != nullptr && b->best && seconds_of(*b) < seconds_of(*a) ? b : a;
}

// The axis, if it is of numbers of ranks.
std::optional<std::size_t> rank_axis(const std::vector<Variation>& variations) {
    const std::optional<std::size_t> main = main_variation(variations);
    return main && variations[*main].name == "ranks" ? main : std::nullopt;
}

// The points have increasing ranks; nullptr where nothing is planned.
std::vector<std::optional<Scaling>> scaling_along(const std::vector<const SweepPoint*>& points, const Variation& ranks,
                                                  std::size_t axis) {
    const auto number = [&](const SweepPoint* point) { return ranks.settings[point->at[axis]].number.value_or(1); };
    std::vector<std::optional<Scaling>> scaling(points.size());
    const SweepPoint* base = nullptr;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (points[i] == nullptr || !points[i]->best) continue;
        if (base == nullptr) base = points[i];
        scaling[i] = scaling_of(seconds_of(*base), number(base), seconds_of(*points[i]), number(points[i]));
    }
    return scaling;
}

}  // namespace

const SweepPoint* Contest::fastest() const {
    const SweepPoint* best = nullptr;
    for (const SweepPoint* entry : entries) best = faster(best, entry);
    return best;
}

const SweepPoint* Race::fastest() const {
    const SweepPoint* best = nullptr;
    for (const Contest& contest : contests) best = faster(best, contest.fastest());
    return best;
}

std::optional<std::size_t> race_axis(const std::vector<Variation>& variations) {
    const std::optional<std::size_t> main = main_variation(variations);
    return main && !is_alternative(variations[*main]) ? main : std::nullopt;
}

std::vector<Race> races_of(const Sweep& sweep) {
    const std::vector<Variation>& variations = sweep.variations;
    const std::optional<std::size_t> axis = race_axis(variations);
    std::vector<SweepLine> lines;
    if (axis) {
        lines = lines_along(sweep, *axis);
    } else {
        for (const SweepPoint& point : sweep.points) lines.push_back({point.at, {&point}});
    }
    std::vector<std::size_t> problems;  // variations that competitors do not differ in
    for (std::size_t v = 0; v < variations.size(); ++v) {
        if (!is_alternative(variations[v])) problems.push_back(v);
    }
    std::vector<Race> races;
    std::map<std::vector<std::size_t>, std::size_t> race_of;
    for (const SweepLine& line : lines) {
        std::vector<std::size_t> others = line.others;
        for (std::size_t v = 0; v < variations.size(); ++v) {
            if (is_alternative(variations[v])) others[v] = 0;
        }
        const auto [entry, added] = race_of.emplace(others, races.size());
        if (added) races.push_back({others, {}, std::vector<Contest>(line.points.size())});
        Race& race = races[entry->second];
        race.competitors.push_back(short_text(variations, line.others, problems));
        for (std::size_t i = 0; i < line.points.size(); ++i) {
            race.contests[i].setting = axis ? line.points[i]->at[*axis] : 0;
            race.contests[i].entries.push_back(line.points[i]);
        }
    }
    return races;
}

Scaling scaling_of(double base_seconds, double base_ranks, double seconds, double ranks) {
    const double speed_up = base_seconds / seconds;
    return {speed_up, speed_up * base_ranks / ranks};
}

std::vector<std::optional<Scaling>> scaling_of(const Sweep& sweep) {
    std::vector<std::optional<Scaling>> scaling(sweep.points.size());
    const std::optional<std::size_t> axis = rank_axis(sweep.variations);
    if (!axis) return scaling;
    for (const SweepLine& line : lines_along(sweep, *axis)) {
        const auto along = scaling_along(line.points, sweep.variations[*axis], *axis);
        for (std::size_t i = 0; i < along.size(); ++i) {
            scaling[static_cast<std::size_t>(line.points[i] - sweep.points.data())] = along[i];
        }
    }
    return scaling;
}

std::vector<std::optional<Scaling>> scaling_of(const Sweep& sweep, const Race& race) {
    const std::optional<std::size_t> axis = rank_axis(sweep.variations);
    if (!axis) return std::vector<std::optional<Scaling>>(race.contests.size());
    std::vector<const SweepPoint*> fastest;
    fastest.reserve(race.contests.size());
    for (const Contest& contest : race.contests) fastest.push_back(contest.fastest());
    return scaling_along(fastest, sweep.variations[*axis], *axis);
}

}  // namespace gnnplan::tools
