// Sweeps without a search: combinations, lines, tables, CSV, pictures.
#include "tools/gnnplan/sweep_output.hpp"
#include "tests/tools/xml_check.hpp"
#include "tools/gnnplan/configuration_text.hpp"
#include "tools/gnnplan/sweep_plot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace gnnplan::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Ranked ranked(double seconds, std::int64_t peak, bool fits = true) {
    Ranked r;
    r.configuration.grid = {1, 4, 1};
    r.configuration.replication = 4;
    r.configuration.forward = parse_orders("SD");
    r.configuration.backward = parse_orders("SS");
    r.configuration.kept = {"T1", "T2"};
    r.predicted.epoch_seconds = seconds;
    r.predicted.total_bytes = 1500000;
    r.predicted.peak_bytes_per_rank = peak;
    r.executed = {82.5, 338};
    r.fits = fits;
    return r;
}

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
        } else {
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

TEST(Sweep, NamesTheFewestRanksWhereNothingFits) {
    Sweep sweep = sample();
    EXPECT_TRUE(nothing_fits_lines(sweep).empty());  // something fits on 4 and on 8 ranks
    for (SweepPoint& point : sweep.points) {
        if (point.at[0] == 1) continue;
        point.best.reset();
        point.code = ErrorCode::infeasible;
        point.why = "needs more";
        point.smallest_ranks = 16;
    }
    EXPECT_THAT(nothing_fits_lines(sweep), ElementsAre("scheme=1d: nothing fits on 2, 4, 8 ranks; 16 ranks would do"));
    for (SweepPoint& point : sweep.points) point.smallest_ranks.reset();
    EXPECT_THAT(nothing_fits_lines(sweep), ElementsAre("scheme=1d: nothing fits on 2, 4, 8 ranks; needs more"));

    const Sweep memory{{{"memory", "memory_bytes", {{"1GiB", 1073741824.0}}}},
                       {{{0}, {}, {}, {}, ErrorCode::infeasible, "needs more", 3}}};
    EXPECT_THAT(nothing_fits_lines(memory), ElementsAre("memory=1GiB: nothing fits; 3 ranks would do"));
}

TEST(ConfigurationText, LongNetworksAreShortAndStillThemselves) {
    Configuration configuration;
    configuration.scheme = "1d";
    configuration.grid = {4, 1, 1};
    for (int layer = 1; layer <= 40; ++layer) {
        configuration.forward.push_back(layer <= 30 ? Order::sparse_first : Order::dense_first);
        configuration.backward.push_back(Order::sparse_first);
        if (layer != 20) configuration.kept.push_back("T" + std::to_string(layer));
    }
    EXPECT_EQ(kept_text(configuration), "ÂX..ÂH18,ÂH20..ÂH39");
    EXPECT_THAT(configuration_text(configuration), HasSubstr(" S30D10 S40, kept ÂX..ÂH18"));
    configuration.kept = {"T1 across epochs", "T2", "T3", "T5"};
    EXPECT_EQ(kept_text(configuration), "ÂX across epochs,ÂH1,ÂH2,ÂH4");
}

TEST(Sweep, RanksAreTheMainVariationThenNumbers) {
    const Variation scheme{"scheme", "scheme", {{"1d", {}}}}, hidden{"hidden", "hidden", {{"8", 8.0}}},
        ranks{"ranks", "ranks", {{"2", 2.0}}};
    EXPECT_EQ(main_variation({}), std::nullopt);
    EXPECT_EQ(main_variation({scheme}), 0U);
    EXPECT_EQ(main_variation({scheme, hidden}), 1U);
    EXPECT_EQ(main_variation({hidden, scheme, ranks}), 2U);
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
    EXPECT_EQ(rows[1][column("best_kept")], "T1,T2");
    EXPECT_EQ(rows[1][column("best_grid")], "1x4");
    EXPECT_EQ(rows[1][column("epoch_seconds")], "0.01");
    EXPECT_EQ(rows[1][column("redistribution_units")], "82.5");
    EXPECT_EQ(rows[2][column("why")], "needs \"more\", much more");
    EXPECT_EQ(rows[2][column("epoch_seconds")], "");
}

TEST(SweepTable, SaysWhatWasChosenOrWhyNot) {
    const std::string table = sweep_table(sample(), false);
    EXPECT_THAT(table, HasSubstr("scheme  ranks  epoch  chosen"));
    EXPECT_THAT(table, HasSubstr("ÂX,ÂH1"));
    EXPECT_THAT(table, HasSubstr("needs \"more\", much more"));
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 7);
    Sweep fits = sample();
    fits.points.erase(fits.points.begin() + 1);
    EXPECT_THAT(sweep_table(fits, false), ::testing::Not(HasSubstr("why not")));
    // The fastest row stands out.
    EXPECT_THAT(sweep_table(sample(), true), HasSubstr("\033[1m    1d      8  10 ms"));
}

TEST(SweepPlot, TimeAlongRanksThenTheFrontsOfTheLast) {
    const auto panels = sweep_panels(sample());
    ASSERT_EQ(panels.size(), 2U);
    EXPECT_EQ(panels[0].x.title, "ranks");
    EXPECT_TRUE(panels[0].x.log);
    EXPECT_EQ(panels[0].y.title, "epoch [ms]");
    ASSERT_EQ(panels[0].series.size(), 2U);
    EXPECT_EQ(panels[0].series[0].name, "scheme=1d");
    ASSERT_EQ(panels[0].series[0].points.size(), 2U);  // one does not fit
    EXPECT_EQ(panels[0].series[0].points[0].x, 4);
    EXPECT_DOUBLE_EQ(panels[0].series[0].points[1].y, 10);
    EXPECT_THAT(panels[1].title, HasSubstr("ranks=8"));
    EXPECT_EQ(panels[1].x.title, "peak memory per rank [MiB]");
    EXPECT_EQ(panels[1].series[1].points[0].x, 1);
    EXPECT_EQ(testing::xml_error(draw_svg("t", "d", panels, {})), "");
}

TEST(SweepPlot, NothingVariedHasOneFront) {
    Sweep sweep;
    sweep.points.resize(1);
    sweep.points[0].pareto = {ranked(2, 100), ranked(1, 200)};
    const auto panels = sweep_panels(sweep);
    ASSERT_EQ(panels.size(), 1U);
    EXPECT_EQ(panels[0].series[0].points.size(), 2U);
}

}  // namespace
}  // namespace gnnplan::tools
