// How the GPUs of several ranks exchange: the CUDA backend compiled for the processor, with a stand-in for NCCL between
// threads and between processes.
#include "runtime/deploy/report.hpp"
#include "tests/tools/gnnrun/gnnrun_fixture.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <vector>

namespace gnnplan::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class DeviceExchange : public Gnnrun {
protected:
    // `nccl`: what FAKE_NCCL says.
    Outcome on_gpus(int gpus, const std::string& arguments, const std::string& nccl = {},
                    const std::string& launcher = {}) const {
        return run("GNNPLAN_HOST_CUDA='gpus=" + std::to_string(gpus) + "' GNNPLAN_CUDA_MODULE=" + CUDA_ON_HOST_MODULE +
                   " GNNPLAN_NCCL=" + FAKE_NCCL_LIBRARY + " FAKE_NCCL='" + nccl + "' " + launcher + " " + program +
                   " --threads 1 --backend cuda --spmm whole --data @graph " + arguments);
    }
    // The run of the plan of four ranks over this way has this name for it, the bytes that were predicted, and the
    // losses of the processor.
    void expect_right(const std::string& how, const std::string& name, const std::string& launcher = {}) {
        const std::string rest = "@plan4.json --epochs 5 --dropout 0.5 ";
        const std::string ranks = launcher.empty() ? "--in-process " : "";
        const Outcome outcome =
            on_gpus(4, rest + ranks + "-v --exchange " + how + " --report @cuda.json", "", launcher);
        ASSERT_EQ(outcome.code, 0) << outcome.output;
        for (const char* gpu : {"rank 0 computes on GPU 0", "rank 3 computes on GPU 3"})
            EXPECT_THAT(outcome.output, HasSubstr(gpu));
        EXPECT_THAT(outcome.output, HasSubstr("devices exchange by: " + name));
        const RunReport run = report("cuda.json");
        EXPECT_EQ(run.device_exchange, name);
        EXPECT_EQ(deploy::byte_mismatch(run), std::nullopt);
        EXPECT_EQ(run.measured.peak_bytes_per_rank, run.predicted.peak_bytes_per_rank);
        ASSERT_EQ(gnnrun("--backend reference --in-process --data @graph " + rest + "--report @reference.json").code,
                  0);
        const RunReport reference = report("reference.json");
        ASSERT_EQ(run.epochs.size(), reference.epochs.size());
        for (std::size_t i = 0; i < run.epochs.size(); ++i)
            EXPECT_NEAR(run.epochs[i].loss, reference.epochs[i].loss, 1e-5);
    }
    // The run ends with 69 and these words, long before it would be given up.
    void expect_unavailable(const std::string& nccl, const std::string& words, const std::string& rest = {}) const {
        const auto begin = std::chrono::steady_clock::now();
        const Outcome outcome = on_gpus(4, "@plan4.json --in-process --epochs 3 --exchange nccl " + rest, nccl);
        EXPECT_EQ(outcome.code, 69) << outcome.output;
        EXPECT_THAT(outcome.output, HasSubstr(words)) << nccl;
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
    }
};

TEST_F(DeviceExchange, EveryWayHasTheSameLosses) {
    expect_right("auto", "NCCL 2.28.9");
    expect_right("nccl", "NCCL 2.28.9");
    expect_right("peers", "peers");
    expect_right("staged", "staged");
}

TEST_F(DeviceExchange, TakesWhatIsThere) {
    const std::string plan = "@plan4.json --in-process --epochs 1 --report @cuda.json";
    Outcome outcome = on_gpus(1, plan);
    ASSERT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_EQ(report("cuda.json").device_exchange, "peers");
    EXPECT_THAT(outcome.output, HasSubstr("NCCL wants a GPU for each rank"));
    outcome = on_gpus(4, plan, "version=2803");
    ASSERT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_EQ(report("cuda.json").device_exchange, "peers");
    EXPECT_THAT(outcome.output, HasSubstr("is NCCL 2.8.3"));
    outcome = on_gpus(4, "@plan1.json --epochs 1 --report @cuda.json");
    ASSERT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_EQ(report("cuda.json").device_exchange, std::nullopt) << "one rank exchanges nothing";
}

TEST_F(DeviceExchange, SaysWhyAWayIsNotThere) {
    expect_unavailable("version=2803", "is NCCL 2.8.3");
    Outcome outcome = on_gpus(1, "@plan4.json --in-process --exchange nccl");
    EXPECT_EQ(outcome.code, 69);
    EXPECT_THAT(outcome.output, HasSubstr("ranks share one"));
    outcome = run(std::string("GNNPLAN_HOST_CUDA=gpus=4 GNNPLAN_CUDA_MODULE=") + CUDA_ON_HOST_MODULE +
                  " GNNPLAN_NCCL=/nowhere/libnccl.so.2 " + program +
                  " --threads 1 --backend cuda --data @graph @plan4.json --in-process --exchange nccl");
    EXPECT_EQ(outcome.code, 69);
    EXPECT_THAT(outcome.output, AllOf(HasSubstr("/nowhere/libnccl.so.2"), HasSubstr("GNNPLAN_NCCL")));
    outcome = gnnrun("@plan4.json --in-process --data @graph --exchange peers");
    EXPECT_EQ(outcome.code, 64);
    EXPECT_THAT(outcome.output, HasSubstr("--exchange"));
}

#ifdef REAL_NCCL
// The library itself has all functions and a version that will do. Connecting needs a driver.
TEST_F(DeviceExchange, NcclItselfIsOpened) {
    const Outcome outcome = run(std::string("GNNPLAN_HOST_CUDA=gpus=4 GNNPLAN_CUDA_MODULE=") + CUDA_ON_HOST_MODULE +
                                " GNNPLAN_NCCL=" + REAL_NCCL + " " + program +
                                " --threads 1 --backend cuda --data @graph @plan4.json --in-process --exchange nccl");
    EXPECT_EQ(outcome.code, 69) << outcome.output;
    EXPECT_THAT(outcome.output, AllOf(HasSubstr("NCCL: connecting the GPUs of the ranks failed"), HasSubstr("driver")));
}
#endif

TEST_F(DeviceExchange, ErrorsOfNcclEndTheRun) {
    expect_unavailable("init=1", "connecting the GPUs of the ranks failed");
    expect_unavailable("fails=2", "failed");
    for (const char* rank : {"0", "2"})
        expect_unavailable(std::string("fails=9 rank=") + rank, "an exchange between GPUs failed");
}

TEST_F(DeviceExchange, AHangEndsWithTheStep) { expect_unavailable("hangs=9", "step", "--timeout 3s"); }

#ifdef MPIRUN
TEST_F(DeviceExchange, ConnectsProcesses) {
    const std::string launcher = std::string(MPIRUN) + " 4";
    expect_right("auto", "NCCL 2.28.9", launcher);
    expect_right("staged", "staged", launcher);
    const Outcome outcome = on_gpus(4, "@plan4.json --exchange peers", "", launcher);
    EXPECT_EQ(outcome.code, 69);
    EXPECT_THAT(outcome.output, HasSubstr("do not see each other's memory"));
}

TEST_F(DeviceExchange, AProcessThatDiesEndsTheOthers) {
    const Outcome outcome =
        on_gpus(4, "@plan4.json --epochs 3 --exchange nccl --timeout 20s", "dies=9 rank=1", std::string(MPIRUN) + " 4");
    EXPECT_NE(outcome.code, 0);
}
#endif

}  // namespace
}  // namespace gnnplan::tools
