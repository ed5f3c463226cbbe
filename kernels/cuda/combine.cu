// Matrices of which each element is made of the same elements of others.
#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/elements.cuh"

namespace gnnplan::kernels::cuda {
namespace {

template <class T>
bool is_flat(const Dense<T>& matrix) {
    return matrix.stride == matrix.columns || matrix.rows <= 1;
}

// A change of c that needs the same element of `other`.
template <class T, class Other, class Body>
void change_by(const char* what, Dense<T> c, Dense<Other> other, const Body& body) {
    const bool flat = is_flat(c) && is_flat(other);
    const auto aligned = [&](auto matrix) {
        if (flat) matrix.rows = 1;
        return is_aligned(matrix);
    };
    change_all(what, flat, aligned(c) && aligned(other), c.rows, c.columns, body);
}

template <class Element>
struct Add : InPlace {
    Dense<const Element> a;

    template <int width>
    __device__ void change(float (&x)[width], const Run& at) const {
        const Pack<width> more = load<width>(row_of(a, at.row), at);
        for (int k = 0; k < width; ++k) x[k] += more.x[k];
    }
};

// Adds sums of squares, which both matrices hold as SquareSums (kernels/square_sum.hpp).
struct AddSquares : InPlace {
    ConstMatrix a;

    __device__ static double square(float root) {
        const double length = static_cast<double>(root) * static_cast<double>(root);
        return length * length;
    }
    template <int width>
    __device__ void change(float (&x)[width], const Run& at) const {
        const Pack<width> more = load<width>(row_of(a, at.row), at);
        for (int k = 0; k < width; ++k) x[k] = static_cast<float>(sqrt(sqrt(square(x[k]) + square(more.x[k]))));
    }
};

struct Blend : InPlace {
    ConstMatrix a;
    float share;

    template <int width>
    __device__ void change(float (&x)[width], const Run& at) const {
        const Pack<width> term = load<width>(row_of(a, at.row), at);
        for (int k = 0; k < width; ++k) x[k] = (1 - share) * x[k] + share * term.x[k];
    }
};

struct AddScaled : InPlace {
    ConstMatrix a;
    float scale;
    const float* more;

    __device__ void begin() {
        if (more != nullptr) scale += *more;
    }
    template <int width>
    __device__ void change(float (&x)[width], const Run& at) const {
        const Pack<width> term = load<width>(row_of(a, at.row), at);
        for (int k = 0; k < width; ++k) x[k] += scale * term.x[k];
    }
};

struct Divide : InPlace {
    ConstMatrix by;

    template <int width>
    __device__ void change(float (&x)[width], const Run& at) const {
        const Pack<width> divisor = load<width>(row_of(by, at.row), at);
        for (int k = 0; k < width; ++k) x[k] = divisor.x[k] == 0 ? 0.0F : x[k] / divisor.x[k];
    }
};

struct Scaled : Copy {
    float factor;

    template <int width>
    __device__ void change(float (&x)[width], const Run& /*at*/) const {
        for (int k = 0; k < width; ++k) x[k] *= factor;
    }
};

struct AddConstant : InPlace {
    float constant;

    template <int width>
    __device__ void change(float (&x)[width], const Run& /*at*/) const {
        for (int k = 0; k < width; ++k) x[k] += constant;
    }
};

}  // namespace

void add(ConstMatrix a, Matrix c) { change_by("add", c, a, Add<float>{{c}, a}); }

void add_widened(Dense<const Bf16> in, Matrix out) { change_by("add_widened", out, in, Add<Bf16>{{out}, in}); }

void add_squares(ConstMatrix a, Matrix c) { change_by("add_squares", c, a, AddSquares{{c}, a}); }

void add_scaled(float scale, const float* more, ConstMatrix a, Matrix c) {
    change_by("add_scaled", c, a, AddScaled{{c}, a, scale, more});
}

void blend(float share, ConstMatrix a, Matrix c) { change_by("blend", c, a, Blend{{c}, a, share}); }

void divide(Matrix g, ConstMatrix by) { change_by("divide", g, by, Divide{{g}, by}); }

void copy(ConstMatrix in, Matrix out) { change_by("copy", out, in, Copy{in, nullptr, out}); }

void narrow(ConstMatrix in, Dense<Bf16> out) { change_by("narrow", out, in, CopyAs<float, Bf16>{in, nullptr, out}); }

void widen(Dense<const Bf16> in, Matrix out) { change_by("widen", out, in, CopyAs<Bf16, float>{in, nullptr, out}); }

void scale(float factor, ConstMatrix a, Matrix c) { change_by("scale", c, a, Scaled{{a, nullptr, c}, factor}); }

void add_identity(float factor, Matrix c) {
    const Matrix diagonal{c.data, c.rows, 1, c.stride + 1};
    change_all("add_identity", false, false, c.rows, 1, AddConstant{{diagonal}, factor});
}

}  // namespace gnnplan::kernels::cuda
