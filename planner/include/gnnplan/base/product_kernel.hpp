// A kernel for the product of a sparse and a dense matrix, where a device has several.
#pragma once

#include <array>
#include <optional>
#include <string>

namespace gnnplan {

// Those of the CUDA backend: ours with slices of columns whose operand stays in the L2, or with all columns at once,
// and cuSPARSE's.
inline constexpr std::array product_kernel_names = {"sliced", "whole", "cusparse"};

struct ProductKernel {
    std::string name;
    std::optional<double> seconds{};     // of one product; unset where it was not timed
    std::optional<std::string> why_not;  // why it cannot compute this product
};

}  // namespace gnnplan
