// A model as a graph of operations on vertex matrices, before anything is said about ranks.
#pragma once

#include <gnnplan/base/activation.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan {

enum class OpKind : std::uint8_t {
    input,      // H^0
    dropout,    // of the layer's input
    aggregate,  // A^T H (backward: A G)
    linear,     // H W
    add,        // the sum of two matrices
    bias,       // + b
    relu,
    softmax_cross_entropy,  // the loss over the training vertices
    elu,
    leaky_relu,
};

// The activation that an operation is; none of others.
constexpr Activation activation_of(OpKind kind) {
    switch (kind) {
        case OpKind::relu: return Activation::relu;
        case OpKind::elu: return Activation::elu;
        case OpKind::leaky_relu: return Activation::leaky_relu;
        default: return Activation::none;
    }
}
constexpr OpKind operation_of(Activation activation) {
    return activation == Activation::elu          ? OpKind::elu
           : activation == Activation::leaky_relu ? OpKind::leaky_relu
                                                  : OpKind::relu;
}

// What an aggregation makes of the rows of a vertex's in-neighbours.
enum class Reduce : std::uint8_t {
    sum,  // weighed by the entries of the matrix
    max,  // the largest of each column, 0 of none; the entries of the matrix are not read
};

// How a parameter is filled before the first epoch.
enum class Init : std::uint8_t {
    glorot,  // uniform within +-sqrt(6 / (rows + columns)) (Glorot & Bengio 2010, eq. 16)
    zeros,
};

// A matrix that training changes. It stands whole on every rank.
struct Parameter {
    std::string name;                 // in files of weights, e.g. "layers.1.weight"
    std::string symbol;               // in schedules and their steps, e.g. "W1"
    std::vector<std::int64_t> shape;  // rows and columns; of a vector its length
    Init init = Init::glorot;
    bool decays = false;  // whether weight decay applies to it unless a run says otherwise

    // As a matrix: a vector is one row.
    std::int64_t rows() const { return shape.size() == 1 ? 1 : shape.front(); }
    std::int64_t columns() const { return shape.back(); }
    bool operator==(const Parameter&) const = default;
};

struct Op {
    OpKind kind = OpKind::input;
    std::vector<int> inputs;      // indices of earlier ops
    std::int64_t width = 0;       // columns of the result
    int layer = 0;                // 1 .. L; 0 for the input
    int parameter = -1;           // of linear and bias, and e of an aggregation: index into OpGraph::parameters
    Reduce reduce = Reduce::sum;  // of aggregate
    // How much of the vertex itself a sum adds to its in-neighbours: (A + self I)^T H, or with a parameter
    // (A + (self + e) I)^T H, which has the gradient <dL/d((A + ...)^T H), H> for e.
    double self = 0;
};

struct OpGraph {
    std::string model;
    std::vector<Parameter> parameters;
    std::vector<Op> ops;  // in topological order; the loss comes last
};

}  // namespace gnnplan
