// A model as a graph of operations, before anything is said about ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan {

enum class OpKind : std::uint8_t {
    input,      // H^0
    dropout,    // of the layer's input
    aggregate,  // A^T H (backward: A G)
    linear,     // H W
    bias,       // + b
    relu,
    softmax_cross_entropy,  // the loss over the training vertices
};

struct Op {
    OpKind kind = OpKind::input;
    std::vector<int> inputs;  // indices of earlier ops
    std::int64_t width = 0;   // columns of the result
    int layer = 0;            // 1 .. L; 0 for the input
};

struct OpGraph {
    std::string model;
    std::vector<Op> ops;  // in topological order
};

// One reorderable product A^T H W of a chain of layers, with what surrounds it.
struct ProductLayer {
    std::int64_t in_width = 0;
    std::int64_t out_width = 0;
    bool dropout = false;  // on its input
    bool bias = false;
    bool relu = false;
};

// Reads an op graph as a chain of layers, each dropout? (aggregate linear | linear aggregate) bias? relu?, ended by the
// loss. Throws Error{usage} naming the first op that does not fit: such models need another lowering rule.
std::vector<ProductLayer> product_chain(const OpGraph& graph);

}  // namespace gnnplan
