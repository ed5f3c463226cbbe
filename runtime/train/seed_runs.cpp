#include "runtime/train/seed_runs.hpp"

#include <cmath>
#include <optional>

namespace gnnplan::train {

std::optional<double> goodness(const EpochRecord& epoch, BestBy by) {
    switch (by) {
        case BestBy::accuracy: return epoch.judgement.accuracy.valid;
        case BestBy::f1: return epoch.judgement.f1.valid;
        case BestBy::rocauc: return epoch.judgement.rocauc.valid;
        case BestBy::loss: break;
    }
    return epoch.valid_loss ? std::optional(-*epoch.valid_loss) : std::nullopt;
}

SeedRun seed_run(std::uint64_t seed, const std::vector<EpochRecord>& epochs, BestBy by) {
    SeedRun run{seed, std::ssize(epochs), epochs.back().loss};
    std::optional<double> best;
    for (const EpochRecord& epoch : epochs) {
        const std::optional<double> good = goodness(epoch, by);
        if (!epoch.judgement.any() || (best && !(good > best))) continue;
        run.judgement = epoch.judgement;
        if (good) run.best = epoch.epoch, best = good;
    }
    return run;
}

namespace {

// The spread of one metric over one of the three sets.
std::optional<Spread> spread_of(std::span<const SeedRun> runs, SetScores Judgement::*metric,
                                std::optional<double> SetScores::*set) {
    double sum = 0, squares = 0;
    for (const SeedRun& run : runs) {
        const std::optional<double>& score = run.judgement.*metric.*set;
        if (!score) return std::nullopt;
        sum += *score;
    }
    const auto count = static_cast<double>(runs.size());
    Spread spread{sum / count, {}};
    for (const SeedRun& run : runs) squares += std::pow(*(run.judgement.*metric.*set) - spread.mean, 2);
    if (runs.size() > 1) spread.deviation = std::sqrt(squares / (count - 1));
    return spread;
}

}  // namespace

std::array<Spreads, metrics.size()> spreads_of(std::span<const SeedRun> runs) {
    std::array<Spreads, metrics.size()> all;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
        SetScores Judgement::*const metric = metrics[i].sets;
        all[i] = {spread_of(runs, metric, &SetScores::train), spread_of(runs, metric, &SetScores::valid),
                  spread_of(runs, metric, &SetScores::test)};
    }
    return all;
}

}  // namespace gnnplan::train
