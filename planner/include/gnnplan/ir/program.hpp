// The programs of one pass over the nonzeros of a matrix.
#pragma once

#include <cstdint>

namespace gnnplan {

// The programs, and what each makes of its operands (program_operands.hpp names them) at the nonzeros of its matrix.
// Below, v is a row of the matrix, u a column in which it has a nonzero, and all is elementwise. Column operands have
// the subscript u, row operands and results v.
enum class Program : std::uint8_t {
    sum,  // out_v = the sum of M(v, u) in_u
    // maxima_v = the largest in_u, ties_v = how many of them equal it, as floats; both are 0 in rows without nonzeros.
    // The values of the matrix are not read.
    max,
    // Makes the gradient of `in` from that of `maxima`, shared evenly among ties; the matrix is the transpose of max's.
    // With share = the gradient of maxima divided by ties (MapOp::divide), gradient_v = the sum of share_u where in_v
    // equals maxima_u. The values of the matrix are not read.
    max_back,
    // Attention (kernels/attention.hpp has the formulas); the matrix is A^T. From h and, by heads, s (source) of
    // columns and t (target) of rows: the sums, and log_total and total by heads; before a backward pass also
    // by_target, which is d sum / dt, and negative_share by heads; and where the backward pass is to read them, scores:
    // values of the nonzeros by heads.
    attend,
    // The backward pass of the sums; the matrix is A. It reads the gradient of the sums, and t, log_total and
    // inner = <gradient, sums> by heads, of columns, and h and s of rows, and makes the gradient of h for given
    // weights, and that of s by heads. Stored scores are read in place of t and s.
    attend_back,
    // products(v, u) = <y_v, x_u>, values of the nonzeros (SDDMM). The values of the matrix are not read. Where each
    // rank has some columns of x and y the values are partial sums over y; where x and y are whole rows on every rank
    // of a y-group, so are the values.
    dot,
    edge_sum,  // as sum, with `values` of the nonzeros in place of the matrix's own
};

// Whether a program has sums of rows of its column operand as its one result.
constexpr bool is_sum(Program program) { return program == Program::sum || program == Program::edge_sum; }

}  // namespace gnnplan
