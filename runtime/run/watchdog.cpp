#include "runtime/run/watchdog.hpp"

#include <gnnplan/base/out_of_memory.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <system_error>
#include <tuple>
#include <utility>

namespace gnnplan::run {
namespace {

using Seen = comm::Heartbeat::Seen;

std::string text_of(comm::Heartbeat::Stage stage) {
    using enum comm::Heartbeat::Stage;
    switch (stage) {
        case building: return "as it began to build a candidate";
        case starting: return "in MPI_Init";
        case greeting: return "as it greeted the others";
        case joining: return "as MPI made communicators and shared memory";
        case checking: return "as it compared plan and flags with those of others";
        case reading: return "as it began to read the data";
        case loading: return "as it began to load the graph";
        case writing: return "as it began to write what it has computed";
        case finishing: return "as it finished";
        case leaving: return "in MPI_Finalize";
    }
    return "";
}

double seconds_since(const Seen& seen) {
    return std::chrono::duration<double>(comm::Heartbeat::now() - seen.at).count();
}

// The state that a list of processes would show; "" for a process that just waits.
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
    : timeout_(timeout),
      all_(std::move(all)),
      mine_(std::move(mine)),
      looked_(mine_.size()),
      end_(std::move(end)),
      thread_([this] { watch(); }) {}

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

// Outside steps it is not known how much there is to do. There a rank makes progress as long as it computes or reads: a
// thread that is stuck in the system uses no processor time, and a rank that waits for others says so (Waiting).
bool Watchdog::gets_on(const comm::Heartbeat& rank, Looked& before) const {
    constexpr std::chrono::microseconds least(100);  // between two looks
    const Seen seen = rank.seen();
    const Looked now{rank.processor_time(), rank.waited()};
    const bool computes = !rank.waits() && now.processor_time - before.processor_time >= least;
    const bool waits_again = now.waited != before.waited;
    before = now;
    if (seen.beats == 0 || (seen.step >= 0 && all_.size() > 1)) return false;
    // Writing to a slow disk may take any time.
    return computes || waits_again || seen.step == comm::Heartbeat::writing || seen.step == comm::Heartbeat::finishing;
}

// Ranks that have not begun do not count.
bool Watchdog::stuck(std::chrono::nanoseconds awake_since) const {
    const auto begun = [](const auto* rank) { return rank != nullptr && rank->seen().beats > 0; };
    return std::ranges::any_of(all_, begun) && std::ranges::none_of(all_, [&](const auto* rank) {
               return begun(rank) && comm::Heartbeat::now() - std::max(rank->seen().at, awake_since) < timeout_;
           });
}

// The rank whose process cannot go on, if there is one; else a rank that does not wait for others; else the one that
// has done the fewest steps. A rank of this process, which is awake, is named only if no other rank has done as few.
std::size_t Watchdog::last_seen() const {
    const auto order = [&](std::size_t rank) {
        const comm::Heartbeat& seen = *all_[rank];
        const bool own = std::ranges::find(mine_, static_cast<int>(rank)) != mine_.end();
        const bool waits = seen.waits() || seen.seen().beats == 0;
        return std::tuple(state_of(seen.process()).empty(), waits, seen.seen().beats, own);
    };
    auto last = static_cast<std::size_t>(mine_.front());
    for (std::size_t rank = 0; rank < all_.size(); ++rank) {
        if (all_[rank] != nullptr && order(rank) < order(last)) last = rank;
    }
    return last;
}

std::string Watchdog::place_of(const Seen& seen) {
    if (seen.beats == 0) return "before it began";
    if (seen.step < 0) return text_of(static_cast<comm::Heartbeat::Stage>(seen.step));
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

// One rank of each node speaks; the others leave it the time to.
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
        for (std::size_t i = 0; i < mine_.size(); ++i) {
            comm::Heartbeat& rank = *all_[static_cast<std::size_t>(mine_[i])];
            if (gets_on(rank, looked_[i])) rank.show_alive();
        }
        const bool ends = stuck(awake_since);
        if (ends) end();
        lock.lock();
        if (ends) return;
    }
}

std::unique_ptr<Watchdog> watch(std::int64_t timeout_seconds, std::vector<comm::Heartbeat*> all, std::vector<int> mine,
                                std::function<void(const std::string&)> end) {
    if (timeout_seconds == 0) return nullptr;
    try {
        return std::make_unique<Watchdog>(std::chrono::seconds(timeout_seconds), std::move(all), std::move(mine),
                                          std::move(end));
    } catch (const std::system_error&) {
        throw thread_error();
    }
}

}  // namespace gnnplan::run
