#include "runtime/calibrate/calibrate.hpp"

#include "runtime/calibrate/pace.hpp"
#include "runtime/calibrate/points.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace gnnplan::calibrate {
namespace {

constexpr std::int64_t kib = 1024;  // bytes

// From `first` to `last`, each `factor` times the one before; `largest` if that is less than the first.
std::vector<std::int64_t> sizes(std::int64_t first, std::int64_t last, std::int64_t factor, std::int64_t largest) {
    std::vector<std::int64_t> all;
    for (std::int64_t size = first; size <= std::min(last, largest); size *= factor) all.push_back(size);
    if (all.empty()) all.push_back(largest);
    return all;
}

}  // namespace

Scope quick_scope(std::int64_t largest) {
    return {{0.1, 3},
            largest,
            {16, 41, 64, 100, 128, 256, 602},
            sizes(256 * kib, 256 * mib, 4, largest),
            {8, 40, 128, 602},
            sizes(mib, 256 * mib, 4, largest),
            sizes(64, 64 * mib, 4, largest),
            60};
}

Scope full_scope(std::int64_t largest) {
    return {{0.5, 7},
            largest,
            {8, 16, 32, 41, 64, 100, 128, 256, 602},
            sizes(256 * kib, 256 * mib, 2, largest),
            {8, 40, 64, 100, 128, 256, 602},
            sizes(512 * kib, 256 * mib, 2, largest),
            sizes(64, 64 * mib, 2, largest)};
}

namespace {

std::vector<std::size_t> order_of(const Points& points, bool limited) {
    std::vector<bool> needed;
    for (const Point& point : points) needed.push_back(point.needed);
    if (limited) return order_of_need(needed);
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
}

}  // namespace

Measured measure_all(const Setting& setting, const Nodes& nodes, const Scope& scope, const Progress& progress) {
    Setting paced = setting;
    const Points points = points_of(paced, nodes, scope);
    const double start = setting.clock.now();
    Measured measured{{}, points.size(), 0};
    std::vector<std::vector<Sample>> found(points.size());
    std::size_t done = 0;
    for (const std::size_t i : order_of(points, scope.limit > 0)) {
        if (scope.limit > 0) {
            const double left = scope.limit - comm::control_max(setting.comm, setting.clock.now() - start);
            if (left <= 0 && !points[i].needed) {
                ++measured.left_out;
                continue;
            }
            paced.effort = hurried(setting.effort, left, points.size() - done - measured.left_out);
        }
        progress(points[i].what, done++, points.size());
        points[i].measure(found[i]);
    }
    for (std::vector<Sample>& samples : found) std::ranges::move(samples, std::back_inserter(measured.samples));
    return measured;
}

}  // namespace gnnplan::calibrate
