// The network that a plan is for.
#pragma once

#include <gnnplan/base/activation.hpp>
#include <gnnplan/base/loss.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan {

// Every layer may add a residual to its aggregation.
enum class Residual : std::uint8_t {
    none,
    input,   // H, which it reads, mapped where the widths differ
    linear,  // H W
    sums,    // Z, the sum that the layer before it has made before its norm and activation (He et al. 2016, "identity")
};

// Jumping knowledge (Xu et al. 2018): the logits are a linear map of what layers make.
enum class JumpingKnowledge : std::uint8_t {
    none,
    concat,  // of all layers' outputs, concatenated
    last,    // of the last layer's output
};

// Normalisation of what layers make.
enum class Norm : std::uint8_t {
    none,
    layer,  // of each row (Ba et al. 2016)
    batch,  // of each column, over all vertices (Ioffe & Szegedy 2015)
};
// The norm follows one of a layer's last operations.
enum class NormAfter : std::uint8_t { sum, activation, dropout };

struct ModelRecord {
    std::string name = "gcn";
    std::vector<std::int64_t> widths;  // f_0 .. f_L
    bool bias = false;
    std::string aggregator{};                // "" of models that have one way to aggregate
    std::optional<Activation> activation{};  // after every layer but the last; unset: ReLU
    std::vector<std::int64_t> pre{};         // what linear maps between the features and layer 1 make
    std::vector<std::int64_t> post{};        // of linear maps behind layer L, but for the last one, which makes logits
    bool pre_activation = false;             // after the last of `pre`, too, and not between them alone
    Residual residual = Residual::none;
    JumpingKnowledge jk = JumpingKnowledge::none;
    Norm norm = Norm::none;  // of every layer but the last one, of that, too, where linear maps make the logits
    NormAfter norm_after = NormAfter::sum;
    Loss loss = Loss::softmax;
    bool rocauc = false;  // evaluations find the area under the ROC curve, too
    double epsilon = 0;   // of gin: fixed, or where training begins
    bool trains_epsilon = false;
    // These belong to models that attend; 0 and unset mean their defaults. Hidden layers have `heads`, whose results
    // follow each other unless they are averaged; the last layer averages `output_heads`.
    int heads = 0;
    int output_heads = 0;
    bool average_heads = false;
    std::optional<double> slope{};
    // These belong to models that propagate: how often a layer aggregates, 0 for the model's default, and the share of
    // its input that each aggregation adds (Op::teleport).
    int hops = 0;
    std::optional<double> teleport{};
    std::optional<double>
        theta{};  // of gcnii: the weight of layer l counts log(theta / l + 1), and the identity the rest
};

}  // namespace gnnplan
