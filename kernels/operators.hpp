// The operators of generalised SpMM (Md et al., "DistGNN", SC 2021, Table 1; DGL calls it g-SpMM): row v of the result
// is the reduction over the entries (v, u) of a sparse matrix of op(x_u, e_vu), column by column, where x_u is row u of
// a dense operand and e_vu belongs to the entry: one number for all columns, or one for each.
#pragma once

#include <cstdint>

namespace gnnplan::kernels {

// sub and div are directed as DGL's u_sub_e and u_div_e: the vertex's number comes first.
enum class EdgeOp : std::uint8_t {
    copy_lhs,  // x
    copy_rhs,  // e
    add,       // x + e
    sub,       // x - e
    mul,       // x * e
    div,       // x / e
};
inline constexpr EdgeOp edge_ops[] = {EdgeOp::copy_lhs, EdgeOp::copy_rhs, EdgeOp::add,
                                      EdgeOp::sub,      EdgeOp::mul,      EdgeOp::div};

enum class ReduceOp : std::uint8_t { sum, max, min };
inline constexpr ReduceOp reduce_ops[] = {ReduceOp::sum, ReduceOp::max, ReduceOp::min};

constexpr bool reads_vertices(EdgeOp op) { return op != EdgeOp::copy_rhs; }
constexpr bool reads_edges(EdgeOp op) { return op != EdgeOp::copy_lhs; }

// Whether rows of the vertices' operand are rounded to bfloat16 where that is asked for.
constexpr bool rounds_vertices(EdgeOp op, ReduceOp reduce) { return reduce == ReduceOp::sum && reads_vertices(op); }

// As DGL names them.
constexpr const char* name_of(EdgeOp op) {
    switch (op) {
        case EdgeOp::copy_lhs: return "copy_lhs";
        case EdgeOp::copy_rhs: return "copy_rhs";
        case EdgeOp::add: return "add";
        case EdgeOp::sub: return "sub";
        case EdgeOp::mul: return "mul";
        case EdgeOp::div: return "div";
    }
    return "?";
}
constexpr const char* name_of(ReduceOp op) {
    switch (op) {
        case ReduceOp::sum: return "sum";
        case ReduceOp::max: return "max";
        case ReduceOp::min: return "min";
    }
    return "?";
}

}  // namespace gnnplan::kernels
