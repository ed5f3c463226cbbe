#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/machine.hpp>

#include <algorithm>
#include <cmath>

namespace gnnplan {

double spmm_flops_per_second(const Machine& machine, std::int64_t width) {
    const auto& rates = machine.spmm;
    const auto above = std::lower_bound(rates.begin(), rates.end(), width,
                                        [](const SpmmRate& rate, std::int64_t w) { return rate.width < w; });
    if (above == rates.begin()) return rates.front().flops_per_second;
    if (above == rates.end()) return rates.back().flops_per_second;
    const SpmmRate& low = *(above - 1);
    const double share = static_cast<double>(width - low.width) / static_cast<double>(above->width - low.width);
    return low.flops_per_second + share * (above->flops_per_second - low.flops_per_second);
}

namespace {

void require(bool condition, const Machine& machine, const std::string& field, const std::string& what) {
    if (!condition) throw Error(ErrorCode::data, field + " " + what, "machine " + machine.name);
}

void require_positive(double value, const Machine& machine, const std::string& field) {
    require(std::isfinite(value) && value > 0, machine, field, "must be positive and finite");
}

void validate(const Link& link, const Machine& machine, const std::string& field) {
    require(std::isfinite(link.latency_seconds) && link.latency_seconds >= 0, machine, field + ".latency_seconds",
            "must be finite and not negative");
    require_positive(link.bytes_per_second, machine, field + ".bytes_per_second");
}

}  // namespace

void validate(const Machine& machine) {
    require(machine.ranks_per_node >= 1, machine, "ranks_per_node", "must be at least 1");
    require(machine.memory_per_rank >= 1, machine, "memory_per_rank_bytes", "must be at least 1");
    validate(machine.intra_node, machine, "intra_node");
    validate(machine.inter_node, machine, "inter_node");
    require(!machine.spmm.empty(), machine, "spmm", "needs at least one measured width");
    for (std::size_t i = 0; i < machine.spmm.size(); ++i) {
        require_positive(machine.spmm[i].flops_per_second, machine, "spmm[" + std::to_string(i) + "].flops_per_second");
        require(machine.spmm[i].width > (i == 0 ? 0 : machine.spmm[i - 1].width), machine,
                "spmm[" + std::to_string(i) + "].width", "must be positive and increasing");
    }
    require_positive(machine.gemm_flops_per_second, machine, "gemm_flops_per_second");
    require_positive(machine.memory_bytes_per_second, machine, "memory_bytes_per_second");
    require(std::isfinite(machine.step_seconds) && machine.step_seconds >= 0, machine, "step_seconds",
            "must be finite and not negative");
}

}  // namespace gnnplan
