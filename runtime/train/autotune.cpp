#include "runtime/train/autotune.hpp"

#include "runtime/measure/clock.hpp"

#include <algorithm>

namespace gnnplan::train {

std::int64_t tuning_epochs(std::optional<std::int64_t> asked, std::int64_t epochs, std::int64_t candidates) {
    constexpr std::int64_t shortest_run = 20;
    if (candidates < 2) return 0;
    if (asked) return *asked;
    if (epochs < shortest_run) return 0;
    return std::clamp<std::int64_t>(epochs / (2 * candidates), 3, 10);
}

Autotuner::Autotuner(std::vector<int> candidates, std::int64_t epochs_each)
    : candidates_(std::move(candidates)), epochs_each_(epochs_each) {
    if (candidates_.size() > 1 && epochs_each_ > 0) seconds_.resize(candidates_.size());
}

int Autotuner::candidate(std::int64_t epoch) const {
    return tuning(epoch) ? candidates_[static_cast<std::size_t>((epoch - 1) / epochs_each_)] : chosen();
}

void Autotuner::record(std::int64_t epoch, double seconds) {
    if (tuning(epoch)) seconds_[static_cast<std::size_t>((epoch - 1) / epochs_each_)].push_back(seconds);
}

std::vector<TriedCandidate> Autotuner::tried() const {
    std::vector<TriedCandidate> tried;
    for (std::size_t i = 0; i < seconds_.size(); ++i) {
        const auto& all = seconds_[i];
        const std::vector<double> counted(all.begin() + (all.size() > 1 ? 1 : 0), all.end());
        tried.push_back({candidates_[i], static_cast<std::int64_t>(all.size()), measure::median(counted)});
    }
    return tried;
}

int Autotuner::chosen() const {
    const auto all = tried();
    if (all.empty()) return candidates_.front();
    return std::min_element(
               all.begin(), all.end(),
               [](const TriedCandidate& a, const TriedCandidate& b) { return a.median_seconds < b.median_seconds; })
        ->candidate;
}

}  // namespace gnnplan::train
