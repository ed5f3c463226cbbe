// The reference kernels against results worked out by hand.
#include "kernels/reference/reference.hpp"

#include <gmock/gmock.h>

#include <array>

#include "tests/kernels/support.hpp"

namespace gnnplan::kernels::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::FloatEq;
using ::testing::Pointwise;

// The 5 x 5 matrix
//   . 2 . . 1
//   . . . . .
//   3 . . -1 .
//   . . 4 . .
//   1 1 1 1 1
const std::vector<std::int64_t> row_start = {0, 2, 2, 4, 5, 10};
const std::vector<std::int32_t> column = {1, 4, 0, 3, 2, 0, 1, 2, 3, 4};
const std::vector<float> value = {2, 1, 3, -1, 4, 1, 1, 1, 1, 1};
const Csr five = {5, 5, row_start.data(), column.data(), value.data()};

TEST(Reference, SpmmFiveByFive) {
    std::vector<float> b = {1, 10, 2, 20, 3, 30, 4, 40, 5, 50};
    std::vector<float> c(10, 7);
    reference_table().spmm(five, {b.data(), 5, 2, 2}, {c.data(), 5, 2, 2}, false, {});
    EXPECT_THAT(c, ElementsAre(9, 90, 0, 0, -1, -10, 12, 120, 15, 150));
    reference_table().spmm(five, {b.data(), 5, 2, 2}, {c.data(), 5, 2, 2}, true, {});
    EXPECT_THAT(c, ElementsAre(18, 180, 0, 0, -2, -20, 24, 240, 30, 300));
}

TEST(Reference, GemmFiveByFiveInAllTransposes) {
    // a(i, j) = i + 1 on the diagonal and 1 on the first row; b = a.
    std::vector<float> a(25, 0);
    for (std::size_t i = 0; i < 5; ++i) {
        a[i] = 1;
        a[6 * i] = static_cast<float>(i + 1);
    }
    const ConstMatrix m = {a.data(), 5, 5, 5};
    std::vector<float> c(25, 7);
    const Matrix out = {c.data(), 5, 5, 5};
    reference_table().gemm(Transpose::no, Transpose::no, m, m, out, false);
    EXPECT_THAT(c, ElementsAre(1, 3, 4, 5, 6, 0, 4, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 25));
    reference_table().gemm(Transpose::yes, Transpose::no, m, m, out, false);
    EXPECT_THAT(c, ElementsAre(1, 1, 1, 1, 1, 1, 5, 1, 1, 1, 1, 1, 10, 1, 1, 1, 1, 1, 17, 1, 1, 1, 1, 1, 26));
    reference_table().gemm(Transpose::no, Transpose::yes, m, m, out, false);
    EXPECT_THAT(c, ElementsAre(5, 2, 3, 4, 5, 2, 4, 0, 0, 0, 3, 0, 9, 0, 0, 4, 0, 0, 16, 0, 5, 0, 0, 0, 25));
    reference_table().gemm(Transpose::yes, Transpose::yes, m, m, out, false);
    EXPECT_THAT(c, ElementsAre(1, 0, 0, 0, 0, 3, 4, 0, 0, 0, 4, 0, 9, 0, 0, 5, 0, 0, 16, 0, 6, 0, 0, 0, 25));
}

TEST(Reference, GemmAndAddAccumulate) {
    std::vector<float> a = {1, 2, 3, 4}, c = {10, 20, 30, 40};
    const Matrix m = {a.data(), 2, 2, 2}, out = {c.data(), 2, 2, 2};
    reference_table().gemm(Transpose::no, Transpose::no, m, m, out, true);
    EXPECT_THAT(c, ElementsAre(17, 30, 45, 62));
    reference_table().add(m, out);
    EXPECT_THAT(c, ElementsAre(18, 32, 48, 66));
}

TEST(Reference, TemplatesRunInDoublePrecision) {
    const std::vector<double> values(value.begin(), value.end());
    const BasicCsr<double> a = {5, 5, row_start.data(), column.data(), values.data()};
    std::vector<double> b = {1, 2, 3, 4, 1e-12};
    std::vector<double> c(5);
    reference::spmm<double>(a, {b.data(), 5, 1, 1}, {c.data(), 5, 1, 1}, false);
    EXPECT_EQ(c[0], 4 + 1e-12);
    std::vector<double> product(1);
    reference::gemm<double>(Transpose::yes, Transpose::no, {b.data(), 5, 1, 1}, {c.data(), 5, 1, 1},
                            {product.data(), 1, 1, 1}, false);
    EXPECT_DOUBLE_EQ(product[0], 1 * c[0] + 2 * c[1] + 3 * c[2] + 4 * c[3] + 1e-12 * c[4]);
    reference::activate<double>({c.data(), 5, 1, 1}, nullptr, Activation::relu, {});
    EXPECT_THAT(c, ElementsAre(4 + 1e-12, 0, 0, 12, 10 + 1e-12));
}

