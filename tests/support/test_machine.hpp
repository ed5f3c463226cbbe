// A made-up machine of round rates, by which tests add up times on paper.
#pragma once

#include <gnnplan/ir/machine.hpp>

#include <cstdint>

namespace gnnplan::test {

// Bytes and operations per second are powers of ten; a step by itself takes no time, and nothing was calibrated.
inline Machine round_machine(int ranks_per_node = 1) {
    Machine machine;
    machine.name = "m";
    machine.source = "made up";
    machine.ranks_per_node = ranks_per_node;
    machine.memory_per_rank = std::int64_t{1} << 40;
    machine.intra_node = {1e-6, 1e9};
    machine.inter_node = {1e-4, 1e7};
    machine.spmm = {{8, 1e9}};
    machine.gemm_flops_per_second = 1e11;
    machine.memory_bytes_per_second = 1e10;
    return machine;
}

}  // namespace gnnplan::test
