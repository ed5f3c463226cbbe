#include "tools/gnnrun/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

namespace gnnplan::tools {
namespace {

using Seen = comm::Heartbeat::Seen;

double seconds_since(const Seen& seen) {
    return std::chrono::duration<double>(comm::Heartbeat::now() - seen.at).count();
}

// What a list of processes would show; "" of one that just waits.
std::string state_of(std::int32_t process) {
    if (process == 0) return "";
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    if (!std::getline(file, text)) return " (its process is gone)";
    const std::size_t name_end = text.rfind(')');  // "PID (NAME) STATE ..."
    const char state = name_end == std::string::npos || name_end + 2 >= text.size() ? '?' : text[name_end + 2];
    if (state == 'T' || state == 't') return " (its process is stopped)";
    if (state == 'D') return " (its process waits for a disk)";
    return state == 'Z' ? " (its process has ended)" : "";
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
bool Watchdog::stuck(std::chrono::nanoseconds awake_since) const {
    return std::all_of(mine_.begin(), mine_.end(), [&](int rank) {
        const Seen seen = all_[static_cast<std::size_t>(rank)]->seen();
        return seen.beats > 0 && comm::Heartbeat::now() - std::max(seen.at, awake_since) >= timeout_;
    });
}

// The rank whose process cannot go on, if there is one; else that which has done fewest steps, for which the others
// wait; a rank of this process, which is awake, only if no other has done as few.
std::size_t Watchdog::last_seen() const {
    auto last = static_cast<std::size_t>(mine_.front());
    for (std::size_t rank = 0; rank < all_.size(); ++rank) {
        if (all_[rank] == nullptr) continue;
        const bool another = std::find(mine_.begin(), mine_.end(), static_cast<int>(rank)) == mine_.end();
        const bool halted = !state_of(all_[rank]->process()).empty();
        const bool last_halted = !state_of(all_[last]->process()).empty();
        // One that has not begun, or is done, has no beats.
        const std::uint64_t beats = all_[rank]->seen().beats;
        const bool fewer = beats > 0 && beats + (another ? 0U : 1U) <= all_[last]->seen().beats;
        if (halted != last_halted ? halted : fewer) last = rank;
    }
    return last;
}

std::string Watchdog::place_of(const Seen& seen) {
    if (seen.step == building) return "as it began to build a candidate";
    const auto step = static_cast<std::size_t>(seen.step);
    const std::lock_guard lock(mutex_);
    return fmt::format("after step {} of epoch {}", step < names_.size() ? names_[step] : std::to_string(step),
                       seen.epoch);
}

std::string Watchdog::describe() {
    const std::size_t last = last_seen();
    const bool others_unseen = std::find(all_.begin(), all_.end(), nullptr) != all_.end();
    const Seen seen = all_[last]->seen();
    return fmt::format("nothing has moved for {:.0f} s: rank {}{} was last seen {:.0f} s ago, {}{}",
                       std::chrono::duration<double>(timeout_).count(), last, state_of(all_[last]->process()),
                       seconds_since(seen), place_of(seen),
                       others_unseen ? "; ranks of other nodes cannot be seen from here" : "");
}

// Of the ranks of a node one speaks; the others leave it the time to.
void Watchdog::end() {
    const auto seen = std::find_if(all_.begin(), all_.end(), [](const auto* rank) { return rank != nullptr; });
    if ((*seen)->claim()) return end_(describe());
    std::this_thread::sleep_for(std::chrono::seconds(1));
    end_("");
}

void Watchdog::watch() {
    constexpr int looks = 20;  // within a timeout
    std::unique_lock lock(mutex_);
    std::chrono::nanoseconds looked = comm::Heartbeat::now();
    std::chrono::nanoseconds awake_since = looked;
    while (!wake_.wait_for(lock, timeout_ / looks, [&] { return done_; })) {
        lock.unlock();
        // Whoever was suspended, with the others or alone, has not seen what went on: it begins to wait now.
        const std::chrono::nanoseconds before = std::exchange(looked, comm::Heartbeat::now());
        if (looked - before > timeout_ / 2) awake_since = looked;
        const bool ends = stuck(awake_since);
        if (ends) end();
        lock.lock();
        if (ends) return;
    }
}

}  // namespace gnnplan::tools
