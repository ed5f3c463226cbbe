// Sweeps without a search: combinations, lines, tables, CSV, pictures.
#include "tools/gnnplan/sweep_output.hpp"
#include "planner/catalog/machines.hpp"
#include "tests/tools/sweep_sample.hpp"
#include "tests/tools/xml_check.hpp"
#include "tools/advise/configuration_text.hpp"
#include "tools/advise/sweep/sweep_csv.hpp"
#include "tools/gnnplan/sweep_plot.hpp"
#include "tools/gnnplan/sweep_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace gnnplan::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::names;
using testing::numbers;
using testing::ranked;
using testing::sweep_of;

// Ranks in falling order by two schemes; 1d does not fit on 2 ranks.
Sweep sample() {
    Sweep sweep;
    sweep.variations = {{"scheme", "scheme", {{"1d", {}}, {"rdm", {}}}},
                        {"ranks", "ranks", {{"8", 8.0}, {"2", 2.0}, {"4", 4.0}}}};
    for (const auto& at : combinations(sweep.variations)) {
        SweepPoint point;
        point.at = at;
        if (at[0] == 0 && at[1] == 1) {
            point.code = ErrorCode::infeasible;
            point.why = "needs \"more\", much more";
            point.needed_bytes = std::int64_t{3} << 30;
        } else {
            point.memory_limit = std::int64_t{1} << 30;
            point.best = ranked(0.01 * static_cast<double>(at[0] + 3 * at[1] + 1), 1 << 20);
            point.pareto = {*point.best};
        }
        sweep.points.push_back(point);
    }
    return sweep;
}

TEST(Sweep, CombinationsRunTheLastVariationFastest) {
    EXPECT_THAT(combinations({}), ElementsAre(std::vector<std::size_t>{}));
    const Sweep sweep = sample();
    ASSERT_EQ(sweep.points.size(), 6U);
    EXPECT_THAT(sweep.points[1].at, ElementsAre(0, 1));
    EXPECT_THAT(sweep.points[3].at, ElementsAre(1, 0));
}

TEST(ConfigurationText, LongNetworksAreShortAndStillThemselves) {
    Configuration configuration;
    configuration.grid = {4, 1, 1};
    for (int layer = 1; layer <= 40; ++layer) {
        configuration.forward.push_back(layer <= 30 ? Order::sparse_first : Order::dense_first);
        configuration.backward.push_back(Order::sparse_first);
        configuration.operands.push_back(layer != 20 ? Operand::product : Operand::gradient);
    }
    EXPECT_EQ(kept_text(products_kept(configuration)), "ÂX..ÂH18,ÂH20..ÂH29");
    EXPECT_THAT(configuration_text(configuration), HasSubstr(" S30D10 S40, kept ÂX..ÂH18"));
    EXPECT_EQ(kept_text({{1, true}, {2}, {3}, {5}}), "ÂX once,ÂH1,ÂH2,ÂH4");
}

TEST(Sweep, WhatVariesIsTheMainVariationRanksThenNumbers) {
    const Variation scheme = names("scheme", {"1d", "rdm"}), hidden = numbers("hidden", {8, 16}),
                    ranks = numbers("ranks", {2, 4}), replication = numbers("replication", {1, 2});
    EXPECT_EQ(main_variation({}), std::nullopt);
    EXPECT_EQ(main_variation({scheme}), 0U);
    EXPECT_EQ(main_variation({scheme, hidden}), 1U);
    EXPECT_EQ(main_variation({hidden, scheme, ranks}), 2U);
    EXPECT_EQ(main_variation({scheme, replication, hidden}), 2U);
    // One value is no axis.
    EXPECT_EQ(main_variation({numbers("ranks", {8})}), std::nullopt);
    EXPECT_EQ(main_variation({hidden, numbers("ranks", {8}), scheme}), 0U);
    EXPECT_EQ(main_variation({numbers("ranks", {8}), scheme}), 1U);
}

