// The autotuner decides which candidate trains which epoch, and which one wins. It is a pure function of the times that
// it is told: ranks that are told the same times decide the same.
#pragma once

#include <gnnplan/ir/measurement.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace gnnplan::train {

struct Trial {
    int candidate = 0;  // index in the plan
    double predicted_seconds = 0;
    int blocks = 0;  // one built after another with the same number takes over its sparse blocks
};

using ErrorOfDifference = std::function<double(const Trial&, const Trial&)>;

struct TuningRules {
    std::int64_t epochs = 0;       // of the whole run; the winner trains at least the last one
    std::int64_t epochs_each = 0;  // for which a candidate is tried; 0: no tuning
    // By how many seconds the difference of the predicted times of two trials may err: who cannot win even so is not
    // tried. Empty: nobody knows it.
    ErrorOfDifference error;
    // The most that trying may cost, as a share of the run's time at the best candidate's pace. Then a candidate that
    // is clearly slower is given up early too. Unset: all are tried to the end.
    std::optional<double> budget;
};

// `asked` as in TrainOptions::autotune: what users ask for is done; else short runs are not tuned, and long ones within
// a budget.
TuningRules tuning_rules(std::optional<std::int64_t> asked, std::int64_t epochs, ErrorOfDifference error);

class Autotuner {
public:
    // Tries the candidates in turn, the first one from the first epoch on. With one candidate, or none to try, there is
    // no tuning: the first one trains.
    Autotuner(std::vector<Trial> trials, const TuningRules& rules);

    // Whether the next epoch is a trial, and which candidate trains it; after tuning the chosen one.
    bool tuning() const { return tuning_; }
    int candidate() const { return tuning_ ? trials_[current_].candidate : chosen(); }

    // The time to set up the candidate that trains next, cutting its sparse blocks included, and the time of an epoch
    // it trained; each the largest over ranks.
    void built(double seconds, double cut_seconds);
    void record(double seconds);

    // Medians without the first epoch of each candidate, which warms up, unless it is the only one.
    std::vector<TriedCandidate> tried() const;
    // Lowest median; the earlier in the plan among equals.
    int chosen() const;
    // Whether tuning ended because trying the next candidate that could win would cost more than the budget.
    bool too_dear() const { return too_dear_; }

private:
    struct Tried {
        double setup_seconds = 0;
        double cut_seconds = 0;  // of these, for the sparse blocks
        std::vector<double> epochs;
        double median() const;
    };

    std::size_t winner() const;  // the first one before anything is tried
    double best() const { return tried_[winner()].median(); }
    double setup_after(std::size_t trial, std::size_t before) const;
    double spent() const;
    bool given_up() const;
    bool could_win(std::size_t trial) const;
    bool affordable(std::size_t trial) const;
    void advance();

    std::vector<Trial> trials_;
    TuningRules rules_;
    bool tuning_ = false;
    bool too_dear_ = false;
    std::size_t current_ = 0;
    std::vector<Tried> tried_;  // per trial; without epochs where it was not tried
};

}  // namespace gnnplan::train
