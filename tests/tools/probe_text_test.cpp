#include "tools/text/probe_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gnnplan::tools {
namespace {

ProbeFigures figures(double copy, std::optional<double> exchange) { return {1 << 28, 4, copy, 1, 1, exchange, {}}; }

TEST(ProbeText, SaysByHowMuchEachFigureHasChanged) {
    EXPECT_EQ(change_text(figures(2, 1), figures(1, 0.5)),
              "dense products run at 1.00, copies at 0.50, gathering from near at 1.00 and from far at 1.00, messages "
              "within a node at 0.50 of the rates that the calibration saw");
    EXPECT_THAT(change_text(figures(2, {}), figures(1, 0.5)), ::testing::Not(::testing::HasSubstr("messages")));
}

TEST(ProbeText, AFigureHasChangedBeyondItsSpread) {
    const ProbeReference calibrated{"A CPU", 2, figures(10, 1), figures(8, 1), figures(11, 1)};
    const ProbeFigures& then = calibrated.middle;
    EXPECT_FALSE(has_changed(calibrated, then, then));
    EXPECT_FALSE(has_changed(calibrated, then, figures(8, 1))) << "it was as slow as that";
    EXPECT_FALSE(has_changed(calibrated, then, figures(7.7, 1.04))) << "and a twentieth is noise";
    EXPECT_TRUE(has_changed(calibrated, then, figures(7.5, 1)));
    EXPECT_TRUE(has_changed(calibrated, then, figures(12, 1)));
    EXPECT_TRUE(has_changed(calibrated, then, figures(10, 0.9)));
    EXPECT_FALSE(has_changed(calibrated, then, figures(10, {}))) << "not measured";
    // A plan whose rates were rescaled to another state.
    EXPECT_FALSE(has_changed(calibrated, figures(5, 1), figures(4.5, 1)));
    EXPECT_TRUE(has_changed(calibrated, figures(5, 1), figures(10, 1)));
}

}  // namespace
}  // namespace gnnplan::tools