TEST(Sweep, NamesLeaveOutWhatDoesNotVary) {
    const std::vector<Variation> variations{names("scheme", {"1d", "rdm"}), numbers("ranks", {8}),
                                            numbers("hidden", {8, 16})};
    EXPECT_EQ(short_text(variations, {1, 0, 1}, {}), "rdm, hidden=16");
    EXPECT_EQ(short_text(variations, {1, 0, 1}, {2}), "rdm");
    EXPECT_EQ(place_text(variations[1], 0), "8 ranks");
    EXPECT_EQ(place_text(variations[2], 1), "hidden=16");
}

TEST(Sweep, LinesAreInTheOrderOfNumbers) {
    const Sweep sweep = sample();
    const auto lines = lines_along(sweep, 1);
    ASSERT_EQ(lines.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_THAT(lines[i].others, ElementsAre(i, 0));
        std::vector<std::size_t> settings;
        for (const SweepPoint* point : lines[i].points) settings.push_back(point->at[1]);
        EXPECT_THAT(settings, ElementsAre(1, 2, 0));
    }
    EXPECT_EQ(settings_text(sweep.variations, lines[1].others, {1}), "scheme=rdm");
}

TEST(Sweep, FrontKeepsWhatIsFastInLittleMemory) {
    const auto front = time_memory_front({ranked(1, 900), ranked(3, 100), ranked(2, 500), ranked(4, 500),
                                          ranked(3, 600), ranked(0.5, 2000, false), ranked(1, 1000)});
    ASSERT_EQ(front.size(), 3U);
    EXPECT_EQ(front[0].predicted.peak_bytes_per_rank, 100);
    EXPECT_EQ(front[1].predicted.epoch_seconds, 2);
    EXPECT_EQ(front[2].predicted.peak_bytes_per_rank, 900);
}

TEST(SweepCsv, CellsAreQuotedWhereTheyMustBe) {
    EXPECT_EQ(csv_cell("plain text"), "plain text");
    EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
    EXPECT_EQ(csv_cell("say \"hi\""), "\"say \"\"hi\"\"\"");
    EXPECT_EQ(csv_cell("two\nlines"), "\"two\nlines\"");
    EXPECT_EQ(csv_cell(""), "");
}

// Fields of a line, quotes understood.
std::vector<std::string> fields(const std::string& line) {
    std::vector<std::string> out{""};
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
            out.back() += line[i++];
        } else if (line[i] == '"') {
            quoted = !quoted;
        } else if (line[i] == ',' && !quoted) {
            out.emplace_back();
        } else {
            out.back() += line[i];
        }
    }
    return out;
}

TEST(SweepCsv, EveryLineHasTheFieldsOfTheHeader) {
    const std::string csv = sweep_csv(sample());
    std::vector<std::vector<std::string>> rows;
    for (std::size_t at = 0; at < csv.size();) {
        const std::size_t end = csv.find('\n', at);
        rows.push_back(fields(csv.substr(at, end - at)));
        at = end + 1;
    }
    ASSERT_EQ(rows.size(), 7U);
    for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
    const auto column = [&](const std::string& name) {
        const auto found = std::find(rows[0].begin(), rows[0].end(), name);
        EXPECT_NE(found, rows[0].end()) << name;
        return static_cast<std::size_t>(found - rows[0].begin());
    };
    EXPECT_EQ(rows[1][column("scheme")], "1d");
    EXPECT_EQ(rows[1][column("ranks")], "8");
    EXPECT_EQ(rows[1][column("best_kept")], "T1");
    EXPECT_EQ(rows[1][column("best_grid")], "1x4");
    EXPECT_EQ(rows[1][column("epoch_seconds")], "0.01");
    EXPECT_EQ(rows[1][column("redistribution_units")], "82.5");
    EXPECT_EQ(rows[2][column("why")], "needs \"more\", much more");
    EXPECT_EQ(rows[2][column("needed_bytes_per_rank")], "3221225472");
    // 1d on 4 ranks is the fewest that fit; 8 ranks take a seventh of its time.
    EXPECT_EQ(rows[3][column("speed_up")], "1");
    EXPECT_NEAR(std::stod(rows[1][column("speed_up")]), 7, 1e-9);
    EXPECT_NEAR(std::stod(rows[1][column("efficiency")]), 3.5, 1e-9);
    EXPECT_EQ(rows[2][column("epoch_seconds")], "");
}

