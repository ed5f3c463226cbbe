#include "planner/io/report.hpp"

#include "tests/planner/io/expect_error.hpp"
#include "tests/planner/io/samples.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace gnnplan::io {
namespace {

using nlohmann::json;
using test::expect_error;
using test::sample_report;

void expect_keys(const json& object, const std::vector<std::string>& keys) {
    for (const std::string& key : keys) EXPECT_TRUE(object.contains(key)) << key;
}

TEST(Report, RoundTrip) {
    const std::string text = write_report(sample_report());
    const RunReport report = read_report(text, "run.json");
    EXPECT_EQ(write_report(report), text);
    EXPECT_EQ(report.seed, ~std::uint64_t{0});
    EXPECT_EQ(report.epochs[0].judgement.accuracy.valid, std::nullopt);
    EXPECT_EQ(report.epochs[1].judgement.accuracy.valid, 1.0);
    EXPECT_EQ(report.fingerprints.content, "xxh64:3");
}

TEST(Report, HasTheKeysScriptsRelyOn) {
    const json report = json::parse(write_report(sample_report()));
    EXPECT_EQ(report["schema"], "gnnplan.run/1");
    expect_keys(report, {"ranks", "backend", "configuration", "epochs", "steps", "setup", "evaluation", "predicted",
                         "measured", "autotune", "tool_version", "command_line", "seed", "settings", "threads",
                         "communicator", "fingerprints"});
    expect_keys(report["epochs"][0], {"epoch", "loss", "train_accuracy", "valid_accuracy", "test_accuracy", "seconds"});
    EXPECT_TRUE(report["epochs"][0]["train_accuracy"].is_null());
    for (const char* part : {"steps", "setup", "evaluation"}) {
        expect_keys(report[part][0],
                    {"name", "kind", "rows", "columns", "group", "predicted_bytes", "counted_bytes",
                     "predicted_bytes_by_rank", "counted_bytes_by_rank", "predicted_seconds", "measured_seconds"});
    }
    EXPECT_EQ(report["measured"], json::parse(R"({"epoch_seconds": 0.1875, "total_bytes": 4096, "max_rank_bytes": 1024,
                                                  "peak_bytes_per_rank": 65536})"));
    EXPECT_EQ(report["autotune"], json::parse(R"({"tried": [{"candidate": 0, "epochs": 3, "median_seconds": 0.5},
                                                  {"candidate": 1, "epochs": 3, "median_seconds": 0.25}],
                                                  "chosen": 1})"));
    EXPECT_EQ(report["fingerprints"], json::parse(R"({"graph": "xxh64:1", "machine": "xxh64:2", "plan": "xxh64:3"})"));
}

TEST(Report, PlacementMayBeMissing) {
    RunReport report = sample_report();
    report.placement.reset();
    const std::string without = write_report(report);
    EXPECT_FALSE(json::parse(without).contains("placement"));
    EXPECT_EQ(read_report(without, "run.json").placement, std::nullopt);
    EXPECT_EQ(read_report(without, "run.json").probe, std::nullopt);
    report.probe = ProbeFigures{1 << 20, 1e11, 1e10, 1e10, 1e9, 1e9, {}};
    EXPECT_EQ(read_report(write_report(report), "run.json").probe, report.probe);
    report.placement = "threads run on processing units 0 | 1";
    EXPECT_EQ(read_report(write_report(report), "run.json").placement, report.placement);
}

TEST(Report, AccuraciesAreOfInferences) {
    RunReport report = sample_report();
    EXPECT_FALSE(json::parse(write_report(report)).contains("accuracies"));
    report.judgement.accuracy = {0.5, std::nullopt, 0.25};
    const std::string text = write_report(report);
    EXPECT_EQ(json::parse(text)["accuracies"], json::parse(R"({"train": 0.5, "valid": null, "test": 0.25})"));
    EXPECT_EQ(write_report(read_report(text, "run.json")), text);
}

