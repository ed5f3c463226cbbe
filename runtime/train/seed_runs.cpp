#include "runtime/train/seed_runs.hpp"

#include <cmath>
#include <optional>

namespace gnnplan::train {

SeedRun seed_run(std::uint64_t seed, const std::vector<EpochRecord>& epochs) {
    SeedRun run{seed, std::ssize(epochs), epochs.back().loss};
    for (const EpochRecord& epoch : epochs) {
        const bool evaluated = epoch.train_accuracy || epoch.valid_accuracy || epoch.test_accuracy;
        const bool better = !run.best || epoch.valid_accuracy > run.accuracies.valid;
        if (!evaluated || !better) continue;
        run.accuracies = {epoch.train_accuracy, epoch.valid_accuracy, epoch.test_accuracy};
        if (epoch.valid_accuracy) run.best = epoch.epoch;
    }
    return run;
}

namespace {

std::optional<Spread> spread_of(std::span<const SeedRun> runs, std::optional<double> Accuracies::*part) {
    double sum = 0, squares = 0;
    for (const SeedRun& run : runs) {
        if (!(run.accuracies.*part)) return std::nullopt;
        sum += *(run.accuracies.*part);
    }
    const auto count = static_cast<double>(runs.size());
    Spread spread{sum / count, {}};
    for (const SeedRun& run : runs) squares += std::pow(*(run.accuracies.*part) - spread.mean, 2);
    if (runs.size() > 1) spread.deviation = std::sqrt(squares / (count - 1));
    return spread;
}

}  // namespace

AccuracySpreads spreads_of(std::span<const SeedRun> runs) {
    return {spread_of(runs, &Accuracies::train), spread_of(runs, &Accuracies::valid),
            spread_of(runs, &Accuracies::test)};
}

}  // namespace gnnplan::train
