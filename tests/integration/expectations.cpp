#include "tests/integration/expectations.hpp"

#include <gnnplan/ir/shared_clones.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "runtime/graph/subset.hpp"
#include "tests/support/compare.hpp"

namespace gnnplan::testing {
namespace {

constexpr double unit_roundoff = 0x1p-24;

double largest(const std::vector<double>& values) {
    double result = 0;
    for (const double value : values) result = std::max(result, std::abs(value));
    return result;
}

// Correctly classified vertices of train, valid and test, and the losses of the validation vertices.
void expect_classes(const TestProblem& problem, const std::vector<double>& logits, Expected& expected) {
    const auto classes = problem.widths().back();
    expected.found.assign(3, 0);
    for (std::int64_t v = 0; v < problem.dataset().vertices(); ++v) {
        const auto row = logits.begin() + v * classes;
        const std::uint8_t subset = problem.dataset().subset()[static_cast<std::size_t>(v)];
        const std::int32_t label = problem.dataset().labels()[static_cast<std::size_t>(v)];
        const auto largest = std::max_element(row, row + classes);
        if (subset < 3 && largest - row == label) expected.found[subset] += 1;
        if (subset != data::valid || label < 0) continue;
        double sum = 0;
        for (auto z = row; z != row + classes; ++z) sum += std::exp(*z - *largest);
        expected.valid_loss += std::log(sum) - (row[label] - *largest);
    }
}

// A label that is known, of a vertex in a set.
struct Judged {
    double logit;
    bool there;
};

// The three rows of one set in a column of sums of ranks.
void expect_ranks(const std::vector<Judged>& judged, double near, std::size_t first, std::size_t stride,
                  Expected& expected) {
    for (const Judged& one : judged) {
        for (auto* sums : {&expected.least_ranks, &expected.most_ranks}) (*sums)[first + (one.there ? 0 : stride)] += 1;
        if (!one.there) continue;
        double least = 1, most = 1;
        for (const Judged& other : judged) {
            const bool itself = &one == &other;
            const double below = one.logit - other.logit;
            least += itself ? 1 : below > near ? 2 : 0;
            most += itself ? 1 : below >= -near ? 2 : 0;
        }
        expected.least_ranks[first + 2 * stride] += least;
        expected.most_ranks[first + 2 * stride] += most;
    }
}

// The same of several labels: found and there, found alone, there alone.
void expect_labels(const TestProblem& problem, const std::vector<double>& logits, Expected& expected) {
    const auto columns = static_cast<std::size_t>(problem.widths().back());
    const std::vector<double>& labels = problem.serial().several;
    const std::vector<std::uint8_t>& subset = problem.dataset().subset();
    const double near = expected.relative * largest(logits);
    expected.found.assign(9, 0);
    expected.least_ranks.assign(9 * columns, 0), expected.most_ranks.assign(9 * columns, 0);
    for (std::size_t j = 0; j < columns; ++j) {
        std::array<std::vector<Judged>, 3> judged;
        for (std::size_t v = 0; v < subset.size(); ++v) {
            const double y = labels[v * columns + j], z = logits[v * columns + j];
            if (subset[v] > 2 || std::isnan(y)) continue;
            judged[subset[v]].push_back({z, y == 1});
            if (z > 0 || y == 1) expected.found[3 * std::size_t{subset[v]} + (z > 0 ? (y == 1 ? 0 : 1) : 2)] += 1;
            if (subset[v] == data::valid)
                expected.valid_loss += std::max(z, 0.0) - z * y + std::log1p(std::exp(-std::abs(z)));
        }
        for (std::size_t s = 0; s < 3; ++s) expect_ranks(judged[s], near, 3 * s * columns + j, columns, expected);
    }
}

// With two classes, vertices are ranked by how much more likely the second class is than the first.
void expect_margins(const TestProblem& problem, const std::vector<double>& logits, Expected& expected) {
    expected.least_ranks.assign(9, 0), expected.most_ranks.assign(9, 0);
    std::array<std::vector<Judged>, 3> judged;
    for (std::size_t v = 0; v < problem.dataset().subset().size(); ++v) {
        const std::uint8_t subset = problem.dataset().subset()[v];
        const std::int32_t label = problem.dataset().labels()[v];
        if (subset < 3 && label >= 0) judged[subset].push_back({logits[2 * v + 1] - logits[2 * v], label == 1});
    }
    const double near = 2 * expected.relative * largest(logits);
    for (std::size_t s = 0; s < 3; ++s) expect_ranks(judged[s], near, 3 * s, 1, expected);
}

void expect_evaluation(const TestProblem& problem, const Parameters& parameters, Expected& expected) {
    const std::vector<double> logits =
        loss_and_gradient(problem.serial(), {.known_moments = true}, parameters, 1).logits;
    if (!problem.serial().several.empty()) return expect_labels(problem, logits, expected);
    expect_classes(problem, logits, expected);
    if (problem.network().model.rocauc) expect_margins(problem, logits, expected);
}

// The error that rounding leaves in a gradient whose terms cancel, as those of attention do where a vertex has one
// in-neighbour.
double cancelled(const SerialEpoch& epoch, double enlarged) {
    double most = 0;
    for (const auto* group : {&epoch.before.gradient.weight, &epoch.before.gradient.bias}) {
        for (const auto& gradient : *group) most = std::max(most, largest(gradient));
    }
    return 2 * unit_roundoff * enlarged * most;
}

// Tolerances of weights after epoch `last`, added up over the updates so far.
class UpdateTolerance {
public:
    UpdateTolerance(const SerialSettings& settings, const Expected& expected)
        : settings_(settings), relative_(expected.relative), enlarged_(expected.enlarged) {}

