// Kernels of values of entries, on every device, against the plain reference, whose sums are of doubles.
#include "tests/kernels/attention_support.hpp"
#include "tests/kernels/on_device.hpp"

namespace gnnplan::kernels::testing {
namespace {

using Values = std::vector<float>;

Values random_values(std::mt19937& random, std::size_t count, float bound) {
    std::uniform_real_distribution<float> value(-bound, bound);
    Values values(count);
    for (float& x : values) x = value(random);
    return values;
}

// Empty if all are as far from what they should be as sums of floats may be.
std::string difference(const Values& got, const Values& want) {
    for (std::size_t i = 0; i < want.size(); ++i) {
        const double a = got[i], b = want[i];
        if (!(std::abs(a - b) <= 2e-5 * std::fmax(1, std::abs(b))))
            return "(" + std::to_string(i) + "): " + std::to_string(a) + " instead of " + std::to_string(b);
    }
    return "";
}

class EdgeKernels : public OnDevice {
protected:
    // body(matrix, its panels one by one or all at once) for matrices with long, short and empty rows.
    template <class Body>
    void for_matrices(std::mt19937& random, const Body& body) {
        std::uniform_int_distribution<std::int64_t> length(0, 40);
        std::vector<std::int64_t> lengths = {0, 1, 700, 3, 0};
        for (int i = 0; i < 30; ++i) lengths.push_back(length(random));
        const OwnedCsr whole = csr_of_lengths(random, lengths, 90);
        for (const auto& begins : std::vector<std::vector<std::int64_t>>{{0}, {0, 20}, {0, 0, 17, 80}}) {
            const OwnedCsr cut = in_panels(whole, begins);
            for (const bool apart : {false, true}) {
                std::vector<Csr> calls;
                for (std::int64_t p = 0; apart && p < cut.panels; ++p) calls.push_back(cut.view().panel(p));
                if (!apart) calls.push_back(cut.view());
                if (takes_next()) body(cut.view(), calls);
            }
        }
    }
    static std::size_t entries(const Csr& a) { return static_cast<std::size_t>(a.nonzeros()); }
    static std::size_t rows(const Csr& a) { return static_cast<std::size_t>(a.rows); }
};

TEST_P(EdgeKernels, DotEqualsReference) {
    std::mt19937 random(1);
    for (const std::int64_t width : {1, 3, 8, 16, 17, 64, 130}) {
        for_matrices(random, [&](const Csr& a, const std::vector<Csr>& calls) {
            const Owned x = Owned(a.columns, width, 3).fill(random, 9), y = Owned(a.rows, width, 5).fill(random, 9);
            Values got(entries(a), guard), want = got;
            for (const Csr& call : calls) run(&Table::edge_dot, call, x.view(), y.view(), std::span(got));
            reference_table().edge_dot(a, x.view(), y.view(), want.data());
            ASSERT_EQ(got, want) << width << " columns, " << calls.size() << " calls";
        });
    }
}

// The way of a softmax over values of any sign, and back, with every beta.
TEST_P(EdgeKernels, SoftmaxEqualsReference) {
    std::mt19937 random(2);
    for (const float factor : {1.0F, -2.5F, 0.0F, 30.0F}) {
        for_matrices(random, [&](const Csr& a, const std::vector<Csr>& calls) {
            const Values scores = random_values(random, entries(a), 4), beta = {factor};
            Values largest(rows(a), guard), total = largest, weights(entries(a), guard);
            for (std::size_t i = 0; i < calls.size(); ++i) {
                run(&Table::edge_totals, calls[i], std::span(scores), std::span(beta), TotalsOf{largest, total}, i > 0);
            }
            for (const Csr& call : calls) {
                run(&Table::edge_softmax, call, std::span(scores), std::span(beta), TotalsOf{largest, total},
                    std::span(weights));
            }
            Values want_largest(rows(a)), want_total = want_largest, want(entries(a));
            const EdgeTotals totals{want_largest.data(), want_total.data()};
            reference_table().edge_totals(a, scores.data(), beta.data(), totals, false);
            reference_table().edge_softmax(a, scores.data(), beta.data(), totals, want.data());
            ASSERT_EQ(largest, want_largest);
            ASSERT_EQ(difference(total, want_total), "");
            ASSERT_EQ(difference(weights, want), "");
            const Values inner = random_values(random, rows(a), 1);
            Values gradient = random_values(random, entries(a), 1), want_gradient = gradient;
            Values of_beta(rows(a), guard), want_beta = of_beta;
            for (std::size_t i = 0; i < calls.size(); ++i) {
                run(&Table::edge_softmax_back, calls[i], SoftmaxBackOf{scores, weights, inner, beta, gradient, of_beta},
                    i > 0);
            }
            reference_table().edge_softmax_back(
                a, {scores.data(), want.data(), inner.data(), beta.data(), want_gradient.data(), want_beta.data()},
                false);
            ASSERT_EQ(difference(gradient, want_gradient), "");
            ASSERT_EQ(difference(of_beta, want_beta), "");
        });
    }
}

// Scores of 1e4 have exponentials that no float holds.
TEST_P(EdgeKernels, SoftmaxOfLargeScoresIsStable) {
    const OwnedCsr a{3, {0, 3}, {0, 1, 2}};
    const Values scores = {1e4F, 1e4F - 1, -1e4F}, beta = {1};
    Values largest(1), total(1), weights(3);
    run(&Table::edge_totals, a.view(), std::span(scores), std::span(beta), TotalsOf{largest, total}, false);
    run(&Table::edge_softmax, a.view(), std::span(scores), std::span(beta), TotalsOf{largest, total},
        std::span(weights));
    const float first = 1 / (1 + std::exp(-1.0F));
    EXPECT_EQ(difference(weights, {first, 1 - first, 0}), "");
}

TEST_P(EdgeKernels, SquaresEqualReference) {
    std::mt19937 random(4);
    for (const auto& [heads, width] :
         {std::pair<std::int64_t, std::int64_t>{1, 1}, {1, 7}, {1, 130}, {3, 5}, {4, 16}}) {
        for (const std::int64_t first : {std::int64_t{0}, width - 1}) {
            const Owned x = Owned(37, heads * width - first, 2).fill(random, 9);
            Owned got(37, heads, 1), want = got;
            run(&Table::head_squares, x.view(), Heads{width, first}, got.view());
            reference_table().head_squares(x.view(), {width, first}, want.view());
            ASSERT_EQ(kernels::testing::difference(got, want, 2e-7), "") << heads << " heads of " << width;
            Owned sum = want, want_sum = want;
            run(&Table::add_squares, std::as_const(got).view(), sum.view());
            reference_table().add_squares(std::as_const(want).view(), want_sum.view());
            ASSERT_EQ(kernels::testing::difference(sum, want_sum, 2e-7), "") << heads << " heads of " << width;
            for (std::int64_t i = 0; i < 37; ++i) {
                const double square = std::pow(want.at(i, 0), 4);
                EXPECT_NEAR(std::pow(sum.at(i, 0), 4), 2 * square, 2e-6 * square);
            }
        }
    }
}

// A row times a power of two keeps its direction, even near the ends of the range of floats, and the gradient of a row
// times c is 1 / c of that of the row.
TEST_P(EdgeKernels, UnitRowsAreThoseOfAnyMagnitude) {
    constexpr std::int64_t rows = 11, columns = 21;
    const Heads whole{columns, 0};
    std::mt19937 random(5);
    const Owned x = Owned(rows, columns).fill(random, 9), gradient = Owned(rows, columns).fill(random, 9);
    const Owned inner = Owned(rows, 1).fill(random, 3);
    const auto through_unit = [&](float by) {
        Owned scaled = x, squares(rows, 1), unit(rows, columns), back(rows, columns);
        for (float& element : scaled.span()) element *= by;
        back.fill(random, 0);
        run(&Table::head_squares, std::as_const(scaled).view(), whole, squares.view());
        run(&Table::head_unit, std::as_const(scaled).view(), std::as_const(squares).view(), whole, unit.view());
        const UnitBackOperands in{gradient.view(), std::as_const(unit).view(), inner.view(),
                                  std::as_const(squares).view()};
        run(&Table::head_unit_back, in, whole, back.view());
        return std::pair(unit, back);
    };
    const auto [unit, back] = through_unit(1);
    for (std::int64_t i = 0; i < rows; ++i) {
        double square = 0;
        for (std::int64_t j = 0; j < columns; ++j) square += std::pow(unit.at(i, j), 2);
        EXPECT_NEAR(square, 1, 1e-6);
    }
    for (const int exponent : {-146, -130, -126, -100, -70, -63, 40, 63, 64, 66, 100, 120, 124}) {
        const float by = std::ldexp(1.0F, exponent);
        const auto [scaled_unit, scaled_back] = through_unit(by);
        EXPECT_EQ(kernels::testing::difference(scaled_unit, unit, 3e-7), "") << "2^" << exponent;
        for (std::int64_t i = 0; exponent > -120 && i < rows; ++i) {
            for (std::int64_t j = 0; j < columns; ++j)
                ASSERT_NEAR(static_cast<double>(scaled_back.at(i, j)) * by, back.at(i, j), 3e-6) << "2^" << exponent;
        }
    }
}

// A row of zeros has no direction, and a NaN stays a NaN.
TEST_P(EdgeKernels, UnitRowsOfNothing) {
    Owned x(2, 3), squares(2, 1), unit(2, 3);
    for (float& element : x.span()) element = 0;
    x.at(1, 1) = std::nanf("");
    run(&Table::head_squares, std::as_const(x).view(), Heads{3, 0}, squares.view());
    run(&Table::head_unit, std::as_const(x).view(), std::as_const(squares).view(), Heads{3, 0}, unit.view());
    for (std::int64_t j = 0; j < 3; ++j) {
        EXPECT_EQ(unit.at(0, j), 0);
        EXPECT_TRUE(std::isnan(unit.at(1, j)));
    }
}

TEST_P(EdgeKernels, UnitRowsEqualReference) {
    std::mt19937 random(3);
    for (const auto& [heads, width] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {1, 7}, {1, 64}, {3, 5}, {4, 16}}) {
        for (const std::int64_t first : {std::int64_t{0}, width - 1}) {
            const std::int64_t columns = heads * width - first, rows = 37;
            const Heads layout{width, first};
            const auto matrix = [&] { return Owned(rows, columns, 2).fill(random, 9); };
            const Owned x = matrix(), gradient = matrix(), unit = matrix();
            Owned squares = Owned(rows, heads).fill(random, 5), inner = Owned(rows, heads).fill(random, 3);
            for (std::int64_t i = 0; i < rows; ++i) {
                for (std::int64_t k = 0; k < heads; ++k) squares.at(i, k) = std::abs(squares.at(i, k));
            }
            const ConstMatrix by = std::as_const(squares).view();
            Owned got(rows, columns, 4), want = got;
            run(&Table::head_unit, x.view(), by, layout, got.view());
            reference_table().head_unit(x.view(), by, layout, want.view());
            ASSERT_EQ(kernels::testing::difference(got, want, 1e-6), "") << heads << " heads of " << width;
            Owned back = matrix(), want_back = back;
            const UnitBackOperands in{gradient.view(), unit.view(), std::as_const(inner).view(), by};
            run(&Table::head_unit_back, in, layout, back.view());
            reference_table().head_unit_back(in, layout, want_back.view());
            ASSERT_EQ(kernels::testing::difference(back, want_back, 1e-5), "") << heads << " heads of " << width;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Devices, EdgeKernels, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

}  // namespace
}  // namespace gnnplan::kernels::testing
