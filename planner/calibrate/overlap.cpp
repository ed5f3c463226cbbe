#include "planner/calibrate/overlap.hpp"

#include "planner/calibrate/quantile.hpp"
#include "planner/calibrate/times.hpp"

#include <algorithm>

namespace gnnplan::calibrate {
namespace {

// One ratio, in units of the time of both together: rest = exposed * shorter + look_seconds * looks.
struct Equation {
    double rest = 0;
    double shorter = 0;
    double looks = 0;
};

double dot(std::span<const Equation> equations, double Equation::*a, double Equation::*b) {
    double sum = 0;
    for (const Equation& e : equations) sum += e.*a * e.*b;
    return sum;
}

// Least squares of one coefficient, the other being `fixed`.
double coefficient(std::span<const Equation> equations, double Equation::*of, double Equation::*other, double fixed) {
    const double squares = dot(equations, of, of);
    if (squares <= 0) return 0;
    return (dot(equations, of, &Equation::rest) - fixed * dot(equations, of, other)) / squares;
}

// Both coefficients within their bounds: where the best of all is outside, the best on the border.
void solve(std::span<const Equation> equations, OverlapCost& cost) {
    const double ss = dot(equations, &Equation::shorter, &Equation::shorter);
    const double ll = dot(equations, &Equation::looks, &Equation::looks);
    const double sl = dot(equations, &Equation::shorter, &Equation::looks);
    const double sr = dot(equations, &Equation::shorter, &Equation::rest);
    const double lr = dot(equations, &Equation::looks, &Equation::rest);
    const double determinant = ss * ll - sl * sl;
    constexpr double singular = 1e-9;  // of the ratios being one
    const bool both = determinant > singular * ss * ll;
    cost.look_seconds = both ? std::max(0.0, (ss * lr - sl * sr) / determinant) : 0;
    const double best = coefficient(equations, &Equation::shorter, &Equation::looks, cost.look_seconds);
    cost.exposed = std::clamp(best, 0.0, 1.0);
    if (!both || cost.exposed == best) return;
    cost.look_seconds = std::max(0.0, coefficient(equations, &Equation::looks, &Equation::shorter, cost.exposed));
}

}  // namespace

std::optional<OverlapCost> fit_overlap(std::span<const Sample> samples) {
    const std::vector<double> whole = times_of(samples, "overlap.whole");
    const std::vector<double> portions = times_of(samples, "overlap.portions");
    const std::vector<double> exchange = times_of(samples, "overlap.exchange");
    std::vector<double> slower;
    std::vector<Equation> equations;
    for (const Sample& both : samples) {
        if (both.what != "overlap.both") continue;
        const std::size_t i = equations.size();
        const double seconds = median(both.seconds);
        const auto [shorter, longer] = std::minmax(portions[i], exchange[i]);
        equations.push_back(
            {(seconds - longer) / seconds, shorter / seconds, static_cast<double>(both.at[2]) / seconds});
        slower.push_back(portions[i] / whole[i]);
    }
    if (equations.empty()) return std::nullopt;
    OverlapCost cost;
    cost.portions = median(std::move(slower));
    solve(equations, cost);
    return cost;
}

}  // namespace gnnplan::calibrate
