#include "planner/calibrate/segments.hpp"
#include "planner/cost/rates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace gnnplan::calibrate {
namespace {

constexpr double us = 1e-6;
constexpr double giga = 1e9;

// Times at powers of two from 64 B to 64 MiB, as `link` has them, off by up to `noise` to both sides.
std::vector<Timing> times_of(const Link& link, double noise = 0) {
    std::vector<Timing> timings;
    double sign = 1;
    for (double bytes = 64; bytes <= 64 << 20; bytes *= 2) {
        timings.push_back({bytes, message_seconds(link, bytes) * (1 + noise * sign)});
        sign = -sign;
    }
    return timings;
}

Link three_lines() {
    Link link{1 * us, 2 * giga, {{0, 1 * us, 5 * giga}, {12'000, 6 * us, 10 * giga}, {6'000'000, 100 * us, 3 * giga}}};
    return link;
}

TEST(AlphaBetaFit, FindsTheLine) {
    const std::vector<Timing> timings = times_of({1.5 * us, 5 * giga});
    const AlphaBeta fit = fit_alpha_beta(timings);
    EXPECT_NEAR(fit.alpha, 1.5 * us, 1e-9 * us);
    EXPECT_NEAR(fit.beta, 1 / (5 * giga), 1e-18);
}

TEST(AlphaBetaFit, IsNeverNegative) {
    // Falling times, and a line that would begin below 0.
    EXPECT_EQ(fit_alpha_beta(std::vector<Timing>{{1, 3}, {2, 2}, {3, 1}}).beta, 0);
    EXPECT_EQ(fit_alpha_beta(std::vector<Timing>{{1, 1}, {2, 4}, {3, 9}}).alpha, 0);
}

TEST(Segments, OneLineIsOneSegment) {
    const Link link = fit_link(times_of({2 * us, 4 * giga}, 0.01));
    ASSERT_EQ(link.segments.size(), 1U);
    EXPECT_EQ(link.segments[0].from_bytes, 0);
    EXPECT_NEAR(link.bytes_per_second / (4 * giga), 1, 0.01);
    EXPECT_NEAR(link.latency_seconds / (2 * us), 1, 0.03);
}

TEST(Segments, FindsWhereLinesMeet) {
    const Link truth = three_lines();
    const Link link = fit_link(times_of(truth, 0.005));
    ASSERT_EQ(link.segments.size(), 3U);
    // Measured at powers of two: the break is between the two around it.
    EXPECT_GT(link.segments[1].from_bytes, 8192);
    EXPECT_LT(link.segments[1].from_bytes, 16384);
    EXPECT_GT(link.segments[2].from_bytes, 4 << 20);
    EXPECT_LT(link.segments[2].from_bytes, 8 << 20);
    EXPECT_NEAR(link.bytes_per_second / (3 * giga), 1, 0.01);
    for (const double bytes : {100.0, 3000.0, 100'000.0, 1e6, 3e7}) {
        EXPECT_NEAR(message_seconds(link, bytes) / message_seconds(truth, bytes), 1, 0.02) << bytes;
    }
}

TEST(Segments, ASingleLineMissesWhatSegmentsMeet) {
    const std::vector<Timing> timings = times_of(three_lines());
    const auto worst = [&](const Link& link) {
        double error = 0;
        for (const Timing& t : timings)
            error = std::max(error, std::abs(message_seconds(link, t.bytes) / t.seconds - 1));
        return error;
    };
    EXPECT_GT(worst(fit_segments(timings, 1)), 0.2);
    EXPECT_LT(worst(fit_segments(timings, 3)), 1e-6);
}

TEST(Segments, SizesMeasuredTwiceAreFittedTogether) {
    std::vector<Timing> timings = times_of({2 * us, 4 * giga});
    for (const Timing& slower : times_of({2 * us, 4 * giga})) timings.push_back({slower.bytes, slower.seconds * 1.2});
    const Link link = fit_link(timings);
    for (const Timing& t : times_of({2 * us, 4 * giga})) {
        EXPECT_GT(message_seconds(link, t.bytes), t.seconds);
        EXPECT_LT(message_seconds(link, t.bytes), t.seconds * 1.2);
    }
}

TEST(Segments, FewSizesAreEnough) {
    EXPECT_EQ(fit_link({{64, 1 * us}, {128, 1 * us}}).segments.size(), 1U);
    EXPECT_EQ(fit_link({{64, 1 * us}, {128, 1 * us}, {256, 2 * us}, {512, 9 * us}}).segments.front().from_bytes, 0);
    EXPECT_EQ(fit_segments({{64, 1 * us}, {128, 1 * us}, {256, 2 * us}}, 5).segments.size(), 1U);
    EXPECT_TRUE(std::isfinite(fit_link({{64, 1 * us}, {128, 1 * us}}).bytes_per_second));
}

}  // namespace
}  // namespace gnnplan::calibrate