TEST(Report, SeveralLabelsHaveOtherScores) {
    RunReport report = sample_report();
    report.epochs[1].judgement = {{}, {0.5, 0.25, std::nullopt}, {1, 0.75, 0.5}};
    report.runs[0].judgement = report.epochs[1].judgement;
    report.spreads[1].test = Spread{0.5, {}}, report.spreads[2].valid = Spread{0.75, 0.125};
    report.judgement.f1.test = 0.375;
    const std::string text = write_report(report);
    const json document = json::parse(text);
    const json& epoch = document["epochs"][1];
    EXPECT_TRUE(epoch["train_accuracy"].is_null());
    EXPECT_EQ(epoch["train_f1"], 0.5);
    EXPECT_EQ(epoch["valid_f1"], 0.25);
    EXPECT_FALSE(epoch.contains("test_f1"));
    EXPECT_EQ(epoch["valid_rocauc"], 0.75);
    EXPECT_EQ(document["runs"][0]["rocauc"], json::parse(R"({"train": 1, "valid": 0.75, "test": 0.5})"));
    EXPECT_EQ(document["f1_of_runs"]["test"]["mean"], 0.5);
    EXPECT_EQ(document["rocauc_of_runs"]["valid"]["deviation"], 0.125);
    EXPECT_EQ(document["f1"]["test"], 0.375);
    EXPECT_EQ(write_report(read_report(text, "run.json")), text);
}

TEST(Report, SettingsMayBeMissing) {
    RunReport report = sample_report();
    const json settings = json::parse(write_report(report))["settings"];
    EXPECT_EQ(
        settings,
        json::parse(R"({"epochs": 200, "learning_rate": 0.01, "lr_schedule": "step:100:0.5", "weight_decay": 0.0005,
                                        "decay_all": false, "decay": "weight=0.5", "dropout": 0.5,
                                        "input_dropout": 0.25,
                                        "feature_norm": "row", "keep_best": true, "best_by": "loss", "patience": 10,
                                        "first_weights": "w.safetensors"})"));
    report.settings.reset();
    const std::string without = write_report(report);
    EXPECT_FALSE(json::parse(without).contains("settings"));
    EXPECT_FALSE(read_report(without, "run.json").settings);
}

TEST(Report, DivergedLossIsNull) {
    RunReport report = sample_report();
    report.epochs[0].loss = std::numeric_limits<double>::infinity();
    const std::string text = write_report(report);
    EXPECT_TRUE(json::parse(text)["epochs"][0]["loss"].is_null());
    EXPECT_TRUE(std::isnan(read_report(text, "run.json").epochs[0].loss));
}

TEST(Report, MistakesAreNamed) {
    const auto refused = [](const char* op, const char* path, const json& value, const char* message) {
        const json document = json::parse(write_report(sample_report()));
        const std::string text = document.patch({{{"op", op}, {"path", path}, {"value", value}}}).dump();
        expect_error([&] { read_report(text, "run.json"); }, ErrorCode::data, message);
    };
    refused("add", "/steps/0/colour", 1, "run.json: steps[0]: unknown key \"colour\"");
    refused("add", "/autotune/colour", 1, "autotune: unknown key \"colour\"");
    refused("remove", "/measured/total_bytes", 1, "measured: missing key \"total_bytes\"");
    refused("replace", "/epochs/1/test_accuracy", "x", "epochs[1].test_accuracy: expected a number");
    refused("replace", "/epochs/1/seconds", -1, "epochs[1].seconds: expected a number from 0");
    refused("replace", "/steps/0/group", 0, "steps[0].group: expected an integer from 1");
    refused("replace", "/schema", "gnnplan.run/9", "schema: unknown version \"gnnplan.run/9\"");
}

TEST(Report, RunsOfSeveralSeedsAreListed) {
    RunReport report = sample_report();
    const json document = json::parse(write_report(report));
    EXPECT_EQ(document["runs"][0], json::parse(R"({"seed": 7, "epochs": 200, "loss": 0.5, "best": 90,
                                                   "accuracies": {"train": 1, "valid": 0.5, "test": null}})"));
    EXPECT_FALSE(document["runs"][1].contains("best"));
    EXPECT_EQ(document["accuracies_of_runs"], json::parse(R"({"train": {"mean": 0.75, "deviation": 0.25}, "valid": null,
                              "test": {"mean": 0.5, "deviation": null}})"));
    report.runs.clear(), report.spreads = {};
    const json one = json::parse(write_report(report));
    EXPECT_FALSE(one.contains("runs") || one.contains("accuracies_of_runs"));
}

TEST(Report, MetricsAreOneLineAnEpoch) {
    EXPECT_EQ(
        metrics_line(sample_report().epochs[1]),
        R"({"epoch": 2, "loss": 0.1, "train_accuracy": 0.5, "valid_accuracy": 1, "test_accuracy": 0, "seconds": 0.125})"
        "\n");
    EXPECT_EQ(json::parse(metrics_line(sample_report().epochs[1], 7))["seed"], 7) << "of several runs";
}

}  // namespace
}  // namespace gnnplan::io
