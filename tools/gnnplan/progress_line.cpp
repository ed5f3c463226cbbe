#include "tools/gnnplan/progress_line.hpp"

#include "tools/text/streams.hpp"

#include <unistd.h>

namespace gnnplan::tools {
namespace {

constexpr double first_after = 2;  // seconds
constexpr double live_interval = 0.2;
constexpr double plain_interval = 10;

}  // namespace

ProgressLine::ProgressLine(measure::Clock& clock)
    : clock_(clock), live_(isatty(STDERR_FILENO) == 1), start_(clock.now()), next_(start_ + first_after) {}

ProgressLine::~ProgressLine() {
    if (open_) say("\r\033[K");
}

void ProgressLine::show(const std::string& what) {
    const double now = clock_.now();
    if (now < next_) return;
    next_ = now + (live_ ? live_interval : plain_interval);
    say("{}{}, {:.0f} s{}", live_ ? "\r" : "", what, now - start_, live_ ? "\033[K" : "\n");
    open_ = live_;
}

}  // namespace gnnplan::tools
