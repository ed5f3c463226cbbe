// The programs of one pass over the nonzeros of a matrix.
#pragma once

#include <cstdint>

namespace gnnplan {

// The function that a product computes from its operands at the nonzeros of its matrix. Below, v is a row of the
// matrix, u a column in which it has a nonzero, and all is elementwise.
enum class Program : std::uint8_t {
    sum,  // column operand: in; result: out. out_v = the sum of M(v, u) in_u.
    // Column operand: in; results: maxima and ties. maxima_v = the largest in_u, ties_v = how many of them equal it, as
    // floats; both are 0 in rows without nonzeros. The values of the matrix are not read.
    max,
    // Makes the gradient of `in` from that of `maxima`, shared evenly among ties; the matrix is the transpose of max's.
    // Column operands: share, which is the gradient of maxima divided by ties (MapOp::divide), and maxima; row operand:
    // in; result: the gradient of in. gradient_v = the sum of share_u where in_v equals maxima_u. The values of the
    // matrix are not read.
    max_back,
    // Attention (kernels/attention.hpp has the formulas); the matrix is A^T. Column operands: h, and s by heads; row
    // operand: t by heads. Results: the sums, and log_total and total by heads; before a backward pass also by_target,
    // which is d sum / dt, and negative_share by heads; and at last, where the backward pass is to read them, scores:
    // values of the nonzeros by heads.
    attend,
    // The gradients of attend; the matrix is A. Column operands: the gradient of the sums, and t, log_total and
    // inner = <gradient, sums> by heads; row operands: h, and s by heads. Results: the gradient of h for given weights,
    // and that of s by heads. With stored scores, column operands: the gradient, log_total and inner; row operands: h
    // and the scores.
    attend_back,
    // Column operand: x; row operand: y; result: values of the nonzeros, <y_v, x_u> (SDDMM). The values of the matrix
    // are not read. Where each rank has some columns of x and y the values are partial sums over y; where x and y are
    // whole rows on every rank of a y-group, so are the values.
    dot,
    // As sum, with values of the nonzeros in place of the matrix's own. Column operand: in; row operand: the values;
    // result: out.
    edge_sum,
};

// Whether a program has sums of rows of its column operand as its one result.
constexpr bool is_sum(Program program) { return program == Program::sum || program == Program::edge_sum; }

}  // namespace gnnplan
