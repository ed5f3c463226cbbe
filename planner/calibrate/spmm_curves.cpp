// Fits the curves of SpMM: gathering by working set, and seconds per row, per row that is added to and per empty row.
#include "planner/calibrate/curves.hpp"
#include "planner/calibrate/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace gnnplan::calibrate {
namespace {

// One "spmm" sample, per nonzero.
struct Spmm {
    std::int64_t nonzeros = 0;
    double seconds = 0;
    double rows = 0;
};
using Windows = std::map<std::int64_t, std::vector<Spmm>>;  // by working set

std::map<std::int64_t, Windows> spmm_by_width(std::span<const Sample> samples) {
    std::map<std::int64_t, Windows> widths;
    for (const Sample& sample : samples) {
        if (sample.what != "spmm") continue;
        const auto nonzeros = static_cast<double>(sample.at[2]);
        widths[sample.at[0]][sample.at[1]].push_back(
            {sample.at[2], median(sample.seconds) / nonzeros, static_cast<double>(sample.at[3]) / nonzeros});
    }
    // Longest rows first.
    for (auto& [width, windows] : widths) {
        for (auto& [bytes, list] : windows) std::ranges::sort(list, {}, &Spmm::rows);
    }
    return widths;
}

double seconds_per_row(const Windows& windows) {
    std::vector<double> estimates;
    for (const auto& [bytes, list] : windows) {
        const double rows = list.back().rows - list.front().rows;
        if (rows > 0) estimates.push_back((list.back().seconds - list.front().seconds) / rows);
    }
    return std::max(0.0, median(std::move(estimates)));
}

// The extra time of a row that adds to a result, against the same matrix multiplied without.
std::optional<double> seconds_per_row_again(std::span<const Sample> samples, std::int64_t width) {
    for (const Sample& adding : samples) {
        if (adding.what != "spmm.add" || adding.at[0] != width) continue;
        const auto plain = std::ranges::find_if(
            samples, [&](const Sample& sample) { return sample.what == "spmm" && sample.at == adding.at; });
        if (plain == samples.end()) continue;
        const double more = median(adding.seconds) - median(plain->seconds);
        return std::max(0.0, more) / static_cast<double>(adding.at[3]);
    }
    return std::nullopt;
}

// A product that adds to a result in which some rows have no nonzeros.
struct Passing {
    double passed = 0;   // rows
    double changes = 0;  // as ReuseHistogram::row_changes: the matrix is random
    double seconds = 0;  // more than its other rows take by themselves
    double share() const { return changes / passed; }
};

// Solves two timings for (seconds per empty row, seconds per mispredicted branch): hardly any branch is mispredicted
// where few rows have nonzeros, and half of them where half of the rows have. A non-empty row costs what spmm.add
// measured.
std::optional<PassingCost> fit_passing(std::span<const Sample> samples, std::int64_t width) {
    const auto all = std::ranges::find_if(
        samples, [&](const Sample& sample) { return sample.what == "spmm.add" && sample.at[0] == width; });
    if (all == samples.end()) return std::nullopt;
    const double row = median(all->seconds) / static_cast<double>(all->at[3]);
    std::vector<Passing> sparse;
    for (const Sample& sample : samples) {
        if (sample.what != "spmm.pass" || sample.at[0] != width) continue;
        const auto rows = static_cast<double>(sample.at[3]);
        const auto visited = static_cast<double>(sample.at[4]);
        sparse.push_back({rows - visited, std::min(visited, rows - visited), median(sample.seconds) - visited * row});
    }
    std::erase_if(sparse, [](const Passing& product) { return product.changes <= 0; });
    if (sparse.empty()) return std::nullopt;
    const auto [rare, often] = std::ranges::minmax_element(sparse, {}, &Passing::share);
    if (rare->share() >= often->share()) return std::nullopt;
    // Both products satisfy passed * p + changes * c = seconds: two equations for p and c.
    const double of_both = rare->passed * often->changes - often->passed * rare->changes;
    const double each = (rare->seconds * often->changes - often->seconds * rare->changes) / of_both;
    const double passed = std::max(0.0, each);
    return PassingCost{passed, std::max(0.0, (often->seconds - often->passed * passed) / often->changes)};
}

}  // namespace

std::vector<GatherCurve> fit_gather(std::span<const Sample> samples) {
    constexpr double least_share = 0.1;  // of the time: rows cannot be nearly all of it where they are long
    std::vector<GatherCurve> curves;
    for (const auto& [width, windows] : spmm_by_width(samples)) {
        GatherCurve& curve = curves.emplace_back();
        curve.width = width;
        curve.seconds_per_row = seconds_per_row(windows);
        curve.seconds_per_row_again = seconds_per_row_again(samples, width);
        curve.passing = fit_passing(samples, width);
        for (const auto& [bytes, list] : windows) {
            const Spmm& longest = list.front();
            const double gather = longest.seconds - longest.rows * curve.seconds_per_row;
            curve.costs.push_back({bytes, std::max(gather, least_share * longest.seconds)});
        }
    }
    return curves;
}

std::vector<SpmmRate> spmm_rates(std::span<const Sample> samples) {
    constexpr double typical_bytes = 1 << 24;
    std::vector<SpmmRate> rates;
    for (const auto& [width, windows] : spmm_by_width(samples)) {
        const auto distance = [](const auto& window) {
            return std::abs(std::log(static_cast<double>(window.first) / typical_bytes));
        };
        const auto nearest = std::ranges::min_element(windows, {}, distance);
        rates.push_back({width, 2.0 * static_cast<double>(width) / nearest->second.front().seconds});
    }
    return rates;
}

}  // namespace gnnplan::calibrate
