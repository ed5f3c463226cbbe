// Measures the normalisation of rows and of columns, and their gradients.
#include "runtime/calibrate/array.hpp"
#include "runtime/calibrate/measurements.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cstddef>

namespace gnnplan::calibrate {
namespace {

constexpr std::int64_t norm_columns = 128;

struct NormKind {
    ElementwiseKind stream;
    const char* name;
    std::int64_t wide, by_rows;  // matrices read and written, and numbers for each row, as ir/work.hpp counts them
};
constexpr NormKind norm_kinds[] = {
    {ElementwiseKind::norm_rows, "stream.norm_rows", 2, 2},
    {ElementwiseKind::norm_rows_back, "stream.norm_rows_back", 3, 2},
    {ElementwiseKind::norm_moments, "stream.norm_moments", 1, 0},
    {ElementwiseKind::norm_scale, "stream.norm_scale", 2, 0},
    {ElementwiseKind::norm_sums, "stream.norm_sums", 2, 0},
    {ElementwiseKind::norm_back, "stream.norm_back", 3, 0},
};

const NormKind& norm_kind_of(ElementwiseKind stream) {
    const auto* kind = std::ranges::find(norm_kinds, stream, &NormKind::stream);
    ensure(kind != std::end(norm_kinds), "it is no part of a norm");
    return *kind;
}

// Values of both signs, one in `period` of them negative: no multiple of those of another period, which gradients would
// lose little by little as they are made in place again and again.
Array<float> values_of_period(kernels::Device& device, std::int64_t count, std::size_t period) {
    return {device, count, [period](std::size_t i) { return i % period == 0 ? -0.5F : 0.5F; }};
}

class NormRun {
public:
    NormRun(kernels::Device& device, std::int64_t rows)
        : kernels_(device.table()),
          rows_(rows),
          z_(values_of_period(device, rows * norm_columns, 3)),
          g_(values_of_period(device, rows * norm_columns, 5)),
          mean_(device, std::max(rows, norm_columns), 0.0F),
          deviation_(device, std::max(rows, norm_columns), 1.0F),
          weight_(device, norm_columns, 1.0F),
          bias_(device, norm_columns, 0.0F),
          of_weight_(device, norm_columns),
          of_bias_(device, norm_columns),
          sums_(device, 2 * norm_columns) {}

    void run(ElementwiseKind stream) {
        const kernels::Matrix g{g_.data(), rows_, norm_columns, norm_columns};
        const kernels::ConstMatrix z{z_.data(), rows_, norm_columns, norm_columns};
        const kernels::NormedRows rows{z, weight_.data(), mean_.data(), deviation_.data(), 1.0 / norm_columns};
        const kernels::NormedColumns columns{z, mean_.data(), deviation_.data(), weight_.data()};
        switch (stream) {
            case ElementwiseKind::norm_rows: return kernels_.norm_rows(rows, bias_.data(), true, g);
            case ElementwiseKind::norm_rows_back:
                return kernels_.norm_rows_back(rows, g, of_weight_.data(), of_bias_.data());
            case ElementwiseKind::norm_moments:
                return kernels_.batch_moments(z, sums_.data(), sums_.data() + norm_columns);
            case ElementwiseKind::norm_scale: return kernels_.batch_scale(columns, bias_.data(), g);
            case ElementwiseKind::norm_sums: return kernels_.batch_sums(columns, g, of_weight_.data(), of_bias_.data());
            case ElementwiseKind::norm_back:
                return kernels_.batch_back(columns, bias_.data(), bias_.data(), 1.0 / static_cast<double>(rows_), g);
            default: ensure(false, "it is no part of a norm");
        }
    }

private:
    const kernels::Table& kernels_;
    std::int64_t rows_;
    Array<float> z_, g_, mean_, deviation_, weight_, bias_, of_weight_, of_bias_;
    Array<double> sums_;
};

}  // namespace

Sample measure_norms(const Setting& setting, ElementwiseKind stream, std::int64_t bytes) {
    const NormKind& kind = norm_kind_of(stream);
    const std::int64_t row_bytes = 4 * (kind.wide * norm_columns + kind.by_rows);
    const std::int64_t rows = std::max<std::int64_t>(1, bytes / row_bytes);
    NormRun run(setting.device, rows);
    return {kind.name, {rows * row_bytes}, seconds_together(setting, [&] { run.run(stream); })};
}

}  // namespace gnnplan::calibrate