// Lines without the last, empty one.
std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

TEST(SweepTable, SchemesStandSideBySideAlongTheRanks) {
    const auto tables = sweep_tables(sample());
    ASSERT_EQ(tables.size(), 1U);
    EXPECT_THAT(
        lines_of(tables[0].table.text(false)),
        ElementsAre("ranks      1d     rdm  speed-up  efficiency", "    2     OOM  *50 ms      1.00       100 %",
                    "    4  *70 ms  ~80 ms      0.71        36 %", "    8  *10 ms   20 ms      5.00       125 %"));
    EXPECT_EQ(marks_text(sample()),
              "* fastest, ~ a tie with it within 25 %, OOM does not fit, speed-up of the fastest over the fewest ranks "
              "that fit");
    // The fastest row stands out.
    EXPECT_THAT(tables[0].table.text(true), HasSubstr("\033[1m    8  *10 ms"));
}

TEST(SweepTable, OneTablePerProblem) {
    const Sweep sweep = sweep_of(
        {names("scheme", {"1d", "rdm"}), numbers("ranks", {8}), numbers("hidden", {16, 64}), numbers("layers", {2, 3})},
        [](const auto& at) { return at[0] == "1d" ? 1 : 2; });
    const auto tables = sweep_tables(sweep);
    ASSERT_EQ(tables.size(), 2U);
    EXPECT_EQ(tables[1].name, "layers=3");
    EXPECT_THAT(lines_of(tables[1].table.text(false)),
                ElementsAre("hidden     1d   rdm", "    16  *1 ms  2 ms", "    64  *1 ms  2 ms"));
}

TEST(SweepTable, SpeedUpAndEfficiencyWhereRanksVary) {
    const Sweep sweep = sweep_of({numbers("ranks", {1, 2, 4, 8})}, [](const auto& at) {
        return at[0] == "1" ? std::nullopt : std::optional(at[0] == "2" ? 40.0 : at[0] == "4" ? 25.0 : 20.0);
    });
    const std::vector<std::string> lines = lines_of(sweep_tables(sweep)[0].table.text(false));
    EXPECT_THAT(lines[0], HasSubstr("ranks   epoch  speed-up  efficiency  chosen            forward"));
    EXPECT_THAT(lines[1], HasSubstr("OOM: needs 2 GiB"));
    EXPECT_THAT(lines[3], HasSubstr("4   25 ms      1.60        80 %  rdm 1x4"));
    EXPECT_THAT(lines[4], HasSubstr("8  *20 ms      2.00        50 %"));
}

TEST(SweepTable, FitsHundredColumns) {
    Sweep sweep = sweep_of({numbers("ranks", {2, 4}), numbers("hidden", {16, 64}), numbers("layers", {2, 3})},
                           [](const auto&) { return 12.34; });
    for (SweepPoint& point : sweep.points) {
        point.best->configuration.forward = parse_orders("SSDSDSDSDS");
        point.best->configuration.operands = parse_operands("TTGTGTGTGT");
        point.best->configuration.cached_aggregation = true;
        point.best->configuration.overlap = true;
    }
    sweep.points.back().best.reset();
    sweep.points.back().why =
        "a reason that is much longer than the table can be wide, as some of them are, so it is cut";
    for (const NamedTable& table : sweep_tables(sweep)) EXPECT_LE(table.table.width(), 100U);
    // All of it is still to be had, and a page gives a reason the rest of the row.
    EXPECT_THAT(full_table(sweep).html(), ::testing::ContainsRegex("<td colspan=\"[0-9]+\">a reason that"));
    EXPECT_THAT(full_table(sweep).text(false), HasSubstr("ÂX once,ÂH1,ÂH3,ÂH5,ÂH7,ÂH9"));
    EXPECT_THAT(full_table(sweep).text(false), HasSubstr("overlap"));
    EXPECT_THAT(full_table(sweep).text(false), HasSubstr("so it is cut"));
}

