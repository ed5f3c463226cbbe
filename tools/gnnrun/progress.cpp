#include "tools/gnnrun/progress.hpp"

#include "tools/text/format.hpp"
#include "tools/text/streams.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <ranges>

namespace gnnplan::tools {
namespace {

constexpr double live_interval = 0.1;  // seconds
constexpr double plain_interval = 10;
constexpr double percent = 100;

}  // namespace

std::string describe(const EpochRecord& epoch) {
    std::string text = "loss " + format_loss(epoch.loss);
    for (const Metric* by : shown_metrics(epoch.judgement)) {
        const std::string name = by->sets == &Judgement::accuracy ? "" : std::string(by->name) + " ";
        text += "  " + name + describe(epoch.judgement.*by->sets);
    }
    return text;
}

std::vector<const Metric*> shown_metrics(const Judgement& judgement) {
    std::vector<const Metric*> shown;
    for (const Metric& metric : metrics) {
        if ((judgement.*metric.sets).any()) shown.push_back(&metric);
    }
    return shown;
}

std::string describe(const SetScores& scores) {
    const auto share = [&](const std::optional<double>& score) {
        return score ? fmt::format("{:.1f} %", percent * *score) : std::string("-");
    };
    return fmt::format("train {}  valid {}  test {}", share(scores.train), share(scores.valid), share(scores.test));
}

Progress::Progress(std::int64_t epochs, int runs, bool quiet, measure::Clock& clock)
    : epochs_(epochs),
      runs_(runs),
      quiet_(quiet),
      clock_(clock),
      live_(isatty(STDERR_FILENO) == 1),
      start_(clock.now()),
      last_shown_(start_) {}

void Progress::show(const EpochRecord& epoch) {
    const double now = clock_.now();
    const bool last = epoch.epoch == epochs_;
    ++seen_;
    if (quiet_ || (now - last_shown_ < (live_ ? live_interval : plain_interval) && !(live_ && last))) return;
    last_shown_ = now;
    const double each = (now - start_) / static_cast<double>(seen_);  // with evaluations
    const std::int64_t left = epochs_ * (runs_ - run_) - epoch.epoch;
    tools::say("{}{}epoch {}/{}  {}  {}/epoch{}{}", live_ ? "\r" : "",
               runs_ > 1 ? fmt::format("run {}/{}  ", run_ + 1, runs_) : "", epoch.epoch, epochs_, describe(epoch),
               format_seconds(epoch.seconds), left_text(each * static_cast<double>(left)), live_ ? "\033[K" : "\n");
    line_open_ = live_;
}

void Progress::say(const std::string& text) {
    if (quiet_) return;
    end_line();
    say_line(text);
}

void Progress::end_line() {
    if (line_open_) tools::say("\n");
    line_open_ = false;
}

}  // namespace gnnplan::tools
