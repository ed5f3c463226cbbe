// gnnplan sweep: grids of plans, files, break-even answers.
#include "tests/tools/tool.hpp"
#include "tests/tools/xml_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace gnnplan::testing {
namespace {

using ::testing::HasSubstr;

const std::string problem = "sweep --graph reddit --machine a6000x8 --space paper ";

TEST(SweepTool, EveryPointIsThePlanOfItsSettings) {
    const Outcome outcome = gnnplan(problem + "--json --vary ranks=2,8 --vary hidden=16,128");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto json = outcome.json();
    EXPECT_EQ(json["schema"], "gnnplan.sweep/1");
    EXPECT_EQ(json["variations"][0]["values"], (std::vector<int>{2, 8}));
    ASSERT_EQ(json["points"].size(), 4U);
    const auto& point = json["points"][2];
    EXPECT_EQ(point["settings"]["ranks"], 8);
    EXPECT_EQ(point["settings"]["hidden"], 16);
    const auto plan =
        gnnplan("plan --graph reddit --machine a6000x8 --space paper --ranks 8 --hidden 16 --json").json();
    EXPECT_EQ(point["best"]["configuration"], plan["configuration"]);
    EXPECT_EQ(point["best"]["epoch_seconds"], plan["predicted"]["epoch_seconds"]);
    // The front falls in time while memory rises, and its last point is the fastest plan.
    const auto& front = point["pareto"];
    ASSERT_FALSE(front.empty());
    for (std::size_t i = 1; i < front.size(); ++i) {
        EXPECT_LT(front[i]["epoch_seconds"], front[i - 1]["epoch_seconds"]);
        EXPECT_GT(front[i]["peak_bytes_per_rank"], front[i - 1]["peak_bytes_per_rank"]);
    }
    EXPECT_EQ(front.back()["epoch_seconds"], point["best"]["epoch_seconds"]);
}

TEST(SweepTool, BandwidthAndMemoryAreSizes) {
    const auto json =
        gnnplan(problem + "--ranks 8 --json --vary bandwidth=100MB,100GB --vary memory=600MB,1TiB").json();
    ASSERT_EQ(json["points"].size(), 4U);
    EXPECT_EQ(json["points"][0]["settings"]["bandwidth_bytes_per_second"], 100000000);
    EXPECT_EQ(json["points"][1]["settings"]["memory_bytes"], 1099511627776);
    // A slower link takes longer; less memory leaves less to choose from.
    EXPECT_GT(json["points"][1]["best"]["epoch_seconds"], json["points"][3]["best"]["epoch_seconds"]);
    EXPECT_LE(json["points"][0]["best"]["peak_bytes_per_rank"], 600000000);
    EXPECT_GT(json["points"][0]["best"]["epoch_seconds"], json["points"][1]["best"]["epoch_seconds"]);
}

TEST(SweepTool, SchemesAreComparedAlongTheRanks) {
    const std::string full = "sweep --graph reddit --machine a6000x8 --vary ranks=2,8,64 --vary scheme=1d,rdm ";
    const Outcome outcome = gnnplan(full);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, ::testing::ContainsRegex("ranks +1d +rdm +speed-up  efficiency\n"));
    EXPECT_THAT(outcome.out, ::testing::ContainsRegex("64 ranks: rdm is fastest, 1d "));
    EXPECT_THAT(outcome.out, ::testing::ContainsRegex("ranks are the fastest; [0-9]+ give [0-9]+ % of their speed"));
    const auto crossing = gnnplan(full + "--json").json()["crossings"][0];
    EXPECT_EQ(crossing["slower"], "1d");
    EXPECT_EQ(crossing["along"], "ranks");
    EXPECT_EQ(crossing["last"], "64");
    EXPECT_GT(crossing["ratio_at_last"], 1);
}

TEST(SweepTool, PointsThatCannotBePlannedSayWhy) {
    const auto json = gnnplan(problem + "--json --vary ranks=2,3 --replication 3").json();
    EXPECT_TRUE(json["points"][0]["best"].is_null());
    EXPECT_EQ(json["points"][0]["exit_code"], 64);
    EXPECT_NE(json["points"][0]["why"], "");
    EXPECT_FALSE(json["points"][1]["best"].is_null());

    const Outcome nothing = gnnplan(problem + "--ranks 2 --vary memory=1MB,2MB");
    EXPECT_EQ(nothing.code, 3);
    EXPECT_THAT(nothing.out, HasSubstr("per rank"));
    EXPECT_THAT(nothing.err, HasSubstr("no point of the sweep"));
}

