// The papers' machines, and newer ones, from published specifications. rates.hpp has the rules.
#include "planner/catalog/machine_presets.hpp"

#include "planner/catalog/rates.hpp"

#include <cstdint>

namespace gnnplan::catalog {
namespace {

constexpr double giga = 1e9;
constexpr double micro = 1e-6;
constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
constexpr std::int64_t gigabyte = 1'000'000'000;

const std::string estimates =
    " Estimated, not measured: 80% of peak for streaming and links unless a measured figure is named, 60% for GEMM; "
    "SpMM rate from that memory bandwidth at 4w + 8 bytes per nonzero of a slice of width w, no reuse; latencies and "
    "step overhead.";
const std::string unfitted = estimates + " Not fitted to any published running time.";
const std::string no_backend = " For plans only: there is no backend for AMD's GPUs.";

Link link(double latency_us, double gigabytes_per_second) { return {latency_us * micro, gigabytes_per_second * giga}; }

// A rank alone has a card to itself; all ranks of a node share its cards.
void set_network(Machine& machine, int cards, double latency_us, double card_gigabytes_per_second) {
    machine.inter_node = link(latency_us, attained * card_gigabytes_per_second);
    machine.network_cards = NetworkCards{cards, machine.inter_node.bytes_per_second};
}

// `threads`: with which a rank loads a graph, its share of the node's cores.
Machine node(const char* name, int ranks, std::int64_t memory_per_rank, int threads) {
    Machine machine;
    machine.threads_per_rank = threads;
    machine.name = name;
    machine.ranks_per_node = ranks;
    machine.memory_per_rank = memory_per_rank;
    return machine;
}

Machine gpu_node(const char* name, int ranks, std::int64_t memory_per_rank, std::int64_t l2_bytes, int threads) {
    Machine machine = node(name, ranks, memory_per_rank, threads);
    set_accelerators(machine, l2_bytes);
    return machine;
}

Machine a6000x8() {
    Machine m = gpu_node("a6000x8", 8, 48 * gibibyte, 6 * mebibyte, 8);
    m.source =
        "GNN-RDM section V-A: 8 RTX A6000, 48 GB each, two EPYC 7513 of 32 cores. NVIDIA: 768 GB/s, 38.7 TF/s single "
        "precision, 6 "
        "MB of L2, PCIe 4.0 x16; the paper names no NVLink bridges, none assumed. Link inside the node: 20 GB/s, as "
        "NVIDIA's nccl-tests issue 178 reports for a ring over PCIe 4.0 in a two-socket server; in an exchange among "
        "all 8 a byte takes 1.86 times as long, the one figure here that is from times that the paper prints: its "
        "Table IX has communication 2.84 times and bytes 5.28 times as many for CAGNET's 1.5D as for RDM. Between "
        "nodes: one port of 100 Gb/s, assumed, the paper has one node." +
        estimates + " Nothing else is fitted to a published running time.";
    m.intra_node = link(10, 20);
    m.all_to_all = link(10, 20 / 1.86);
    set_network(m, 1, 20, 12.5);
    set_rates(m, 768, 38.7, 15);
    return m;
}

// NVLink 50 GB/s inside a socket of 3 GPUs, 64 GB/s between sockets shared by them: of an even exchange among the 6,
// 3/5 cross the sockets, at 64/3 per GPU. Those are the bottleneck: 64/3 / (3/5) = 35.6 GB/s.
Machine summit() {
    Machine m = gpu_node("summit", 6, 16 * gibibyte, 6 * mebibyte, 7);
    m.source =
        "CAGNET section V-B: 6 V100 of 16 GB a node, NVLink 2.0 50 GB/s one way inside a socket of 3 GPUs, X-bus 64 "
        "GB/s between sockets, EDR InfiniBand 25 GB/s a node (12.5 a socket). OLCF: 42 cores for jobs. NVIDIA: 900 "
        "GB/s, 15.7 TF/s single "
        "precision, 6 MB of L2. Link inside the node: an even exchange among 6 GPUs, bound by the X-bus, 35.6 GB/s; "
        "between nodes: two ports of 12.5 GB/s, shared by 6." +
        unfitted;
    m.intra_node = link(10, attained * 64.0 / 3 / 0.6);
    set_network(m, 2, 15, 12.5);
    set_rates(m, 900, 15.7, 15);
    return m;
}

Machine dgx_1_v100() {
    Machine m = gpu_node("dgx-1-v100", 8, 32 * gibibyte, 6 * mebibyte, 5);
    m.source =
        "MG-GCN section 6: 8 V100 of 32 GB and 900 GB/s, 6 NVLinks of 25 GB/s one way each, 150 GB/s together. NVIDIA: "
        "15.7 TF/s single precision, 6 MB of L2, two Xeons of 20 cores, four EDR InfiniBand ports of 100 Gb/s. Not "
        "every pair of GPUs has a "
        "link: rings use all six, an all-to-all less. Between nodes: four ports of 12.5 GB/s, shared by 8." +
        unfitted;
    m.intra_node = link(10, attained * 6 * 25);
    set_network(m, 4, 15, 12.5);
    set_rates(m, 900, 15.7, 15);
    return m;
}

Machine dgx_a100() {
    Machine m = gpu_node("dgx-a100", 8, 80 * gibibyte, 40 * mebibyte, 16);
    m.source =
        "MG-GCN section 6: 8 A100 of 80 GB and 2 TB/s, 12 NVLinks each to a switch, 600 GB/s both ways. NVIDIA: 19.5 "
        "TF/s single precision, 40 MB of L2, two EPYC of 64 cores, eight HDR InfiniBand ports of 200 Gb/s. Link inside "
        "the node: 200 GB/s, "
        "the bus bandwidth that NVIDIA's nccl-tests issue 149 reports for 8 of them. Between nodes: a port of 25 GB/s "
        "for each GPU." +
        unfitted;
    m.intra_node = link(10, 200);
    set_network(m, 8, 15, 25);
    set_rates(m, 2000, 19.5, 15);
    return m;
}

Machine a100x4_perlmutter() {
    Machine m = gpu_node("a100x4-perlmutter", 4, 40 * gibibyte, 40 * mebibyte, 16);
    m.source =
        "NERSC's GPU nodes: an EPYC of 64 cores, 4 A100 of 40 GB, 4 NVLinks of 25 GB/s one way between each two, four "
        "Slingshot 11 ports of 200 Gb/s. NVIDIA: 1,555 GB/s, 19.5 TF/s single precision, 40 MB of L2. Link inside the "
        "node: 12 links of 25 GB/s, which rings and an exchange among the 4 use alike; between nodes: 25 GB/s a GPU." +
        unfitted;
    m.intra_node = link(10, attained * 12 * 25);
    set_network(m, 4, 15, 25);
    set_rates(m, 1555, 19.5, 15);
    return m;
}

Machine h100x8() {
    Machine m = gpu_node("h100x8", 8, 80 * gibibyte, 50 * mebibyte, 14);
    m.source =
        "NVIDIA's DGX H100: 8 H100 SXM of 80 GB and 3.35 TB/s, 67 TF/s single precision, 50 MB of L2, two Xeons of 56 "
        "cores, NVLink 450 GB/s one way to a switch, eight NDR InfiniBand ports of 400 Gb/s. Link inside the node: 80% "
        "of it, for rings and an exchange among the 8 alike: NVIDIA's nccl-tests issue 212 names 370 GB/s for whatever "
        "the switch does not add up; between nodes: 50 GB/s a GPU." +
        unfitted;
    m.intra_node = link(10, attained * 450);
    set_network(m, 8, 15, 50);
    set_rates(m, 3350, 67, 15);
    return m;
}

Machine h200x8() {
    Machine m = h100x8();
    m.name = "h200x8";
    m.memory_per_rank = 141 * gigabyte;
    m.source =
        "NVIDIA's DGX H200: 8 H200 SXM of 141 GB and 4.8 TB/s, else as an H100: 67 TF/s single precision, 50 MB of L2, "
        "NVLink 450 GB/s one way to a switch, eight NDR InfiniBand ports of 400 Gb/s. Link inside the node: 80% of it, "
        "for rings and an exchange among the 8 alike; between nodes: 50 GB/s a GPU." +
        unfitted;
    set_rates(m, 4800, 67, 15);
    return m;
}

Machine gh200() {
    Machine m = gpu_node("gh200", 4, 96 * gigabyte, 50 * mebibyte, 72);
    m.source =
        "A node of JUPITER Booster, as the Juelich Supercomputing Centre documents it: 4 GH200, each a Grace of 72 "
        "cores and a GPU with 96 GB of HBM3 at 4 TB/s, NVLink 150 GB/s one way between each two GPUs, four NDR200 "
        "InfiniBand cards of 200 Gb/s. NVIDIA: 67 TF/s single precision. 50 MB of L2, as an H100 has, are estimated. "
        "Link inside the node: 3 x 150 GB/s, which rings and an exchange among the 4 use alike; between nodes: 25 GB/s "
        "a GPU. The Grace's memory does not count." +
        unfitted;
    m.intra_node = link(10, attained * 3 * 150);
    set_network(m, 4, 15, 25);
    set_rates(m, 4000, 67, 15);
    return m;
}

// Each of the eight dies has an L2 of its own and fetches again what lies in another's, so products are cut for the L2
// of one die.
Machine mi300x8() {
    Machine m = gpu_node("mi300x8", 8, 192 * gibibyte, 4 * mebibyte, 12);
    m.source =
        "AMD's MI300X platform: 8 MI300X of 192 GB and 5.3 TB/s, 163.4 TF/s single precision without matrix cores (304 "
        "units of 256 operations a cycle at 2.1 GHz), 4 MB of L2 for each of 8 dies (the 256 MB behind them are left "
        "out), Infinity Fabric of 64 GB/s one way between each two GPUs. Link inside the node: 315 GB/s, as ROCm's "
        "blog on RCCL and xGMI of March 2025 measured for each GPU in an exchange among the 8; Azure's AI benchmarking "
        "guide has 317 for an all-reduce. Azure's ND MI300X v5: 96 cores, a port of 400 Gb/s NDR InfiniBand for each "
        "GPU." +
        no_backend + unfitted;
    m.intra_node = link(10, 315);
    set_network(m, 8, 15, 50);
    set_rates(m, 5300, 163.4, 15);
    return m;
}

// Links of 50 GB/s between the dies 0 to 7, as LUMI's nodes, which are of the same kind, list them: four inside each
// MI250X (0-1, 2-3, 4-5, 6-7), two of 0-6 and of 2-4, one of 0-2, 1-3, 1-5, 3-7, 4-6 and 5-7. Six links lead from the
// dies 0 to 3 to the others, and so do 4/7 of what each of the four sends in an even exchange: 6 * 50 / (4 * 4/7) = 131
// GB/s a die, which the best routes reach.
Machine mi250x4_frontier() {
    Machine m = gpu_node("mi250x4-frontier", 8, 64 * gibibyte, 8 * mebibyte, 7);
    m.source =
        "OLCF's Frontier user guide: 4 MI250X, each two dies (GCDs) that are GPUs of 64 GB and 1.6 TB/s, Infinity "
        "Fabric of 50 to 200 GB/s one way between dies, an EPYC with 56 cores for jobs, four Slingshot cards of 25 "
        "GB/s. A rank is a die. AMD: 47.9 TF/s single precision for both without matrix cores, 8 MB of L2 a die. Link "
        "inside the node: 135 GB/s, as the repository of Plexus (performance/comm_model.py) has measured for a ring of "
        "8; in an exchange among the 8 the links between dies let through 131 GB/s a die at best, estimated from the "
        "topology. Between nodes: four cards of 25 GB/s, shared by 8." +
        no_backend + unfitted;
    m.intra_node = link(10, 135);
    m.all_to_all = link(10, attained * 6 * 50 / (4 * 4.0 / 7));
    set_network(m, 4, 15, 25);
    set_rates(m, 1600, 47.9 / 2, 15);
    return m;
}

// Single precision peak of a core: two AVX-512 units, 16 lanes, multiply and add.
double avx512_teraflops(int cores, double gigahertz) { return cores * 2 * 16 * 2 * gigahertz * giga / 1e12; }

Machine xeon_9242() {
    Machine m = node("xeon-9242", 2, 192 * gigabyte, 46);
    m.source =
        "DistGNN section 6.1: two Xeon 9242 of 48 cores at 2.3 GHz and 384 GB a node, Mellanox HDR, one rank a socket "
        "with two cores left to communication. Intel: 12 channels of DDR4-2933 a socket, 281.6 GB/s, two AVX-512 units "
        "a core. Link inside the node: 10 GB/s, a copy through shared memory, estimated; between nodes: one port of "
        "25 GB/s, HDR, shared by 2." +
        unfitted;
    m.intra_node = link(1, 10);
    set_network(m, 1, 2, 25);
    set_rates(m, 12 * 2.933 * 8, avx512_teraflops(46, 2.3), 20);
    return m;
}

Machine r5_16xlarge() {
    Machine m = node("r5-16xlarge", 1, 768 * gigabyte, 32);
    m.source =
        "DEAL section 4.1: Xeon Platinum 8175, 768 GB memory, 25 Gb/s Ethernet. Amazon lists 64 vCPUs (32 cores), "
        "512 GiB and 20 Gb/s for r5.16xlarge; the paper's figures are those of r5.24xlarge and are kept. Intel: two "
        "sockets of 6 channels of DDR4-2666, 256 GB/s, 2.5 GHz, two AVX-512 units a core. Link inside the node: "
        "10 GB/s, a copy through shared memory, estimated." +
        unfitted;
    m.intra_node = link(1, 10);
    set_network(m, 1, 30, 25.0 / 8);
    set_rates(m, 2 * 6 * 2.666 * 8, avx512_teraflops(32, 2.5), 20);
    return m;
}

// Two ranks of one thread: half of what two threads together attain. SpMM from milliseconds of a blocked kernel with
// two threads: 16, 41 on 2.49M nonzeros (3.8, 16), 64, 128, 256, 602 on 23.2M (137, 310, 600, 2041).
Machine cpu_node() {
    Machine m = node("cpu-node", 2, 12 * gibibyte, 1);
    m.source =
        "A two-core AMD EPYC virtual machine (AVX-512) with 24 GiB, measured on another machine of "
        "the kind: two ranks of one thread, both busy; SpMM on an R-MAT graph of 65,536 vertices and 1M nonzeros, "
        "OpenBLAS GEMM, "
        "activation, Open MPI 4.1 all-to-all between two ranks. Estimated: one port of 10 Gb/s Ethernet, shared by 2, "
        "between "
        "nodes, step overhead.";
    m.intra_node = link(1.71, 6.94);
    set_network(m, 1, 30, 1.25);
    m.spmm = {{16, 12.3 * giga}, {41, 19.3 * giga}, {128, 20.8 * giga}, {602, 19.0 * giga}};
    m.gemm_flops_per_second = 84.9 * giga;
    m.memory_bytes_per_second = 26.8 * giga;
    m.step_seconds = 5 * micro;
    return m;
}

}  // namespace

std::vector<Machine> make_machine_presets() {
    return {cpu_node(), a6000x8(), summit(),  dgx_1_v100(),       dgx_a100(),  a100x4_perlmutter(), h100x8(),
            h200x8(),   gh200(),   mi300x8(), mi250x4_frontier(), xeon_9242(), r5_16xlarge()};
}

}  // namespace gnnplan::catalog