TEST(SweepReport, SaysOnceHowSureItIs) {
    const std::string trust = "those predicted (likely 2.8).";
    SweepReport report{"graph", "gcn 8-4, training", "machine", {sample(), {"a note"}}, {"a sentence"}};
    report.shown.sweep.machine = catalog::find_machine("a6000x8");
    const std::string text = report_text(report, false);
    EXPECT_THAT(text, HasSubstr("graph    graph\nmodel    gcn 8-4, training\nmachine  machine\n"));
    EXPECT_THAT(text, HasSubstr("a note\n"));
    EXPECT_THAT(text, HasSubstr("\na sentence\n"));
    EXPECT_THAT(text, HasSubstr(trust));
    EXPECT_EQ(text.find(trust), text.rfind(trust));
    for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), 100U) << line;
    EXPECT_THAT(picture_caption(report).back(), HasSubstr(trust));
    report.shown.sweep.machine.measured = true;
    EXPECT_THAT(report_text(report, false), ::testing::Not(HasSubstr(trust)));
    EXPECT_THAT(picture_caption(report).back(), HasSubstr("True times are 0.62 to 1.6 times those predicted."));
}

TEST(SweepReport, ThePageHasATableAndNoScript) {
    const SweepReport report{"graph", "gcn 8-4, training", "machine <m>", {sample(), {}}, {"a sentence"}};
    const std::string page = report_page(report, "t", draw_svg("", "d", sweep_panels(sample()), {}), "gnnplan sweep");
    const std::string doctype = "<!DOCTYPE html>\n";
    ASSERT_THAT(page, ::testing::StartsWith(doctype));
    EXPECT_EQ(testing::xml_error(page.substr(doctype.size())), "");
    for (const char* part :
         {"<td class=\"number\">*10 ms</td>", "<li>a sentence</li>", "machine &lt;m&gt;", "Model: gcn 8-4, training",
          "prefers-color-scheme: dark", "<details>", "kept ÂX:", "gnnplan sweep"}) {
        EXPECT_THAT(page, HasSubstr(part));
    }
    for (const char* part : {"<pre", "<script", "<link"}) EXPECT_THAT(page, ::testing::Not(HasSubstr(part)));
}

const PlotSeries& series_of(const PlotPanel& panel, const std::string& name) {
    for (const PlotSeries& series : panel.series) {
        if (series.name == name) return series;
    }
    throw std::runtime_error("no series " + name);
}

TEST(SweepPlot, TimeAlongRanksThenTheFrontsOfTheFastest) {
    const auto panels = sweep_panels(sample());
    ASSERT_EQ(panels.size(), 2U);
    EXPECT_EQ(panels[0].x.title, "ranks");
    EXPECT_TRUE(panels[0].x.log);
    EXPECT_EQ(panels[0].y.title, "epoch [ms]");
    ASSERT_EQ(panels[0].series.size(), 3U);
    const PlotSeries& first = series_of(panels[0], "1d");
    ASSERT_EQ(first.points.size(), 2U);
    EXPECT_EQ(first.points[0].x, 4);
    EXPECT_DOUBLE_EQ(first.points[1].y, 10);
    EXPECT_TRUE(first.points[1].chosen);
    EXPECT_FALSE(first.points[0].chosen);
    // Points that do not fit are there, too.
    ASSERT_EQ(first.missing.size(), 1U);
    EXPECT_EQ(first.missing[0].x, 2);
    EXPECT_EQ(panels[1].title, "Pareto front of time and memory, 8 ranks");
    EXPECT_EQ(panels[1].x.title, "peak memory per rank [MiB]");
    EXPECT_EQ(series_of(panels[1], "rdm").points[0].x, 1);
    EXPECT_FALSE(series_of(panels[1], "rdm").points[0].chosen);
    EXPECT_TRUE(series_of(panels[1], "1d").points[0].chosen);
    ASSERT_EQ(panels[1].limits.size(), 1U);
    EXPECT_EQ(panels[1].limits[0].text, "limit 1 GiB");
    EXPECT_EQ(testing::xml_error(draw_svg("t", "d", panels, {})), "");
}

