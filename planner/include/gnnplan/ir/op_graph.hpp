// A model as a graph of operations on vertex matrices, before anything is said about ranks.
#pragma once

#include <gnnplan/base/activation.hpp>
#include <gnnplan/base/loss.hpp>

#include <array>
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
    output,  // what a model is applied for, in place of a loss
    // (z - mean) / sqrt(variance + 1e-5) * weight + bias of each row (Ba et al. 2016, eq. 3); `parameter` is the
    // weight, `shift` the bias
    layer_norm,
    // The same of each column (Ioffe & Szegedy 2015, algorithm 1): training with the mean and variance over all rows,
    // of which it keeps `running` values, and else with those. The bias of what it reads would be subtracted again.
    batch_norm,
    sigmoid_cross_entropy,         // the loss over the labels of the training vertices
    masked_sigmoid_cross_entropy,  // over those that are known
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

constexpr OpKind operation_of(Loss loss) {
    return loss == Loss::sigmoid          ? OpKind::sigmoid_cross_entropy
           : loss == Loss::masked_sigmoid ? OpKind::masked_sigmoid_cross_entropy
                                          : OpKind::softmax_cross_entropy;
}
// The loss that an operation is; softmax of others.
constexpr Loss loss_of(OpKind kind) {
    return kind == OpKind::sigmoid_cross_entropy          ? Loss::sigmoid
           : kind == OpKind::masked_sigmoid_cross_entropy ? Loss::masked_sigmoid
                                                          : Loss::softmax;
}
constexpr bool is_loss(OpKind kind) { return kind == operation_of(loss_of(kind)); }

// How an aggregation reduces the rows of a vertex's in-neighbours.
enum class Reduce : std::uint8_t {
    sum,  // weighed by the entries of the matrix
    max,  // the largest of each column, 0 of none; the entries of the matrix are not read
    // Weighed by what the two vertices of an edge are, whatever the entries of the matrix: see Heads.
    attention,
    // Weighed by how alike the two vertices of an edge are, whatever the entries of the matrix (Thekumparampil et al.
    // 2018, eq. 6): the edge u -> v has the softmax over the in-neighbours of v of beta <h_u, h_v> / (|h_u| |h_v|).
    // `parameter` is beta.
    cosine,
};

inline constexpr int max_hops = 128;  // of one aggregation

// The heads of an aggregation by attention (Velickovic et al. 2018, eq. 1 to 6). Its input is the columns of all heads,
// one head after the other; of the edge u -> v head k has the score leaky(<h_u, source_k> + <h_v, target_k>), with
// leaky(x) = x > 0 ? x : slope * x, and the weight that the softmax makes of it over the in-neighbours of v. Its result
// is the weighted sums of all heads, one after the other, or their mean.
struct Heads {
    int count = 0;  // 0: no attention
    bool average = false;
    double slope = 0.2;
    int source = -1;  // indices into OpGraph::parameters: a row for each head
    int target = -1;
    bool operator==(const Heads&) const = default;
};

// How a parameter is filled before the first epoch.
enum class Init : std::uint8_t {
    glorot,  // uniform within +-sqrt(6 / (rows + columns)) (Glorot & Bengio 2010, eq. 16)
    zeros,
    ones,
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
    int parameter = -1;           // of linear and bias, e of a sum, beta of a cosine: index into OpGraph::parameters
    Reduce reduce = Reduce::sum;  // of aggregate
    // How much of the vertex itself a sum adds to its in-neighbours: (A + self I)^T H, or with a parameter
    // (A + (self + e) I)^T H, which has the gradient <dL/d((A + ...)^T H), H> for e.
    double self = 0;
    // How often a sum aggregates, x = (1 - teleport) A^T x + teleport H from x = H on: with teleport 0 (A^T)^hops H (Wu
    // et al. 2019, eq. 8), else personalised PageRank (Gasteiger et al. 2019, eq. 5). It does not add vertices
    // themselves then. A sum with a second input aggregates once, and adds that in place of what it read:
    // (1 - teleport) A^T H + teleport H^0, an initial residual (Chen et al. 2020, eq. 5).
    int hops = 1;
    double teleport = 0;
    // A linear operation with share < 1 computes H (share W + (1 - share) I), an identity mapping (Chen et al. 2020,
    // eq. 5); its W is square.
    double share = 1;
    Heads heads = {};
    int shift = -1;                         // of a norm: the bias
    std::array<int, 2> running = {-1, -1};  // of batch_norm: mean and variance
    bool rocauc = false;                    // of a loss over labels: evaluations find the area under the ROC curve, too

    bool keeps_running() const { return running[0] >= 0 && running[1] >= 0; }
};

struct OpGraph {
    std::string model;
    std::vector<Parameter> parameters;
    std::vector<Op> ops;  // in topological order; the loss, or the output, comes last
};

// The same model, applied: its logits are what it is for, and no loss is made of them.
inline OpGraph applied(OpGraph model) {
    model.ops.back().kind = OpKind::output;
    return model;
}

}  // namespace gnnplan
