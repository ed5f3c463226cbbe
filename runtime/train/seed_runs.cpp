#include "runtime/train/seed_runs.hpp"

#include <cmath>
#include <optional>

namespace gnnplan::train {

std::optional<double> goodness(const EpochRecord& epoch, BestBy by) {
    if (by == BestBy::accuracy) return epoch.valid_accuracy;
    return epoch.valid_loss ? std::optional(-*epoch.valid_loss) : std::nullopt;
}

SeedRun seed_run(std::uint64_t seed, const std::vector<EpochRecord>& epochs, BestBy by) {
    SeedRun run{seed, std::ssize(epochs), epochs.back().loss};
    std::optional<double> best;
    for (const EpochRecord& epoch : epochs) {
        const bool evaluated = epoch.train_accuracy || epoch.valid_accuracy || epoch.test_accuracy;
        const std::optional<double> good = goodness(epoch, by);
        if (!evaluated || (best && !(good > best))) continue;
        run.accuracies = {epoch.train_accuracy, epoch.valid_accuracy, epoch.test_accuracy};
        if (good) run.best = epoch.epoch, best = good;
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
