#include "runtime/calibrate/random_matrix.hpp"

#include "kernels/parallel.hpp"

#include <gnnplan/base/checked.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace gnnplan::calibrate {
namespace {

// SplitMix64 (Steele et al. 2014): millions of numbers a matrix, of which nobody needs more than that they look random.
class Generator {
public:
    explicit Generator(std::uint64_t stream) : state_(stream * 0xD1342543DE82EF95U + 1) {}
    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }
    // Below `bound`, which is below 2^32.
    std::int32_t below(std::uint64_t bound) { return static_cast<std::int32_t>(((next() >> 32U) * bound) >> 32U); }
    // Above 0, up to 1.
    double share() { return static_cast<double>((next() >> 11U) + 1) * 0x1p-53; }

private:
    std::uint64_t state_;
};

}  // namespace

// A row's columns follow from its number, so that threads share the rows.
RandomRows::RandomRows(std::int64_t row_count, std::int64_t column_count, std::int64_t degree, std::int64_t one_in)
    : rows(row_count), columns(column_count) {
    Generator lengths(0);
    row_start.reserve(static_cast<std::size_t>(rows) + 1);
    row_start.push_back(0);
    for (std::int64_t i = 0; i < rows; ++i) {
        if (one_in > 1 && lengths.below(static_cast<std::uint64_t>(one_in)) != 0) {
            row_start.push_back(row_start.back());
            continue;
        }
        ++rows_with_nonzeros;
        const std::int64_t drawn = std::llround(-std::log(lengths.share()) * static_cast<double>(degree));
        row_start.push_back(row_start.back() + std::max<std::int64_t>(1, drawn));
    }
    column.resize(static_cast<std::size_t>(row_start.back()));
    const auto bound = static_cast<std::uint64_t>(checked_cast<std::int32_t>(columns));
    const auto draw = [&](std::int64_t i) {
        Generator generator(static_cast<std::uint64_t>(i) + 1);
        const std::span row(column.data() + row_start[static_cast<std::size_t>(i)],
                            column.data() + row_start[static_cast<std::size_t>(i) + 1]);
        std::ranges::generate(row, [&] { return generator.below(bound); });
        std::ranges::sort(row);
    };
    constexpr std::int64_t rows_at_once = 256;
    kernels::parallel_chunks(rows, rows_at_once, row_start.back(), [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) draw(i);
    });
}

RandomMatrix::RandomMatrix(kernels::Device& device, RandomRows made) : rows_with_nonzeros_(made.rows_with_nonzeros) {
    view_.rows = made.rows;
    view_.columns = made.columns;
    view_.most_nonzeros = made.row_start.back();
    value_ = kernels::take(device, kernels::LargeVector<float>(made.column.size(), 1.0F));
    column_ = kernels::take(device, std::move(made.column));
    if (device.memory().row_start_bytes == sizeof(std::int32_t)) {
        row_start_ = kernels::take(device, std::vector<std::int32_t>(made.row_start.begin(), made.row_start.end()));
        view_.narrow_row_start = reinterpret_cast<const std::int32_t*>(row_start_->data());
    } else {
        row_start_ = kernels::take(device, std::move(made.row_start));
        view_.row_start = reinterpret_cast<const std::int64_t*>(row_start_->data());
    }
    view_.column = reinterpret_cast<const std::int32_t*>(column_->data());
    view_.value = reinterpret_cast<const float*>(value_->data());
    prepared_ = device.prepare(view_);
    view_.prepared = prepared_.get();
}

}  // namespace gnnplan::calibrate
