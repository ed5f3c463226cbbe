// Owned matrices with guarded padding, small-integer inputs (sums of which are exact in float) and the comparison that
// every kernel test uses.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
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

struct OwnedCsr {
    std::int64_t columns = 0;
    std::vector<std::int64_t> row_start;
    std::vector<std::int32_t> column;
    std::vector<float> value;

    Csr view() const {
        return {static_cast<std::int64_t>(row_start.size()) - 1, columns, row_start.data(), column.data(),
                value.data()};
    }
};

// Row lengths 0 .. 3 mostly (empty rows included), and one of up to 200; values are integers in -3 .. 3.
inline OwnedCsr random_csr(std::mt19937& random, std::int64_t rows, std::int64_t columns) {
    OwnedCsr csr{columns, {0}, {}, {}};
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