TEST(SweepPlot, TiesAreShadedAndIdealScalingIsDrawn) {
    const PlotPanel panel = sweep_panels(sample())[0];
    ASSERT_EQ(panel.bands.size(), 1U);
    EXPECT_EQ(panel.bands[0].name, "a tie with the fastest, within 25 %");
    ASSERT_EQ(panel.bands[0].spans.size(), 3U);
    EXPECT_DOUBLE_EQ(panel.bands[0].spans[1].low, 70);
    EXPECT_DOUBLE_EQ(panel.bands[0].spans[1].high, 87.5);
    const PlotSeries& ideal = series_of(panel, "ideal scaling");
    EXPECT_DOUBLE_EQ(ideal.points[0].y, 50);
    EXPECT_DOUBLE_EQ(ideal.points[2].y, 12.5);
    const auto alone = sweep_panels(sweep_of({numbers("hidden", {16, 64})}, [](const auto&) { return 10; }));
    EXPECT_EQ(alone[0].bands[0].name, "a tie, within 25 %");
    EXPECT_DOUBLE_EQ(alone[0].bands[0].spans[0].low, 8);
    EXPECT_DOUBLE_EQ(alone[0].bands[0].spans[0].high, 12.5);
}

TEST(SweepPlot, ManySeriesBecomeSeveralPanelsOrTheFastestOnes) {
    const std::vector<std::string> schemes{"1d", "1.5d", "2d", "3d", "rdm", "paper", "full"};
    const auto time = [](const auto& at) { return 1 + static_cast<double>(at[0].size()); };
    const auto panels = sweep_panels(
        sweep_of({names("scheme", schemes), numbers("ranks", {2, 4}), numbers("hidden", {16, 64, 256, 1024})}, time));
    ASSERT_EQ(panels.size(), 5U);
    EXPECT_EQ(panels[3].title, "Epoch time of the best plan, hidden=1024");
    for (const PlotPanel& panel : panels) EXPECT_LE(panel.series.size(), most_series);
    // One legend serves all of them.
    const std::string svg = draw_svg("t", "", panels, {});
    EXPECT_EQ(svg.find(">1d</text>"), svg.rfind(">1d</text>"));
    EXPECT_EQ(panels[0].series[0].name, "1d");
    EXPECT_EQ(panels[3].series[0].name, "1d");
    const auto fewer =
        sweep_panels(sweep_of({numbers("layers", {2, 3, 4, 5, 6, 7, 8, 9, 10}), numbers("ranks", {2, 4})}, time));
    EXPECT_EQ(fewer.size(), 2U);
    EXPECT_EQ(fewer[0].title, "Epoch time of the best plan, the 8 fastest of 9");
}

TEST(SweepPlot, AnInferenceHasNoEpochs) {
    Sweep sweep = sample();
    for (SweepPoint& point : sweep.points) {
        if (point.best) point.best->configuration.backward = {};
    }
    const auto panels = sweep_panels(sweep);
    EXPECT_EQ(panels[0].title, "Load + pass time of the best plan");
    EXPECT_EQ(panels[0].y.title, "load + pass [ms]");
    EXPECT_THAT(draw_svg("", "", panels, {}), ::testing::Not(::testing::ContainsRegex("[Ee]poch")));
}