TEST(SweepTool, FilesAreWritten) {
    const Folder folder;
    const std::string svg = folder / "s.svg", html = folder / "s.html", csv = folder / "s.csv";
    const std::string sweep = problem + "--vary ranks=2,4,8 --vary hidden=16,256 --csv " + csv;
    ASSERT_EQ(gnnplan(sweep + " --plot " + svg).code, 0);
    ASSERT_EQ(gnnplan(sweep + " --plot " + html).code, 0);
    EXPECT_EQ(xml_error(read_text(svg)), "");
    EXPECT_THAT(read_text(svg), HasSubstr("hidden=256"));
    EXPECT_THAT(read_text(svg), HasSubstr("a tie, within 25 %"));
    EXPECT_THAT(read_text(html), HasSubstr("<table>"));
    EXPECT_THAT(read_text(html), ::testing::StartsWith("<!DOCTYPE html>"));
    const std::string table = read_text(csv);
    EXPECT_THAT(table, ::testing::StartsWith("ranks,hidden,best_scheme,best_grid,"));
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 7);
    EXPECT_EQ(gnnplan(problem + "--plot /nonexistent/a.svg").code, 73);
}

TEST(SweepTool, LinksThatWouldChangeTheChoice) {
    const Outcome outcome = gnnplan(problem + "--ranks 8 --break-even bandwidth --json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto link = outcome.json()["bandwidth_break_even"][0];
    EXPECT_EQ(link["link"], "intra_node");
    ASSERT_FALSE(link["changes"].empty());
    double previous = 0;
    for (const auto& change : link["changes"]) {
        EXPECT_GT(change["bytes_per_second"], previous);
        EXPECT_NE(change["below"], change["above"]);
        previous = change["bytes_per_second"].get<double>();
    }
    // A sweep on both sides of a change sees it.
    const double at = link["changes"][0]["bytes_per_second"].get<double>();
    const auto around = [&](double factor) { return std::to_string(static_cast<std::int64_t>(at * factor)); };
    const auto points =
        gnnplan(problem + "--ranks 8 --json --vary bandwidth=" + around(0.98) + "," + around(1.02)).json()["points"];
    EXPECT_NE(points[0]["best"]["configuration"], points[1]["best"]["configuration"]);
    EXPECT_THAT(
        gnnplan(problem + "--ranks 8 --break-even bandwidth").out,
        ::testing::ContainsRegex("a link of [0-9.]+ .B/s or (slower|faster) would change the choice to rdm.*25 %"));
    EXPECT_THAT(gnnplan(problem + "--break-even bandwidth").out, HasSubstr("would change the choice"));
}

// Until a link that is further away, the model cannot tell the new choice from the present one.
TEST(SweepTool, BreakEvenPointsHaveTheErrorOfTies) {
    const std::string sweep = problem + "--ranks 8 --json";
    const auto json = gnnplan(sweep + " --break-even bandwidth").json();
    EXPECT_EQ(json["model_error"], 0.25);
    const auto link = json["bandwidth_break_even"][0];
    const double now = link["bytes_per_second"].get<double>();
    double nearest = 0;
    for (const auto& change : link["changes"]) {
        const double at = change["bytes_per_second"].get<double>();
        if (at < now) nearest = at;
    }
    ASSERT_GT(nearest, 0);
    ASSERT_FALSE(link["sure_when_slower"].is_null());
    EXPECT_LT(link["sure_when_slower"]["bytes_per_second"].get<double>(), nearest);
}

TEST(SweepTool, SaysLittleOfManySchemesAndLosesNothing) {
    const std::string sweep =
        "sweep --graph reddit --machine a6000x8 --vary hidden=16,64,256,1024 --vary ranks=8 --compare-schemes ";
    const Outcome outcome = gnnplan(sweep);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, ::testing::ContainsRegex("hidden +rdm +1d "));
    EXPECT_THAT(outcome.out, HasSubstr("full has no column of its own: its best is always "));
    EXPECT_THAT(outcome.out, ::testing::Not(HasSubstr("throughout")));
    EXPECT_LE(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 25);
    const auto json = gnnplan(sweep + "--json").json();
    EXPECT_EQ(json["points"].size(), 28U);
    EXPECT_LE(json["sentences"].size(), 10U);
    // Two digits of a machine that was not measured, and a word about them.
    EXPECT_THAT(outcome.out, ::testing::ContainsRegex("\\*[0-9]([0-9]|0+|\\.[0-9])? ms"));
    EXPECT_THAT(outcome.out, HasSubstr("True times are 1 to 6.3 times those"));
    EXPECT_EQ(json["sure"]["machine"], "preset");
    EXPECT_EQ(json["sure"]["time_factors"]["most"], 6.3);
}

