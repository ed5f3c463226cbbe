// A machine profile from the figures of data sheets.
#pragma once

#include <gnnplan/ir/machine.hpp>

#include <cstdint>
#include <string>

namespace gnnplan::catalog {

// Peaks as vendors print them. Bandwidths are of one direction.
struct DataSheet {
    std::string name;
    int ranks_per_node = 1;
    bool accelerators = true;                   // a rank is a GPU; else a share of a node's cores
    std::int64_t memory_per_rank = 0;           // bytes
    double memory_bytes_per_second = 0;         // of one rank
    double flops_per_second = 0;                // of one rank, single precision without tensor cores
    double in_node_bytes_per_second = 0;        // of one rank to the other ranks of its node
    double between_nodes_bytes_per_second = 0;  // of one rank, or of a network card where the node's are given
    std::int64_t cache_bytes = 0;               // a GPU's L2
    int network_cards = 0;                      // of a node, which its ranks share; 0: not given
    int threads_per_rank = 0;                   // its share of the node's cores; 0: not given
};

// The profile of a machine of which nothing but these figures is known. Published peaks become rates by the rules of
// the presets (docs/catalog.md, "Machines"): streaming and links attain 80 % of their peak, GEMM 60 %, SpMM is bound by
// memory without reuse; latencies and the overhead of a step are round figures of the usual order.
// Throws Error{data} that names a figure that is not positive.
Machine machine_of(const DataSheet& sheet);

}  // namespace gnnplan::catalog
