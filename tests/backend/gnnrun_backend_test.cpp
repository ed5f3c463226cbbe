// gnnrun --backend cuda: what it says where something is missing, and that it trains through a module.
#include "runtime/comm/device_exchange.hpp"
#include "runtime/deploy/match.hpp"
#include "runtime/deploy/report.hpp"
#include "tests/tools/gnnrun/gnnrun_fixture.hpp"

#include <gnnplan/base/cuda_workspace.hpp>

#include <gmock/gmock.h>

#include <map>

namespace gnnplan::tools {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class GnnrunBackend : public Gnnrun {
protected:
    // Trains on the backend that the module offers; without a module, on what this machine has.
    Outcome on_cuda(const std::string& module, const std::string& arguments) const {
        return run("GNNPLAN_CUDA_MODULE='" + module + "' " + program + " --threads 1 --backend cuda --data @graph " +
                   arguments);
    }
    // The CUDA backend compiled for the processor, with a GPU of this kind: see tests/support/host_runtime.
    Outcome on_machine(const std::string& gpu, const std::string& arguments) const {
        return run("GNNPLAN_NCCL=/none GNNPLAN_HOST_CUDA='" + gpu + "' GNNPLAN_CUDA_MODULE=" + CUDA_ON_HOST_MODULE +
                   " " + program + " --threads 1 --backend cuda --data @graph " + arguments);
    }
    void expect_unavailable(const std::string& module, const std::string& words) const {
        const Outcome outcome = on_cuda(module, "@plan1.json");
        EXPECT_EQ(outcome.code, 69) << outcome.output;
        EXPECT_THAT(outcome.output, HasSubstr(words));
        EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 1) << outcome.output;
    }
};

std::vector<double> losses(const RunReport& report) {
    std::vector<double> losses;
    for (const EpochRecord& epoch : report.epochs) losses.push_back(epoch.loss);
    return losses;
}

TEST_F(GnnrunBackend, SaysWhatIsMissing) {
    expect_unavailable("/nowhere/module.so", "/nowhere/module.so: cannot open shared object file: No such file");
    expect_unavailable(path("plan1.json"), "plan1.json: ");
    expect_unavailable(LACKING_MODULE, "cannot be opened: libgnnplan_absent.so: cannot open shared object file");
    expect_unavailable(OTHER_BUILD_MODULE, "is of another build of gnnplan");
    expect_unavailable(ABSENT_LIBRARY, "is no module of gnnplan");
}

// As after tools/quickstart, which builds no module.
TEST_F(GnnrunBackend, SaysHowToBuildAModuleThatIsNotThere) {
    ASSERT_EQ(run("cp " + std::string(program) + " @alone").code, 0);
    const Outcome outcome = run("env -u GNNPLAN_CUDA_MODULE @alone --backend cuda --data @graph @plan1.json");
    EXPECT_EQ(outcome.code, 69) << outcome.output;
    EXPECT_THAT(outcome.output, AnyOf(HasSubstr("was not built: libgnnplan_cuda.so"),
                                      HasSubstr("this program was built without it (tools/install-packages cuda")));
}

// A build without the module, or a machine without a driver or a GPU, gets one line; any other gets a run.
TEST_F(GnnrunBackend, TrainsOnAGpuOrSaysWhyNot) {
    const Outcome outcome = on_cuda("", "@plan1.json --epochs 3 --report @cuda.json");
    if (outcome.code != 69) {
        EXPECT_EQ(outcome.code, 0) << outcome.output;
        EXPECT_EQ(report("cuda.json").backend, "cuda");
        return;
    }
    const char* reason = HAVE_CUDA ? "cuda: " : "--backend cuda: this program was built without it";
    EXPECT_THAT(outcome.output, HasSubstr(std::string("error: ") + reason));
    EXPECT_THAT(outcome.output, AnyOf(HasSubstr("built without"), HasSubstr("no NVIDIA driver"),
                                      HasSubstr("driver is for CUDA"), HasSubstr("no GPU")));
    EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 1) << outcome.output;
}

