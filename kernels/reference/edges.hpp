// Values of the entries of a matrix, one after the other: the oracle of the kernels, for floats and doubles.
#pragma once

#include "kernels/square_sum.hpp"
#include "kernels/table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gnnplan::kernels::reference {

// Calls visit(entry, column) for the entries of a row, panel after panel.
template <class T, class Visit>
void for_entries(const BasicCsr<T>& a, std::int64_t row, const Visit& visit) {
    for (std::int64_t p = 0; p < a.panels; ++p) {
        const std::int64_t* start = a.row_start + p * a.panel_stride + row;
        for (std::int64_t e = start[0]; e < start[1]; ++e) visit(e, a.column[e]);
    }
}

inline void edge_dot(const Csr& a, ConstMatrix x, ConstMatrix y, float* scores) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for_entries(a, i, [&](std::int64_t e, std::int32_t u) {
            double sum = 0;
            for (std::int64_t j = 0; j < x.columns; ++j)
                sum += static_cast<double>(y.row(i)[j]) * static_cast<double>(x.row(u)[j]);
            scores[e] = static_cast<float>(sum);
        });
    }
}

inline void edge_totals(const Csr& a, const float* scores, const float* beta, EdgeTotals to, bool accumulate) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
        const bool before = accumulate && to.total[i] > 0;
        const float known = before ? to.largest[i] : -std::numeric_limits<float>::infinity();
        float largest = known;
        for_entries(a, i, [&](std::int64_t e, std::int32_t) { largest = std::max(largest, *beta * scores[e]); });
        double total = before ? static_cast<double>(to.total[i] * std::exp(known - largest)) : 0;
        for_entries(a, i, [&](std::int64_t e, std::int32_t) {
            total += std::exp(static_cast<double>(*beta * scores[e] - largest));
        });
        to.total[i] = static_cast<float>(total);
        to.largest[i] = total > 0 ? largest : 0;
    }
}

inline void edge_softmax(const Csr& a, const float* scores, const float* beta, EdgeTotals of, float* weights) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for_entries(a, i, [&](std::int64_t e, std::int32_t) {
            weights[e] = std::exp(*beta * scores[e] - of.largest[i]) / of.total[i];
        });
    }
}

inline void edge_softmax_back(const Csr& a, const EdgeSoftmaxBack& back, bool accumulate) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
        double sum = accumulate ? static_cast<double>(back.of_beta[i]) : 0;
        for_entries(a, i, [&](std::int64_t e, std::int32_t) {
            const float d = back.weights[e] * (back.gradient[e] - back.inner[i]);
            sum += static_cast<double>(d * back.scores[e]);
            back.gradient[e] = *back.beta * d;
        });
        back.of_beta[i] = static_cast<float>(sum);
    }
}

inline void head_squares(ConstMatrix x, Heads heads, Matrix out) {
    for (std::int64_t i = 0; i < out.rows; ++i) {
        for (std::int64_t k = 0; k < out.columns; ++k) {
            double sum = 0;
            for (std::int64_t j = 0; j < x.columns; ++j) {
                const double element = x.row(i)[j];
                if (heads.of(j) == k) sum += element * element;
            }
            out.row(i)[k] = SquareSum::of(sum).root;
        }
    }
}

inline void add_squares(ConstMatrix a, Matrix c) {
    for (std::int64_t i = 0; i < c.rows; ++i) {
        for (std::int64_t j = 0; j < c.columns; ++j)
            c.row(i)[j] = (SquareSum{c.row(i)[j]} += SquareSum{a.row(i)[j]}).root;
    }
}

inline void head_unit(ConstMatrix x, ConstMatrix squares, Heads heads, Matrix out) {
    for (std::int64_t i = 0; i < out.rows; ++i) {
        for (std::int64_t j = 0; j < out.columns; ++j) {
            const double length = SquareSum{squares.row(i)[heads.of(j)]}.length();
            out.row(i)[j] = length == 0 ? 0 : static_cast<float>(static_cast<double>(x.row(i)[j]) / length);
        }
    }
}

inline void head_unit_back(const UnitBackOperands& in, Heads heads, Matrix x) {
    for (std::int64_t i = 0; i < x.rows; ++i) {
        for (std::int64_t j = 0; j < x.columns; ++j) {
            const double length = SquareSum{in.squares.row(i)[heads.of(j)]}.length();
            if (length == 0) continue;
            const double inner = in.inner.row(i)[heads.of(j)], unit = in.unit.row(i)[j];
            x.row(i)[j] += static_cast<float>((static_cast<double>(in.gradient.row(i)[j]) - inner * unit) / length);
        }
    }
}

}  // namespace gnnplan::kernels::reference
