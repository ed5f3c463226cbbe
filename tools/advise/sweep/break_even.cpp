#include "tools/advise/sweep/break_even.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cmath>

namespace gnnplan::tools {
namespace {

// 1 when `a` is slower than `b`, -1 when it is faster, 0 when they are equal; none without both.
std::optional<int> compare(const std::optional<double>& a, const std::optional<double>& b, double tolerance) {
    if (!a || !b) return std::nullopt;
    if (*a > *b * (1 + tolerance)) return 1;
    return *b > *a * (1 + tolerance) ? -1 : 0;
}

struct Sample {
    double at;
    std::string choice;
};

void bisect(const Sample& low, const Sample& high, const std::function<std::string(double)>& choose, double precision,
            std::vector<ChoiceChange>& changes) {
    if (low.choice == high.choice) return;
    const double middle = std::sqrt(low.at) * std::sqrt(high.at);
    // The middle of two neighbouring numbers is one of them.
    if (high.at <= low.at * (1 + precision) || middle <= low.at || middle >= high.at) {
        changes.push_back({middle, low.choice, high.choice});
        return;
    }
    const Sample between{middle, choose(middle)};
    bisect(low, between, choose, precision, changes);
    bisect(between, high, choose, precision, changes);
}

}  // namespace

std::optional<Crossing> crossing(const Curve& a, const Curve& b, double tolerance) {
    ensure(a.seconds.size() == b.seconds.size(), "curves have one value each per point of their axis");
    std::optional<int> end;
    Crossing found;
    found.throughout = true;
    for (std::size_t i = a.seconds.size(); i-- > 0;) {
        const std::optional<int> here = compare(a.seconds[i], b.seconds[i], tolerance);
        if (!here) continue;
        if (!end) {
            end = here;
            found.last = i;
        }
        if (*here != *end) {
            found.throughout = false;
            break;
        }
        found.from = i;
    }
    if (!end) return std::nullopt;
    const bool a_slower = *end >= 0;
    found.equal = *end == 0;
    found.slower = a_slower ? a.name : b.name;
    found.faster = a_slower ? b.name : a.name;
    const double ratio = *a.seconds[found.last] / *b.seconds[found.last];
    found.ratio = a_slower ? ratio : 1 / ratio;
    return found;
}

std::vector<ChoiceChange> choice_changes(const std::vector<double>& samples,
                                         const std::function<std::string(double)>& choose, double precision) {
    std::vector<ChoiceChange> changes;
    std::optional<Sample> previous;
    for (const double at : samples) {
        Sample sample{at, choose(at)};
        if (previous) bisect(*previous, sample, choose, precision, changes);
        previous = std::move(sample);
    }
    return changes;
}

std::optional<double> first_holding(const std::vector<double>& samples, const std::function<bool(double)>& holds,
                                    double precision) {
    const auto found = std::find_if(samples.begin(), samples.end(), holds);
    if (found == samples.end()) return std::nullopt;
    if (found == samples.begin()) return *found;
    double without = *std::prev(found), with = *found;
    while (std::abs(std::log(with / without)) > std::log1p(precision)) {
        const double middle = std::sqrt(without) * std::sqrt(with);
        (holds(middle) ? with : without) = middle;
    }
    return with;
}

}  // namespace gnnplan::tools