// The emulated device computes with the reference kernels, and the host that touches its memory is killed.
TEST_F(GnnrunBackend, TrainsOnTheDeviceOfAModule) {
    const std::string rest = "@plan1.json --epochs 5 --dropout 0.5 --save-weights @w.st --save-embeddings @e.npy -v ";
    const Outcome outcome = on_cuda(EMULATED_MODULE, rest + "--report @cuda.json");
    ASSERT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("rank 0 computes on an emulated device for rank 0"));
    const RunReport run = report("cuda.json");
    EXPECT_EQ(run.backend, "cuda");
    EXPECT_EQ(deploy::byte_mismatch(run), std::nullopt);
    const std::string weights = io::read_file(path("w.st"));
    const std::string embeddings = io::read_file(path("e.npy"));
    ASSERT_EQ(gnnrun("--backend reference --data @graph " + rest + "--report @reference.json").code, 0);
    EXPECT_EQ(losses(run), losses(report("reference.json")));
    EXPECT_EQ(weights, io::read_file(path("w.st")));
    EXPECT_EQ(embeddings, io::read_file(path("e.npy")));
}

// The device and the kernels of CUDA, compiled for the processor: the stream works when it is waited for, kernels run
// on fibres, and the host that touches the device's memory is killed. Sums are added up in another order than the
// reference's, so values differ in their last places.
TEST_F(GnnrunBackend, TrainsOnTheCudaDeviceWithoutAGpu) {
    const std::string rest = "@plan1.json --epochs 10 --dropout 0.5 --save-embeddings @e.npy -v ";
    const std::string one_kernel = "--spmm whole ";
    const Outcome outcome = on_cuda(CUDA_ON_HOST_MODULE, rest + one_kernel + "--report @cuda.json");
    ASSERT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("rank 0 computes on GPU 0 on fibres"));
    const RunReport run = report("cuda.json");
    EXPECT_EQ(deploy::byte_mismatch(run), std::nullopt);
    const std::string embeddings = io::read_file(path("e.npy"));
    ASSERT_EQ(on_cuda(CUDA_ON_HOST_MODULE, rest + one_kernel + "--report @again.json").code, 0);
    EXPECT_EQ(losses(run), losses(report("again.json"))) << "the same run, the same bits";
    EXPECT_EQ(embeddings, io::read_file(path("e.npy")));
    ASSERT_EQ(gnnrun("--backend reference --data @graph " + rest + "--report @reference.json").code, 0);
    constexpr double tolerance = 1e-5;
    EXPECT_THAT(losses(run), ::testing::Pointwise(::testing::DoubleNear(tolerance), losses(report("reference.json"))));
}

// Kernels are timed before features are there, which wait for the setup where timed products have their results.
TEST_F(GnnrunBackend, TimingKernelsLeavesFeaturesAlone) {
    for (const int id : {4, 5, 8}) {
        save(train::testing::make_plan(dataset_, 2, true, 1, {{1, id, true, true}}), "setup.json");
        const std::string rest = "@setup.json --epochs 3 --report ";
        ASSERT_EQ(on_cuda(CUDA_ON_HOST_MODULE, rest + "@cuda.json").code, 0);
        ASSERT_EQ(gnnrun("--backend reference --data @graph " + rest + "@reference.json").code, 0);
        EXPECT_FALSE(report("cuda.json").setup.empty()) << "a product is made once";
        constexpr double tolerance = 1e-5;
        EXPECT_THAT(losses(report("cuda.json")),
                    ::testing::Pointwise(::testing::DoubleNear(tolerance), losses(report("reference.json"))));
    }
}