TEST(SweepTool, EachPointHasTheAnswerWithDropout) {
    const std::string sweep = "sweep --graph reddit --machine a6000x8 --vary ranks=4,8 ";
    const auto constant = gnnplan(sweep + "--json").json()["points"];
    const auto dropped = gnnplan(sweep + "--dropout 0.5 --json").json()["points"];
    for (std::size_t i = 0; i < constant.size(); ++i) {
        EXPECT_EQ(constant[i]["with_feature_dropout"]["epoch_seconds"], dropped[i]["best"]["epoch_seconds"]);
        EXPECT_EQ(dropped[i]["without_feature_dropout"]["epoch_seconds"], constant[i]["best"]["epoch_seconds"]);
        EXPECT_TRUE(constant[i]["without_feature_dropout"].is_null());
        EXPECT_TRUE(dropped[i]["with_feature_dropout"].is_null());
    }
    const Folder folder;
    ASSERT_EQ(gnnplan(sweep + "--csv " + (folder / "sweep.csv")).code, 0);
    EXPECT_THAT(read_text(folder / "sweep.csv"),
                HasSubstr(",other_feature_dropout,other_scheme,other_epoch_seconds,least_seconds,most_seconds\n"));
    EXPECT_THAT(read_text(folder / "sweep.csv"), ::testing::ContainsRegex(",on,1d,0\\.0[0-9]+,"));
    const std::string text = gnnplan(sweep).out;
    EXPECT_THAT(text,
                ::testing::ContainsRegex("dropout  with dropout on the features \\(--dropout 0.5\\) an epoch takes "
                                         "3\\.[0-9] to 3\\.[0-9] times as long"));
    EXPECT_THAT(text, HasSubstr("1d 8x1 DD S-, 34 ms (ranks=8)"));
}

TEST(SweepTool, RangesAreToldHowToBeWritten) {
    const Outcome ranks = gnnplan(problem + "--vary ranks=2:8");
    EXPECT_EQ(ranks.code, 64);
    EXPECT_THAT(ranks.err, HasSubstr("--vary ranks: '2:8' is not a whole number"));
    EXPECT_THAT(ranks.err, HasSubstr("write every value: --vary ranks=2,4,8"));
    EXPECT_THAT(gnnplan(problem + "--vary hidden=16-100").err, HasSubstr("--vary hidden=16,32,64,100"));
    EXPECT_THAT(gnnplan(problem + "--vary bandwidth=fast").err, HasSubstr("--vary bandwidth: 'fast' is no size"));
    EXPECT_THAT(gnnplan(problem + "--vary ranks=8:2").err, ::testing::Not(HasSubstr("write every value")));
    EXPECT_THAT(gnnplan(problem + "--vary ranks=8:2").err, HasSubstr("write for example --vary ranks=2,4,8)"));
    const auto said = [](const std::string& values) { return gnnplan(problem + "--vary " + values).err; };
    EXPECT_THAT(said("bandwidth=10"), HasSubstr("write every value with its unit: --vary bandwidth=10GB)"));
    EXPECT_THAT(said("bandwidth=10GB/s"), HasSubstr("write for example --vary bandwidth=10GB,100GB)"));
    EXPECT_THAT(said("memory=8-32"), HasSubstr("write every value with its unit: --vary memory=8GiB,16GiB,32GiB)"));
    EXPECT_THAT(said("memory=16"), ::testing::Not(HasSubstr("16MiB"))) << "one hint, not two";
    EXPECT_THAT(said("memory"), HasSubstr("'memory' names no values (write for example --vary memory="));
    EXPECT_THAT(said("latency"), HasSubstr("'latency' cannot be varied (ranks, "));
}

