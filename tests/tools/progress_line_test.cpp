#include "tools/gnnplan/progress_line.hpp"

#include <gtest/gtest.h>

namespace gnnplan::tools {
namespace {

class SetClock final : public measure::Clock {
public:
    double now() override { return seconds; }
    double seconds = 100;
};

// The lines that are printed at these times, in seconds since the start, where stderr is no terminal.
std::string said_at(const std::vector<double>& times) {
    SetClock clock;
    ::testing::internal::CaptureStderr();
    {
        ProgressLine line(clock);
        for (const double time : times) {
            clock.seconds = 100 + time;
            line.show("1d on 64x1, 12 of 96 grids");
        }
    }
    return ::testing::internal::GetCapturedStderr();
}

TEST(ProgressLine, SaysNothingOfShortSearches) { EXPECT_EQ(said_at({0, 0.5, 1.9}), ""); }

TEST(ProgressLine, BeginsAfterTwoSecondsAndGoesOnEveryTen) {
    EXPECT_EQ(said_at({1, 2.6, 3, 12, 12.7, 20}),
              "1d on 64x1, 12 of 96 grids, 3 s\n1d on 64x1, 12 of 96 grids, 13 s\n");
}

}  // namespace
}  // namespace gnnplan::tools
