// Training of a model in double precision by one thread and plain loops: what every distributed configuration must
// equal.
//
// A tape runs through the operations of the model (gnnplan/ir/op_graph.hpp) forwards and backwards; the gradients that
// arrive at a value are added. The loss is the mean cross-entropy of the softmax of the last value over the training
// vertices. Shares no loop with the product; only the decisions of dropout are asked from its generator, so that both
// see the same network.
#pragma once

#include <gnnplan/base/optimiser.hpp>
#include <gnnplan/ir/op_graph.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace gnnplan::testing {

// Square sparse matrix: row i holds entries row_start[i] .. row_start[i + 1] of column and value.
struct SparseMatrix {
    std::int64_t size = 0;
    std::vector<std::int64_t> row_start;
    std::vector<std::int64_t> column;
    std::vector<double> value;
};

// Rows become columns.
SparseMatrix transposed(const SparseMatrix& matrix);

// A SumRule replaces the sums of a layer's aggregation in an epoch (from 1), and their gradient; both are N x `width`.
struct SumRule {
    virtual ~SumRule() = default;
    // In place of `sum`, which the matrix has made of what was `read`.
    virtual void forward(int layer, std::uint32_t epoch, std::int64_t width, const std::vector<double>& read,
                         std::vector<double>& sum) = 0;
    // In place of the gradient that the matrix's transpose multiplies.
    virtual void backward(std::uint32_t epoch, std::int64_t width, std::vector<double>& gradient) = 0;
};

struct SerialProblem {
    SparseMatrix forward;                // A^T: row v holds the sources of the edges into v, normalised
    std::vector<SparseMatrix> drawn;     // by layer, what stands for it there; empty: nothing does
    std::vector<double> features;        // N x f_0, row-major
    std::vector<std::int32_t> labels;    // per vertex; -1 where unlabelled
    std::vector<double> several = {};    // N x f_L, 0, 1 or NaN (not known), in place of `labels`; empty: classes
    std::vector<std::uint8_t> training;  // per vertex; 1 where the vertex trains
    std::vector<std::int64_t> widths;    // f_0 .. f_L
    bool bias = false;
    OpGraph model;
    // By how much of a vertex each clone counts in the loss, and which vertex it is one of: it draws as that. Empty:
    // each counts as 1, and is itself.
    std::vector<double> counts_as{};
    std::vector<std::int32_t> clone_of{};
    std::int64_t counted = 0;  // training vertices; 0: as many as rows that train
    std::shared_ptr<SumRule> sums = nullptr;

    std::int64_t vertices() const { return forward.size; }
    std::int32_t vertex_of(std::int64_t row) const {
        return clone_of.empty() ? static_cast<std::int32_t>(row) : clone_of[static_cast<std::size_t>(row)];
    }
    const SparseMatrix& matrix(int layer) const {
        return drawn.empty() ? forward : drawn[static_cast<std::size_t>(layer - 1)];
    }
    int layers() const { return static_cast<int>(widths.size()) - 1; }
};

struct SerialSettings {
    std::uint64_t seed = 1;   // of dropout
    float dropout = 0;        // on the inputs of layers 2 .. L
    float input_dropout = 0;  // on the features
    float attention_dropout = 0;
    double learning_rate = 0.01;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;
    double weight_decay = 0;                             // L2, added to the gradients of weights before Adam's moments
    bool decay_all_layers = false;                       // else the weights of which the model says so
    std::function<double(const Parameter&)> decay = {};  // in place of both, where there is one
    Optimiser optimiser = Optimiser::adam;
    double momentum = 0;                 // of SGD
    bool known_moments = false;          // batch norms take their running values
    std::vector<double> rate_factors{};  // of the learning rate, by step; empty: 1
};

// The model's parameters; also their gradients and moments. Its matrices, row-major, and its vectors, each in the order
// of the model.
struct Parameters {
    std::vector<std::vector<double>> weight;
    std::vector<std::vector<double>> bias;  // at least as many entries as matrices, the last ones empty
};

// Where a parameter of a model stands in Parameters: matrices and vectors are counted apart.
struct ParameterPlace {
    bool vector = false;
    std::size_t at = 0;
};
ParameterPlace place_of(const std::vector<Parameter>& parameters, int id);

Parameters zeros_like(const Parameters& parameters);

// Glorot uniform weights of the product's generator and zero biases.
Parameters initial_parameters(const SerialProblem& problem, std::uint64_t seed);

struct LossAndGradient {
    double loss = 0;             // without weight decay
    Parameters gradient;         // without weight decay
    std::vector<double> logits;  // N x f_L
    Parameters with_moments;     // the parameters, with running values of batch norms behind this epoch
    // Smallest non-zero |Z^l| that meets a relu, or distance of a maximum to the next value: gradients of a rounded
    // computation agree only while its rounding errors stay below this (infinity where neither is met).
    double kink_distance = 0;
};

// Loss and gradients at `parameters`, with the dropout decisions of `epoch` (from 1).
LossAndGradient loss_and_gradient(const SerialProblem& problem, const SerialSettings& settings,
                                  const Parameters& parameters, std::uint32_t epoch);

struct SerialEpoch {
    LossAndGradient before;    // at the parameters before the update
    Parameters after;          // the update's result
    Parameters second_moment;  // of Adam after the update, bias-corrected
};

// Trains `epochs` epochs from `initial`.
std::vector<SerialEpoch> train(const SerialProblem& problem, const SerialSettings& settings, const Parameters& initial,
                               int epochs);

}  // namespace gnnplan::testing