    std::vector<double> after(const std::vector<SerialEpoch>& epochs, std::size_t last,
                              std::vector<std::vector<double>> Parameters::*group, std::size_t layer) const {
        const auto& weights = (epochs[last].after.*group)[layer];
        std::vector<double> tolerance;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            double sum = 8 * unit_roundoff * (std::abs(weights[i]) + settings_.learning_rate);
            for (std::size_t e = 0; e <= last; ++e) {
                const double change =
                    relative_ * largest((epochs[e].before.gradient.*group)[layer]) + cancelled(epochs[e], enlarged_);
                const double root = std::sqrt((epochs[e].second_moment.*group)[layer][i]) + settings_.epsilon;
                sum += settings_.learning_rate * std::min(2.5, 3 * change / root);
            }
            tolerance.push_back(sum);
        }
        return tolerance;
    }

private:
    const SerialSettings& settings_;
    double relative_, enlarged_;
};

void check_epoch(const TestProblem& problem, const RankEpoch& actual, const Expected& expected, std::size_t e) {
    const SerialSettings settings = problem.serial_settings(run_weight_decay);
    const UpdateTolerance tolerance(settings, expected);
    const SerialEpoch& serial = expected.epochs[e];
    const double absolute = cancelled(serial, expected.enlarged);
    EXPECT_TRUE(close(actual.loss, serial.before.loss, expected.relative)) << "loss";
    for (std::size_t l = 0; l < actual.weight.size(); ++l) {
        const std::string layer = fmt::format("parameter {}", l + 1);
        EXPECT_TRUE(close(actual.weight_gradient[l], serial.before.gradient.weight[l], expected.relative, absolute))
            << layer;
        EXPECT_TRUE(within(actual.weight[l], serial.after.weight[l],
                           tolerance.after(expected.epochs, e, &Parameters::weight, l)))
            << "updated weight, " << layer;
    }
    for (std::size_t l = 0; l < actual.bias.size(); ++l) {
        const std::string layer = fmt::format("vector {}", l + 1);
        // The terms of all edges, or vertices, cancel in a parameter of one element.
        const double rounding = actual.bias_gradient[l].size() == 1 ? 8 * absolute : absolute;
        EXPECT_TRUE(close(actual.bias_gradient[l], serial.before.gradient.bias[l], expected.relative, rounding))
            << layer;
        if (l < expected.running.size() && expected.running[l]) {
            // A norm takes away what adds the same to all rows, whose gradient is what rounding leaves of 0: updates
            // before this epoch may have made whole steps of that.
            const double moved = 0.25 * settings.learning_rate * static_cast<double>(e);
            EXPECT_TRUE(close(actual.bias[l], serial.after.bias[l], expected.relative, moved))
                << "running values, " << layer;
            continue;
        }
        EXPECT_TRUE(
            within(actual.bias[l], serial.after.bias[l], tolerance.after(expected.epochs, e, &Parameters::bias, l)))
            << "updated bias, " << layer;
    }
}

::testing::AssertionResult pass_as_predicted(const Schedule& schedule, const RankRun& run, Phase phase, int rank,
                                             const std::vector<measure::StepSample>& samples) {
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        if (schedule.steps[i].phase != phase) continue;
        const RankTraffic predicted = traffic_of(schedule, schedule.steps[i], *run.counts, rank);
        if (predicted != RankTraffic{samples[i].sent_bytes, samples[i].received_bytes}) {
            return ::testing::AssertionFailure()
                   << schedule.steps[i].name << ", rank " << rank << ": predicted to send " << predicted.sent_bytes
                   << " and receive " << predicted.received_bytes << " bytes, counted " << samples[i].sent_bytes
                   << " and " << samples[i].received_bytes;
        }
    }
    return ::testing::AssertionSuccess();
}

}  // namespace

Expected expect_of(const TestProblem& problem, int epochs) { return expect_of(problem, problem.serial(), epochs); }

