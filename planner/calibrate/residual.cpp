#include "planner/calibrate/residual.hpp"

#include "planner/calibrate/quantile.hpp"
#include "planner/cost/correction.hpp"
#include "planner/cost/normal.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace gnnplan::calibrate {
namespace {

constexpr std::size_t least_steps = 4;
constexpr double least_spread = 0.02;
constexpr double most_spread = 1;
constexpr double spread_of_graphs = 0.06;  // over their number: what a few graphs say of others
constexpr double most_slope = 0.2;

// One step: y = log(measured / predicted) at x = log(predicted / usual), and its share of its epoch.
struct Point {
    double x = 0;
    double y = 0;
    double weight = 0;
    std::string_view graph{};
};

struct Line {
    double at_usual = 0;
    double slope = 0;
    double error(const Point& point) const { return point.y - at_usual - slope * point.x; }
};

std::map<int, double> epoch_seconds(std::span<const EpochStep> steps) {
    std::map<int, double> seconds;
    for (const EpochStep& step : steps) seconds[step.run] += step.measured;
    return seconds;
}

template <class Steps>
std::set<std::string_view> graphs_of(const Steps& steps) {
    std::set<std::string_view> graphs;
    for (const auto& step : steps) graphs.insert(step.graph);
    return graphs;
}

std::map<ModelPart, std::vector<Point>> points_by_part(std::span<const EpochStep> steps) {
    const std::map<int, double> epochs = epoch_seconds(steps);
    std::map<ModelPart, std::vector<Point>> parts;
    for (const EpochStep& step : steps) {
        if (step.predicted <= 0 || step.measured <= 0) continue;
        parts[step.part].push_back({std::log(step.predicted / StepCorrection::usual_seconds),
                                    std::log(step.measured / step.predicted), step.measured / epochs.at(step.run),
                                    step.graph});
    }
    return parts;
}

using Errors = std::vector<std::pair<double, double>>;  // and weights

void add_errors(const std::vector<Point>& points, const Line& line, Errors& errors) {
    for (const Point& point : points) errors.emplace_back(std::abs(line.error(point)), point.weight);
}

// The error that holds `share` of the weight.
double weighted_quantile(Errors errors, double share) {
    std::ranges::sort(errors);
    double all = 0, below = 0;
    for (const auto& [error, weight] : errors) all += weight;
    for (const auto& [error, weight] : errors) {
        below += weight;
        if (below >= share * all) return error;
    }
    return errors.empty() ? 0 : errors.back().first;
}

// Least squares with weights and a ridge, whose strength is that of steps with errors of `usual_error`.
Line solve(const std::vector<Point>& points, const std::vector<double>& weights, double usual_error) {
    constexpr double usual_factor = 0.2, usual_slope = 0.03;  // of logarithms: what is expected before anything is seen
    const double variance = usual_error * usual_error;
    double n = variance / (usual_factor * usual_factor), x = 0, y = 0, xy = 0;
    double xx = variance / (usual_slope * usual_slope);
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto& [at, error, share, graph] = points[i];
        n += weights[i];
        x += weights[i] * at;
        xx += weights[i] * at * at;
        y += weights[i] * error;
        xy += weights[i] * at * error;
    }
    const double determinant = n * xx - x * x;
    return {(xx * y - x * xy) / determinant, std::clamp((n * xy - x * y) / determinant, -most_slope, most_slope)};
}

// Iteratively: errors beyond 1.345 deviations count as if they were at that distance.
Line fit_line(const std::vector<Point>& points) {
    constexpr int rounds = 20;
    constexpr double huber = 1.345;
    double all = 0;
    for (const Point& point : points) all += point.weight;
    const double count = static_cast<double>(points.size());
    std::vector<double> weights;
    weights.reserve(points.size());
    for (const Point& point : points) weights.push_back(count * point.weight / all);
    Line line;
    const std::vector<double> shares = weights;
    for (int round = 0; round < rounds; ++round) {
        Errors errors;
        add_errors(points, line, errors);
        const double usual = std::max(least_spread, weighted_quantile(std::move(errors), 0.5) / cost::normal_median);
        for (std::size_t i = 0; i < points.size(); ++i) {
            const double error = std::abs(line.error(points[i]));
            weights[i] = shares[i] * (error > huber * usual ? huber * usual / error : 1);
        }
        line = solve(points, weights, usual);
    }
    return line;
}

// Returns the spread of errors on graphs that the line has not seen: errors of each graph are taken from the line of
// the other graphs. With a single graph, or where the others have too few steps, they are taken from the line of all.
double spread_of(const std::vector<Point>& points, const Line& line) {
    Errors errors;
    const std::set<std::string_view> graphs = graphs_of(points);
    for (const std::string_view graph : graphs) {
        std::vector<Point> own, others;
        for (const Point& point : points) (point.graph == graph ? own : others).push_back(point);
        add_errors(own, others.size() < least_steps ? line : fit_line(others), errors);
    }
    const double least = std::max(least_spread, spread_of_graphs / static_cast<double>(graphs.size()));
    return std::clamp(weighted_quantile(std::move(errors), 0.8) / cost::normal_80_percent, least, most_spread);
}

}  // namespace

std::vector<StepCorrection> fit_corrections(std::span<const EpochStep> steps) {
    std::vector<StepCorrection> corrections;
    for (const auto& [part, points] : points_by_part(steps)) {
        if (points.size() < least_steps) continue;
        const Line line = fit_line(points);
        corrections.push_back({part, std::exp(line.at_usual), line.slope, spread_of(points, line)});
    }
    return corrections;
}

std::vector<double> epoch_errors(std::span<const EpochStep> steps) {
    const bool alone = graphs_of(steps).size() == 1;
    const auto left_out = [&](const EpochStep& a, const EpochStep& b) {
        return alone ? a.run == b.run : a.graph == b.graph;
    };
    std::map<int, std::pair<double, double>> epochs;  // predicted and measured
    std::map<int, Machine> machines;                  // that have not seen the epoch
    for (const EpochStep& step : steps) {
        const auto [machine, is_new] = machines.try_emplace(step.run);
        if (is_new) {
            std::vector<EpochStep> others;
            std::ranges::copy_if(steps, std::back_inserter(others),
                                 [&](const EpochStep& o) { return !left_out(o, step); });
            machine->second.calibration.emplace().corrections = fit_corrections(others);
        }
        epochs[step.run].first += cost::corrected(machine->second, step.part, step.predicted);
        epochs[step.run].second += step.measured;
    }
    std::vector<double> errors;
    errors.reserve(epochs.size());
    for (const auto& [run, seconds] : epochs) errors.push_back(std::abs(seconds.first / seconds.second - 1));
    return errors;
}

void correct(Profile& profile) {
    if (profile.epoch_steps.empty()) return;
    Calibration& calibration = *profile.machine.calibration;
    calibration.corrections = fit_corrections(profile.epoch_steps);
    constexpr double most = 0.9;
    const std::vector<double> errors = epoch_errors(profile.epoch_steps);
    calibration.error_median = median(errors);
    calibration.error_p90 = quantile(errors, most);
}

}  // namespace gnnplan::calibrate