// The fastest kernel differs from time to time, but each one that can multiply was timed.
TEST_F(GnnrunBackend, ChoosesAmongKernelsForProducts) {
    const auto kernels_of = [&](const std::string& rest) {
        const std::string large_l2 = "GNNPLAN_HOST_CUDA=l2=33554432 GNNPLAN_CUDA_MODULE=";
        const Outcome outcome = run(large_l2 + CUDA_ON_HOST_MODULE + " " + program +
                                    " --threads 1 --backend cuda --data @graph @plan1.json --epochs 3 "
                                    "--report @kernels.json " +
                                    rest);
        EXPECT_EQ(outcome.code, 0) << outcome.output;
        std::vector<std::vector<ProductKernel>> kernels;
        for (const StepRecord& step : report("kernels.json").steps) {
            EXPECT_EQ(step.kernels.empty(), step.kind != "spmm") << step.name;
            if (!step.kernels.empty()) kernels.push_back(step.kernels);
        }
        EXPECT_FALSE(kernels.empty());
        return kernels;
    };
    for (const auto& kernels : kernels_of("")) {
        ASSERT_EQ(kernels.size(), 3U);
        EXPECT_TRUE(kernels[0].seconds) << "the fastest comes first";
        for (const ProductKernel& kernel : kernels) {
            EXPECT_NE(kernel.seconds.has_value(), kernel.why_not.has_value()) << kernel.name;
            EXPECT_LE(kernels[0].seconds, kernel.seconds.value_or(1e9)) << kernel.name;
            EXPECT_EQ(kernel.why_not.has_value(), kernel.name == "sliced") << "a small operand stays in the L2";
        }
    }
    const std::vector<double> chosen = losses(report("kernels.json"));
    for (const auto& [wanted, taken] : {std::pair{"cusparse", "cusparse"}, {"whole", "whole"}, {"sliced", "whole"}}) {
        for (const auto& kernels : kernels_of(std::string("--spmm ") + wanted)) {
            ASSERT_EQ(kernels.size(), 3U);
            EXPECT_EQ(kernels[0].name, taken);
            for (const ProductKernel& kernel : kernels) EXPECT_FALSE(kernel.seconds) << "nothing is timed";
        }
        constexpr double tolerance = 1e-5;
        EXPECT_THAT(losses(report("kernels.json")), ::testing::Pointwise(::testing::DoubleNear(tolerance), chosen));
    }
    const Outcome elsewhere = gnnrun("--backend cpu --data @graph @plan1.json --spmm whole");
    EXPECT_EQ(elsewhere.code, 64) << elsewhere.output;
    EXPECT_THAT(elsewhere.output, HasSubstr("--backend cuda"));
}

TEST_F(GnnrunBackend, SaysWhatIsWrongWithTheGpu) {
    const auto expect = [&](const std::string& machine, int code, const std::string& words) {
        const Outcome outcome = on_machine(machine, "-q @plan1.json");
        EXPECT_EQ(outcome.code, code) << machine << outcome.output;
        EXPECT_THAT(outcome.output, HasSubstr("error: " + words)) << machine;
        EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 1) << outcome.output;
    };
    expect("driver=0", 69, "cuda: this machine has no NVIDIA driver (install one for CUDA 13.0 or later");
    expect("driver=12040", 69, "cuda: the NVIDIA driver is for CUDA 12.4, and this build needs 13.0 or later");
    expect("gpus=0", 69, "cuda: no GPU is there");
    expect("capability=70", 69, "cuda: GPU 0 on fibres has compute capability 7.0, and kernels need 7.5 or more");
    expect("count=802", 69, "cuda: looking for GPUs failed: ");
    expect("products=0", 69, "cuda: a dense product failed: CUBLAS_STATUS_");
    expect("memory=10", 3, "out of memory: 32 MiB of the GPU's memory in one piece were not to be had");
    for (const char* moment : {"1", "60", "500"}) {
        expect(std::string("fails=") + moment, 69, "cuda: ");
    }
}

// The hint is of what is wrong, and not of bugs in kernels.
TEST_F(GnnrunBackend, SaysWhatHelpsWhereTheDriverFails) {
    const std::vector<std::pair<int, std::string>> hints = {
        {802, "nvidia-fabricmanager"}, {803, "container"}, {804, "cuda-compat"}, {805, "MPS"}, {999, "nvidia_uvm"}};
    for (const auto& [code, hint] : hints) {
        const Outcome outcome = on_machine("count=" + std::to_string(code), "-q @plan1.json");
        EXPECT_THAT(outcome.output, AllOf(HasSubstr(hint), Not(HasSubstr("CUDA_LAUNCH_BLOCKING")))) << code;
    }
}

