// Decay says which parameters weight decay applies to, and how strongly.
#pragma once

#include <gnnplan/ir/op_graph.hpp>
#include <gnnplan/ir/tensor.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::exec {

struct Decay {
    enum class Which : std::uint8_t {
        first,    // those that the plan says: the first layer's weights, as Kipf and Welling's code has it
        weights,  // the weights of all layers
        all,      // all parameters, biases too, as an optimiser of PyTorch that gets model.parameters()
        named,    // those whose names end as `named` says
    };
    struct Named {
        std::string end;
        double strength = 0;
        bool operator==(const Named&) const = default;
    };

    Which which = Which::first;
    std::vector<Named> named = {};  // where several fit a name, the longest counts

    // How strongly a parameter of this role decays; `planned`: the plan says that it does, by `weight_decay`.
    double strength(const Parameter& parameter, Role role, bool planned, double weight_decay) const;
};

// first, weights, all or END=X,END=X. Reading throws Error{usage} of other texts.
Decay read_decay(const std::string& text);
std::string text_of(const Decay& decay);
// Throws Error{usage} where an end is that of no parameter.
void check_decay(const Decay& decay, std::span<const Parameter> parameters);

}  // namespace gnnplan::exec
