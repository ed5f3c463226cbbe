// The values that change from pass to pass. They lie in the device's memory (Device::begin_pass), so that a device may
// run the work of a pass again without being told each call anew.
#pragma once

#include <cmath>
#include <cstdint>

namespace gnnplan::kernels {

// Adam's decay rates (Kingma & Ba 2015, algorithm 1).
struct AdamRates {
    float beta1 = 0.9F;
    float beta2 = 0.999F;
};

struct PassValues {
    std::uint32_t epoch = 1;  // from 1
    // Adam's bias corrections, 1 / (1 - beta^epoch).
    double correction1 = 0;
    double correction2 = 0;
    float rate = 1;  // that the learning rate is multiplied by
};

inline PassValues pass_values(std::uint32_t epoch, const AdamRates& rates = {}, float rate = 1) {
    const auto correction = [&](float beta) {
        return 1 / (1 - std::pow(static_cast<double>(beta), static_cast<double>(epoch)));
    };
    return {epoch, correction(rates.beta1), correction(rates.beta2), rate};
}

}  // namespace gnnplan::kernels
