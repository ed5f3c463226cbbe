#include "planner/io/profile.hpp"

#include "planner/io/fingerprint.hpp"
#include "planner/io/machine.hpp"
#include "planner/io/plan.hpp"
#include "tests/planner/io/expect_error.hpp"
#include "tests/planner/io/samples.hpp"

#include <nlohmann/json.hpp>

namespace gnnplan::io {
namespace {

using nlohmann::json;
using test::expect_error;
using test::sample_machine;
using test::sample_profile;

TEST(Profile, RoundTrip) {
    const std::string text = write_profile(sample_profile());
    const Profile profile = read_profile(text, "p.json");
    EXPECT_EQ(write_profile(profile), text);
    const Calibration& calibration = profile.machine.calibration.value();
    EXPECT_EQ(calibration.gather.at(0).costs.at(1).seconds_per_nonzero, 2.5e-9);
    EXPECT_EQ(calibration.gather.at(0).seconds_per_row_again, 5e-9);
    EXPECT_FALSE(calibration.gather.at(1).seconds_per_row_again.has_value());
    EXPECT_EQ(calibration.gemm.at(1).product, GemmKind::weight_gradient);
    EXPECT_EQ(calibration.streams.at(1).stream, ElementwiseKind::activate_dropout);
    EXPECT_EQ(calibration.programs.at(1).program, Program::attend);
    EXPECT_EQ(calibration.programs.at(1).heads, 8);
    EXPECT_FALSE(calibration.programs.at(0).dropout);
    EXPECT_TRUE(calibration.programs.at(1).dropout);
    EXPECT_EQ(calibration.programs.at(1).nonzero.seconds_per_column, 2e-11);
    EXPECT_EQ(calibration.programs.at(1).row.seconds, 1e-8);
    EXPECT_EQ(calibration.programs.at(1).working_set_bytes, 8388608);
    EXPECT_EQ(calibration.programs.at(1).waiting, 0.75);
    EXPECT_EQ(calibration.reduce_scatter.value().latency_seconds, 4e-6);
    EXPECT_EQ(calibration.redistribution.value().latency_seconds, 5e-6);
    EXPECT_EQ(calibration.loss.value().seconds_per_logit, 3e-10);
    EXPECT_EQ(calibration.all_reduce.value().segments.size(), 1U);
    EXPECT_EQ(profile.machine.intra_node.segments.at(1).from_bytes, 65536);
    EXPECT_EQ(profile.fingerprint.value().threads, 2);
    EXPECT_EQ(profile.samples.at(0).at, (std::vector<std::int64_t>{200000, 128, 40}));
    EXPECT_EQ(json::parse(text)["samples"][1]["seconds"], json::parse("[1e-06]"));
}

TEST(Profile, KeepsTheRatesOfMessagesInBf16) {
    Profile profile = sample_profile();
    profile.machine.calibration->streams.push_back({ElementwiseKind::narrow, 1048576, 6e10});
    profile.machine.calibration->streams.push_back({ElementwiseKind::widen, 1048576, 7e10});
    const std::string text = write_profile(profile);
    EXPECT_NE(text.find("\"narrow\""), std::string::npos);
    const Profile again = read_profile(text, "p.json");
    EXPECT_EQ(write_profile(again), text);
    EXPECT_EQ(again.machine.calibration->streams.at(3).stream, ElementwiseKind::widen);
    EXPECT_EQ(again.machine.calibration->streams.at(3).bytes_per_second, 7e10);
}

TEST(Profile, KeepsWhatPassingRowsCosts) {
    Profile profile = sample_profile();
    profile.machine.calibration->gather.at(0).passing = PassingCost{6e-9, 4e-8};
    const Profile again = read_profile(write_profile(profile), "p.json");
    const std::vector<GatherCurve>& gather = again.machine.calibration.value().gather;
    EXPECT_EQ(gather.at(0).passing.value().seconds_per_row, 6e-9);
    EXPECT_EQ(gather.at(0).passing.value().seconds_per_change, 4e-8);
    EXPECT_FALSE(gather.at(1).passing.has_value());
}

TEST(Profile, KeepsTheStateOfTheMachine) {
    Profile profile = sample_profile();
    EXPECT_FALSE(read_profile(write_profile(profile), "p.json").machine.calibration.value().probe.has_value());
    const ProbeFigures figures{1 << 28, 1e11, 2e10, 3e10, 1e10, 5e9, {}};
    ProbeFigures slow = figures;
    slow.far_bytes_per_second = 0.5e10;
    profile.machine.calibration->probe = ProbeReference{"A CPU", 2, figures, slow, figures};
    profile.machine.probe = slow;
    const std::string text = write_profile(profile);
    const Machine again = read_profile(text, "p.json").machine;
    EXPECT_EQ(again.calibration.value().probe, profile.machine.calibration->probe);
    EXPECT_EQ(again.probe, slow);
    EXPECT_FALSE(json::parse(text)["probe"].contains("between_bytes_per_second"));
    json wrong = json::parse(text);
    wrong["calibration"]["probe"]["least"]["far_bytes_per_second"] = 0;
    expect_error([&] { read_profile(wrong.dump(), "p.json"); }, ErrorCode::data,
                 "calibration.probe.least.far_bytes_per_second must be positive");
}

TEST(Profile, KeepsWhatLoadingTakesIfItWasMeasured) {
    Profile profile = sample_profile();
    EXPECT_FALSE(read_profile(write_profile(profile), "p.json").machine.calibration.value().loading.has_value());
    profile.machine.calibration->loading = LoadingCost{1.25e-7, 5e-8, 2.5e-8, 0};
    const std::string text = write_profile(profile);
    EXPECT_EQ(read_profile(text, "p.json").machine.calibration.value().loading, profile.machine.calibration->loading);
    EXPECT_EQ(json::parse(text)["calibration"]["loading"]["parse_seconds_per_edge"], 1.25e-7);
    const json negative = json::parse(text).patch(
        json::parse(R"([{"op": "replace", "path": "/calibration/loading/cut_seconds_per_nonzero", "value": -1}])"));
    expect_error([&] { read_profile(negative.dump(), "p.json"); }, ErrorCode::data, "cut_seconds_per_nonzero");
}

TEST(Profile, ABareMachineIsOne) {
    const Profile profile = read_profile(write_machine(sample_machine()), "m.json");
    EXPECT_FALSE(profile.fingerprint.has_value());
    EXPECT_FALSE(profile.machine.calibration.has_value());
    EXPECT_TRUE(profile.samples.empty());
    EXPECT_EQ(write_profile(profile), write_machine(sample_machine()));
    for (const char* key : {"calibration", "segments", "fingerprint", "samples"}) {
        EXPECT_EQ(write_machine(sample_machine()).find(key), std::string::npos) << key;
    }
}

TEST(Profile, AsAMachineLosesItsSamplesOnly) {
    const Machine machine = read_machine(write_profile(sample_profile()), "p.json");
    EXPECT_EQ(write_machine(machine), write_machine(sample_profile().machine));
    EXPECT_EQ(json::parse(write_machine(machine)).contains("samples"), false);
}

TEST(Profile, APlanEmbedsTheCalibration) {
    Plan plan = test::sample_plan();
    plan.machine = sample_profile().machine;
    const std::string text = write_plan(plan);
    const Plan read = read_plan(text, "plan.json");
    EXPECT_EQ(write_plan(read), text);
    EXPECT_EQ(machine_fingerprint(read.machine), machine_fingerprint(plan.machine));
    EXPECT_EQ(json::parse(text)["machine"]["calibration"]["error_median"], 0.0625);
    plan.machine.calibration.reset();
    EXPECT_NE(machine_fingerprint(read.machine), machine_fingerprint(plan.machine));
}

TEST(Profile, MistakesAreNamed) {
    const auto refused = [](const char* op, const char* path, const json& value, const char* message) {
        const json document = json::parse(write_profile(sample_profile()));
        const std::string text = document.patch({{{"op", op}, {"path", path}, {"value", value}}}).dump();
        expect_error([&] { read_profile(text, "p.json"); }, ErrorCode::data, message);
    };
    refused("add", "/calibration/colour", 1, "p.json: calibration: unknown key \"colour\"");
    refused("remove", "/calibration/gather", 1, "missing key \"gather\"");
    refused("remove", "/fingerprint/cpu", 1, "missing key \"cpu\"");
    refused("replace", "/calibration/gemm/0/product", "sideways", "expected one of forward, input_gradient");
    refused("replace", "/calibration/gemm/0/columns", 0, "calibration.gemm[0].columns");
    refused("replace", "/calibration/overlap_slowdown", 0.5,
            "calibration.overlap_slowdown must be finite and at least 1");
    refused("replace", "/calibration/lent_panel_seconds", -1, "calibration.lent_panel_seconds");
    refused("replace", "/calibration/overlapping/exposed", 1.5,
            "calibration.overlapping.exposed must be between 0 and 1");
    refused("replace", "/intra_node/segments/1/from_bytes", 0, "intra_node.segments[1].from_bytes");
    refused("replace", "/samples/0/seconds/0", -1, "samples[0].seconds[0]");
}

}  // namespace
}  // namespace gnnplan::io
