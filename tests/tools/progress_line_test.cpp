#include "tools/gnnplan/progress_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace gnnplan::tools {
namespace {

class SetClock final : public measure::Clock {
public:
    double now() override { return seconds; }
    double seconds = 100;
};

// The lines that are printed at these times, in seconds since the start, where stderr is no terminal.
std::string said_at(const std::vector<double>& times, bool quiet = false) {
    SetClock clock;
    ::testing::internal::CaptureStderr();
    {
        ProgressLine line(clock, quiet);
        for (const double time : times) {
            clock.seconds = 100 + time;
            line.show("1d on 64x1, 12 of 96 grids");
        }
    }
    return ::testing::internal::GetCapturedStderr();
}

TEST(ProgressLine, SaysNothingOfShortSearches) { EXPECT_EQ(said_at({0, 0.5, 1.9}), ""); }

TEST(ProgressLine, IsSilentWhereAsked) { EXPECT_EQ(said_at({1, 2.6, 30}, true), ""); }

TEST(ProgressLine, BeginsAfterTwoSecondsAndGoesOnEveryTen) {
    EXPECT_EQ(said_at({1, 2.6, 3, 12, 12.7, 20}),
              "1d on 64x1, 12 of 96 grids, 3 s\n1d on 64x1, 12 of 96 grids, 13 s\n");
}

// Three seconds pass between two questions.
class FastClock final : public measure::Clock {
public:
    double now() override {
        if (++asked_ == 3) asked_often_.set_value();
        return 3.0 * asked_;
    }
    void wait() { asked_often_.get_future().wait(); }

private:
    std::atomic<int> asked_ = 0;
    std::promise<void> asked_often_;
};

TEST(WaitingLine, SaysThatWorkGoesOnUntilItEnds) {
    FastClock clock;
    ::testing::internal::CaptureStderr();
    {
        WaitingLine line("reading graph.npz", clock, false);
        clock.wait();
    }
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::StartsWith("reading graph.npz, 3 s\n"));
}

}  // namespace
}  // namespace gnnplan::tools