Expected expect_of(const TestProblem& problem, const SerialProblem& trains, int epochs) {
    SerialSettings settings = problem.serial_settings(run_weight_decay);
    settings.seed = run_seed;
    Expected expected;
    if (problem.network().model.norm != Norm::none) expected.enlarged = 8;
    expected.relative = 4e-5 * problem.serial().layers() * expected.enlarged;
    for (const Parameter& parameter : problem.serial().model.parameters) {
        if (parameter.shape.size() == 1)
            expected.running.push_back(parameter.name.find(".running_") != std::string::npos);
    }
    const Parameters initial = initial_parameters(problem.serial(), run_seed);
    expected.epochs = train(trains, settings, initial, epochs);
    expect_evaluation(problem, expected.epochs.back().after, expected);
    for (const SerialEpoch& epoch : expected.epochs) EXPECT_GT(epoch.before.kink_distance, 5e-6) << problem.name();
    return expected;
}

void check_rank(const TestProblem& problem, const RankRun& run, const Expected& expected) {
    ASSERT_EQ(run.epochs.size(), expected.epochs.size());
    for (std::size_t e = 0; e < expected.epochs.size(); ++e) {
        SCOPED_TRACE(fmt::format("epoch {}", e + 1));
        check_epoch(problem, run.epochs[e], expected, e);
    }
    EXPECT_EQ(run.found, expected.found);
    EXPECT_TRUE(close(run.valid_loss, expected.valid_loss, expected.relative));
    const bool ranked = problem.network().model.rocauc;
    ASSERT_EQ(run.ranks.size(), ranked ? expected.least_ranks.size() : 0);
    for (std::size_t i = 0; i < run.ranks.size(); ++i) {
        EXPECT_GE(run.ranks[i], expected.least_ranks[i]) << i;
        EXPECT_LE(run.ranks[i], expected.most_ranks[i]) << i;
    }
}

void check_values(const TestProblem& problem, const std::vector<RankRun>& runs, const Expected& expected) {
    for (std::size_t rank = 0; rank < runs.size(); ++rank) {
        SCOPED_TRACE(fmt::format("rank {}", rank));
        check_rank(problem, runs[rank], expected);
    }
}

void check_outputs(const TestProblem& problem, const std::vector<RankRun>& runs) {
    const Parameters parameters = initial_parameters(problem.serial(), run_seed);
    const LossAndGradient serial = loss_and_gradient(problem.serial(), {.known_moments = true}, parameters, 1);
    const auto columns = static_cast<std::size_t>(problem.widths().back());
    std::vector<float> outputs(serial.logits.size(), std::numeric_limits<float>::quiet_NaN());
    for (const RankRun& run : runs) {
        ASSERT_EQ(run.outputs.size(), run.vertices.size() * columns);
        for (std::size_t i = 0; i < run.vertices.size(); ++i) {
            const std::size_t begin = static_cast<std::size_t>(run.vertices[i]) * columns;
            ASSERT_TRUE(std::isnan(outputs[begin])) << "vertex " << run.vertices[i] << " is on two ranks";
            std::copy_n(run.outputs.begin() + static_cast<std::ptrdiff_t>(i * columns), columns,
                        outputs.begin() + static_cast<std::ptrdiff_t>(begin));
        }
    }
    EXPECT_TRUE(close(outputs, serial.logits, 4e-5 * problem.serial().layers()));
}

::testing::AssertionResult bytes_as_predicted(const Schedule& schedule, int rank, const RankRun& run) {
    if (auto result = pass_as_predicted(schedule, run, Phase::setup, rank, run.setup); !result) return result;
    for (std::size_t e = 0; e < run.epochs.size(); ++e) {
        const Schedule turn = at_turn(schedule, static_cast<std::int64_t>(e));
        if (auto result = pass_as_predicted(turn, run, Phase::epoch, rank, run.epochs[e].steps); !result) return result;
    }
    return pass_as_predicted(schedule, run, Phase::evaluation, rank, run.evaluation);
}

::testing::AssertionResult bytes_as_predicted(const Schedule& schedule, const std::vector<RankRun>& runs) {
    for (std::size_t rank = 0; rank < runs.size(); ++rank) {
        if (auto result = bytes_as_predicted(schedule, static_cast<int>(rank), runs[rank]); !result) return result;
    }
    return ::testing::AssertionSuccess();
}

::testing::AssertionResult peaks_as_predicted(const std::vector<RankRun>& runs) {
    for (std::size_t rank = 0; rank < runs.size(); ++rank) {
        if (runs[rank].allocated_host_peak != runs[rank].predicted_host_peak) {
            return ::testing::AssertionFailure()
                   << "the host of rank " << rank << " held " << runs[rank].allocated_host_peak
                   << " bytes, predicted were " << runs[rank].predicted_host_peak;
        }
        if (runs[rank].allocated_peak != runs[rank].predicted_peak) {
            return ::testing::AssertionFailure() << "rank " << rank << " allocated " << runs[rank].allocated_peak
                                                 << " bytes, predicted " << runs[rank].predicted_peak;
        }
    }
    return ::testing::AssertionSuccess();
}

}  // namespace gnnplan::testing
