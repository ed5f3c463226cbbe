// Sparse and dense products, and reading.
#include "kernels/cpu/cpu.hpp"
#include "runtime/calibrate/array.hpp"
#include "runtime/calibrate/measurements.hpp"
#include "runtime/calibrate/random_matrix.hpp"

#include <algorithm>
#include <array>

namespace gnnplan::calibrate {
namespace {

Array<float> ones(const Setting& setting, std::int64_t count) { return Array<float>(setting.device, count, 1.0F); }

kernels::Matrix matrix(const Array<float>& values, std::int64_t rows, std::int64_t columns) {
    return {values.data(), rows, columns, columns};
}

// Independent sums, so that memory and not the latency of an addition is what limits.
float sum_of(std::span<const float> values) {
    constexpr std::size_t lanes = 64;
    std::array<float, lanes> sums{};
    for (std::size_t i = 0; i + lanes <= values.size(); i += lanes) {
        for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += values[i + lane];
    }
    float sum = 0;
    for (const float part : sums) sum += part;
    return sum;
}

}  // namespace

Sample measure_read(const Setting& setting, std::int64_t bytes) {
    const kernels::LargeVector<float> values(static_cast<std::size_t>(bytes) / sizeof(float), 1.0F);
    volatile float kept = 0;
    return {"read", {bytes}, seconds_together(setting, [&] { kept = sum_of(values); })};
}

Sample measure_spmm(const Setting& setting, const SpmmPoint& point) {
    const std::int64_t row_bytes = point.width * static_cast<std::int64_t>(sizeof(float));
    const std::int64_t columns = std::max<std::int64_t>(1, point.working_set_bytes / row_bytes);
    const std::int64_t rows = std::max<std::int64_t>(1, point.nonzeros * point.one_in / point.degree);
    const RandomMatrix a(setting.device, {rows, columns, point.degree, point.one_in});
    const Array<float> dense = ones(setting, columns * point.width);
    const Array<float> result(setting.device, rows * point.width);
    const kernels::Matrix b = matrix(dense, columns, point.width);
    const kernels::Matrix c = matrix(result, rows, point.width);
    std::vector<std::int64_t> at{point.width, columns * row_bytes, a.nonzeros(), rows};
    const bool passes = point.one_in > 1;
    if (passes) at.push_back(a.rows_with_nonzeros());
    setting.device.choose(a.view(), b, c, {}, {});  // as a run does
    const auto product = [&] { setting.kernels().spmm(a.view(), b, c, point.add, {}); };
    const char* const what = passes ? "spmm.pass" : point.add ? "spmm.add" : "spmm";
    return {what, at, seconds_together(setting, product)};
}

Sample measure_gemm(const Setting& setting, GemmKind product, std::int64_t n, std::int64_t inner,
                    std::int64_t columns) {
    using kernels::Transpose;
    const Array<float> wide = ones(setting, n * inner);
    const Array<float> narrow = ones(setting, n * columns);
    const Array<float> weights = ones(setting, inner * columns);
    const kernels::Matrix x = matrix(wide, n, inner);
    const kernels::Matrix g = matrix(narrow, n, columns);
    const kernels::Matrix w = matrix(weights, inner, columns);
    const auto times = [&](Transpose a_side, Transpose b_side, kernels::Matrix a, kernels::Matrix b,
                           kernels::Matrix c) {
        return seconds_together(setting, [&] { setting.kernels().gemm(a_side, b_side, a, b, c, false); });
    };
    const std::int64_t lanes = setting.device.memory().accelerator ? 1 : kernels::cpu::gemm_lanes();
    const std::vector<std::int64_t> at{n, inner, columns, lanes};
    switch (product) {
        case GemmKind::forward: return {"gemm.forward", at, times(Transpose::no, Transpose::no, x, w, g)};
        case GemmKind::input_gradient:
            return {"gemm.input_gradient", at, times(Transpose::no, Transpose::yes, g, w, x)};
        case GemmKind::weight_gradient: break;
    }
    return {"gemm.weight_gradient", at, times(Transpose::yes, Transpose::no, x, g, w)};
}

}  // namespace gnnplan::calibrate
