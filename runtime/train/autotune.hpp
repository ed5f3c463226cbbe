// Which candidate trains which epoch, and which one wins. A pure function of the times it is told: ranks that are told
// the same times decide the same.
#pragma once

#include <gnnplan/ir/measurement.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace gnnplan::train {

// Epochs each of `candidates` candidates is tried for; 0: no tuning. `asked` as in TrainOptions::autotune.
std::int64_t tuning_epochs(std::optional<std::int64_t> asked, std::int64_t epochs, std::int64_t candidates);

class Autotuner {
public:
    // Tries `candidates` (indices in the plan, in its order) in turn, `epochs_each` epochs each, starting with epoch 1.
    // With one candidate or none to try there is no tuning: the first one trains.
    Autotuner(std::vector<int> candidates, std::int64_t epochs_each);

    bool tuning(std::int64_t epoch) const { return epoch <= tuned_epochs(); }
    std::int64_t tuned_epochs() const { return static_cast<std::int64_t>(seconds_.size()) * epochs_each_; }
    // The candidate that trains `epoch`; after tuning the chosen one.
    int candidate(std::int64_t epoch) const;

    // The time of a tuning epoch, the largest over ranks.
    void record(std::int64_t epoch, double seconds);

    // Medians without the first epoch of each candidate, which warms up, unless it is the only one.
    std::vector<TriedCandidate> tried() const;
    // Lowest median; the earlier in the plan among equals.
    int chosen() const;

private:
    std::vector<int> candidates_;
    std::int64_t epochs_each_;
    std::vector<std::vector<double>> seconds_;  // per candidate; empty without tuning
};

}  // namespace gnnplan::train
