// The function that a layer applies to each element of its output.
#pragma once

#include <cstdint>

namespace gnnplan {

enum class Activation : std::uint8_t {
    none,
    relu,        // max(z, 0)
    elu,         // z where z > 0, else exp(z) - 1 (Clevert et al. 2016)
    leaky_relu,  // z where z > 0, else leaky_relu_slope * z
};

inline constexpr float leaky_relu_slope = 0.01F;  // as in PyTorch

}  // namespace gnnplan
