#include "tools/gnnrun/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gnnplan::tools {
namespace {

using Seen = comm::Heartbeat::Seen;

double seconds_since(const Seen& seen) {
    return std::chrono::duration<double>(comm::Heartbeat::now() - seen.at).count();
}

}  // namespace

Watchdog::Watchdog(std::chrono::nanoseconds timeout, std::vector<comm::Heartbeat*> all, std::vector<int> mine,
                   std::function<void(const std::string&)> end)
    : timeout_(timeout), all_(std::move(all)), mine_(std::move(mine)), end_(std::move(end)), thread_([this] {
          watch();
      }) {}

Watchdog::~Watchdog() {
    {
        const std::lock_guard lock(mutex_);
        done_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

void Watchdog::steps_of(const Schedule& schedule) {
    const std::lock_guard lock(mutex_);
    names_.clear();
    for (const Step& step : schedule.steps) names_.push_back(step.name);
}

// A rank that has not begun, or is done, is not waited for.
bool Watchdog::stuck() const {
    return std::all_of(mine_.begin(), mine_.end(), [&](int rank) {
        const Seen seen = all_[static_cast<std::size_t>(rank)]->seen();
        return seen.beats > 0 && comm::Heartbeat::now() - seen.at >= timeout_;
    });
}

// The rank that has done fewest steps is the one that the others wait for; this process, which is awake, only if no
// other has done as few.
std::string Watchdog::describe() {
    auto last = static_cast<std::size_t>(mine_.front());
    bool others_unseen = false;
    for (std::size_t rank = 0; rank < all_.size(); ++rank) {
        others_unseen = others_unseen || all_[rank] == nullptr;
        const bool another = std::find(mine_.begin(), mine_.end(), static_cast<int>(rank)) == mine_.end();
        if (all_[rank] == nullptr || all_[rank]->seen().beats == 0) continue;
        const std::uint64_t fewest = all_[last]->seen().beats;
        if (all_[rank]->seen().beats + (another ? 0U : 1U) <= fewest) last = rank;
    }
    const Seen seen = all_[last]->seen();
    const auto step = static_cast<std::size_t>(seen.step);
    const std::lock_guard lock(mutex_);
    return fmt::format(
        "nothing has moved for {:.0f} s: rank {} was last seen {:.0f} s ago, after step {} of epoch {}{}",
        std::chrono::duration<double>(timeout_).count(), last, seconds_since(seen),
        step < names_.size() ? names_[step] : std::to_string(step), seen.epoch,
        others_unseen ? "; ranks of other nodes cannot be seen from here" : "");
}

void Watchdog::watch() {
    constexpr int looks = 20;  // within a timeout
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, timeout_ / looks, [&] { return done_; })) {
        lock.unlock();
        const bool end = stuck();
        if (end) end_(describe());
        lock.lock();
        if (end) return;
    }
}

}  // namespace gnnplan::tools
