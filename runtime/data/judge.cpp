#include "runtime/data/judge.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace gnnplan::data {
namespace {

constexpr std::array<std::pair<Subset, std::optional<double> SetScores::*>, 3> sets{
    {{train, &SetScores::train}, {valid, &SetScores::valid}, {test, &SetScores::test}}};

// 2 TP / (2 TP + FP + FN); 1 where nothing is there and nothing is found.
double f1_of(double found, double wrong, double missed) {
    const double all = 2 * found + wrong + missed;
    return all > 0 ? 2 * found / all : 1;
}

// The mean, over columns that have both kinds, of the chance that a vertex with the label has a higher logit than one
// without (Hand & Till 2001, eq. 3): `ranks` has a column for each label, and rows 3 s .. 3 s + 2 of split s.
std::optional<double> rocauc_of(std::span<const double> ranks, std::size_t s) {
    const std::size_t columns = ranks.size() / 9;
    double sum = 0, judged = 0;
    for (std::size_t j = 0; j < columns; ++j) {
        const auto row = [&](std::size_t i) { return ranks[(3 * s + i) * columns + j]; };
        const double there = row(0), absent = row(1);
        if (there == 0 || absent == 0) continue;
        sum += (row(2) / 2 - there * (there + 1) / 2) / (there * absent), ++judged;
    }
    if (judged == 0 || !std::isfinite(sum)) return std::nullopt;
    return sum / judged;
}

// Whether a subset's vertices are of both kinds, where `kind` says of which a vertex is, 0 or 1, and -1 of neither.
template <class Kind>
bool has_both(const Dataset& dataset, Subset subset, const Kind& kind) {
    std::array<bool, 2> seen{};
    for (std::int64_t v = 0; v < std::ssize(dataset.subset()) && !(seen[0] && seen[1]); ++v) {
        if (dataset.subset()[static_cast<std::size_t>(v)] != subset) continue;
        if (const int of = kind(v); of == 0 || of == 1) seen[static_cast<std::size_t>(of)] = true;
    }
    return seen[0] && seen[1];
}

}  // namespace

bool can_rank(const Dataset& dataset, Subset subset) {
    const LabelBits& bits = dataset.label_bits();
    if (bits.empty())
        return has_both(dataset, subset, [&](std::int64_t v) { return dataset.labels()[static_cast<std::size_t>(v)]; });
    for (std::int64_t j = 0; j < bits.columns; ++j) {
        const auto kind = [&](std::int64_t v) { return bits.is_known(v, j) ? static_cast<int>(bits.has(v, j)) : -1; };
        if (has_both(dataset, subset, kind)) return true;
    }
    return false;
}

Judged judge(std::span<const double> counts, std::span<const double> ranks, const Dataset& dataset) {
    Judged judged;
    if (counts.empty()) return judged;
    const bool several = !dataset.label_bits().empty();
    for (const auto& [subset, member] : sets) {
        const std::int64_t labelled = dataset.labelled(subset);
        if (labelled == 0) continue;
        const std::size_t s = subset;
        if (!ranks.empty()) judged.judgement.rocauc.*member = rocauc_of(ranks, s);
        if (several) {
            judged.judgement.f1.*member = f1_of(counts[3 * s], counts[3 * s + 1], counts[3 * s + 2]);
        } else {
            judged.judgement.accuracy.*member = counts[s] / static_cast<double>(labelled);
        }
    }
    const std::size_t loss = several ? 9 : 3;  // plans of earlier versions do not add it up
    if (counts.size() > loss && dataset.labelled(valid) > 0 && std::isfinite(counts[loss]))
        judged.valid_loss = counts[loss] / static_cast<double>(dataset.known_labels(valid));
    return judged;
}

}  // namespace gnnplan::data
