// Attention of the tape of serial_network.hpp, edge by edge as its definition reads (Velickovic et al. 2018, eq. 1 to
// 6), and its gradients by the chain rule: what is stored for edges here, the product never has. Only the decisions of
// dropout are asked from its generator.
#pragma once

#include "tests/support/serial_network.hpp"

#include <gnnplan/ir/op_graph.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan::testing {

class SerialAttention {
public:
    // h is N x all columns of all heads; `source` and `target` have a row for each head. They outlive the object.
    SerialAttention(const SerialProblem& problem, const SerialSettings& settings, const Op& op, std::uint32_t epoch,
                    const std::vector<double>& h, const std::vector<double>& source, const std::vector<double>& target);

    const std::vector<double>& value() const { return value_; }
    // The smallest |s + t| that is not 0: where leaky has its kink.
    double kink_distance() const;

    struct Gradients {
        std::vector<double> h, source, target;
    };
    // From that of the value.
    Gradients gradients(const std::vector<double>& of_value) const;

private:
    struct Edge {
        std::size_t source, target;
        double score, weight, kept;  // s + t, alpha, what dropout multiplies alpha with
    };
    Heads heads_;
    std::size_t columns_;  // of a head
    const std::vector<double>&h_, &source_, &target_;
    std::vector<std::vector<Edge>> edges_;  // of each head
    std::vector<double> value_;
};

}  // namespace gnnplan::testing
