// gnnplan calibrate on GPUs, which plans and runs then use: the CUDA backend compiled for the processor.
#include "runtime/deploy/report.hpp"
#include "tests/tools/gnnrun/gnnrun_fixture.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <string>

namespace gnnplan::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CalibrateGpus : public Gnnrun {
protected:
    Outcome with_gpus(const std::string& command, const std::string& module = CUDA_ON_HOST_MODULE) const {
        return run("XDG_CACHE_HOME=" + path("cache") + " GNNPLAN_BUSY=0 GNNPLAN_CUDA_MODULE=" + module + " " + command);
    }
};

TEST_F(CalibrateGpus, PlansAndRunsUseIt) {
    Outcome outcome = with_gpus(std::string(GNNPLAN) + " calibrate --backend cuda --quick --largest 4KiB --seconds 0");
    ASSERT_EQ(outcome.code, 0) << outcome.output;
    const std::string kept = path("cache/gnnplan/machine-1x1-devices-threads.json");
    EXPECT_THAT(outcome.output, HasSubstr(kept));
    const auto profile = nlohmann::json::parse(io::read_file(kept));
    EXPECT_EQ(profile["accelerators"], true);
    EXPECT_EQ(profile["blocking"]["row_start_bytes"], 4);
    EXPECT_GT(profile["workspace_bytes"], 0);
    EXPECT_GT(profile["reserved_bytes"], 0) << "of values that every pass reads, at least";
    EXPECT_LT(profile["reserved_bytes"], 1 << 20);
    EXPECT_THAT(profile["fingerprint"]["device"].get<std::string>(), StartsWith("GPU 0 on fibres, driver for CUDA"));
    EXPECT_FALSE(profile["fingerprint"].contains("device_exchange")) << "one rank exchanges nothing";
    EXPECT_THAT(profile["fingerprint"]["kernels"].get<std::string>(), ::testing::EndsWith(", cuda"));
    EXPECT_FALSE(profile["calibration"]["corrections"].empty()) << "it has trained";

    outcome = with_gpus(std::string(GNNPLAN) + " plan --graph " + path("graph") +
                        " --ranks 1 --hidden 8 --machine cuda -o " + path("gpu.json"));
    ASSERT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_THAT(outcome.output, ::testing::Not(HasSubstr("stale")));
    EXPECT_EQ(nlohmann::json::parse(io::read_file(path("gpu.json")))["machine"]["accelerators"], true);
    outcome = with_gpus(std::string(program) + " " + path("gpu.json") + " --backend cuda --data " + path("graph") +
                        " --epochs 2 --report " + path("report.json"));
    ASSERT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_EQ(deploy::byte_mismatch(report("report.json")), std::nullopt);

    outcome = with_gpus(std::string(GNNPLAN) + " plan --graph cora --ranks 1 --machine cuda --probe");
    EXPECT_EQ(outcome.code, 64) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("is of GPUs, and processors are probed"));
    EXPECT_THAT(with_gpus(std::string(GNNPLAN) + " machines").output, HasSubstr("threads, on GPUs"));
    const std::string unasked = std::string(GNNPLAN) + " plan --graph " + path("graph") + " --ranks 1 --json";
    EXPECT_THAT(with_gpus("GNNPLAN_PROBE=off " + unasked).output, HasSubstr("cpu-node"));
}

TEST_F(CalibrateGpus, SaysWhatIsMissing) {
    Outcome outcome = with_gpus(std::string(GNNPLAN) + " calibrate --backend cuda", path("none.so"));
    EXPECT_EQ(outcome.code, 69) << outcome.output;
    EXPECT_THAT(outcome.output, AllOf(HasSubstr("--backend cuda"), HasSubstr("none.so")));
    outcome = with_gpus(std::string(GNNPLAN) + " calibrate --exchange peers");
    EXPECT_EQ(outcome.code, 64) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("--exchange: chooses how GPUs exchange, and this is --backend cpu"));
    outcome = with_gpus(std::string(GNNPLAN) + " plan --graph cora --ranks 2 --machine cuda");
    EXPECT_EQ(outcome.code, 66) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("gnnplan calibrate --backend cuda measures them"));
}

}  // namespace
}  // namespace gnnplan::tools
