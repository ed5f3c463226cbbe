#include "runtime/calibrate/random_matrix.hpp"

#include <gnnplan/base/checked.hpp>

#include <algorithm>
#include <cmath>

namespace gnnplan::calibrate {
namespace {

// SplitMix64 (Steele et al. 2014): millions of numbers a matrix, of which nobody needs more than that they look random.
class Generator {
public:
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
    std::uint64_t state_ = 1;
};

}  // namespace

RandomMatrix::RandomMatrix(std::int64_t rows, std::int64_t columns, std::int64_t degree, std::int64_t one_in)
    : rows_(rows), columns_(columns) {
    Generator generator;
    row_start_.reserve(static_cast<std::size_t>(rows) + 1);
    row_start_.push_back(0);
    for (std::int64_t i = 0; i < rows; ++i) {
        if (one_in > 1 && generator.below(static_cast<std::uint64_t>(one_in)) != 0) {
            row_start_.push_back(row_start_.back());
            continue;
        }
        ++rows_with_nonzeros_;
        const std::int64_t drawn = std::llround(-std::log(generator.share()) * static_cast<double>(degree));
        row_start_.push_back(row_start_.back() + std::max<std::int64_t>(1, drawn));
    }
    column_ = Array<std::int32_t>(row_start_.back());
    value_ = Array<float>(row_start_.back(), 1.0F);
    const auto bound = static_cast<std::uint64_t>(checked_cast<std::int32_t>(columns));
    std::ranges::generate(column_, [&] { return generator.below(bound); });
    for (std::size_t i = 0; i + 1 < row_start_.size(); ++i) {
        std::sort(column_.begin() + row_start_[i], column_.begin() + row_start_[i + 1]);
    }
}

kernels::Csr RandomMatrix::view() const {
    kernels::Csr view;
    view.rows = rows_;
    view.columns = columns_;
    view.row_start = row_start_.data();
    view.column = column_.data();
    view.value = value_.data();
    view.most_nonzeros = std::ssize(column_);
    return view;
}

}  // namespace gnnplan::calibrate
