#include "tests/support/compare.hpp"

#include <cmath>
#include <numeric>

namespace gnnplan::testing {
namespace {

using ::testing::AssertionFailure;
using ::testing::AssertionResult;
using ::testing::AssertionSuccess;

template <class T>
AssertionResult close_arrays(std::span<const T> actual, std::span<const double> expected, double relative,
                             double absolute) {
    if (actual.size() != expected.size()) {
        return AssertionFailure() << actual.size() << " values, expected " << expected.size();
    }
    double largest = 0;
    for (const double value : expected) largest = std::max(largest, std::abs(value));
    const double tolerance = relative * largest + absolute;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double difference = std::abs(static_cast<double>(actual[i]) - expected[i]);
        if (!(difference <= tolerance)) {
            return AssertionFailure() << "element " << i << " is " << actual[i] << ", expected " << expected[i]
                                      << "; they differ by " << difference << ", more than " << tolerance;
        }
    }
    return AssertionSuccess();
}

AssertionResult same_bytes(const StepRecord& record) {
    if (record.predicted_bytes_by_rank.empty())
        return AssertionFailure() << record.name << ": nothing predicted by rank";
    if (record.predicted_bytes_by_rank.size() != record.counted_bytes_by_rank.size()) {
        return AssertionFailure() << record.name << ": predicted for " << record.predicted_bytes_by_rank.size()
                                  << " ranks, counted on " << record.counted_bytes_by_rank.size();
    }
    for (std::size_t r = 0; r < record.predicted_bytes_by_rank.size(); ++r) {
        if (record.predicted_bytes_by_rank[r] != record.counted_bytes_by_rank[r]) {
            return AssertionFailure() << record.name << ", rank " << r << ": predicted "
                                      << record.predicted_bytes_by_rank[r] << " bytes, counted "
                                      << record.counted_bytes_by_rank[r];
        }
    }
    const auto sum = [](const std::vector<std::int64_t>& v) {
        return std::accumulate(v.begin(), v.end(), std::int64_t{0});
    };
    if (record.predicted_bytes != sum(record.predicted_bytes_by_rank)) {
        return AssertionFailure() << record.name << ": predicted total " << record.predicted_bytes
                                  << " is not the ranks' sum";
    }
    if (record.counted_bytes != sum(record.counted_bytes_by_rank)) {
        return AssertionFailure() << record.name << ": counted total " << record.counted_bytes
                                  << " is not the ranks' sum";
    }
    return AssertionSuccess();
}

}  // namespace

AssertionResult close(double actual, double expected, double relative, double absolute) {
    const double difference = std::abs(actual - expected);
    const double tolerance = relative * std::abs(expected) + absolute;
    if (difference <= tolerance) return AssertionSuccess();
    return AssertionFailure() << actual << " differs from " << expected << " by " << difference << ", more than "
                              << tolerance;
}

AssertionResult close(std::span<const float> actual, std::span<const double> expected, double relative,
                      double absolute) {
    return close_arrays(actual, expected, relative, absolute);
}

AssertionResult close(std::span<const double> actual, std::span<const double> expected, double relative,
                      double absolute) {
    return close_arrays(actual, expected, relative, absolute);
}

AssertionResult within(std::span<const float> actual, std::span<const double> expected,
                       std::span<const double> tolerance) {
    if (actual.size() != expected.size() || tolerance.size() != expected.size()) {
        return AssertionFailure() << actual.size() << " values, expected " << expected.size() << ", tolerances "
                                  << tolerance.size();
    }
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double difference = std::abs(static_cast<double>(actual[i]) - expected[i]);
        if (!(difference <= tolerance[i])) {
            return AssertionFailure() << "element " << i << " is " << actual[i] << ", expected " << expected[i]
                                      << "; they differ by " << difference << ", more than " << tolerance[i];
        }
    }
    return AssertionSuccess();
}

AssertionResult bytes_as_predicted(const std::vector<StepRecord>& records) {
    for (const StepRecord& record : records) {
        if (AssertionResult result = same_bytes(record); !result) return result;
    }
    return AssertionSuccess();
}

}  // namespace gnnplan::testing
