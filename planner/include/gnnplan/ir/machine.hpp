// What the planner needs to know of a machine: one node and the network between nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan {

// Cost of a message: latency_seconds + bytes / bytes_per_second.
struct Link {
    double latency_seconds = 0;
    double bytes_per_second = 0;
};

// A measured rate at one width of the dense operand.
struct SpmmRate {
    std::int64_t width = 0;
    double flops_per_second = 0;  // 2 * nnz * width / time
};

struct Machine {
    std::string name;
    std::string source;     // who measured it, or which publication the figures are from
    bool measured = false;  // here, by a calibration; presets are not
    int ranks_per_node = 1;
    std::int64_t memory_per_rank = 0;  // bytes

    Link intra_node;
    Link inter_node;             // per rank; ranks of a node that share an interface have its share here
    std::vector<SpmmRate> spmm;  // by increasing width, at least one; interpolated between, clamped outside
    double gemm_flops_per_second = 0;
    double memory_bytes_per_second = 0;  // streaming: elementwise work, packing, optimiser
    double step_seconds = 0;             // fixed overhead of one step (launch, synchronisation)
};

// Sparse rate for a slice of `width` columns, by linear interpolation between the measured widths.
double spmm_flops_per_second(const Machine& machine, std::int64_t width);

// Throws Error{data} naming the first field that is not positive, finite or ordered.
void validate(const Machine& machine);

}  // namespace gnnplan