TEST(SweepTool, WhatMemoryIsNeededDoesNotDependOnTheLimit) {
    const auto json = gnnplan(problem + "--ranks 2 --json --vary memory=1MiB,2MiB,1TiB").json();
    const auto& points = json["points"];
    EXPECT_EQ(points[0]["needed_bytes_per_rank"], points[1]["needed_bytes_per_rank"]);
    EXPECT_GT(points[0]["needed_bytes_per_rank"], 2 << 20);
    EXPECT_EQ(points[1]["memory_limit_bytes_per_rank"], 2 << 20);
    EXPECT_TRUE(points[2]["needed_bytes_per_rank"].is_null());
    EXPECT_THAT(points[0]["why"].get<std::string>(), ::testing::ContainsRegex("needs [0-9.]+ GiB of 1 MiB per rank"));
    EXPECT_THAT(gnnplan(problem + "--ranks 2 --vary memory=1MiB,1TiB").out,
                ::testing::ContainsRegex("OOM: needs [0-9.]+ GiB"));
}

// A bandwidth asked for takes the place of all that was measured of the link.
TEST(SweepTool, BandwidthOfAMeasuredLink) {
    const Folder folder;
    auto machine = gnnplan("machines show a6000x8 --json").json();
    for (const char* link : {"intra_node", "inter_node"}) {
        machine[link]["segments"] = {{{"from_bytes", 0}, {"latency_seconds", 1e-5}, {"bytes_per_second", 1e10}}};
    }
    machine["calibration"] = {{"error_median", 0.1},
                              {"error_p90", 0.2},
                              {"overlap_slowdown", 1.0},
                              {"gather", nlohmann::json::array()},
                              {"gemm", nlohmann::json::array()},
                              {"streams", nlohmann::json::array()},
                              {"redistribution", machine["intra_node"]}};
    write_text(folder / "m.json", machine.dump());
    const Outcome outcome = gnnplan("sweep --graph reddit --space paper --scheme rdm --ranks 8 --json --machine " +
                                    (folder / "m.json") + " --vary bandwidth=1MB,1GB");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto points = outcome.json()["points"];
    EXPECT_GT(points[0]["best"]["epoch_seconds"].get<double>(), 100 * points[1]["best"]["epoch_seconds"].get<double>());
}

TEST(SweepTool, WrongUsage) {
    for (const char* flags :
         {"--vary speed=1", "--vary ranks", "--vary ranks=", "--vary ranks=2,,4", "--vary ranks=0",
          "--vary ranks=20000", "--vary scheme=4d", "--vary grid=2y3", "--vary bandwidth=fast",
          "--vary ranks=2 --vary ranks=4", "--vary replication=3 --ranks 4", "--widths 4,3 --vary hidden=8",
          "--plot picture.png", "--break-even memory", "--break-even bandwidth --vary bandwidth=1GB,2GB"}) {
        const Outcome outcome = gnnplan(std::string("sweep --graph cora ") + flags);
        EXPECT_EQ(outcome.code, 64) << flags << "\n" << outcome.err;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << flags << "\n" << outcome.err;
        EXPECT_EQ(outcome.out, "") << flags;
    }
}

// A picture that nobody makes again shows an older program.
TEST(Sweep, ThePictureOfTheReadmeIsWhatItsCommandDraws) {
    const std::string root = GNNPLAN_SOURCES, kept = "docs/images/reddit.svg";
    const std::string picture = read_text(root + "/" + kept);
    const std::size_t begin = picture.find("<desc>") + 6;
    const std::string command = picture.substr(begin, picture.find("</desc>") - begin);
    EXPECT_THAT(read_text(root + "/README.md"), HasSubstr("`" + command + "`"));
    const Folder folder;
    const std::string drawn = folder / "reddit.svg", program = "gnnplan ";
    const auto with = [](std::string text, const std::string& before, const std::string& after) {
        return text.replace(text.find(before), before.size(), after);
    };
    ASSERT_THAT(command, ::testing::StartsWith(program));
    const Outcome outcome = gnnplan(with(command.substr(program.size()), kept, drawn));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("wrote " + drawn + "\n"));
    const std::string again = read_text(drawn);
    const std::size_t said = again.find("<desc>") + 6;
    EXPECT_EQ(again.substr(0, said) + command + again.substr(again.find("</desc>")), picture)
        << "make it again: " << command;
}

}  // namespace
}  // namespace gnnplan::testing
