#include "runtime/run/time_limit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gnnplan::run {

TimeLimit::TimeLimit(std::optional<std::int64_t> seconds, double used, measure::Clock& clock)
    : seconds_(seconds), clock_(clock), began_(clock.now() - used) {}

std::optional<std::string> TimeLimit::reached() {
    trained_at_ = clock_.now();
    const double needed = trained_at_ - began_ + 2 * longest_epoch_;
    if (!seconds_ || needed < static_cast<double>(*seconds_)) return std::nullopt;
    return fmt::format("the time limit of {} s is near", *seconds_);
}

void TimeLimit::add(const EpochRecord& epoch) {
    longest_epoch_ = std::max(longest_epoch_, epoch.seconds + clock_.now() - trained_at_);
}

}  // namespace gnnplan::run