// The plan's peak is compared with what is free before anything is allocated for training.
TEST_F(GnnrunBackend, SaysBeforeItTrainsThatTheGpuHasTooLittleFree) {
    const std::string rest = "--in-process --epochs 2 ";
    // Another candidate might need less.
    save(train::testing::make_plan(dataset_, 4, true, 4, {{4, 10}}), "plan4.json");
    ASSERT_EQ(on_machine("", rest + "@plan1.json --report @one.json").code, 0);
    ASSERT_EQ(on_machine("", rest + "@plan4.json --report @four.json").code, 0);
    const auto beside_scratch = [&](const char* name) {
        constexpr std::int64_t kibibyte = 1024;
        return (report(name).predicted.peak_bytes_per_rank - cuda_scratch_bytes + kibibyte - 1) / kibibyte;
    };
    const auto with_free = [&](std::int64_t kibibytes, const std::string& arguments) {
        return on_machine("free=" + std::to_string(kibibytes) + " " + arguments.substr(0, arguments.find(' ')),
                          rest + arguments.substr(arguments.find(' ')));
    };
    const std::int64_t one = beside_scratch("one.json"), four = beside_scratch("four.json");
    EXPECT_EQ(with_free(one, "gpus=1 @plan1.json").code, 0);
    const Outcome short_of = with_free(one - 1, "gpus=1 -q @plan1.json");
    EXPECT_EQ(short_of.code, 3) << short_of.output;
    EXPECT_THAT(short_of.output,
                AllOf(HasSubstr("error: out of memory: each rank needs "), HasSubstr(" of its GPU, and "),
                      HasSubstr(" are free for it ("), HasSubstr("nvidia-smi")));
    // Ranks that share a GPU share what is free of it.
    EXPECT_EQ(with_free(four, "gpus=4 @plan4.json").code, 0);
    const Outcome shared = with_free(4 * (four - 1), "gpus=1 -q @plan4.json");
    EXPECT_EQ(shared.code, 3) << shared.output;
    EXPECT_THAT(shared.output, HasSubstr("are free for it, as 4 ranks share the GPU"));
    EXPECT_EQ(with_free(4 * four, "gpus=1 @plan4.json").code, 0);
}

// A dry run needs no GPU, and says what one would need.
TEST_F(GnnrunBackend, ADryRunOpensNoDevice) {
    const Outcome outcome = on_cuda("/nowhere/module.so", "@plan4.json --in-process --dry-run");
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_THAT(outcome.output, AllOf(HasSubstr("memory of the GPU of rank "), HasSubstr("memory of its host")));
    const Outcome json = on_cuda("/nowhere/module.so", "@plan4.json --in-process --dry-run --json");
    ASSERT_EQ(on_machine("", "@plan4.json --in-process --epochs 2 --autotune 0 --report @cuda.json").code, 0);
    const auto expect = [&](const std::string& key, std::int64_t value) {
        EXPECT_THAT(json.output, HasSubstr("\"" + key + "\": " + std::to_string(value)));
    };
    expect("peak_bytes_per_rank", report("cuda.json").measured.peak_bytes_per_rank);
    expect("host_peak_bytes_per_rank", report("cuda.json").measured.host_peak_bytes);
    const std::int64_t peers = report("cuda.json").measured.host_peak_bytes;
    const std::string staged = "@plan4.json --in-process --exchange staged ";
    ASSERT_EQ(on_machine("", staged + "--epochs 2 --autotune 0 --report @staged.json").code, 0);
    const std::int64_t measured = report("staged.json").measured.host_peak_bytes;
    EXPECT_EQ(measured, report("staged.json").predicted.host_peak_bytes);
    EXPECT_EQ(measured, peers + comm::message_bytes("staged", 4)) << "messages pass through the host";
    EXPECT_THAT(on_cuda("/nowhere/module.so", staged + "--dry-run --json").output,
                HasSubstr("\"host_peak_bytes_per_rank\": " + std::to_string(measured)));
    EXPECT_THAT(gnnrun("@plan4.json --data @graph --in-process --dry-run --json").output, Not(HasSubstr("host_peak")));
}

