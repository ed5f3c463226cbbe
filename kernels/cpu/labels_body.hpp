// Sigmoid cross-entropy of a row of logits. Part of vector_body.hpp, whose linkage rules hold here too.
#pragma once

#include <cstdint>

#include "kernels/cpu/mask_body.hpp"
#include "kernels/cpu/softmax_body.hpp"
#include "kernels/labels.hpp"

namespace gnnplan::kernels::cpu {
namespace {

constexpr std::int64_t label_strip = 256;

// 1 where the bit is set, and 0 elsewhere; all 1 without bits.
void unpack_bits(const std::uint8_t* bits, std::int64_t first_bit, std::int64_t n, float* out) {
    for (std::int64_t j = 0; j < n; ++j) out[j] = 1;
    if (bits != nullptr) apply_bits(out, n, bits, first_bit, 1);
}

template <int width>
double sum_of_lanes(const typename DoubleVectorOf<width>::type& lanes) {
    double sum = 0;
    for (int t = 0; t < width; ++t) sum += lanes[t];
    return sum;
}

// At most label_strip logits. With t = -z where the label is there and t = z elsewhere, the loss of one is max(t, 0) +
// log(1 + exp(-|t|)), and its gradient has the size of 1 / (1 + exp(-t)) and the sign of t / z. The logarithms are one
// of a product, none of whose factors is above 2.
template <int width>
double label_strip_loss(const float* z, std::int64_t n, const float* there, const float* known, float scale,
                        float* gradient) {
    using Vector = GemmVector<width>;
    using Doubles = typename DoubleVectorOf<width>::type;
    const Vector zero = {};
    Doubles above = {}, product = Doubles{} + 1.0;
    for (std::int64_t j = 0; j < n; j += width) {
        const std::int64_t count = n - j < width ? n - j : width;
        const bool whole = count == width;
        const auto load = [&](const float* from) {
            return whole ? load_vector<Vector>(from + j) : load_part<Vector>(from + j, count);
        };
        const Vector x = load(z), sign = 1.0F - 2.0F * load(there), use = load(known);  // none of lanes past the end
        const Vector t = x * sign;
        const Vector e = exponential<width>(t > zero ? -t : t);
        const Vector loss = use == zero ? zero : (t > zero ? t : zero) + (t == t ? zero : t);  // a NaN stays
        above += __builtin_convertvector(loss, Doubles);
        product *= 1.0 + __builtin_convertvector(use == zero ? zero : e, Doubles);
        if (gradient == nullptr) continue;
        const Vector size = (t > zero ? zero + 1.0F : e) / (1.0F + e);
        const Vector g = use == zero ? zero : size * sign * scale;
        store_vector<width>(gradient + j, g, count);
    }
    double all = 1;
    for (int t = 0; t < width; ++t) all *= product[t];
    return sum_of_lanes<width>(above) + __builtin_log(all);
}

// The sum of the losses of a row's known labels, whose bits begin at `first_bit`. `gradient` may be null, or z itself:
// it becomes that of each loss, times `scale`.
template <int width>
double label_row(const float* z, std::int64_t n, const LabelBits& labels, std::int64_t first_bit, float scale,
                 float* gradient) {
    float there[label_strip], known[label_strip];
    double loss = 0;
    for (std::int64_t j = 0; j < n; j += label_strip) {
        const std::int64_t count = n - j < label_strip ? n - j : label_strip;
        unpack_bits(labels.value, first_bit + j, count, there);
        unpack_bits(labels.known, first_bit + j, count, known);
        loss +=
            label_strip_loss<width>(z + j, count, there, known, scale, gradient == nullptr ? nullptr : gradient + j);
    }
    return loss;
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
