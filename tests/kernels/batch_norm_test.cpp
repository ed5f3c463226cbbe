#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/kernels/on_device.hpp"

namespace gnnplan::kernels::testing {
namespace {

class BatchNorm : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, BatchNorm, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

// A batch norm of some columns: by the device, and by the reference.
struct Columns {
    Owned z, weight, bias, g, mean, inverse, running_mean, running_variance, out, along, plain;
    std::vector<double> sum, squares;

    Columns(std::mt19937& random, std::int64_t rows, std::int64_t columns)
        : z(Owned(rows, columns, 3).fill(random, 20)),
          weight(Owned(1, columns).fill(random, 3)),
          bias(Owned(1, columns).fill(random, 3)),
          g(Owned(rows, columns, 1).fill(random, 4)),
          mean(1, columns),
          inverse(1, columns),
          running_mean(Owned(1, columns).fill(random, 3)),
          running_variance(1, columns),
          out(rows, columns, 2),
          along(1, columns),
          plain(1, columns),
          sum(static_cast<std::size_t>(columns)),
          squares(sum) {
        for (std::int64_t j = 0; j < columns; ++j) running_variance.at(0, j) = 0.5F + static_cast<float>(j % 7);
    }
    NormedColumns of() {
        return {std::as_const(z).view(), mean.span().data(), inverse.span().data(), weight.span().data()};
    }
    ColumnMoments moments() const {
        return {sum.data(), squares.data(), z.view().columns, std::max<std::int64_t>(z.view().rows, 1)};
    }
};

constexpr double near = 2e-5;  // sums of some hundred floats, divided by a deviation

TEST_P(BatchNorm, EqualsReference) {
    const Table& reference = reference_table();
    std::mt19937 random(1);
    for (const std::int64_t rows : {0, 1, 7, 300}) {
        for (const std::int64_t columns : {1, 3, 8, 41, 128, 300}) {
            Columns got(random, rows, columns), want = got;
            const auto same = [&](const char* what, const Owned& a, const Owned& b, double tolerance = near) {
                EXPECT_EQ(difference(a, b, tolerance), "") << what << " of " << rows << " x " << columns;
            };
            run(&Table::batch_moments, std::as_const(got.z).view(), std::span(got.sum), std::span(got.squares));
            reference.batch_moments(std::as_const(want.z).view(), want.sum.data(), want.squares.data());
            for (std::size_t j = 0; j < want.sum.size(); ++j) {
                EXPECT_NEAR(got.sum[j], want.sum[j], 1e-12 * static_cast<double>(rows) * 20);
                EXPECT_NEAR(got.squares[j], want.squares[j], 1e-12 * static_cast<double>(rows) * 400);
            }
            got.sum = want.sum, got.squares = want.squares;
            run(&Table::batch_finish, std::as_const(got).moments(), got.mean.span(), got.inverse.span(),
                got.running_mean.span(), got.running_variance.span());
            reference.batch_finish(want.moments(), want.mean.span().data(), want.inverse.span().data(),
                                   want.running_mean.span().data(), want.running_variance.span().data());
            same("mean", got.mean, want.mean), same("inverse", got.inverse, want.inverse);
            same("running mean", got.running_mean, want.running_mean);
            same("running variance", got.running_variance, want.running_variance);
            run(&Table::batch_scale, got.of(), std::as_const(got.bias).span(), got.out.view());
            reference.batch_scale(want.of(), want.bias.span().data(), want.out.view());
            same("result", got.out, want.out, 1e-4);
            run(&Table::batch_sums, got.of(), std::as_const(got.g).view(), got.along.span(), got.plain.span());
            reference.batch_sums(want.of(), std::as_const(want.g).view(), want.along.span().data(),
                                 want.plain.span().data());
            same("sums with x", got.along, want.along), same("sums", got.plain, want.plain);
            const double share = 1 / static_cast<double>(std::max<std::int64_t>(rows, 1));
            got.along = want.along, got.plain = want.plain;
            run(&Table::batch_back, got.of(), std::as_const(got.along).span(), std::as_const(got.plain).span(), share,
                got.g.view());
            reference.batch_back(want.of(), want.along.span().data(), want.plain.span().data(), share, want.g.view());
            same("gradient", got.g, want.g, 1e-4);
        }
    }
}

// torch.nn.functional.batch_norm of PyTorch 2.2.1 in doubles, its gradients and the running values that it leaves; the
// first column is far from 0, and the last one constant.
TEST_P(BatchNorm, EqualsPyTorch) {
    std::mt19937 random(1);
    Columns columns(random, 4, 3);
    const auto fill = [](Owned& matrix, const std::vector<float>& values) {
        const Matrix view = matrix.view();
        for (std::int64_t k = 0; k < view.rows * view.columns; ++k)
            matrix.at(k / view.columns, k % view.columns) = values[static_cast<std::size_t>(k)];
    };
    fill(columns.z, {1000.5F, 0.25F, -2, 999.25F, 1, -2, 1001, -3, -2, 1000, 0.5F, -2});
    fill(columns.weight, {1, -0.5F, 2}), fill(columns.bias, {0.5F, 0, -1});
    fill(columns.g, {1, 2, -1, 0.5F, 0.25F, -1, 3, 1, 0, 1, 0, -2});
    fill(columns.running_mean, {1, 2, 3}), fill(columns.running_variance, {1, 2, 0.5F});
    Columns want = columns;
    fill(want.out, {0.9833625F, -0.1785767F, -1, -0.9500874F, -0.4166789F, -1, 1.756742F, 0.8531998F, -1, 0.2099825F,
                    -0.2579441F, -1});
    fill(want.g, {-1.185353F, -0.3992118F, 0, 0.4625389F, 0.1267381F, 0, 0.9396581F, 0.04662012F, 632.4555F,
                  -0.2168442F, 0.2258536F, -632.4555F});
    fill(want.along, {3.238528F, -0.7837533F, 0}), fill(want.plain, {5.5F, 3.25F, -4});
    fill(want.running_mean, {100.9188F, 1.76875F, 2.5F}), fill(want.running_variance, {0.9557292F, 2.130729F, 0.45F});
    run(&Table::batch_moments, std::as_const(columns.z).view(), std::span(columns.sum), std::span(columns.squares));
    run(&Table::batch_finish, std::as_const(columns).moments(), columns.mean.span(), columns.inverse.span(),
        columns.running_mean.span(), columns.running_variance.span());
    EXPECT_EQ(difference(columns.running_mean, want.running_mean, near), "");
    EXPECT_EQ(difference(columns.running_variance, want.running_variance, near), "");
    run(&Table::batch_scale, columns.of(), std::as_const(columns.bias).span(), columns.out.view());
    EXPECT_EQ(difference(columns.out, want.out, near), "");
    run(&Table::batch_sums, columns.of(), std::as_const(columns.g).view(), columns.along.span(), columns.plain.span());
    EXPECT_EQ(difference(columns.along, want.along, near), "");
    EXPECT_EQ(difference(columns.plain, want.plain, near), "");
    run(&Table::batch_back, columns.of(), std::as_const(columns.along).span(), std::as_const(columns.plain).span(),
        0.25, columns.g.view());
    EXPECT_EQ(difference(columns.g, want.g, near), "");

    fill(want.out, {920.6756F, 0.5202249F, -14.41626F, 919.397F, 0.2633237F, -14.41626F, 921.187F, 1.633463F,
                    -14.41626F, 920.1641F, 0.4345912F, -14.41626F});
    run(&Table::batch_known, std::as_const(columns.running_mean).span(), std::as_const(columns.running_variance).span(),
        std::int64_t{3}, columns.mean.span(), columns.inverse.span());
    run(&Table::batch_scale, columns.of(), std::as_const(columns.bias).span(), columns.out.view());
    EXPECT_EQ(difference(columns.out, want.out, near), "");
}

}  // namespace
}  // namespace gnnplan::kernels::testing
