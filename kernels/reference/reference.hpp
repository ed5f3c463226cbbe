// Plain loops, the oracle: each formula as the kernel table documents it, for any element type. The serial reference of
// the tests uses them in double precision.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/optimiser_body.hpp"
#include "kernels/stream.hpp"
#include "kernels/table.hpp"
#include "kernels/views.hpp"

namespace gnnplan::kernels::reference {

// The parameters that are not written to must not take part in the deduction of T, so that a Dense<T> converts.
template <class T>
using Input = Dense<const std::type_identity_t<T>>;

// Entry k of a, which is in row i.
template <class T>
T entry(const BasicCsr<T>& a, std::int64_t i, std::int64_t k) {
    if (a.value != nullptr) return a.value[k];
    const T row = a.row_scale != nullptr ? a.row_scale[i] : T{1};
    return a.column_scale != nullptr ? row * a.column_scale[a.column[k]] : row;
}

template <class T>
void spmm(const BasicCsr<T>& a, Input<T> b, Dense<std::type_identity_t<T>> c, bool accumulate) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < c.columns; ++j) {
            T sum = accumulate ? c.row(i)[j] : T{0};
            for (std::int64_t p = 0; p < a.panels; ++p) {
                const std::int64_t* row_start = a.row_start + p * a.panel_stride;
                for (std::int64_t k = row_start[i]; k < row_start[i + 1]; ++k) {
                    sum += entry(a, i, k) * b.row(a.column[k])[j];
                }
            }
            c.row(i)[j] = sum;
        }
    }
}

// Calls each(u) for the column u of every entry in row i of a.
template <class T, class Each>
void for_neighbours(const BasicCsr<T>& a, std::int64_t i, const Each& each) {
    for (std::int64_t p = 0; p < a.panels; ++p) {
        const std::int64_t* row_start = a.row_start + p * a.panel_stride;
        for (std::int64_t k = row_start[i]; k < row_start[i + 1]; ++k) each(std::int64_t{a.column[k]});
    }
}

template <class T>
void spmm_max(const BasicCsr<T>& a, Input<T> b, Dense<std::type_identity_t<T>> maxima,
              Dense<std::type_identity_t<T>> ties, bool accumulate) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < maxima.columns; ++j) {
            T count = accumulate ? ties.row(i)[j] : T{0};
            T largest = count > 0 ? maxima.row(i)[j] : -std::numeric_limits<T>::infinity();
            for_neighbours(a, i, [&](std::int64_t u) {
                const T x = b.row(u)[j];
                if (x > largest) largest = x, count = 0;
                if (x == largest) count += 1;
            });
            maxima.row(i)[j] = count > 0 ? largest : T{0};
            ties.row(i)[j] = count;
        }
    }
}

template <class T>
void spmm_max_back(const BasicCsr<T>& a, Input<T> gradient, Input<T> maxima, Input<T> own,
                   Dense<std::type_identity_t<T>> c, bool accumulate) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < c.columns; ++j) {
            T sum = accumulate ? c.row(i)[j] : T{0};
            for_neighbours(a, i, [&](std::int64_t v) {
                if (own.row(i)[j] == maxima.row(v)[j]) sum += gradient.row(v)[j];
            });
            c.row(i)[j] = sum;
        }
    }
}

template <class T>
void divide(Dense<T> g, Input<T> by) {
    for (std::int64_t i = 0; i < g.rows; ++i) {
        for (std::int64_t j = 0; j < g.columns; ++j) {
            const T divisor = by.row(i)[j];
            g.row(i)[j] = divisor == 0 ? T{0} : g.row(i)[j] / divisor;
        }
    }
}

template <class T>
void gemm(Transpose transpose_a, Transpose transpose_b, Input<T> a, Input<T> b, Dense<T> c, bool accumulate) {
    const bool ta = transpose_a == Transpose::yes;
    const bool tb = transpose_b == Transpose::yes;
    const std::int64_t inner = ta ? a.rows : a.columns;
    for (std::int64_t i = 0; i < c.rows; ++i) {
        for (std::int64_t j = 0; j < c.columns; ++j) {
            T sum = accumulate ? c.row(i)[j] : T{0};
            for (std::int64_t k = 0; k < inner; ++k) {
                sum += (ta ? a.row(k)[i] : a.row(i)[k]) * (tb ? b.row(j)[k] : b.row(k)[j]);
            }
            c.row(i)[j] = sum;
        }
    }
}

// Whether dropout keeps the element at a global position.
inline bool survives(const DropoutKey& key, std::int64_t global_row, std::int64_t global_column) {
    const StreamKey stream = stream_key(key.seed, StreamUse::dropout, key.pass->epoch, key.layer);
    const auto words = stream_words(stream, static_cast<std::uint64_t>(global_row),
                                    static_cast<std::uint64_t>(global_column / dropout_group));
    const auto lane = static_cast<std::uint32_t>(global_column % dropout_group);
    const std::uint32_t draw = words[lane / 2] >> (16U * (lane % 2)) & 0xffffU;
    return draw >= dropout_threshold(key.probability);
}

