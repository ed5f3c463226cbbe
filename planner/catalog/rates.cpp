#include "planner/catalog/rates.hpp"

#include <gnnplan/base/cuda_workspace.hpp>

#include <vector>

namespace gnnplan::catalog {
namespace {

// A nonzero reads a row of w floats, a 4-byte value and a 4-byte index, and does 2w operations.
std::vector<SpmmRate> spmm_without_reuse(double memory_bytes_per_second) {
    std::vector<SpmmRate> rates;
    for (const std::int64_t width : {8, 16, 32, 64, 128, 256, 512}) {
        const double w = static_cast<double>(width);
        rates.push_back({width, 2 * w * memory_bytes_per_second / (4 * w + 8)});
    }
    return rates;
}

}  // namespace

void set_rates(Machine& machine, double peak_gigabytes_per_second, double peak_teraflops, double step_us) {
    machine.memory_bytes_per_second = attained * peak_gigabytes_per_second * 1e9;
    machine.gemm_flops_per_second = gemm_attained * peak_teraflops * 1e12;
    machine.spmm = spmm_without_reuse(machine.memory_bytes_per_second);
    machine.step_seconds = step_us * 1e-6;
}

void set_accelerators(Machine& machine, std::int64_t l2_bytes) {
    constexpr std::int64_t assumed_reserve = std::int64_t{1} << 30;  // docs/catalog.md
    machine.accelerators = true;
    machine.workspace_bytes = cuda_workspace_bytes;
    machine.blocking = gpu_blocking(l2_bytes);
    machine.reserved_bytes = assumed_reserve;
}

}  // namespace gnnplan::catalog
