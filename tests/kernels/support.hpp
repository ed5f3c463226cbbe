// Owned matrices with guarded padding, small-integer inputs (sums of which are exact in float) and the comparison that
// every kernel test uses.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/table.hpp"
#include "kernels/views.hpp"

namespace gnnplan::kernels::testing {

inline constexpr float guard = -12345.5F;

// A row-major matrix with `padding` guard elements behind each row; starts as all guards.
class Owned {
public:
    Owned(std::int64_t rows, std::int64_t columns, std::int64_t padding = 0)
        : rows_(rows),
          columns_(columns),
          stride_(columns + padding),
          data_(static_cast<std::size_t>(rows * stride_), guard) {}

    Matrix view() { return {data_.data(), rows_, columns_, stride_}; }
    ConstMatrix view() const { return {data_.data(), rows_, columns_, stride_}; }
    std::span<float> span() { return data_; }
    std::span<const float> span() const { return data_; }
    float& at(std::int64_t i, std::int64_t j) { return data_[static_cast<std::size_t>(i * stride_ + j)]; }
    float at(std::int64_t i, std::int64_t j) const { return data_[static_cast<std::size_t>(i * stride_ + j)]; }

    // Uniform integers in -bound .. bound.
    Owned& fill(std::mt19937& random, int bound) {
        std::uniform_int_distribution<int> value(-bound, bound);
        for (std::int64_t i = 0; i < rows_; ++i) {
            for (std::int64_t j = 0; j < columns_; ++j) at(i, j) = static_cast<float>(value(random));
        }
        return *this;
    }

    bool padding_untouched() const {
        for (std::int64_t i = 0; i < rows_; ++i) {
            for (std::int64_t j = columns_; j < stride_; ++j) {
                if (at(i, j) != guard) return false;
            }
        }
        return true;
    }

private:
    std::int64_t rows_, columns_, stride_;
    std::vector<float> data_;
};

// Empty if `got` equals `want` to |got - want| <= tolerance * max(1, |want|) everywhere and its padding is intact;
// otherwise says where not. Tolerance 0 asks for equality.
inline std::string difference(const Owned& got, const Owned& want, double tolerance = 0) {
    const ConstMatrix g = got.view();
    const ConstMatrix w = want.view();
    if (g.rows != w.rows || g.columns != w.columns) return "shapes differ";
    for (std::int64_t i = 0; i < g.rows; ++i) {
        for (std::int64_t j = 0; j < g.columns; ++j) {
            const double a = g.row(i)[j];
            const double b = w.row(i)[j];
            if (!(std::abs(a - b) <= tolerance * std::fmax(1, std::abs(b)))) {
                std::ostringstream message;
                message << "(" << i << ", " << j << "): " << a << " instead of " << b;
                return message.str();
            }
        }
    }
    return got.padding_untouched() ? "" : "wrote behind a row's end";
}

// Replaces the logits by their gradient.
inline double loss_of(const Table& table, Matrix logits, const LossInput& input) {
    double loss = 0;
    table.softmax_cross_entropy(logits, input, &loss);
    return loss;
}

struct OwnedCsr {
    std::int64_t columns = 0;
    std::vector<std::int64_t> row_start{0};
    std::vector<std::int32_t> column{};
    std::vector<float> value{};         // empty: factored
    std::vector<float> row_scale{};     // empty: ones
    std::vector<float> column_scale{};  // empty: ones
    std::int64_t panels = 1;

    std::int64_t rows() const { return static_cast<std::int64_t>(row_start.size()) / panels - 1; }
    Csr view() const {
        const auto at = [](const std::vector<float>& v) { return v.empty() ? nullptr : v.data(); };
        return {rows(),        columns,          row_start.data(), column.data(), at(value),
                at(row_scale), at(column_scale), panels,           rows() + 1,    std::ssize(column)};
    }
};

// A matrix in one panel, cut into panels that begin at the columns `begins` (ascending, the first 0; equal ones give
// empty panels).
inline OwnedCsr in_panels(const OwnedCsr& csr, const std::vector<std::int64_t>& begins) {
    OwnedCsr cut = csr;
    cut.panels = static_cast<std::int64_t>(begins.size());
    cut.row_start.clear();
    cut.column.clear();
    cut.value.clear();
    for (std::size_t p = 0; p < begins.size(); ++p) {
        const std::int64_t end = p + 1 < begins.size() ? begins[p + 1] : csr.columns;
        cut.row_start.push_back(static_cast<std::int64_t>(cut.column.size()));
        for (std::size_t i = 0; i + 1 < csr.row_start.size(); ++i) {
            for (auto k = static_cast<std::size_t>(csr.row_start[i]);
                 k < static_cast<std::size_t>(csr.row_start[i + 1]); ++k) {
                if (csr.column[k] < begins[p] || csr.column[k] >= end) continue;
                cut.column.push_back(csr.column[k]);
                if (!csr.value.empty()) cut.value.push_back(csr.value[k]);
            }
            cut.row_start.push_back(static_cast<std::int64_t>(cut.column.size()));
        }
    }
    return cut;
}

// The same pattern with scales in place of values: integers in -3 .. 3, or none.
inline OwnedCsr factored(const OwnedCsr& csr, std::mt19937& random, bool row_scale, bool column_scale) {
    OwnedCsr result = csr;
    result.value.clear();
    std::uniform_int_distribution<int> scale(-3, 3);
    const auto draw = [&](std::vector<float>& scales, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) scales.push_back(static_cast<float>(scale(random)));
    };
    if (row_scale) draw(result.row_scale, csr.rows());
    if (column_scale) draw(result.column_scale, csr.columns);
    return result;
}

// Row lengths 0 .. 3 mostly (empty rows included), and one of up to 200; values are integers in -3 .. 3.
inline OwnedCsr random_csr(std::mt19937& random, std::int64_t rows, std::int64_t columns) {
    OwnedCsr csr;
    csr.columns = columns;
    std::uniform_int_distribution<int> length(0, 3);
    std::uniform_int_distribution<int> value(-3, 3);
    std::uniform_int_distribution<std::int32_t> where(
        0, static_cast<std::int32_t>(std::max<std::int64_t>(columns, 1)) - 1);
    for (std::int64_t i = 0; i < rows; ++i) {
        const int count = columns == 0 ? 0 : i == rows / 2 ? 200 : length(random);
        for (int k = 0; k < count; ++k) {
            csr.column.push_back(where(random));
            csr.value.push_back(static_cast<float>(value(random)));
        }
        csr.row_start.push_back(static_cast<std::int64_t>(csr.column.size()));
    }
    return csr;
}

}  // namespace gnnplan::kernels::testing
