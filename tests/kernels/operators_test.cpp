// Generalised SpMM: every operator with every reduction.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/vector.hpp"
#include "tests/kernels/on_device.hpp"
#include "tests/kernels/room_support.hpp"

namespace gnnplan::kernels::testing {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const std::vector<std::int64_t> operator_widths = {1, 2, 3, 5, 8, 12, 17, 31, 64, 65, 96, 128, 130, 161, 272};

// Every pair of an operator and a reduction, with one number of an entry for all columns and with one for each.
struct Pair {
    EdgeOp op;
    ReduceOp reduce;
    bool edge_rows;

    std::string name() const {
        return std::string(name_of(op)) + "-" + name_of(reduce) + (edge_rows ? ", numbers of columns" : "");
    }
};
std::vector<Pair> pairs() {
    std::vector<Pair> all;
    for (const EdgeOp op : edge_ops) {
        for (const ReduceOp reduce : reduce_ops) {
            for (const bool edge_rows : {false, true}) all.push_back({op, reduce, edge_rows});
        }
    }
    return all;
}

// Operands of one call, of which those that are not read are not there. Numbers of vertices are integers, those of
// entries powers of two, so that every operator and all sums are exact.
struct OperatorOperands {
    Pair pair;
    Owned x, edge;

    OperatorOperands(std::mt19937& random, const Pair& which, const OwnedCsr& a, std::int64_t width,
                     std::int64_t padding, int bound = 3)
        : pair(which),
          x(Owned(a.columns, width, padding).fill(random, bound)),
          edge(std::ssize(a.column), which.edge_rows ? width : 1, which.edge_rows && width > 1 ? padding : 0) {
        for (std::int64_t k = 0; k < edge.view().rows; ++k) {
            for (std::int64_t j = 0; j < edge.view().columns; ++j)
                edge.at(k, j) = std::ldexp(random() % 2 == 0 ? 1.0F : -1.0F, static_cast<int>(random() % 3) - 1);
        }
    }
    ConstMatrix vertices() const { return reads_vertices(pair.op) ? std::as_const(x).view() : ConstMatrix{}; }
    ConstMatrix edges() const { return reads_edges(pair.op) ? std::as_const(edge).view() : ConstMatrix{}; }
    void reference(const Csr& a, Owned& out, PanelRoom room = {}) const {
        reference_table().gspmm(pair.op, pair.reduce, a, vertices(), edges(), out.view(), room);
    }
};

class Operator : public OnDevice {
protected:
    void reduce(const OperatorOperands& in, const Csr& a, Owned& out, PanelRoom room = {}) {
        run(&Table::gspmm, in.pair.op, in.pair.reduce, a, in.vertices(), in.edges(), out.view(), room);
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, Operator, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

// Row 0: vertices 2 and 0, row 1: none, row 2: vertex 1.
TEST(OperatorReference, IsWhatTheTableSays) {
    const OwnedCsr a{3, {0, 2, 2, 3}, {2, 0, 1}, {9, 9, 9}};
    Owned x(3, 1), edge(3, 1);
    for (std::int64_t i = 0; i < 3; ++i) x.at(i, 0) = static_cast<float>(2 * i + 3);    // 3, 5, 7
    edge.at(0, 0) = 2, edge.at(1, 0) = -4, edge.at(2, 0) = 8;                           // of 7, 3 and 5
    const float want[6][3][2] = {{{10, 5}, {7, 5}, {3, 5}},                             // copy_lhs: 7, 3; 5
                                 {{-2, 8}, {2, 8}, {-4, 8}},                            // copy_rhs: 2, -4; 8
                                 {{8, 13}, {9, 13}, {-1, 13}},                          // add: 9, -1; 13
                                 {{12, -3}, {7, -3}, {5, -3}},                          // sub: 5, 7; -3
                                 {{2, 40}, {14, 40}, {-12, 40}},                        // mul: 14, -12; 40
                                 {{2.75F, 0.625F}, {3.5F, 0.625F}, {-0.75F, 0.625F}}};  // div: 3.5, -0.75; 0.625
    for (std::size_t op = 0; op < 6; ++op) {
        for (std::size_t reduce = 0; reduce < 3; ++reduce) {
            Owned out(3, 1);
            reference_table().gspmm(edge_ops[op], reduce_ops[reduce], a.view(), std::as_const(x).view(),
                                    std::as_const(edge).view(), out.view(), {});
            const std::string name = Pair{edge_ops[op], reduce_ops[reduce], false}.name();
            EXPECT_EQ(out.at(0, 0), want[op][reduce][0]) << name;
            EXPECT_EQ(out.at(1, 0), 0) << name;
            EXPECT_EQ(out.at(2, 0), want[op][reduce][1]) << name;
        }
    }
}

TEST_P(Operator, EqualsReferenceInEveryFormAndWidth) {
    std::mt19937 random(1);
    for (const std::int64_t rows : {0, 1, 37}) {
        for (const auto& begins : std::vector<std::vector<std::int64_t>>{{0}, {0, 25}, {0, 7, 30, 30, 50}}) {
            const OwnedCsr valued = random_csr(random, rows, 50);
            const OwnedCsr a = in_panels(random() % 2 == 0 ? valued : factored(valued, random, true, true), begins);
            for (const std::int64_t width : operator_widths) {
                for (const Pair& pair : pairs()) {
                    if (!takes_next()) continue;
                    const std::int64_t padding = random() % 2 == 0 ? 3 : 0;
                    const OperatorOperands in(random, pair, a, width, padding);
                    Owned got(rows, width, padding);
                    Owned want = got;
                    reduce(in, a.view(), got);
                    in.reference(a.view(), want);
                    ASSERT_EQ(difference(got, want), "")
                        << pair.name() << ", " << rows << " rows, width " << width << ", padding " << padding << ", "
                        << begins.size() << " panels";
                }
            }
        }
    }
}

// One element in double precision: the result, and the sum of what the operator makes of the entries, by amount.
struct Exact {
    double result = 0, amounts = 0, largest_amount = 0;
    std::int64_t terms = 0;

    void take(EdgeOp op, ReduceOp reduce, double x, double e) {
        const double made[] = {x, e, x + e, x - e, x * e, x / e};
        const double term = made[static_cast<int>(op)];
        const bool better = reduce == ReduceOp::max ? term > result : term < result;
        if (reduce == ReduceOp::sum)
            result += term;
        else if (terms == 0 || better)
            result = term;
        amounts += std::abs(term), largest_amount = std::max(largest_amount, std::abs(term)), ++terms;
    }
    // What rounding may change, in units of u = 2^-24: each term by itself, and in a sum each of n - 1 additions by the
    // sum so far, which no order makes larger than the sum of the amounts.
    double bound(ReduceOp reduce) const {
        const double units = reduce == ReduceOp::sum ? static_cast<double>(terms) * amounts : largest_amount;
        return 1.001 * units * 0x1p-24;
    }
};

// Rows of which some are longer than what one group of a GPU takes, and some are empty.
OwnedCsr with_long_rows(std::mt19937& random) {
    OwnedCsr a;
    a.columns = 50;
    for (const std::int64_t length : {1, 0, 511, 512, 513, 0, 0, 1025, 3, 2000, 0}) {
        for (std::int64_t k = 0; k < length; ++k) a.column.push_back(static_cast<std::int32_t>(random() % 50));
        a.row_start.push_back(std::ssize(a.column));
    }
    return a;
}

// Element (i, j) of the result from all entries of row i.
Exact exact_element(const OperatorOperands& in, const Csr& a, std::int64_t i, std::int64_t j) {
    Exact element;
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
        element.take(in.pair.op, in.pair.reduce, in.x.at(a.column[k], j), in.edge.at(k, in.pair.edge_rows ? j : 0));
    }
    return element;
}

TEST_P(Operator, IsWithinRoundingOfDoublePrecision) {
    std::mt19937 random(2);
    std::uniform_real_distribution<float> draw(0.1F, 3);
    const OwnedCsr a = with_long_rows(random);
    for (const Pair& pair : pairs()) {
        const std::int64_t width = random() % 2 == 0 ? 4 : 41;
        OperatorOperands in(random, pair, a, width, 1);
        for (Owned* each : {&in.x, &in.edge}) {
            for (float& v : each->span()) v = v == guard ? v : random() % 2 == 0 ? draw(random) : -draw(random);
        }
        Owned got(a.rows(), width, 2);
        reduce(in, a.view(), got);
        for (std::int64_t i = 0; i < a.rows(); ++i) {
            for (std::int64_t j = 0; j < width; ++j) {
                const Exact want = exact_element(in, a.view(), i, j);
                ASSERT_LE(std::abs(got.at(i, j) - want.result), want.bound(pair.reduce))
                    << pair.name() << ", width " << width << ": " << i << ", " << j;
            }
        }
        ASSERT_TRUE(got.padding_untouched());
    }
}

// Sums of operands that bfloat16 rounds, all of which stay exact; maxima and minima are of floats all the same.
TEST_P(Operator, SumsOfRoundedOperandsEqualReference) {
    std::mt19937 random(3);
    for (const std::int64_t panels : {1, 3}) {
        const OwnedCsr a = evenly_cut(random, panels);
        for (const std::int64_t width : {1, 3, 8, 17, 41, 64, 130, 256}) {
            for (const Pair& pair : pairs()) {
                if (!takes_next()) continue;
                const GuardedRoom room(blockings[random() % 2], panels, width, true);
                const OperatorOperands in(random, pair, a, width, 3, 1000);
                Owned got(23, width, (4 - width % 4) % 4);
                Owned want = got, unrounded = got;
                reduce(in, a.view(), got, room.view());
                in.reference(a.view(), want, room.view());
                in.reference(a.view(), unrounded);
                ASSERT_EQ(difference(got, want), "") << pair.name() << ", " << panels << " panels, width " << width;
                ASSERT_TRUE(room.intact_behind());
                EXPECT_EQ(rounds_vertices(pair.op, pair.reduce), !difference(want, unrounded).empty()) << pair.name();
            }
        }
    }
}

// Copies of the rows of an operand are the same numbers.
TEST(OperatorVectors, PackedPanelsEqualUnpackedOnes) {
    std::mt19937 random(4);
    for (const std::int64_t panels : {1, 3}) {
        const OwnedCsr a = evenly_cut(random, panels);
        for (const std::int64_t width : {1, 16, 41, 161, 256}) {
            for (const Pair& pair : pairs()) {
                const GuardedRoom room(Blocking{}, panels, width, false);
                const OperatorOperands in(random, pair, a, width, 3);
                Owned got(23, width);
                Owned want = got;
                cpu_table().gspmm(pair.op, pair.reduce, a.view(), in.vertices(), in.edges(), got.view(), room.view());
                in.reference(a.view(), want);
                ASSERT_EQ(difference(got, want), "") << pair.name() << ", " << panels << " panels, width " << width;
                ASSERT_EQ(room.used(), reads_vertices(pair.op));
                ASSERT_TRUE(room.intact_behind());
            }
        }
    }
}

// Rows of a result that are written past the caches, too: whole aligned vectors.
TEST(OperatorVectors, EveryInstructionSetEqualsReference) {
    std::mt19937 random(5);
    const OwnedCsr a = random_csr(random, 19, 50);
    for (const auto* kernels : cpu::supported_kernels()) {
        for (const std::int64_t width : operator_widths) {
            for (const Pair& pair : pairs()) {
                const OperatorOperands in(random, pair, a, width, 1);
                Owned want(19, width);
                in.reference(a.view(), want);
                std::vector<float> memory(static_cast<std::size_t>(19 * width + 16), guard);
                void* aligned = memory.data();
                std::size_t space = memory.size() * sizeof(float);
                ASSERT_NE(std::align(64, static_cast<std::size_t>(19 * width) * 4, aligned, space), nullptr);
                const Matrix out{static_cast<float*>(aligned), 19, width, width};
                const bool rows_of_edges = pair.edge_rows && width > 1 && reads_edges(pair.op);
                const cpu::GspmmBlock<float> block{pair.op,    pair.reduce,   a.view(), in.vertices(),
                                                   in.edges(), rows_of_edges, out};
                kernels->gspmm_rows(block, cpu::Store::nontemporal, 0, 7);
                kernels->gspmm_rows(block, cpu::Store::write, 7, 19);
                for (std::int64_t i = 0; i < 19; ++i) {
                    const bool empty =
                        a.row_start[static_cast<std::size_t>(i)] == a.row_start[static_cast<std::size_t>(i) + 1];
                    for (std::int64_t j = 0; !empty && j < width; ++j) {
                        ASSERT_EQ(out.row(i)[j], want.at(i, j))
                            << kernels->name << ", " << pair.name() << ", width " << width << ": " << i << ", " << j;
                    }
                }
            }
        }
    }
}

// Entries of -infinity alone have a largest one, which is not mistaken for a row without entries; a NaN is none.
TEST_P(Operator, InfinitiesAndNansInMaximaAndMinima) {
    const OwnedCsr a{3, {0, 2, 2, 5, 6}, {0, 1, 2, 0, 1, 2}};
    for (const ReduceOp reduced : {ReduceOp::max, ReduceOp::min}) {
        std::mt19937 random(6);
        const float least = reduced == ReduceOp::max ? -infinity : infinity;
        OperatorOperands in(random, {EdgeOp::copy_lhs, reduced, false}, a, 20, 0);
        for (std::int64_t j = 0; j < 20; ++j) in.x.at(0, j) = in.x.at(1, j) = least, in.x.at(2, j) = std::nanf("");
        Owned got(4, 20);
        reduce(in, a.view(), got);
        for (std::int64_t j = 0; j < 20; ++j) {
            EXPECT_EQ(got.at(0, j), least);
            EXPECT_EQ(got.at(1, j), 0);
            EXPECT_EQ(got.at(2, j), least);
            EXPECT_EQ(got.at(3, j), least) << "of a NaN alone";
        }
    }
}

// A number divided by 0 is infinite, 0 by 0 a NaN, which a sum shows.
TEST_P(Operator, DivisionsByZero) {
    const OwnedCsr a{3, {0, 1, 2, 3}, {0, 1, 2}};
    std::mt19937 random(7);
    for (const bool edge_rows : {false, true}) {
        OperatorOperands in(random, {EdgeOp::div, ReduceOp::sum, edge_rows}, a, 9, 0);
        for (float& e : in.edge.span()) e = 0;
        for (std::int64_t j = 0; j < 9; ++j) in.x.at(0, j) = 2, in.x.at(1, j) = -2, in.x.at(2, j) = 0;
        Owned got(3, 9);
        reduce(in, a.view(), got);
        for (std::int64_t j = 0; j < 9; ++j) {
            EXPECT_EQ(got.at(0, j), infinity);
            EXPECT_EQ(got.at(1, j), -infinity);
            EXPECT_TRUE(std::isnan(got.at(2, j)));
        }
    }
}

TEST_P(Operator, EmptyMatrices) {
    std::mt19937 random(8);
    const OwnedCsr no_columns = random_csr(random, 5, 0);
    for (const Pair& pair : pairs()) {
        const OperatorOperands in(random, pair, no_columns, 4, 0);
        Owned got(5, 4);
        reduce(in, no_columns.view(), got);
        for (const float x : got.span()) ASSERT_EQ(x, 0) << pair.name();
        run(&Table::gspmm, pair.op, pair.reduce, Csr{}, ConstMatrix{}, ConstMatrix{}, Matrix{}, PanelRoom{});
    }
}

// Some rows of a larger matrix keep the numbers of its entries.
TEST_P(Operator, RowSlices) {
    std::mt19937 random(9);
    const OwnedCsr owned = in_panels(random_csr(random, 40, 50), {0, 20});
    const Csr whole = owned.view();
    for (const Pair& pair : pairs()) {
        const OperatorOperands in(random, pair, owned, 24, 0);
        Owned all(40, 24);
        in.reference(whole, all);
        for (const auto& [first, count] : {std::pair{0, 15}, {15, 20}, {35, 5}}) {
            Owned got(count, 24);
            reduce(in, whole.row_slice(first, count), got);
            Owned want(count, 24);
            for (std::int64_t i = 0; i < count; ++i) std::copy_n(all.view().row(first + i), 24, want.view().row(i));
            ASSERT_EQ(difference(got, want), "") << pair.name();
        }
    }
}

// Large enough for the work to be split; thirds are inexact, so that another order of a sum would show.
TEST(OperatorThreads, SameBitsForEveryCount) {
    std::mt19937 random(10);
    const OwnedCsr a = random_csr(random, 9000, 500);
    for (const Pair& pair : pairs()) {
        OperatorOperands in(random, pair, a, 41, 0);
        for (float& x : in.x.span()) x /= 3;
        const auto with = [&](int threads) {
            set_threads(threads);
            Owned out(9000, 41);
            cpu_table().gspmm(pair.op, pair.reduce, a.view(), in.vertices(), in.edges(), out.view(), {});
            return out;
        };
        const Owned one = with(1);
        for (const int threads : {2, 3, 5}) EXPECT_EQ(difference(with(threads), one), "") << pair.name();
    }
    set_threads(1);
}

}  // namespace
}  // namespace gnnplan::kernels::testing
