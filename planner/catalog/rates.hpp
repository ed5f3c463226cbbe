// How published peaks become the rates of a profile.
#pragma once

#include <gnnplan/ir/machine.hpp>

#include <cstdint>

namespace gnnplan::catalog {

// Published peaks become rates by three rules, the same for every preset and fitted to no paper's running times:
// streaming and links attain `attained` of their peak, GEMM `gemm_attained`, SpMM is bound by reading a row of the
// dense operand, a value and an index per nonzero from memory without reuse. Where a link was measured on like
// hardware that figure is used. Latencies and step overheads are round figures of the order that NCCL and MPI show.
inline constexpr double attained = 0.8;
inline constexpr double gemm_attained = 0.6;

// Sets the rates of one rank from its peaks: memory in GB/s, single precision in TF/s.
void set_rates(Machine& machine, double peak_gigabytes_per_second, double peak_teraflops, double step_us);

// Makes ranks GPUs: what a rank has is its own, and the graph is loaded in memory of the host.
void set_accelerators(Machine& machine, std::int64_t l2_bytes);

}  // namespace gnnplan::catalog
