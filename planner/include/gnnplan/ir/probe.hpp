// A few rates that are measured in a second or two, and say in which state a machine is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace gnnplan {

// Rates of one rank, the slowest, while all ranks of the machine do the same.
struct ProbeFigures {
    std::int64_t largest_bytes = 0;    // no operand was larger: figures compare where these are equal
    double gemm_flops_per_second = 0;  // X W, W being 128 x 128
    double copy_bytes_per_second = 0;  // bytes read and written, where both are 64 MiB together
    // Rows of 128 columns that a sparse product gathers at random from near_bytes() and from far_bytes() of them.
    double near_bytes_per_second = 0;
    double far_bytes_per_second = 0;
    // A message of 1 MiB to each other rank of the node, and of other nodes, from cold memory; none without them.
    std::optional<double> exchange_bytes_per_second{};
    std::optional<double> between_bytes_per_second{};

    std::int64_t near_bytes() const { return std::min(std::int64_t{8} << 20, largest_bytes); }
    std::int64_t far_bytes() const { return std::min(std::int64_t{256} << 20, largest_bytes); }
    bool operator==(const ProbeFigures&) const = default;
};

// The figures that were measured again and again during a calibration: the state that its rates are of.
struct ProbeReference {
    std::string cpu;  // the model's name, as the system gives it
    int cores = 1;    // that the system has
    ProbeFigures middle{};
    ProbeFigures least{};  // each figure's lowest
    ProbeFigures most{};
    bool operator==(const ProbeReference&) const = default;
};

}  // namespace gnnplan
