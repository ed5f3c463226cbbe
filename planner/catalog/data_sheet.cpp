#include "planner/catalog/data_sheet.hpp"

#include "planner/catalog/rates.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::catalog {
namespace {

// Round figures of the order that NCCL, and MPI between processors, show; in seconds.
struct Overheads {
    double in_node, between_nodes, step;
};
constexpr Overheads of_gpus{10e-6, 15e-6, 15e-6};
constexpr Overheads of_processors{1e-6, 2e-6, 20e-6};

}  // namespace

Machine machine_of(const DataSheet& sheet) {
    const Overheads& overheads = sheet.accelerators ? of_gpus : of_processors;
    Machine machine;
    machine.name = sheet.name;
    machine.source =
        "Data sheets: peaks of memory, arithmetic and links. Estimated, not measured: 80% of peak for streaming and "
        "links, 60% for GEMM; SpMM rate from the memory bandwidth at 4w + 8 bytes per nonzero of a slice of width w, "
        "no reuse; latencies and step overhead.";
    machine.ranks_per_node = sheet.ranks_per_node;
    machine.memory_per_rank = sheet.memory_per_rank;
    machine.intra_node = {overheads.in_node, attained * sheet.in_node_bytes_per_second};
    machine.inter_node = {overheads.between_nodes, attained * sheet.between_nodes_bytes_per_second};
    if (sheet.network_cards > 0)
        machine.network_cards = NetworkCards{sheet.network_cards, machine.inter_node.bytes_per_second};
    if (sheet.threads_per_rank > 0) machine.threads_per_rank = sheet.threads_per_rank;
    set_rates(machine, sheet.memory_bytes_per_second / 1e9, sheet.flops_per_second / 1e12, overheads.step * 1e6);
    if (sheet.accelerators) set_accelerators(machine, sheet.cache_bytes);
    validate(machine);
    return machine;
}

}  // namespace gnnplan::catalog
