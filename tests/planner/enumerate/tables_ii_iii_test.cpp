// RDM Tables II and III: one layer's communication and SpMM operations by order, R_A = P and R_A < P.
#include "planner/enumerate/units.hpp"

#include <gtest/gtest.h>

namespace gnnplan::enumerate {
namespace {

constexpr std::int64_t N = 1000, nnz = 12345;
constexpr double in = 48, out = 20;
const std::vector<std::int64_t> widths = {48, 20};

Units units(const char* forward, const char* backward) {
    return paper_units({parse_orders(forward), parse_orders(backward)}, widths);
}

double moved(const Units& u, int ranks, int replication) { return communication_elements(u, N, ranks, replication); }

// (R_A - 1) / R_A * N * f + (P / R_A - 1) * N * f
double product_moves(double f, double P, double R) { return (R - 1) / R * N * f + (P / R - 1) * N * f; }
double redistribution_moves(double f, double R) { return (R - 1) / R * N * f; }

// Table II, "SpMM Ops" and both "Comm." rows; the forward pass alone is the difference of two epochs that share the
// rest.
TEST(TableII, ForwardPass) {
    for (const auto& [P, R] : {std::pair{8, 8}, std::pair{8, 4}, std::pair{8, 2}, std::pair{8, 1}}) {
        // Backward S then costs the same in both: f_out to C, SpMM and redistribution of f_out. A forward D ends in C,
        // and the loss needs R: the text's "last redistribution", which lacks its factor f_L in print.
        const double backward = redistribution_moves(out, R) + product_moves(out, P, R);
        EXPECT_DOUBLE_EQ(moved(units("S", "S"), P, R), product_moves(in, P, R) + backward);
        EXPECT_DOUBLE_EQ(moved(units("D", "S"), P, R),
                         product_moves(out, P, R) + redistribution_moves(out, R) + backward);
    }
    EXPECT_DOUBLE_EQ(spmm_operations(units("S", "S"), nnz), nnz * in + nnz * out);
    EXPECT_DOUBLE_EQ(spmm_operations(units("D", "S"), nnz), nnz * out + nnz * out);
}

// Table III: SpMM first moves f_l, GEMM first f_(l-1) (the R_A < P row prints them the other way round); not memoized,
// GEMM first adds min(f_l, f_(l-1)): nnz * min operations, and [2 (R_A - 1) / R_A + P / R_A - 1] * N * min elements
// (print: nnz).
TEST(TableIII, BackwardPass) {
    const double least = std::min(in, out);
    for (const auto& [P, R] : {std::pair{8, 8}, std::pair{8, 4}, std::pair{8, 2}, std::pair{8, 1}}) {
        const double forward_s = product_moves(in, P, R);
        const double forward_d = product_moves(out, P, R) + redistribution_moves(out, R);
        EXPECT_DOUBLE_EQ(moved(units("S", "S"), P, R),
                         forward_s + redistribution_moves(out, R) + product_moves(out, P, R));
        EXPECT_DOUBLE_EQ(moved(units("S", "D"), P, R), forward_s + product_moves(in, P, R));
        EXPECT_DOUBLE_EQ(moved(units("D", "D"), P, R), forward_d + product_moves(in, P, R) +
                                                           product_moves(least, P, R) + redistribution_moves(least, R));
    }
    EXPECT_DOUBLE_EQ(spmm_operations(units("S", "D"), nnz), nnz * in + nnz * in);
    EXPECT_DOUBLE_EQ(spmm_operations(units("D", "D"), nnz), nnz * out + nnz * in + nnz * least);
}

// R_A = 1 is the 1D scheme of CAGNET: (P - 1) * N * f per SpMM and nothing else.
TEST(TableIII, OneCopyIsOneDimensional) {
    EXPECT_DOUBLE_EQ(moved(units("S", "S"), 8, 1), 7 * N * (in + out));
    EXPECT_DOUBLE_EQ(moved(units("S", "S"), 1, 1), 0);
}

}  // namespace
}  // namespace gnnplan::enumerate
