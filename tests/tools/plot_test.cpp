// Charts: scales, ticks, and SVG that any reader accepts.
#include "tools/gnnplan/plot.hpp"
#include "tests/tools/xml_check.hpp"
#include "tools/gnnplan/plot_scale.hpp"
#include "tools/text/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

namespace gnnplan::tools {
namespace {

using ::testing::HasSubstr;
using testing::xml_error;

std::vector<std::string> texts(const std::vector<PlotTick>& ticks) {
    std::vector<std::string> out;
    for (const PlotTick& tick : ticks) out.push_back(tick.text);
    return out;
}

TEST(XmlCheck, ToldFromBadXml) {
    EXPECT_EQ(xml_error("<a b=\"1\"><c/>x &amp; y</a>\n"), "");
    for (const char* bad : {"<a>", "<a></b>", "<a/><b/>", "<a b=1/>", "<a>&</a>", "<a b=\"<\"/>", "</a>", "text"}) {
        EXPECT_NE(xml_error(bad), "") << bad;
    }
}

TEST(PlotScale, LinearAndLogarithmicPlaces) {
    const PlotScale linear{0, 10, false, 100, 200};
    EXPECT_DOUBLE_EQ(linear.pixel(5), 150);
    const PlotScale log{1, 100, true, 300, 100};
    EXPECT_DOUBLE_EQ(log.pixel(10), 200);
    EXPECT_DOUBLE_EQ(log.pixel(1), 300);
}

TEST(PlotScale, AllValuesLieInside) {
    for (const bool log : {false, true}) {
        for (const std::vector<double>& values : {std::vector<double>{2, 5, 900}, {7}, {3, 3}}) {
            const PlotScale scale = fit_scale(values, log, false, 0, 1);
            for (const double value : values) {
                EXPECT_GT(scale.pixel(value), 0);
                EXPECT_LT(scale.pixel(value), 1);
            }
        }
    }
    EXPECT_EQ(fit_scale({2, 5}, false, true, 0, 1).low, 0);
}

TEST(PlotScale, TicksAreRoundAndInside) {
    EXPECT_EQ(texts(choose_ticks({0, 10.5, false, 0, 1})), (std::vector<std::string>{"0", "2", "4", "6", "8", "10"}));
    EXPECT_EQ(texts(choose_ticks({0.9, 130, true, 0, 1})),
              (std::vector<std::string>{"1", "2", "5", "10", "20", "50", "100"}));
    EXPECT_EQ(texts(choose_ticks({0.5, 2e4, true, 0, 1})),
              (std::vector<std::string>{"1", "10", "100", "1000", "10000"}));
    // Less than a decade has more than two texts.
    EXPECT_EQ(texts(choose_ticks({5.5, 41, true, 0, 1})), (std::vector<std::string>{"7", "10", "20", "30"}));
    for (const double high : {4.6, 7.0, 50.0, 1e3, 1e7, 1e30}) {
        const auto ticks = choose_ticks({1, high, true, 0, 1});
        EXPECT_GE(ticks.size(), 3U) << high;
        EXPECT_LE(ticks.size(), 8U) << high;
    }
}

TEST(PlotScale, MinorTicksOfLogarithms) {
    EXPECT_EQ(minor_ticks({1, 30, true, 0, 1}).size(), 12U);
    EXPECT_TRUE(minor_ticks({1, 30, false, 0, 1}).empty());
    EXPECT_TRUE(minor_ticks({1, 1e7, true, 0, 1}).empty());
}

TEST(PlotScale, LogWhereValuesSpreadAndAreAllPositive) {
    EXPECT_TRUE(wants_log({1, 4}));
    EXPECT_FALSE(wants_log({1, 3.9}));
    EXPECT_FALSE(wants_log({0, 100}));
    EXPECT_FALSE(wants_log({}));
}

PlotPanel panel() {
    return {
        "Time & memory",
        {"ranks", true, {{2, "2"}, {8, "8"}}},
        {"epoch [ms]"},
        {{"scheme=<1d>", {{2, 10, "a \"label\""}, {8, 3, ""}}}, {"rdm", {{2, 8, ""}, {8, 1, ""}}, PlotLine::steps}}};
}

TEST(PlotSvg, IsWellFormedAndSelfContained) {
    const std::string svg = draw_svg("A & B", "made by 'x' > y", {panel(), panel()}, {"1d < rdm"});
    EXPECT_EQ(xml_error(svg), "");
    for (const char* text : {"A &amp; B", "Time &amp; memory", "scheme=&lt;1d&gt;", "ranks", "epoch [ms]",
                             "1d &lt; rdm", "a &quot;label&quot;"}) {
        EXPECT_THAT(svg, HasSubstr(text));
    }
    // The name space is the only address in it.
    EXPECT_EQ(svg.find("http", svg.find("http") + 1), std::string::npos);
    EXPECT_THAT(svg, ::testing::Not(HasSubstr("<script")));
    EXPECT_THAT(svg, ::testing::Not(HasSubstr("nan")));
    EXPECT_EQ(xml_error(html_page("a < b", svg).substr(std::string("<!DOCTYPE html>\n").size())), "");
}

TEST(PlotSvg, MarksLieInsideThePicture) {
    const std::string svg = draw_svg("t", "", {panel(), panel()}, {});
    const std::regex circle("<circle cx=\"([0-9.]+)\" cy=\"([0-9.]+)\"");
    int circles = 0;
    for (std::sregex_iterator i(svg.begin(), svg.end(), circle), end; i != end; ++i, ++circles) {
        EXPECT_GT(std::stod((*i)[1]), 0);
        EXPECT_LT(std::stod((*i)[1]), 2 * 560);
        EXPECT_GT(std::stod((*i)[2]), 0);
        EXPECT_LT(std::stod((*i)[2]), 460);
    }
    // Two points of the first series in each panel, and its mark in the legend.
    EXPECT_EQ(circles, 5);
}

TEST(PlotSvg, StepsStayLevelUntilTheNextPoint) {
    EXPECT_THAT(draw_svg("t", "", {panel()}, {}), ::testing::ContainsRegex("M[0-9.]+ [0-9.]+H[0-9.]+V[0-9.]+"));
}

TEST(PlotSvg, LogarithmicAxesSaySo) {
    PlotPanel log = panel();
    log.y.log = true;
    const std::string svg = draw_svg("t", "", {log}, {});
    EXPECT_THAT(svg, HasSubstr(">ranks, log<"));
    EXPECT_THAT(svg, HasSubstr(">epoch [ms], log<"));
    log.y.log = false;
    EXPECT_THAT(draw_svg("t", "", {log}, {}), HasSubstr(">epoch [ms]<"));
}

TEST(PlotSvg, WhatDoesNotFitHasAMarkAndAName) {
    PlotPanel missing = panel();
    missing.series[0].missing = {{4, 0, "needs 3 GiB"}};
    const std::string svg = draw_svg("t", "", {missing}, {});
    EXPECT_EQ(xml_error(svg), "");
    EXPECT_THAT(svg, HasSubstr(">does not fit<"));
    EXPECT_THAT(svg, HasSubstr("needs 3 GiB"));
    EXPECT_THAT(draw_svg("t", "", {panel()}, {}), ::testing::Not(HasSubstr("does not fit")));
}

TEST(PlotSvg, BandsLimitsReferencesAndTheChosen) {
    PlotPanel full = panel();
    full.bands = {{"a tie", {{2, 8, 10}, {8, 1, 1.25}}}};
    full.limits = {{6, "limit 6 GiB"}, {800, "limit 800 GiB"}};
    full.series.push_back({"ideal scaling", {{2, 8, ""}, {8, 2, ""}}, PlotLine::reference});
    full.series[0].points[1].chosen = true;
    const std::string svg = draw_svg("t", "", {full}, {});
    EXPECT_EQ(xml_error(svg), "");
    for (const char* text : {">a tie<", ">limit 6 GiB<", ">limit 800 GiB \u2192<", ">ideal scaling<",
                             ">the plan chosen<", "fill-opacity=\"0.1\"", "fill-opacity=\"1\""}) {
        EXPECT_THAT(svg, HasSubstr(text));
    }
}

TEST(PlotSvg, LongCaptionsAreBrokenIntoLines) {
    std::string words;
    for (int i = 0; i < 60; ++i) words += "sentence ";
    const std::string svg = draw_svg("t", "", {panel()}, {words});
    EXPECT_EQ(xml_error(svg), "");
    EXPECT_THAT(svg, ::testing::ContainsRegex("(sentence )+sentence</text>\n<text"));
}

TEST(PlotSvg, EmptyPanelSaysSo) {
    PlotPanel empty = panel();
    for (PlotSeries& series : empty.series) series.points.clear();
    const std::string svg = draw_svg("t", "", {empty}, {});
    EXPECT_EQ(xml_error(svg), "");
    EXPECT_THAT(svg, HasSubstr("nothing fits"));
    EXPECT_EQ(xml_error(draw_svg("t", "", {}, {})), "");
}

TEST(PlotSvg, ControlCharactersBecomeReplacements) {
    EXPECT_EQ(xml_escaped("a\x01"
                          "b\n"),
              "a\xEF\xBF\xBD"
              "b\n");
}

}  // namespace
}  // namespace gnnplan::tools