inline std::int64_t global_row(const DropoutKey& key, std::int64_t row) {
    return key.row_ids != nullptr ? key.row_ids[row] : key.first_row + row;
}

template <class T>
void dropout(Input<T> in, Dense<T> out, const DropoutKey& key) {
    const T scale = T{1} / (T{1} - static_cast<T>(key.probability));
    for (std::int64_t i = 0; i < out.rows; ++i) {
        for (std::int64_t j = 0; j < out.columns; ++j) {
            const bool keep = key.probability == 0 || survives(key, global_row(key, i), key.first_column + j);
            out.row(i)[j] = keep ? in.row(i)[j] * scale : T{0};
        }
    }
}

inline void set_bit(std::uint8_t* bits, std::int64_t at, bool on) {
    const int one = 1 << (at % 8);
    bits[at / 8] = static_cast<std::uint8_t>(on ? bits[at / 8] | one : bits[at / 8] & ~one);
}

template <class T>
void positive_mask(Input<T> h, std::uint8_t* bits) {
    for (std::int64_t byte = 0; byte < (h.rows * h.columns + 7) / 8; ++byte) bits[byte] = 0;
    for (std::int64_t i = 0; i < h.rows; ++i) {
        for (std::int64_t j = 0; j < h.columns; ++j) set_bit(bits, i * h.columns + j, h.row(i)[j] > 0);
    }
}

// NaN gets through all of them, so that a diverged network shows in the loss.
template <class T>
T activated(Activation activation, T x) {
    switch (activation) {
        case Activation::relu: return x < 0 ? T{0} : x;
        case Activation::elu: return x > 0 ? x : std::expm1(x);
        case Activation::leaky_relu: return x > 0 ? x : static_cast<T>(leaky_relu_slope) * x;
        case Activation::none: break;
    }
    return x;
}

// Where the activation made `y`.
template <class T>
T slope(Activation activation, T y) {
    switch (activation) {
        case Activation::relu: return y > 0 ? T{1} : T{0};
        case Activation::elu: return y > 0 ? T{1} : y + 1;
        case Activation::leaky_relu: return y > 0 ? T{1} : static_cast<T>(leaky_relu_slope);
        case Activation::none: break;
    }
    return T{1};
}

template <class T>
void activation_gradient(Dense<T> g, Input<T> h, Activation activation, const DropoutKey& key) {
    const T kept = T{1} / (T{1} - static_cast<T>(key.probability));
    for (std::int64_t i = 0; activation != Activation::none && i < g.rows; ++i) {
        for (std::int64_t j = 0; j < g.columns; ++j) g.row(i)[j] *= slope(activation, h.row(i)[j] / kept);
    }
    if (key.probability > 0) dropout<T>(g, g, key);
}

template <class T>
void activate(Dense<T> z, const std::type_identity_t<T>* bias, Activation activation, const DropoutKey& key,
              std::uint8_t* bits = nullptr) {
    for (std::int64_t i = 0; i < z.rows; ++i) {
        for (std::int64_t j = 0; j < z.columns; ++j) {
            T& x = z.row(i)[j];
            if (bias != nullptr) x += bias[j];
            x = activated(activation, x);
        }
    }
    if (key.probability > 0) dropout<T>(z, z, key);
    if (bits != nullptr) positive_mask<T>(z, bits);
}

// The exponentials of all classes but the label are summed apart from the label's: in a row that is fitted well their
// sum is so small that adding it to the label's 1 would lose it.
template <class T>
void softmax_cross_entropy(Dense<T> logits, const LossInput& input, double* loss) {
    *loss = 0;
    for (std::int64_t i = 0; i < logits.rows; ++i) {
        T* z = logits.row(i);
        if (input.split[i] != training_split) {
            std::fill_n(z, logits.columns, T{0});
            continue;
        }
        const std::int32_t label = input.label[i];
        T largest = z[0];
        for (std::int64_t j = 0; j < logits.columns; ++j) largest = z[j] > largest ? z[j] : largest;
        const auto at_label = static_cast<double>(z[label] - largest);
        double others = 0;
        for (std::int64_t j = 0; j < logits.columns; ++j)
            others += j != label ? std::exp(static_cast<double>(z[j] - largest)) : 0;
        const double sum = others + std::exp(at_label);
        *loss += weight_of(input, i) * (at_label == 0 ? std::log1p(others) : std::log(sum) - at_label);
        for (std::int64_t j = 0; j < logits.columns; ++j) {
            const double gradient = j == label ? -others : std::exp(static_cast<double>(z[j] - largest));
            z[j] = static_cast<T>(gradient / sum * gradient_scale(input, i));
        }
    }
}

template <class T>
void update(Optimiser rule, T* w, const T* gradient, T* m1, T* m2, std::int64_t count, const UpdateSettings& settings) {
    update_elements(rule, w, gradient, m1, m2, count, settings);
}

}  // namespace gnnplan::kernels::reference
