#include "planner/catalog/machines.hpp"
#include "planner/catalog/reference_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>
#include <gnnplan/catalog.hpp>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "planner/catalog/data_sheet.hpp"
#include "planner/catalog/host.hpp"

namespace gnnplan::catalog {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr std::int64_t gib = std::int64_t{1} << 30;

TEST(Machines, EveryMachineOfThePapersIsThere) {
    EXPECT_THAT(machine_names(),
                UnorderedElementsAre("a6000x8", "summit", "dgx-1-v100", "dgx-a100", "a100x4-perlmutter", "h100x8",
                                     "h200x8", "gh200", "mi300x8", "mi250x4-frontier", "xeon-9242", "r5-16xlarge",
                                     "cpu-node", "epyc-9654", "epyc-9655p", "xeon-8480", "grace"));
}

TEST(Machines, ThePublicPresetIsTheSame) {
    EXPECT_EQ(preset("a6000x8").intra_node.bytes_per_second, find_machine("a6000x8").intra_node.bytes_per_second);
    EXPECT_NO_THROW(validate(preset("cpu-node")));
    EXPECT_THROW(preset("a6000x9"), Error);
}

TEST(Machines, AreUsableAndClaimNoMeasurement) {
    for (const Machine& machine : machines()) {
        SCOPED_TRACE(machine.name);
        EXPECT_NO_THROW(validate(machine));
        EXPECT_FALSE(machine.measured);
        EXPECT_THAT(machine.source, AnyOf(HasSubstr("not measured"), HasSubstr("another machine")));
        EXPECT_THAT(machine.source, HasSubstr("stimated"));
    }
}

struct Described {
    const char* name;
    int ranks_per_node;
    std::int64_t memory_per_rank;
};

TEST(Machines, RanksAndMemoryAreThePublications) {
    const Described described[] = {
        {"a6000x8", 8, 48 * gib},             // GNN-RDM: 8 RTX A6000, "each GPU has 48 GB GDDR6 memory"
        {"summit", 6, 16 * gib},              // CAGNET: "6 NVIDIA V100 GPUs. Each GPU has 16GB of HBM2 memory"
        {"dgx-1-v100", 8, 32 * gib},          // MG-GCN: "8 Nvidia V100 GPUs, each equipped with 32GB memory"
        {"dgx-a100", 8, 80 * gib},            // MG-GCN: "8 NVIDIA A100 GPUs, each equipped with 80GB memory"
        {"a100x4-perlmutter", 4, 40 * gib},   // NERSC: 4 NVIDIA A100 with 40 GB of HBM a node
        {"h100x8", 8, 80 * gib},              // NVIDIA: 8 H100, 80 GB each
        {"h200x8", 8, 141'000'000'000},       // NVIDIA: 8 H200, 141 GB each
        {"gh200", 4, 96'000'000'000},         // JSC: 4 GH200 a node of JUPITER Booster, 96 GB of HBM3 each
        {"mi300x8", 8, 192 * gib},            // AMD: 8 MI300X, 192 GB each
        {"mi250x4-frontier", 8, 64 * gib},    // OLCF: 4 MI250X a node, two dies with 64 GB each
        {"xeon-9242", 2, 192'000'000'000},    // DistGNN: dual-socket, 384 GB memory a node, one rank a socket
        {"r5-16xlarge", 1, 768'000'000'000},  // DEAL: 768 GB memory
        {"cpu-node", 2, 12 * gib},
        {"epyc-9654", 2, 192 * gib},          // SURF: 24 x 16 GiB a node of two sockets
        {"epyc-9655p", 1, 1536'000'000'000},  // CoreWeave: 1536 GB
        {"xeon-8480", 2, 128 * gib},          // assumed
        {"grace", 2, 120'000'000'000},        // BSC: two dies of 120 GB
    };
    for (const Described& row : described) {
        EXPECT_EQ(find_machine(row.name).ranks_per_node, row.ranks_per_node) << row.name;
        EXPECT_EQ(find_machine(row.name).memory_per_rank, row.memory_per_rank) << row.name;
    }
}

// A rank alone has a card to itself.
TEST(Machines, RanksOfANodeShareItsNetworkCards) {
    for (const Machine& machine : machines()) {
        SCOPED_TRACE(machine.name);
        ASSERT_TRUE(machine.network_cards);
        EXPECT_LE(machine.network_cards->per_node, machine.ranks_per_node);
        EXPECT_EQ(machine.network_cards->bytes_per_second, machine.inter_node.bytes_per_second);
    }
    EXPECT_EQ(find_machine("r5-16xlarge").threads_per_rank, 32);
    EXPECT_EQ(find_machine("xeon-9242").threads_per_rank, 46);
    EXPECT_EQ(find_machine("mi250x4-frontier").network_cards.value().per_node, 4);  // one for two dies
}

// Where all ranks of a node reach each other as fast as a ring goes, an exchange has no link of its own.
TEST(Machines, ExchangesAreSlowerThanRingsWhereTheTopologySaysSo) {
    for (const Machine& machine : machines()) {
        SCOPED_TRACE(machine.name);
        const bool slower = machine.name == "a6000x8" || machine.name == "mi250x4-frontier";
        ASSERT_EQ(machine.all_to_all.has_value(), slower);
        if (slower) {
            EXPECT_LT(machine.all_to_all.value().bytes_per_second, machine.intra_node.bytes_per_second);
        }
    }
    EXPECT_DOUBLE_EQ(find_machine("a6000x8").all_to_all.value().bytes_per_second, 20e9 / 1.86);
    EXPECT_DOUBLE_EQ(find_machine("mi250x4-frontier").all_to_all.value().bytes_per_second, 0.8 * 131.25e9);
}

TEST(Machines, ThoseOfAmdSayThatNothingRunsThere) {
    for (const Machine& machine : machines())
        EXPECT_EQ(machine.source.find("no backend") != std::string::npos, machine.name.starts_with("mi"))
            << machine.name;
}

TEST(Machines, CardsKeepAReserve) {
    for (const Machine& machine : machines()) {
        EXPECT_EQ(machine.usable_memory(), machine.memory_per_rank - (machine.accelerators ? gib : 0)) << machine.name;
    }
}

TEST(Machines, RatesStayBelowPublishedPeaks) {
    // MG-GCN: V100 900 GB/s, A100 2 TB/s; 150 and 300 GB/s of NVLink one way. CAGNET: 50 GB/s NVLink, 25 GB/s a node.
    EXPECT_DOUBLE_EQ(find_machine("dgx-1-v100").memory_bytes_per_second, 0.8 * 900e9);
    EXPECT_DOUBLE_EQ(find_machine("dgx-a100").memory_bytes_per_second, 0.8 * 2e12);
    EXPECT_LT(find_machine("dgx-1-v100").intra_node.bytes_per_second, 150e9);
    EXPECT_LT(find_machine("dgx-a100").intra_node.bytes_per_second, 300e9);
    EXPECT_LT(find_machine("summit").intra_node.bytes_per_second, 50e9);
    EXPECT_LT(find_machine("summit").network_cards.value().node_bytes_per_second(), 25e9);
    EXPECT_EQ(find_machine("summit").network_cards.value().per_node, 2);           // one a socket
    EXPECT_LT(find_machine("r5-16xlarge").inter_node.bytes_per_second, 25e9 / 8);  // DEAL: 25 Gbps Ethernet
    // AMD: 12 channels of DDR5-4800; 2 x 16 lanes, of which half at a time, multiply and add. Intel: 8 channels.
    EXPECT_DOUBLE_EQ(find_machine("epyc-9654").memory_bytes_per_second, 0.8 * 12 * 4800e6 * 8);
    EXPECT_DOUBLE_EQ(find_machine("epyc-9654").gemm_flops_per_second, 0.6 * 96 * 2.4e9 * 32);
    EXPECT_DOUBLE_EQ(find_machine("epyc-9655p").memory_bytes_per_second, 0.8 * 12 * 6000e6 * 8);
    EXPECT_DOUBLE_EQ(find_machine("xeon-8480").memory_bytes_per_second, 0.8 * 8 * 4800e6 * 8);
    EXPECT_DOUBLE_EQ(find_machine("grace").gemm_flops_per_second, 0.6 * 72 * 3.1e9 * 32);
    // JSC: 150 GB/s to each of three others. AMD: 64 GB/s to each of seven. OLCF: 100 GB/s a node of Frontier.
    EXPECT_LT(find_machine("gh200").intra_node.bytes_per_second, 3 * 150e9);
    EXPECT_LT(find_machine("mi300x8").intra_node.bytes_per_second, 7 * 64e9);
    EXPECT_LT(find_machine("mi250x4-frontier").network_cards.value().node_bytes_per_second(), 100e9);
    // Without reuse, 4w + 8 bytes per nonzero: at w = 128 on an A6000, 2 * 128 / 520 flops a byte of 614.4 GB/s.
    EXPECT_DOUBLE_EQ(spmm_flops_per_second(find_machine("a6000x8"), 128), 256.0 / 520 * 0.8 * 768e9);
}

// NVIDIA: 6 MB of L2 on an RTX A6000 and on a V100, 40 MB on an A100, 50 MB on an H100. AMD: 4 MB on a die of an
// MI300X, 8 MB on one of an MI250X.
TEST(Machines, OfGpusBlockProductsForTheirCache) {
    constexpr std::int64_t mib = std::int64_t{1} << 20;
    for (const char* name : {"a6000x8", "summit", "dgx-1-v100"})
        EXPECT_EQ(find_machine(name).blocking, gpu_blocking(6 * mib)) << name;
    for (const char* name : {"dgx-a100", "a100x4-perlmutter"})
        EXPECT_EQ(find_machine(name).blocking, gpu_blocking(40 * mib)) << name;
    for (const char* name : {"h100x8", "h200x8", "gh200"})
        EXPECT_EQ(find_machine(name).blocking, gpu_blocking(50 * mib)) << name;
    EXPECT_EQ(find_machine("mi300x8").blocking, gpu_blocking(4 * mib));
    EXPECT_EQ(find_machine("mi250x4-frontier").blocking, gpu_blocking(8 * mib));
    for (const Machine& machine : machines()) {
        EXPECT_EQ(machine.accelerators, machine.blocking != Blocking{}) << machine.name;
    }
}

// The figures of docs/laboratory.md, "The built-in machine profile".
TEST(Machines, CpuNodeIsWhatWasMeasured) {
    const Machine& node = find_machine("cpu-node");
    EXPECT_DOUBLE_EQ(node.memory_bytes_per_second, 26.8e9);
    EXPECT_DOUBLE_EQ(node.gemm_flops_per_second, 84.9e9);
    EXPECT_DOUBLE_EQ(spmm_flops_per_second(node, 128), 20.8e9);
    EXPECT_DOUBLE_EQ(node.intra_node.latency_seconds, 1.71e-6);
    EXPECT_FALSE(node.measured);  // not on the user's machine
}

// Six figures of data sheets give the preset that was made of the same figures.
TEST(DataSheet, FollowsTheRulesOfThePresets) {
    DataSheet sheet{"mine", 8, true, 80 * gib, 3350e9, 67e12, 450e9, 50e9, std::int64_t{50} << 20};
    const Machine mine = machine_of(sheet);
    const Machine& preset = find_machine("h100x8");
    EXPECT_EQ(mine.name, "mine");
    EXPECT_EQ(mine.ranks_per_node, preset.ranks_per_node);
    EXPECT_EQ(mine.usable_memory(), preset.usable_memory());
    EXPECT_EQ(mine.blocking, preset.blocking);
    EXPECT_DOUBLE_EQ(mine.intra_node.bytes_per_second, preset.intra_node.bytes_per_second);
    EXPECT_DOUBLE_EQ(mine.inter_node.bytes_per_second, preset.inter_node.bytes_per_second);
    EXPECT_DOUBLE_EQ(mine.memory_bytes_per_second, preset.memory_bytes_per_second);
    EXPECT_DOUBLE_EQ(mine.gemm_flops_per_second, preset.gemm_flops_per_second);
    EXPECT_DOUBLE_EQ(mine.step_seconds, preset.step_seconds);
    EXPECT_DOUBLE_EQ(spmm_flops_per_second(mine, 100), spmm_flops_per_second(preset, 100));
    EXPECT_FALSE(mine.network_cards);
    sheet.network_cards = 8;
    EXPECT_EQ(machine_of(sheet).network_cards, preset.network_cards);
    sheet.flops_per_second = 0;
    EXPECT_THROW(machine_of(sheet), Error);
}

TEST(FindMachine, SuggestsNearNames) {
    try {
        find_machine("a6000x");
        FAIL() << "found";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::missing_input);
        EXPECT_THAT(error.what(), HasSubstr("did you mean a6000x8? `machines-new/` makes a profile"));
    }
    EXPECT_THROW(find_machine("DGX-A100"), Error);  // names are exact
}

TEST(Host, ReadsProcFiles) {
    std::istringstream meminfo("MemFree: 5 kB\nMemTotal:       24000000 kB\nBuffers: 7 kB\n");
    EXPECT_EQ(parse_memory_total(meminfo), 24'576'000'000);
    std::istringstream cpuinfo("processor\t: 0\nmodel name\t: AMD EPYC 9R14\nmodel name\t: other\n");
    EXPECT_EQ(parse_cpu_model(cpuinfo), "AMD EPYC 9R14");
    // Two packages of one core each, of two hardware threads the first.
    std::istringstream topology(
        "physical id\t: 0\ncore id\t: 0\nphysical id\t: 0\ncore id\t: 0\nphysical id\t: 1\ncore id\t: 0\n");
    EXPECT_EQ(parse_physical_cores(topology), 2);
}

TEST(Host, CopesWithForeignProcFiles) {
    for (const char* text : {"", "MemTotal:\n", "MemTotal: many kB\n", "MemTotal: 0 kB\n", "MemTotal: -3 kB\n"}) {
        std::istringstream meminfo(text);
        EXPECT_THROW(parse_memory_total(meminfo), Error) << text;
    }
    std::istringstream huge("MemTotal: 9223372036854775807 kB\n");
    EXPECT_THROW(parse_memory_total(huge), Error);
    std::istringstream other_architecture("CPU implementer : 0x41\n");
    EXPECT_EQ(parse_cpu_model(other_architecture), "");
    EXPECT_EQ(parse_physical_cores(other_architecture), 0);
    EXPECT_GE(physical_cores(), 1);
    std::istringstream blank("model name\t:\n");
    EXPECT_EQ(parse_cpu_model(blank), "");
}

TEST(Host, MachineHasOneRankPerCoreAtTheBaseRates) {
    const Machine& base = find_machine("cpu-node");
    const Machine machine = machine_of(base, {.cores = 5, .memory_bytes = 64 * gib, .cpu_model = "Some CPU"});
    EXPECT_NO_THROW(validate(machine));
    EXPECT_EQ(machine.ranks_per_node, 5);
    EXPECT_EQ(machine.memory_per_rank, 64 * gib / 5);
    EXPECT_EQ(machine.gemm_flops_per_second, base.gemm_flops_per_second);
    EXPECT_FALSE(machine.measured);
    EXPECT_THAT(machine.source, HasSubstr("Some CPU, 5 cores"));
    EXPECT_THAT(machine.source, HasSubstr("not measured here"));
}

TEST(DetectMachine, IsUsable) {
    const Machine machine = detect_machine();
    EXPECT_NO_THROW(validate(machine));
    EXPECT_FALSE(machine.measured);
    EXPECT_EQ(machine.name, "detected");
}

TEST(Host, AMemoryCgroupLimitsAndSoDoThoseAroundIt) {
    const std::filesystem::path root =
        std::filesystem::temp_directory_path() / ("cgroups" + std::to_string(::getpid()));
    const auto write = [&](const std::string& file, const std::string& text) {
        std::filesystem::create_directories((root / file).parent_path());
        std::ofstream(root / file) << text;
    };
    const auto limit = [&](const std::string& membership) {
        std::istringstream stream(membership);
        return parse_memory_limit(stream, root);
    };
    write("job/step/memory.max", "max\n");
    write("job/memory.max", "3000\n");
    write("memory/docker/12/memory.limit_in_bytes", "2000\n");
    write("memory/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_EQ(limit("0::/job/step\n"), 3000);
    EXPECT_EQ(limit("0::/elsewhere\n"), std::nullopt);
    EXPECT_EQ(limit("9:name=systemd:/job\n4:memory:/docker/12\n0::/\n"), 2000);
    EXPECT_EQ(limit("4:memory:/docker/12\n0::/job\n"), 2000);
    EXPECT_EQ(limit("4:memory:/\n"), 9223372036854771712);
    EXPECT_EQ(limit("nonsense\n"), std::nullopt);
    std::filesystem::remove_all(root);
    EXPECT_GT(read_host().memory_bytes, 0);
}

TEST(Host, ACpuQuotaLimitsAndSoDoThoseAroundIt) {
    const std::filesystem::path root = std::filesystem::temp_directory_path() / ("quotas" + std::to_string(::getpid()));
    const auto write = [&](const std::string& file, const std::string& text) {
        std::filesystem::create_directories((root / file).parent_path());
        std::ofstream(root / file) << text;
    };
    const auto quota = [&](const std::string& membership) {
        std::istringstream stream(membership);
        return parse_cpu_quota(stream, root);
    };
    write("job/step/cpu.max", "400000 100000\n");
    write("job/cpu.max", "150000 100000\n");
    write("free/cpu.max", "max 100000\n");
    write("cpu/docker/12/cpu.cfs_quota_us", "50000\n");
    write("cpu/docker/12/cpu.cfs_period_us", "100000\n");
    write("cpu/cpu.cfs_quota_us", "-1\n");
    write("cpu/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(quota("0::/job/step\n"), 1.5);
    EXPECT_EQ(quota("0::/free\n"), std::nullopt);
    EXPECT_EQ(quota("3:cpu,cpuacct:/docker/12\n0::/\n"), 0.5);
    EXPECT_EQ(quota("3:cpuacct,cpu:/docker/12\n0::/job\n"), 0.5);
    EXPECT_EQ(quota("3:cpuset:/docker/12\n"), std::nullopt);
    EXPECT_EQ(quota("3:cpu,cpuacct:/\n"), std::nullopt);
    write("cpu/cpu.cfs_quota_us", "250000\n");  // a container sees its own group as the top, and none above
    EXPECT_EQ(quota("3:cpu,cpuacct:/not/seen/here\n"), 2.5);
    std::filesystem::remove_all(root);
}

TEST(Host, RanksShareUnits) {
    const int units = available_units();
    EXPECT_GE(units, 1);
    EXPECT_EQ(read_host().cores, units);
    EXPECT_LE(threads_of_rank(1, 1), units);
    EXPECT_EQ(threads_of_rank(4 * units, 4 * units), 1);
    EXPECT_NE(processing_units(), "");
}

// Its curves are those of a calibration: valid, complete enough that no step falls back to single rates, and no preset.
TEST(ReferenceMachine, HasCurvesOfEveryKind) {
    const Machine reference = reference_machine();
    EXPECT_NO_THROW(validate(reference));
    EXPECT_FALSE(reference.measured);
    const Calibration& calibration = reference.calibration.value();
    ASSERT_FALSE(calibration.gather.empty());
    for (const GatherCurve& curve : calibration.gather) EXPECT_EQ(curve.costs.size(), 6U) << curve.width;
    for (const GemmKind kind : {GemmKind::forward, GemmKind::input_gradient, GemmKind::weight_gradient})
        EXPECT_GT(std::ranges::count(calibration.gemm, kind, &GemmRate::product), 4);
    for (const ElementwiseKind kind : {ElementwiseKind::copy, ElementwiseKind::update, ElementwiseKind::head_unit_back})
        EXPECT_GT(std::ranges::count(calibration.streams, kind, &StreamRate::stream), 0);
    EXPECT_TRUE(calibration.loss && calibration.all_reduce && calibration.overlapping);
    EXPECT_FALSE(preset("cpu-node").calibration) << "the preset stays as it was";
}

}  // namespace
}  // namespace gnnplan::catalog
