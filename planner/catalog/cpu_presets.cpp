// Nodes of today's processors, a rank a socket, from data sheets by the rules of catalog::machine_of.
#include "planner/catalog/data_sheet.hpp"
#include "planner/catalog/machine_presets.hpp"

#include <string>

namespace gnnplan::catalog {
namespace {

constexpr std::int64_t decimal_gb = 1'000'000'000;
constexpr std::int64_t binary_gb = std::int64_t{1} << 30;

// A copy through shared memory.
constexpr double copied = 12.5e9;

const std::string not_measured =
    " Link inside the node: 10 GB/s, a copy through shared memory. Estimated, not measured: 80% of peak for streaming "
    "and links, 60% for GEMM; SpMM rate from the memory bandwidth at 4w + 8 bytes per nonzero of a slice of width w, "
    "no "
    "reuse; latencies and step overhead. Not fitted to any published running time.";

struct Socket {
    int cores = 0;
    double gigahertz = 0;
    int operations = 0;  // of a core in a cycle, in single precision; a multiplication with an addition counts twice
    double gigabytes_per_second = 0;

    double flops() const { return cores * gigahertz * 1e9 * operations; }
};

Machine of_sockets(const char* name, int sockets, const Socket& socket, std::int64_t memory, double network_gigabits,
                   const std::string& source) {
    Machine machine = machine_of(DataSheet{.name = name,
                                           .ranks_per_node = sockets,
                                           .accelerators = false,
                                           .memory_per_rank = memory,
                                           .memory_bytes_per_second = socket.gigabytes_per_second * 1e9,
                                           .flops_per_second = socket.flops(),
                                           .in_node_bytes_per_second = copied,
                                           .between_nodes_bytes_per_second = network_gigabits * 1e9 / 8,
                                           .network_cards = 1,
                                           .threads_per_rank = socket.cores});
    machine.source = source + not_measured;
    return machine;
}

}  // namespace

std::vector<Machine> make_cpu_presets() {
    return {of_sockets("epyc-9654", 2, {96, 2.4, 32, 460.8}, 192 * binary_gb, 100,
                       "The Genoa nodes of SURF's Snellius: two EPYC 9654 of 96 cores, 24 x 16 GiB. AMD: 2.4 GHz, 12 "
                       "channels of DDR5-4800 a socket, 460.8 GB/s, AVX-512 on two units of 256 bits a core. Between "
                       "nodes: one port of 100 Gb/s, assumed, shared by 2."),
            of_sockets("epyc-9655p", 1, {96, 2.6, 64, 576}, 1536 * decimal_gb, 100,
                       "CoreWeave's turin-gp: one EPYC 9655P (Turin) of 96 cores at 2.6 GHz, 1536 GB, Ethernet of 100 "
                       "Gb/s on two ports, of which one is counted. AMD: 12 channels of DDR5-6000, 576 GB/s, two "
                       "AVX-512 units a core."),
            of_sockets("xeon-8480", 2, {56, 2.0, 64, 307.2}, 128 * binary_gb, 100,
                       "Two Xeon Platinum 8480+ (Sapphire Rapids) of 56 cores at 2.0 GHz. Intel: 8 channels of "
                       "DDR5-4800 a socket, 307.2 GB/s, two AVX-512 units a core. Memory, 256 GiB a node, and one port "
                       "of 100 Gb/s, shared by 2, are assumed."),
            of_sockets("grace", 2, {72, 3.1, 32, 500}, 120 * decimal_gb, 200,
                       "MareNostrum 5 NG-GRACE, as the Barcelona Supercomputing Center documents it: two Grace of 72 "
                       "cores at 3.1 GHz, 120 GB of LPDDR5 each, one NDR200 InfiniBand card of 200 Gb/s, shared by 2. "
                       "NVIDIA: four SVE2 units of 128 bits a core; up to 1 TB/s for both, 500 GB/s a socket.")};
}

}  // namespace gnnplan::catalog