TEST(Reference, ActivateAddsBiasBeforeRelu) {
    std::vector<float> z = {1, -2, 3, -4};
    const std::vector<float> bias = {-2, 3};
    reference_table().activate({z.data(), 2, 2, 2}, bias.data(), Activation::relu, {}, nullptr);
    EXPECT_THAT(z, ElementsAre(0, 1, 1, 0));
    reference_table().activate({z.data(), 2, 2, 2}, bias.data(), Activation::none, {}, nullptr);
    EXPECT_THAT(z, ElementsAre(-2, 4, -1, 3));
}

TEST(Reference, MasksFiveByFive) {
    std::vector<float> h(25, 0);
    for (const std::size_t positive : {0U, 3U, 7U, 8U, 24U}) h[positive] = 0.5F;
    h[1] = -1;
    std::array<std::uint8_t, 4> bits = {0xff, 0xff, 0xff, 0xff};
    reference_table().positive_mask({h.data(), 5, 5, 5}, bits.data());
    EXPECT_THAT(bits, ElementsAre(0x89, 0x01, 0x00, 0x01));
    std::vector<float> g(25, 3);
    reference_table().apply_mask({g.data(), 5, 5, 5}, bits.data(), 2);
    std::vector<float> want(25, 0);
    for (const std::size_t positive : {0U, 3U, 7U, 8U, 24U}) want[positive] = 6;
    EXPECT_THAT(g, ElementsAreArray(want));
}

TEST(Reference, ColumnSumCountAndCopy) {
    const std::vector<float> g = {1, 5, 2, 3, 7, 7, -4, 0, 9};
    std::array<float, 3> sum{};
    reference_table().column_sum({g.data(), 3, 3, 3}, sum.data());
    EXPECT_THAT(sum, ElementsAre(0, 12, 18));
    const std::array<std::int32_t, 3> label = {1, 1, 2};
    const std::array<std::uint8_t, 3> subset = {0, 2, 2};
    std::array<double, 3> correct = {10, 20, 30};
    reference_table().count_correct({g.data(), 3, 3, 3}, label.data(), subset.data(), correct.data());
    EXPECT_THAT(correct, ElementsAre(1, 0, 2));  // of the two sevens of row 1 the first wins, and it is the label
    double entropy = -1;
    const std::vector<float> z = {0, std::log(3.0F), 5, 5, 1, 2};
    const std::array<std::int32_t, 3> of_rows = {0, 1, -1};
    const std::array<std::uint8_t, 3> parts = {1, 1, 1};
    reference_table().cross_entropy({z.data(), 3, 2, 2}, of_rows.data(), parts.data(), 1, &entropy);
    EXPECT_NEAR(entropy, std::log(4.0) + std::log(2.0), 1e-7) << "the last row has no label";
    std::vector<float> to(6, 0);
    reference_table().copy({g.data(), 3, 2, 3}, {to.data(), 3, 2, 2});
    EXPECT_THAT(to, ElementsAre(1, 5, 3, 7, -4, 0));
}

TEST(Reference, SoftmaxOfTwoLogits) {
    // softmax(0, ln 3) = (1/4, 3/4); the second row does not train.
    std::vector<double> z = {0, std::log(3.0), 1, 2};
    const std::array<std::int32_t, 2> label = {0, -1};
    const std::array<std::uint8_t, 2> split = {training_split, 1};
    double loss = 0;
    reference::softmax_cross_entropy<double>({z.data(), 2, 2, 2}, {label.data(), split.data(), 0.5}, &loss);
    EXPECT_DOUBLE_EQ(loss, std::log(4.0));
    EXPECT_THAT(z, Pointwise(::testing::DoubleNear(1e-15), {-0.375, 0.375, 0.0, 0.0}));
}

