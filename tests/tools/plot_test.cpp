// Charts: scales, ticks, and SVG that any reader accepts.
#include "tools/gnnplan/plot.hpp"
#include "tests/tools/xml_check.hpp"
#include "tools/gnnplan/plot_draw.hpp"
#include "tools/gnnplan/plot_scale.hpp"
#include "tools/text/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <utility>

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

// Where the paths begin whose elements have `before` in front of the path and `after` behind the place.
std::vector<std::pair<double, double>> places_of(const std::string& svg, const std::string& before,
                                                 const std::string& after = "") {
    const std::regex place(before + "=\"M([0-9.]+) ([0-9.]+)" + after);
    std::vector<std::pair<double, double>> places;
    for (std::sregex_iterator i(svg.begin(), svg.end(), place), end; i != end; ++i)
        places.emplace_back(std::stod((*i)[1]), std::stod((*i)[2]));
    return places;
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
    int marks = 0;
    for (const auto& [x, y] : places_of(svg, "class=\"mark\" d")) {
        EXPECT_GT(x, 0);
        EXPECT_LT(x, 2 * 560);
        EXPECT_GT(y, 0);
        EXPECT_LT(y, 460);
        ++marks;
    }
    // Two points of two series in each panel, and their marks in the legend.
    EXPECT_EQ(marks, 10);
}

TEST(PlotSvg, SeriesDifferInDashAndMark) {
    std::set<std::string> dashes;
    std::set<std::size_t> marks;
    for (std::size_t n = 0; n < most_series; ++n) {
        dashes.insert(style_of(n).dash);
        marks.insert(style_of(n).mark);
    }
    EXPECT_EQ(dashes.size(), most_series);
    EXPECT_EQ(marks.size(), most_series);
}

TEST(PlotSvg, CrossesStayClearOfTheNextPlace) {
    PlotPanel crowded{"", {"ranks", false, {{1, "1"}, {2, "2"}, {20, "20"}}}, {"epoch [ms]"}, {}};
    for (int i = 0; i < 6; ++i) {
        crowded.series.push_back(
            {"scheme " + std::to_string(i), {{20, 1.0 + i, ""}}, PlotLine::straight, {{1, 0, ""}, {2, 0, ""}}});
    }
    const auto crosses = places_of(draw_svg("t", "", {crowded}, {}), "<path d", "l8 8m0 -8l-8 8");
    ASSERT_EQ(crosses.size(), 12U);
    for (std::size_t i = 1; i < crosses.size(); ++i) EXPECT_GT(crosses[i].first, crosses[i - 1].first);
    const double gap = crosses[6].first - crosses[5].first, step = crosses[1].first - crosses[0].first;
    EXPECT_GT(gap, 1.5 * step);
    // They lie around their place.
    const std::string svg = draw_svg("t", "", {crowded}, {});
    const std::regex tick("<text x=\"([0-9.]+)\"[^>]*>1</text>");
    std::smatch found;
    ASSERT_TRUE(std::regex_search(svg, found, tick));
    EXPECT_NEAR((crosses[0].first + crosses[5].first) / 2 + 4, std::stod(found[1]), 0.2);
}

TEST(PlotSvg, LimitsBeyondThePanelStayClearOfItsTitle) {
    PlotPanel limited = panel();
    limited.limits = {{800, "limit 800 GiB"}};
    const std::string svg = draw_svg("t", "", {limited}, {});
    const auto y_of = [&](const std::string& text) {
        std::smatch found;
        EXPECT_TRUE(std::regex_search(svg, found, std::regex("y=\"([0-9.]+)\"[^>]*>" + text))) << text;
        return std::stod(found[1]);
    };
    EXPECT_GE(y_of("limit 800 GiB"), y_of("Time &amp; memory") + 18);
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