TEST(SweepPlot, AxesHaveScaledUnits) {
    const auto title = [](const char* name, const std::vector<double>& values, const std::vector<std::string>& ticks) {
        Variation variation{name, name, {}};
        for (const double value : values) variation.settings.push_back({"as typed", value});
        const PlotPanel panel = sweep_panels(sweep_of({variation}, [](const auto&) { return 1; }))[0];
        for (std::size_t i = 0; i < ticks.size(); ++i) EXPECT_EQ(panel.x.ticks.at(i).text, ticks[i]);
        return panel.x.title;
    };
    EXPECT_EQ(title("memory", {0x1p34, 0x1p35}, {"16", "32"}), "memory per rank [GiB]");
    EXPECT_EQ(title("bandwidth", {1e9, 2.5e10}, {"1", "25"}), "link bandwidth [GB/s]");
    EXPECT_EQ(title("hidden", {16, 64}, {"as typed"}), "width of hidden layers");
}

TEST(SweepPlot, TimesOverTheBandwidthHaveTheirCrossingMarked) {
    LinkBreakEven link;
    link.settings = "8 ranks";
    link.link = "inter_node";
    link.bytes_per_second = 8e9;
    link.choice = "1d";
    link.changes = {{0.5e9, "3d", "rdm"}, {2e9, "rdm", "1d"}, {32e9, "1d", "2d"}, {90e9, "2d", "3d"}};
    link.rates = {1e6, 1e9, 2e9, 4e9, 8e9, 16e9, 1e15};
    link.curves = {{"1d", {9, 4e-3, 2e-3, 1e-3, 5e-4, 4e-4, 1e-4}}, {"rdm", {8, 3e-3, 2e-3, 2e-3, 1e-3, 9e-4, 1e-4}}};
    const PlotPanel panel = link_panel(link, sample().machine);
    EXPECT_EQ(panel.title, "Time over the bandwidth between nodes, 8 ranks");
    EXPECT_EQ(panel.x.title, "bandwidth of the link [GB/s]");
    std::vector<std::string> marks;
    for (const PlotLimit& limit : panel.limits) marks.push_back(limit.text);
    EXPECT_EQ(marks, (std::vector<std::string>{"changes at 2 GB/s", "changes at 32 GB/s", "now 8 GB/s"}));
    EXPECT_EQ(panel.limits[0].at, 2);
    ASSERT_EQ(panel.series.size(), 2U);
    // Rates that are far from all marks are left out.
    ASSERT_EQ(panel.series[1].points.size(), 5U);
    EXPECT_EQ(panel.series[1].points.front().x, 1);
    EXPECT_EQ(panel.series[0].points[1].y, panel.series[1].points[1].y);  // they cross where the mark is
    EXPECT_EQ(testing::xml_error(draw_svg("t", "d", {panel}, {})), "");
}

TEST(SweepPlot, SchemesWithoutAPointAreNotInTheLegend) {
    Sweep sweep = sample();
    for (SweepPoint& point : sweep.points) {
        if (sweep.variations[0].settings[point.at[0]].text != "rdm") continue;
        point.best.reset();
        point.pareto.clear();
        point.code = ErrorCode::usage;  // not applicable
    }
    const std::string svg = draw_svg("t", "", sweep_panels(sweep), {});
    EXPECT_THAT(svg, HasSubstr(">1d</text>"));
    EXPECT_THAT(svg, ::testing::Not(HasSubstr(">rdm</text>")));
}

TEST(SweepPlot, NothingVariedHasOneFront) {
    Sweep sweep;
    sweep.points.resize(1);
    sweep.points[0].pareto = {ranked(2, 100), ranked(1, 200)};
    sweep.points[0].best = sweep.points[0].pareto.back();
    const auto panels = sweep_panels(sweep);
    ASSERT_EQ(panels.size(), 1U);
    EXPECT_EQ(panels[0].series[0].points.size(), 2U);
}

}  // namespace
}  // namespace gnnplan::tools
