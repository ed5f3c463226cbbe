#include "planner/calibrate/segments.hpp"
#include "planner/cost/rates.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace gnnplan::calibrate {
namespace {

constexpr std::size_t least_sizes = 2;    // of a segment
constexpr std::size_t most_segments = 8;  // more are noise
constexpr double enough = 1.1;            // error over the least error
constexpr double fastest = 1e13;          // bytes per second, where a line is flat: files have no infinity

// Timings by size; a size may have been measured more than once. first[k] is where size k begins.
struct Sorted {
    std::vector<Timing> timings;
    std::vector<std::size_t> first;

    explicit Sorted(std::vector<Timing> all) : timings(std::move(all)) {
        std::ranges::sort(timings, {}, &Timing::bytes);
        for (std::size_t i = 0; i < timings.size(); ++i) {
            if (i == 0 || timings[i].bytes != timings[i - 1].bytes) first.push_back(i);
        }
        first.push_back(timings.size());
    }
    std::size_t sizes() const { return first.size() - 1; }
    double size(std::size_t k) const { return timings[first[k]].bytes; }
    std::span<const Timing> between(std::size_t from, std::size_t to) const {
        return std::span(timings).subspan(first[from], first[to] - first[from]);
    }
};

double squared_errors(std::span<const Timing> timings, const AlphaBeta& line) {
    return std::accumulate(timings.begin(), timings.end(), 0.0, [&](double sum, const Timing& timing) {
        const double error = line.seconds(timing.bytes) / timing.seconds - 1;
        return sum + error * error;
    });
}

// Where the best fit's segments begin, as indices of sizes.
std::vector<std::size_t> best_starts(const Sorted& sorted, std::size_t count) {
    const std::size_t n = sorted.sizes();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    // best[s][k]: least error of the first k sizes in s segments; begin[s][k]: where the last of them begins.
    std::vector best(count + 1, std::vector<double>(n + 1, infinity));
    std::vector begin(count + 1, std::vector<std::size_t>(n + 1, 0));
    best[0][0] = 0;
    for (std::size_t from = 0; from < n; ++from) {
        for (std::size_t to = from + least_sizes; to <= n; ++to) {
            const auto part = sorted.between(from, to);
            const double error = squared_errors(part, fit_alpha_beta(part));
            for (std::size_t s = 1; s <= count; ++s) {
                if (best[s - 1][from] + error >= best[s][to]) continue;
                best[s][to] = best[s - 1][from] + error;
                begin[s][to] = from;
            }
        }
    }
    std::vector<std::size_t> starts(count);
    std::size_t to = n;
    for (std::size_t s = count; s > 0; --s) to = starts[s - 1] = begin[s][to];
    return starts;
}

LinkSegment segment_of(const AlphaBeta& line, std::int64_t from_bytes) {
    return {from_bytes, line.alpha, 1 / std::max(line.beta, 1 / fastest)};
}

// Mean relative error of predicting each size between the smallest and the largest from the others.
double error_left_out(const Sorted& sorted, std::size_t segments) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t k = 1; k + 1 < sorted.sizes(); ++k) {
        std::vector<Timing> others;
        std::ranges::copy_if(sorted.timings, std::back_inserter(others),
                             [&](const Timing& timing) { return timing.bytes != sorted.size(k); });
        const Link link = fit_segments(std::move(others), segments);
        for (const Timing& timing : sorted.between(k, k + 1)) {
            sum += std::abs(message_seconds(link, timing.bytes) / timing.seconds - 1);
            ++count;
        }
    }
    return count == 0 ? 0 : sum / static_cast<double>(count);
}

}  // namespace

Link fit_segments(std::vector<Timing> timings, std::size_t count) {
    const Sorted sorted(std::move(timings));
    ensure(sorted.sizes() >= least_sizes, "a line needs two sizes");
    const std::vector<std::size_t> starts =
        best_starts(sorted, std::clamp<std::size_t>(count, 1, sorted.sizes() / least_sizes));
    Link link;
    for (std::size_t s = 0; s < starts.size(); ++s) {
        const std::size_t end = s + 1 < starts.size() ? starts[s + 1] : sorted.sizes();
        const double from = s == 0 ? 0 : std::sqrt(sorted.size(starts[s] - 1) * sorted.size(starts[s]));
        link.segments.push_back(
            segment_of(fit_alpha_beta(sorted.between(starts[s], end)), static_cast<std::int64_t>(std::ceil(from))));
    }
    link.bytes_per_second = link.segments.back().bytes_per_second;
    link.latency_seconds = message_seconds(link, sorted.size(0));
    return link;
}

Link fit_link(const std::vector<Timing>& timings) {
    const Sorted sorted(timings);
    // One size must remain to be left out of each segment.
    const std::size_t most = std::clamp<std::size_t>((sorted.sizes() - 1) / least_sizes, 1, most_segments);
    std::vector<double> error;
    for (std::size_t count = 1; count <= most; ++count) error.push_back(error_left_out(sorted, count));
    const double least = *std::ranges::min_element(error);
    const auto fewest = std::ranges::find_if(error, [&](double e) { return e <= enough * least; });
    return fit_segments(timings, static_cast<std::size_t>(fewest - error.begin()) + 1);
}

}  // namespace gnnplan::calibrate
