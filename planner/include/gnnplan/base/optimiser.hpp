// The rules by which training changes parameters, and what each remembers of a parameter from step to step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gnnplan {

enum class Optimiser : std::uint8_t {
    adam,      // Kingma & Ba 2015, algorithm 1
    sgd,       // w -= lr g
    momentum,  // m = momentum m + g, w -= lr m: SGD with momentum, as PyTorch has it
    adamw,     // Loshchilov & Hutter 2019, algorithm 2: decay is taken off the parameter, and is in no moment
    rmsprop,   // Tieleman & Hinton 2012: v = 0.99 v + 0.01 g^2, w -= lr g / (sqrt(v) + eps), as PyTorch has it
};

struct OptimiserRule {
    std::string_view name;
    std::string_view files;                 // before the names of its state in checkpoints
    std::array<std::string_view, 2> state;  // matrices like the parameter, as PyTorch calls them; "": none
    std::string_view torch = {};            // its class in torch.optim; "": none
};

// In the order of the enumerators.
inline constexpr std::array<OptimiserRule, 5> optimiser_rules{{
    {"adam", "adam", {"exp_avg", "exp_avg_sq"}, "Adam"},
    {"sgd", "sgd", {}, "SGD"},
    {"momentum", "sgd", {"momentum_buffer"}, "SGD"},
    {"adamw", "adamw", {"exp_avg", "exp_avg_sq"}, "AdamW"},
    {"rmsprop", "rmsprop", {"square_avg"}, "RMSprop"},
}};

constexpr const OptimiserRule& rule_of(Optimiser optimiser) {
    return optimiser_rules[static_cast<std::size_t>(optimiser)];
}

}  // namespace gnnplan
