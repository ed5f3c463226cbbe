#include <gnnplan/ir/graph_stats.hpp>

#include <algorithm>
#include <cmath>

namespace gnnplan {
namespace {

// The u > 0 at which (1 - exp(-u)) / u, which falls from 1 to 0, is `ratio`; 0 < ratio < 1.
double throws_per_column(double ratio) {
    double low = 0;
    double high = 1 / ratio;
    for (int halving = 0; halving < 60; ++halving) {
        const double u = (low + high) / 2;
        (-std::expm1(-u) > ratio * u ? low : high) = u;
    }
    return high;
}

// n nonzeros thrown at c columns at random, of which they meet d: after t of them c (1 - exp(-t / c)) columns have been
// met, and the next one comes back after a number of others that is uniform on 0 .. c - 1, if it was met. So of the
// columns x steps back, those are met that were thrown at time t(x) = -c log(1 - x / c) or later, and the number of
// reuses with less than x others in between is (n x - integral of t from 0 to x) / c.
ReuseHistogram random_reuse(double n, double d) {
    ReuseHistogram histogram;
    histogram.first_uses = histogram.most_distinct = std::min(n, d);
    if (d >= n || d <= 0) return histogram;
    const double u = throws_per_column(d / n);
    const double c = n / u;
    const auto reuses_below = [&](double x) {
        const double left = std::max(1 - x / c, 0.0);
        return n * x / c - c * ((left > 0 ? left * std::log(left) : 0) + x / c);
    };
    double below = 0;
    for (double from = 0, to = 2; below < n - d; from = to, to *= 2) {
        const double up_to = to < d ? reuses_below(to) : n - d;
        histogram.spread(up_to - below, from, std::min(to, d));
        below = up_to;
    }
    return histogram;
}

}  // namespace

void ReuseHistogram::add(const ReuseHistogram& other, double weight) {
    reuses.resize(std::max(reuses.size(), other.reuses.size()));
    between.resize(reuses.size());
    for (std::size_t b = 0; b < other.reuses.size(); ++b) {
        reuses[b] += weight * other.reuses[b];
        between[b] += weight * other.between[b];
    }
    first_uses += weight * other.first_uses;
    most_distinct = std::max(most_distinct, other.most_distinct);
    row_sweeps += weight * other.row_sweeps;
    row_visits += weight * other.row_visits;
    row_changes += weight * other.row_changes;
}

void ReuseHistogram::spread(double count, double from, double to, double nonzeros) {
    double below = 2;
    for (std::size_t b = 0; count > 0; ++b, below *= 2) {
        if (from >= below) continue;
        const double part = to <= below ? count : count * (below - from) / (to - from);
        if (reuses.size() <= b) reuses.resize(b + 1);
        between.resize(reuses.size());
        reuses[b] += part;
        between[b] += part * nonzeros;
        count -= part;
        from = below;
    }
}

ReuseHistogram GraphStats::reuse(MatrixId matrix, Range rows, Range columns, std::int64_t panel_columns) const {
    const auto nonzeros = static_cast<double>(block_nonzeros(matrix, rows, columns));
    const auto distinct = static_cast<double>(distinct_columns(matrix, rows, columns));
    const std::int64_t panels =
        panel_columns == 0 ? 1 : std::max<std::int64_t>(1, (columns.size() + panel_columns - 1) / panel_columns);
    const double of_one = nonzeros / static_cast<double>(panels);
    ReuseHistogram of_panel = random_reuse(of_one, distinct / static_cast<double>(panels));
    if (!rows.empty()) {
        const auto count = static_cast<double>(rows.size());
        of_panel.row_sweeps = count;
        of_panel.row_visits = -count * std::expm1(-of_one / count);
        of_panel.row_changes = std::min(of_panel.row_visits, count - of_panel.row_visits);
    }
    ReuseHistogram histogram;
    histogram.add(of_panel, static_cast<double>(panels));
    return histogram;
}

}  // namespace gnnplan
