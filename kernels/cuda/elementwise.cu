#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/random.cuh"

#include <cmath>

namespace gnnplan::kernels::cuda {
namespace {

// Decides by the groups of columns that share a counter, to which runs of eight are aligned.
struct Drop {
    DropoutKey key;
    std::uint32_t threshold;
    float scale;
    StreamKey stream;

    explicit Drop(const DropoutKey& of)
        : key(of), threshold(dropout_threshold(of.probability)), scale(1.0F / (1.0F - of.probability)), stream{} {}

    std::int64_t columns_before() const { return key.probability > 0 ? key.first_column % dropout_group : 0; }
    __device__ void begin() {
        if (key.probability > 0) stream = dropout_stream(key);
    }
    __device__ void change(float (&x)[dropout_group], const Run& at) const {
        if (key.probability == 0) return;
        const std::int64_t row = key.row_ids != nullptr ? key.row_ids[at.row] : key.first_row + at.row;
        const Words words = dropout_draws(stream, row, (key.first_column + at.column) / dropout_group);
        for (int k = 0; k < dropout_group; ++k) {
            const std::uint32_t draw = words.v[k / 2] >> (16 * (k % 2)) & 0xffffU;
            x[k] = draw < threshold ? 0.0F : x[k] * scale;
        }
    }
};

__device__ float activated(Activation activation, float x) {
    switch (activation) {
        case Activation::relu: return x < 0 ? 0.0F : x;
        case Activation::elu: return x > 0 ? x : expm1f(x);
        case Activation::leaky_relu: return x > 0 ? x : leaky_relu_slope * x;
        case Activation::none: break;
    }
    return x;
}

// Where the activation made `y`.
__device__ float slope(Activation activation, float y) {
    switch (activation) {
        case Activation::relu: return y > 0 ? 1.0F : 0.0F;
        case Activation::elu: return y > 0 ? 1.0F : y + 1.0F;
        case Activation::leaky_relu: return y > 0 ? 1.0F : leaky_relu_slope;
        case Activation::none: break;
    }
    return 1.0F;
}

struct Activate : InPlace {
    const float* bias;
    Activation activation;
    Drop drop;
    std::uint8_t* bytes;  // of the mask, where each run is one of them

    __device__ void begin() { drop.begin(); }
    __device__ void change(float (&x)[dropout_group], const Run& at) const {
        for (int k = 0; k < dropout_group; ++k) {
            const bool inside = k >= at.first && k < at.last;
            if (bias != nullptr && inside) x[k] += bias[at.column + k];
            x[k] = activated(activation, x[k]);
        }
        drop.change(x, at);
        if (bytes == nullptr) return;
        unsigned byte = 0;
        for (int k = 0; k < dropout_group; ++k) byte |= (x[k] > 0 ? 1U : 0U) << k;
        bytes[(at.row * matrix.columns + at.column) / dropout_group] = static_cast<std::uint8_t>(byte);
    }
};

struct ActivationGradient : InPlace {
    ConstMatrix h;
    Activation activation;
    Drop drop;

    __device__ void begin() { drop.begin(); }
    __device__ void change(float (&x)[dropout_group], const Run& at) const {
        if (activation != Activation::none) {
            const auto made = load<dropout_group>(row_of(h, at.row), at);
            for (int k = 0; k < dropout_group; ++k) x[k] *= slope(activation, made.x[k] / drop.scale);
        }
        drop.change(x, at);
    }
};

struct Dropped : Copy {
    Drop drop;

    __device__ void begin() { drop.begin(); }
    __device__ void change(float (&x)[dropout_group], const Run& at) const { drop.change(x, at); }
};

// Runs of eight that lie as the draws of a dropout do.
template <class Body>
void change_groups(const char* what, bool aligned, std::int64_t rows, std::int64_t columns, const Body& body) {
    const std::int64_t before = body.drop.columns_before();
    change_in_runs<dropout_group>(what, rows, columns, before, aligned && before % 4 == 0, body);
}

}  // namespace

void gather_rows(ConstMatrix in, const std::int32_t* index, Matrix out) {
    change_all("gather_rows", false, is_aligned(in) && is_aligned(out), out.rows, out.columns, Copy{in, index, out});
}

void gather_rows_narrow(ConstMatrix in, const std::int32_t* index, Dense<Bf16> out) {
    change_all("gather_rows_narrow", false, is_aligned(in) && is_aligned(out), out.rows, out.columns,
               CopyAs<float, Bf16>{in, index, out});
}

void gather_rows_bf16(Dense<const Bf16> in, const std::int32_t* index, Dense<Bf16> out) {
    change_all("gather_rows_bf16", false, is_aligned(in) && is_aligned(out), out.rows, out.columns,
               CopyAs<Bf16, Bf16>{in, index, out});
}

void zero(std::span<std::byte> memory) {
    if (memory.empty()) return;
    queue().note(cudaMemsetAsync(memory.data(), 0, memory.size(), queue().stream), "zero");
}

void activate(Matrix z, const float* bias, Activation activation, const DropoutKey& key, std::uint8_t* bits) {
    const Drop drop(key);
    const bool bytes = z.columns % dropout_group == 0 && drop.columns_before() == 0;
    change_groups("activate", is_aligned(z), z.rows, z.columns,
                  Activate{{z}, bias, activation, drop, bytes ? bits : nullptr});
    if (bits != nullptr && !bytes) positive_mask(z, bits);
}

void activation_gradient(Matrix g, ConstMatrix h, Activation activation, const DropoutKey& key) {
    const bool aligned = is_aligned(g) && (activation == Activation::none || is_aligned(h));
    change_groups("activation_gradient", aligned, g.rows, g.columns, ActivationGradient{{g}, h, activation, Drop(key)});
}

void dropout(ConstMatrix in, Matrix out, const DropoutKey& key) {
    change_groups("dropout", is_aligned(in) && is_aligned(out), out.rows, out.columns,
                  Dropped{{in, nullptr, out}, Drop(key)});
}

}  // namespace gnnplan::kernels::cuda
