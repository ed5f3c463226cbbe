#include "runtime/measure/step_log.hpp"

#include "runtime/measure/clock.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gnnplan::measure {
namespace {

constexpr std::size_t kept_passes = 100;

bool same_bytes(const StepSample& a, const StepSample& b) {
    return a.sent_bytes == b.sent_bytes && a.received_bytes == b.received_bytes;
}

template <class T>
void append(std::string& text, const T& value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
T take(const std::string& text, std::size_t& at) {
    T value;
    std::memcpy(&value, text.data() + at, sizeof value);
    at += sizeof value;
    return value;
}

}  // namespace

void StepLog::expect(std::vector<StepSample> bytes) {
    if (surprised_) return;
    by_pass_ = {std::move(bytes)};
    repeated_ = 1;
}

void StepLog::add(const std::vector<StepSample>& pass) {
    if (!surprised_) {
        const std::size_t first = by_pass_.size() - repeated_;  // of those that repeat
        pass_ = added_ < first ? added_ : first + (added_ - first) % repeated_;
        bytes_ = pass;
        surprised_ = !expected().empty() && !std::ranges::equal(pass, expected(), same_bytes);
    }
    ++added_;
    if (seconds_.size() == kept_passes) seconds_.erase(seconds_.begin());
    auto& times = seconds_.emplace_back();
    for (const StepSample& sample : pass) times.push_back(sample.seconds);
}

std::string StepLog::pack() const {
    std::string text;
    for (const auto* samples : {&expected(), &bytes_}) {
        append(text, samples->size());
        for (const StepSample& sample : *samples) append(text, sample);
    }
    append(text, seconds_.size());
    for (const auto& pass : seconds_) {
        for (const double seconds : pass) append(text, seconds);
    }
    return text;
}

StepLog StepLog::unpack(const std::string& packed) {
    StepLog log;
    std::size_t at = 0;
    for (auto* samples : {&log.by_pass_.front(), &log.bytes_}) {
        samples->resize(take<std::size_t>(packed, at));
        for (StepSample& sample : *samples) sample = take<StepSample>(packed, at);
    }
    log.seconds_.assign(take<std::size_t>(packed, at), std::vector<double>(log.bytes_.size()));
    for (auto& pass : log.seconds_) {
        for (double& seconds : pass) seconds = take<double>(packed, at);
    }
    return log;
}

double median_of_slowest(std::span<const StepLog> ranks, std::size_t step) {
    std::vector<double> slowest(ranks.empty() ? 0 : ranks.front().passes(), 0.0);
    for (const StepLog& log : ranks) {
        for (std::size_t pass = 0; pass < slowest.size(); ++pass) {
            slowest[pass] = std::max(slowest[pass], log.seconds()[pass][step]);
        }
    }
    return median(std::move(slowest));
}

std::vector<double> advances(std::span<const StepLog> ranks) {
    if (ranks.empty()) return {};
    const std::size_t passes = ranks.front().passes();
    const std::size_t steps = ranks.front().bytes().size();
    std::vector<std::vector<double>> moved(steps, std::vector<double>(passes));
    for (std::size_t pass = 0; pass < passes; ++pass) {
        std::vector<double> elapsed(ranks.size(), 0.0);
        double latest = 0;
        for (std::size_t step = 0; step < steps; ++step) {
            for (std::size_t rank = 0; rank < ranks.size(); ++rank) elapsed[rank] += ranks[rank].seconds()[pass][step];
            const double now = *std::ranges::max_element(elapsed);
            moved[step][pass] = now - std::exchange(latest, now);
        }
    }
    std::vector<double> seconds;
    seconds.reserve(steps);
    for (std::vector<double>& times : moved) seconds.push_back(median(std::move(times)));
    return seconds;
}

}  // namespace gnnplan::measure
