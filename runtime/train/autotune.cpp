#include "runtime/train/autotune.hpp"

#include "runtime/measure/clock.hpp"

#include <algorithm>
#include <utility>

namespace gnnplan::train {
namespace {

constexpr std::int64_t shortest_run = 20;  // that is tuned unasked
constexpr std::int64_t trial_epochs = 3;   // the first one warms up
constexpr double budget = 0.05;
constexpr double clearly_slower = 1.15;  // than the best so far: more than epochs of one candidate differ by

}  // namespace

TuningRules tuning_rules(std::optional<std::int64_t> asked, std::int64_t epochs, ErrorOfDifference error) {
    if (asked) return {epochs, *asked, {}, std::nullopt};
    return {epochs, epochs < shortest_run ? 0 : trial_epochs, std::move(error), budget};
}

Autotuner::Autotuner(std::vector<Trial> trials, const TuningRules& rules)
    : trials_(std::move(trials)),
      rules_(rules),
      tuning_(trials_.size() > 1 && rules.epochs_each > 0 && rules.epochs > rules.epochs_each),
      tried_(trials_.size()) {}

void Autotuner::built(double seconds, double cut_seconds) {
    if (!tuning_) return;
    tried_[current_].setup_seconds = seconds;
    tried_[current_].cut_seconds = cut_seconds;
}

void Autotuner::record(double seconds) {
    if (!tuning_) return;
    std::vector<double>& epochs = tried_[current_].epochs;
    epochs.push_back(seconds);
    if (static_cast<std::int64_t>(epochs.size()) >= rules_.epochs_each || given_up()) advance();
}

double Autotuner::Tried::median() const {
    return measure::median({epochs.begin() + (epochs.size() > 1 ? 1 : 0), epochs.end()});
}

std::size_t Autotuner::winner() const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < tried_.size(); ++i) {
        if (!tried_[i].epochs.empty() && tried_[i].median() < tried_[best].median()) best = i;
    }
    return best;
}

// The time that a run of the best candidate alone would not have taken. The first candidate trains in any case: its
// loss against the best is the prediction's cost, not that of trying.
double Autotuner::spent() const {
    double seconds = 0;
    for (std::size_t i = 1; i < tried_.size(); ++i) {
        if (tried_[i].epochs.empty()) continue;
        seconds += tried_[i].setup_seconds;
        for (const double epoch : tried_[i].epochs) seconds += std::max(0.0, epoch - best());
    }
    return seconds;
}

// One warm epoch says enough about a candidate far behind.
bool Autotuner::given_up() const {
    const Tried& now = tried_[current_];
    return rules_.budget && current_ > 0 && now.epochs.size() > 1 && now.median() > clearly_slower * best();
}

// Predictions are off by a common factor, which the candidates tried so far tell, and differences by the error besides.
bool Autotuner::could_win(std::size_t trial) const {
    if (!rules_.error) return true;
    double factor = 0;
    double count = 0;
    for (std::size_t i = 0; i < tried_.size(); ++i) {
        if (tried_[i].epochs.empty() || trials_[i].predicted_seconds <= 0) continue;
        factor += tried_[i].median() / trials_[i].predicted_seconds;
        ++count;
    }
    if (count == 0) return true;
    const Trial& asked = trials_[trial];
    const double least = asked.predicted_seconds - rules_.error(asked, trials_[winner()]);
    return least * factor / count < best();
}

// As the first candidate, which has to cut its blocks, took; `before` is built before it.
double Autotuner::setup_after(std::size_t trial, std::size_t before) const {
    const bool takes_over = trials_[trial].blocks == trials_[before].blocks;
    return tried_.front().setup_seconds - (takes_over ? tried_.front().cut_seconds : 0);
}

// Besides its own setup, another one that wins has to be set up again.
bool Autotuner::affordable(std::size_t trial) const {
    if (!rules_.budget) return true;
    const double slower = std::max(0.0, trials_[trial].predicted_seconds / trials_.front().predicted_seconds - 1);
    const double epochs = 2 * slower * tried_.front().median();  // a candidate clearly behind is given up then
    const double expected = setup_after(trial, current_) + setup_after(winner(), trial) + epochs;
    return spent() + expected <= *rules_.budget * static_cast<double>(rules_.epochs) * best();
}

void Autotuner::advance() {
    std::int64_t done = 0;
    for (const Tried& t : tried_) done += static_cast<std::int64_t>(t.epochs.size());
    tuning_ = false;
    if (done + rules_.epochs_each >= rules_.epochs) return;
    for (std::size_t next = current_ + 1; next < trials_.size(); ++next) {
        if (!could_win(next)) continue;
        too_dear_ = !affordable(next);
        if (too_dear_) return;
        current_ = next;
        tuning_ = true;
        return;
    }
}

std::vector<TriedCandidate> Autotuner::tried() const {
    std::vector<TriedCandidate> tried;
    for (std::size_t i = 0; i < tried_.size(); ++i) {
        if (tried_[i].epochs.empty()) continue;
        tried.push_back({trials_[i].candidate, static_cast<std::int64_t>(tried_[i].epochs.size()), tried_[i].median()});
    }
    return tried;
}

int Autotuner::chosen() const { return trials_[winner()].candidate; }

}  // namespace gnnplan::train
