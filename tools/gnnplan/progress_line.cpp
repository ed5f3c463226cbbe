#include "tools/gnnplan/progress_line.hpp"

#include "tools/text/streams.hpp"

#include <unistd.h>

#include <chrono>
#include <utility>

namespace gnnplan::tools {
namespace {

constexpr double first_after = 2;  // seconds
constexpr double live_interval = 0.2;
constexpr double plain_interval = 10;

}  // namespace

ProgressLine::ProgressLine(measure::Clock& clock, bool quiet)
    : clock_(clock),
      quiet_(quiet),
      live_(isatty(STDERR_FILENO) == 1),
      start_(clock.now()),
      next_(start_ + first_after) {}

ProgressLine::~ProgressLine() {
    if (open_) say("\r\033[K");
}

void ProgressLine::show(const std::string& what) {
    const double now = clock_.now();
    if (quiet_ || now < next_) return;
    next_ = now + (live_ ? live_interval : plain_interval);
    say("{}{}, {:.0f} s{}", live_ ? "\r" : "", what, now - start_, live_ ? "\033[K" : "\n");
    open_ = live_;
}

WaitingLine::WaitingLine(std::string what, measure::Clock& clock, bool quiet)
    : line_(clock, quiet), thread_([this, what = std::move(what)] { show(what); }) {}

WaitingLine::~WaitingLine() {
    {
        const std::scoped_lock lock(mutex_);
        ended_ = true;
    }
    ends_.notify_one();
    thread_.join();
}

void WaitingLine::show(const std::string& what) {
    std::unique_lock lock(mutex_);
    while (!ends_.wait_for(lock, std::chrono::duration<double>(live_interval), [this] { return ended_; }))
        line_.show(what);
}

}  // namespace gnnplan::tools
