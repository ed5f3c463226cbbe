// Measures operations on rows head by head: products with a row or a matrix, sums over rows, quotients by lengths.
#include "runtime/calibrate/array.hpp"
#include "runtime/calibrate/measurements.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>

namespace gnnplan::calibrate {
namespace {

constexpr std::int64_t heads = 4;
constexpr std::int64_t head_columns = 64;
constexpr kernels::Heads four_heads{head_columns / heads, 0};

struct HeadKind {
    ElementwiseKind stream;
    const char* name;
    std::int64_t wide, by_heads;  // matrices read and written, as ir/work.hpp counts them
};
constexpr HeadKind head_kinds[] = {
    {ElementwiseKind::head_dot, "stream.head_dot", 1, 1},
    {ElementwiseKind::head_spread, "stream.head_spread", 2, 1},
    {ElementwiseKind::head_fold, "stream.head_fold", 1, 1},
    {ElementwiseKind::head_unit, "stream.head_unit", 2, 1},
    {ElementwiseKind::head_unit_back, "stream.head_unit_back", 4, 2},
};

const HeadKind& head_kind_of(ElementwiseKind stream) {
    const auto* kind = std::ranges::find(head_kinds, stream, &HeadKind::stream);
    ensure(kind != std::end(head_kinds), "it is not done by heads");
    return *kind;
}

// Values that no repetition makes infinite or denormal.
class HeadRun {
public:
    HeadRun(kernels::Device& device, std::int64_t rows)
        : kernels_(device.table()),
          rows_(rows),
          a_(device, rows * head_columns, 0.5F),
          b_(device, rows * head_columns, 0.5F),
          c_(device, rows * head_columns, 0.5F),
          by_heads_(device, rows * heads, 1.0F),
          more_by_heads_(device, rows * heads, 1.0F),
          sums_(device, head_columns) {}

    void run(ElementwiseKind stream) {
        const kernels::Matrix a = wide(a_), by = narrow(by_heads_);
        const kernels::ConstMatrix row{b_.data(), rows_, head_columns, 0};  // a parameter, the same for all rows
        switch (stream) {
            case ElementwiseKind::head_dot: return kernels_.head_dot(a, row, four_heads, by);
            case ElementwiseKind::head_spread: return kernels_.head_spread(by, row, four_heads, a);
            case ElementwiseKind::head_fold: return kernels_.head_fold(a, by, four_heads, sums_.data());
            case ElementwiseKind::head_unit: return kernels_.head_unit(a, by, four_heads, wide(b_));
            case ElementwiseKind::head_unit_back:
                return kernels_.head_unit_back({wide(b_), wide(c_), by, narrow(more_by_heads_)}, four_heads, a);
            default: ensure(false, "it is not done by heads");
        }
    }

private:
    kernels::Matrix wide(const Array<float>& values) const {
        return {values.data(), rows_, head_columns, head_columns};
    }
    kernels::Matrix narrow(const Array<float>& values) const { return {values.data(), rows_, heads, heads}; }

    const kernels::Table& kernels_;
    std::int64_t rows_;
    Array<float> a_, b_, c_, by_heads_, more_by_heads_, sums_;
};

}  // namespace

Sample measure_heads(const Setting& setting, ElementwiseKind stream, std::int64_t bytes) {
    const HeadKind& kind = head_kind_of(stream);
    const std::int64_t row_bytes = 4 * (kind.wide * head_columns + kind.by_heads * heads);
    const std::int64_t rows = std::max<std::int64_t>(1, bytes / row_bytes);
    HeadRun run(setting.device, rows);
    return {kind.name, {rows * row_bytes}, seconds_together(setting, [&] { run.run(stream); })};
}

}  // namespace gnnplan::calibrate