TEST(Reference, SoftmaxOfRowsThatCountAsLess) {
    std::vector<double> z = {0, std::log(3.0), 0, std::log(3.0)};
    const std::array<std::int32_t, 2> label = {0, 1};
    const std::array<std::uint8_t, 2> split = {training_split, training_split};
    const std::array<float, 2> weight = {0.25F, 0};
    double loss = 0;
    reference::softmax_cross_entropy<double>({z.data(), 2, 2, 2}, {label.data(), split.data(), 0.5, 0, weight.data()},
                                             &loss);
    EXPECT_DOUBLE_EQ(loss, std::log(4.0) / 4);
    EXPECT_THAT(z, Pointwise(::testing::DoubleNear(1e-15), {-0.375 / 4, 0.375 / 4, 0.0, 0.0}));
}

TEST(Reference, AdamStepByHand) {
    // Step 1 from zero moments: m1 = 0.1 g, m2 = 0.001 g^2, both corrected back to g and g^2, so w -= lr * g / (|g| +
    // eps). Weight decay makes g = 2 + 0.5 * 4 = 4. Step 2 with gradient -6 (g = -6 + 0.5 * 3.9): by the same formulas.
    double w = 4;
    double gradient = 2;
    double m1 = 0;
    double m2 = 0;
    UpdateSettings settings;
    settings.learning_rate = 0.125F;
    settings.adam = {.beta1 = 0.5F, .beta2 = 0.75F};
    const PassValues first = pass_values(1, settings.adam);
    settings.pass = &first;
    settings.epsilon = 0;
    settings.weight_decay = 0.5F;
    reference::update<double>(Optimiser::adam, &w, &gradient, &m1, &m2, 1, settings);
    EXPECT_DOUBLE_EQ(m1, 2);
    EXPECT_DOUBLE_EQ(m2, 4);
    EXPECT_DOUBLE_EQ(w, 3.875);
    // g = -6 + 1.9375 = -4.0625; m1 = 1 - 2.03125; m2 = 3 + 4.1259765625; corrections 1 / 0.75 and 1 / 0.4375.
    gradient = -6;
    const PassValues second = pass_values(2, settings.adam);
    settings.pass = &second;
    reference::update<double>(Optimiser::adam, &w, &gradient, &m1, &m2, 1, settings);
    EXPECT_DOUBLE_EQ(m1, -1.03125);
    EXPECT_DOUBLE_EQ(m2, 7.1259765625);
    EXPECT_DOUBLE_EQ(w, 3.875 + 0.125 * 1.375 / std::sqrt(16.287946428571428));
}

TEST(Reference, SgdStepsByHand) {
    // As torch.optim.SGD: g = gradient + decay w, m = momentum m + g, w -= lr m; without momentum w -= lr g.
    UpdateSettings settings;
    settings.learning_rate = 0.5F;
    settings.weight_decay = 0.25F;
    settings.momentum = 0.5F;
    const PassValues pass = pass_values(1);
    settings.pass = &pass;
    double w = 4;
    double m = 0;
    double gradient = 2;
    double* none = nullptr;
    reference::update<double>(Optimiser::momentum, &w, &gradient, &m, none, 1, settings);
    EXPECT_DOUBLE_EQ(m, 3);    // 2 + 0.25 * 4
    EXPECT_DOUBLE_EQ(w, 2.5);  // 4 - 0.5 * 3
    gradient = -1;
    reference::update<double>(Optimiser::momentum, &w, &gradient, &m, none, 1, settings);
    EXPECT_DOUBLE_EQ(m, 1.125);  // 0.5 * 3 - 1 + 0.25 * 2.5
    EXPECT_DOUBLE_EQ(w, 1.9375);
    reference::update<double>(Optimiser::sgd, &w, &gradient, none, none, 1, settings);
    EXPECT_DOUBLE_EQ(w, 1.9375 - 0.5 * (-1 + 0.25 * 1.9375));
}

TEST(Reference, CopyBitsMovesABlock) {
    // Source 2 x 5: 10110 / 01101; its middle 2 x 3 block 011 / 110 goes to (1, 2) of an empty 3 x 6 target.
    const std::array<std::uint8_t, 2> source = {0b11001101, 0b10};
    std::array<std::uint8_t, 3> target{};
    reference_table().copy_bits(source.data(), 5, 0, 1, target.data(), 6, 1, 2, 2, 3);
    // Bits 8..10 = 0 1 1 and 14..16 = 1 1 0.
    EXPECT_THAT(target, ElementsAre(0, 0b11000110, 0));
}

}  // namespace
}  // namespace gnnplan::kernels::testing
