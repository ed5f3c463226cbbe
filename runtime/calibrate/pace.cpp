#include "runtime/calibrate/pace.hpp"

#include <algorithm>
#include <numeric>

namespace gnnplan::calibrate {

Effort hurried(const Effort& effort, double seconds, std::size_t points) {
    constexpr double timed = 0.5;
    const double share = timed * std::max(0.0, seconds) / static_cast<double>(points);
    return share >= effort.seconds ? effort : Effort{share, 1};
}

std::vector<std::size_t> order_of_need(const std::vector<bool>& needed) {
    std::vector<std::size_t> order, others;
    for (std::size_t i = 0; i < needed.size(); ++i) (needed[i] ? order : others).push_back(i);
    const std::size_t count = others.size();
    constexpr std::size_t part = 5, whole = 8;  // about the golden section: neighbours end up far apart
    std::size_t step = std::max<std::size_t>(1, count * part / whole);
    while (std::gcd(step, count) > 1) ++step;
    for (std::size_t i = 0; i < count; ++i) order.push_back(others[i * step % count]);
    return order;
}

double seconds_left(double elapsed, std::size_t done, std::size_t total, double limit) {
    if (done == 0) return limit;
    const double rest = elapsed / static_cast<double>(done) * static_cast<double>(total - done);
    return limit > 0 ? std::min(rest, std::max(0.0, limit - elapsed)) : rest;
}

}  // namespace gnnplan::calibrate