// Ranks exchange through their hosts.
TEST_F(GnnrunBackend, TrainsPlansOfSeveralRanks) {
    const std::string rest = "@plan4.json --in-process --epochs 5 --dropout 0.5 ";
    const Outcome outcome = on_cuda(EMULATED_MODULE, rest + "--report @cuda.json");
    ASSERT_EQ(outcome.code, 0) << outcome.output;
    const RunReport run = report("cuda.json");
    EXPECT_EQ(deploy::byte_mismatch(run), std::nullopt);
    EXPECT_EQ(run.measured.peak_bytes_per_rank, run.predicted.peak_bytes_per_rank);
    EXPECT_EQ(run.measured.host_peak_bytes, run.predicted.host_peak_bytes);
    EXPECT_GT(run.measured.host_peak_bytes, 0);
    ASSERT_EQ(gnnrun("--backend reference --data @graph " + rest + "--report @reference.json").code, 0);
    EXPECT_EQ(losses(run), losses(report("reference.json")));
    ASSERT_EQ(on_cuda(CUDA_ON_HOST_MODULE, rest).code, 0);
}

// Whatever machine a plan is for, row starts are as wide as the device that runs it reads them, and what is counted is
// what was predicted.
TEST_F(GnnrunBackend, StoresRowStartsAsTheDeviceReadsThem) {
    Plan plan = train::testing::make_plan(dataset_, 4, true, 4, {{2, 6}});
    const exec::GraphCounts counts(dataset_.graph());
    std::map<std::string, std::vector<std::int64_t>> peaks;  // of each backend
    std::vector<std::vector<double>> all_losses;
    for (const std::int64_t bytes : {4, 8}) {
        deploy::take_row_starts(plan, {.row_start_bytes = bytes});
        Candidate& only = plan.candidates.front();
        only.predicted = cost::predict(only.schedule, counts, plan.machine);
        save(plan, "starts.json");
        const std::string rest = "@starts.json --in-process --epochs 2 --report @starts.report";
        for (const char* backend : {"cuda", "reference", "cpu"}) {
            const std::string module = std::string("GNNPLAN_CUDA_MODULE=") + EMULATED_MODULE + " ";
            const Outcome outcome =
                run(module + program + " --threads 1 --data @graph --backend " + backend + " " + rest);
            ASSERT_EQ(outcome.code, 0) << outcome.output;
            const RunReport run = report("starts.report");
            EXPECT_EQ(deploy::byte_mismatch(run), std::nullopt) << backend;
            EXPECT_EQ(run.measured.peak_bytes_per_rank, run.predicted.peak_bytes_per_rank) << backend;
            peaks[backend].push_back(run.measured.peak_bytes_per_rank);
            if (std::string(backend) != "cpu") all_losses.push_back(losses(run));
        }
    }
    for (const auto& [backend, bytes] : peaks) EXPECT_EQ(bytes[0], bytes[1]) << backend;
    for (const std::vector<double>& each : all_losses) EXPECT_EQ(each, all_losses.front());
}

// Those who do not ask for CUDA do not pay for its start.
TEST_F(GnnrunBackend, OthersLoadNothingOfIt) {
    const Outcome outcome = run(std::string("LD_DEBUG=files ") + program + " @plan1.json --data @graph --epochs 2");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.output, AllOf(HasSubstr("libstdc++"), Not(HasSubstr("gnnplan_cuda")), Not(HasSubstr("libcuda")),
                                      Not(HasSubstr("libcublas"))));
}

#ifdef MPIRUN
TEST_F(GnnrunBackend, TrainsUnderMpi) {
    for (const char* ranks : {"1", "4"}) {
        const Outcome outcome =
            run(std::string("GNNPLAN_CUDA_MODULE=") + EMULATED_MODULE + " " + MPIRUN + " " + ranks + " " + program +
                " --threads 1 --backend cuda --data @graph @plan" + ranks + ".json --epochs 2");
        EXPECT_EQ(outcome.code, 0) << outcome.output;
    }
}
#endif

}  // namespace
}  // namespace gnnplan::tools
