// The parts of the time model, each of which predicts some kinds of steps and errs in its own way.
#pragma once

#include <cstdint>

namespace gnnplan {

enum class ModelPart : std::uint8_t {
    spmm,             // sums over nonzeros whose operand is on the rank
    spmm_panels,      // sums over panels that come from other ranks
    spmm_rows,        // sums over needed rows
    spmm_overlapped,  // either while messages are under way
    programs,         // attention
    gemm,             // with what a product does to its rows while they are in cache
    weight_gradient,
    elementwise,
    loss,
    redistribution,
    reduce_scatter,
    all_reduce,
    update,
    maxima,       // over neighbours, and their gradients
    edge_values,  // products with values of edges, and these values
    heads,        // columns of rows head by head
};

struct PartSeconds {
    ModelPart part = ModelPart::spmm;
    double seconds = 0;
};

}  // namespace gnnplan
