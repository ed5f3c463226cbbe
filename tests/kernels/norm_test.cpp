#include <gtest/gtest.h>

#include <utility>

#include "tests/kernels/on_device.hpp"

namespace gnnplan::kernels::testing {
namespace {

class LayerNorm : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, LayerNorm, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

// A layer norm of some rows: by the device, and by the reference.
struct Rows {
    Owned z, weight, bias, g, mean, variance, out, sums, of_weight, of_bias;

    Rows(std::mt19937& random, std::int64_t rows, std::int64_t columns)
        : z(Owned(rows, columns, 3).fill(random, 20)),
          weight(Owned(1, columns).fill(random, 3)),
          bias(Owned(1, columns).fill(random, 3)),
          g(Owned(rows, columns, 1).fill(random, 4)),
          mean(1, rows),
          variance(1, rows),
          out(rows, columns, 2),
          sums(rows, 2),
          of_weight(1, columns),
          of_bias(1, columns) {}
    NormedRows of() {
        return {std::as_const(z).view(), weight.span().data(), mean.span().data(), variance.span().data(),
                1 / static_cast<double>(z.view().columns)};
    }
};

constexpr double near = 2e-5;  // sums of some hundred floats, divided by a deviation

TEST_P(LayerNorm, EqualsReference) {
    std::mt19937 random(1);
    for (const std::int64_t rows : {0, 1, 7, 130}) {
        for (const std::int64_t columns : {1, 3, 8, 41, 128, 300}) {
            Rows got(random, rows, columns), want = got;
            const auto same = [&](const char* what, const Owned& a, const Owned& b, double tolerance = near) {
                EXPECT_EQ(difference(a, b, tolerance), "") << what << " of " << rows << " x " << columns;
            };
            run(&Table::norm_rows, got.of(), std::as_const(got.bias).span(), true, got.out.view());
            reference_table().norm_rows(want.of(), want.bias.span().data(), true, want.out.view());
            same("mean", got.mean, want.mean), same("variance", got.variance, want.variance);
            same("result", got.out, want.out, 1e-4);
            got.mean = want.mean, got.variance = want.variance;
            Owned parts = got.mean;
            run(&Table::norm_moment, std::as_const(got.z).view(), std::as_const(got.mean).span(), got.of().share,
                parts.span());
            same("variance of parts", parts, want.variance);
            run(&Table::norm_sums, got.of(), std::as_const(got.g).view(), got.sums.view(), got.of_weight.span(),
                got.of_bias.span());
            reference_table().norm_sums(want.of(), std::as_const(want.g).view(), want.sums.view(),
                                        want.of_weight.span().data(), want.of_bias.span().data());
            same("sums", got.sums, want.sums), same("weight", got.of_weight, want.of_weight);
            same("bias", got.of_bias, want.of_bias);
            Rows whole = got;
            got.sums = want.sums;
            run(&Table::norm_back, got.of(), std::as_const(got.sums).view(), got.g.view());
            run(&Table::norm_rows_back, whole.of(), whole.g.view(), whole.of_weight.span(), whole.of_bias.span());
            reference_table().norm_back(want.of(), std::as_const(want.sums).view(), want.g.view());
            same("gradient", got.g, want.g, 1e-4), same("gradient of whole rows", whole.g, want.g, 1e-4);
            same("weight of whole rows", whole.of_weight, want.of_weight);
            same("bias of whole rows", whole.of_bias, want.of_bias);
        }
    }
}

// torch.nn.functional.layer_norm of PyTorch 2.2.1 in doubles and its gradients; the first row is far from 0, and the
// last one constant.
TEST_P(LayerNorm, EqualsPyTorch) {
    std::mt19937 random(1);
    Rows rows(random, 3, 4);
    const auto fill = [](Owned& matrix, const std::vector<float>& values) {
        const Matrix view = matrix.view();
        for (std::int64_t k = 0; k < view.rows * view.columns; ++k)
            matrix.at(k / view.columns, k % view.columns) = values[static_cast<std::size_t>(k)];
    };
    fill(rows.z, {1000.5F, 999.25F, 1001, 1000, 0.5F, -2, 0.25F, 4, 2, 2, 2, 2});
    fill(rows.weight, {1, -0.5F, 2, 0.25F}), fill(rows.bias, {0.5F, 0, -1, 2});
    fill(rows.g, {1, 2, -1, 0.5F, 0.25F, -1, 3, 1, 0, 1, 0, -2});
    Rows want = rows;
    fill(want.out,
         {0.9833625F, 0.7250437F, 1.513485F, 1.927496F, 0.4126297F, 0.6261539F, -1.407728F, 2.385885F, 0.5F, 0, -1, 2});
    fill(want.g, {2.386995F, -1.167289F, -2.068979F, 0.849274F, -0.71408F, -0.7991526F, 1.94512F, -0.4318871F,
                  79.05695F, -79.05695F, 79.05695F, -79.05695F});
    fill(want.of_weight, {0.4615199F, -1.647867F, -1.868335F, 1.398533F}), fill(want.of_bias, {1.25F, 2, 2, -0.5F});
    run(&Table::norm_rows, rows.of(), std::as_const(rows.bias).span(), true, rows.out.view());
    EXPECT_EQ(difference(rows.out, want.out, near), "");
    run(&Table::norm_rows_back, rows.of(), rows.g.view(), rows.of_weight.span(), rows.of_bias.span());
    EXPECT_EQ(difference(rows.g, want.g, near), "");
    EXPECT_EQ(difference(rows.of_weight, want.of_weight, near), "");
    EXPECT_EQ(difference(rows.of_bias, want.of_bias, near), "");
}

}  // namespace
}  // namespace gnnplan::kernels::testing
