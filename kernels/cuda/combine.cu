// Matrices of which each element is made of the same elements of others.
#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/elements.cuh"

namespace gnnplan::kernels::cuda {
namespace {

template <class T>
bool is_flat(const Dense<T>& matrix) {
    return matrix.stride == matrix.columns || matrix.rows <= 1;
}

// A change of c that needs the same elements of others.
template <class Body, class T, class... Others>
void change_by(const char* what, const Body& body, Dense<T> c, Dense<Others>... others) {
    const bool flat = (is_flat(c) && ... && is_flat(others));
    const auto aligned = [&](auto matrix) {
        if (flat) matrix.rows = 1;
        return is_aligned(matrix);
    };
    change_all(what, flat, (aligned(c) && ... && aligned(others)), c.rows, c.columns, body);
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

struct Sum : Copy {
    ConstMatrix b;

    template <int width>
    __device__ void change(float (&x)[width], const Run& at) const {
        const Pack<width> more = load<width>(row_of(b, at.row), at);
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

void add(ConstMatrix a, Matrix c) { change_by("add", Add<float>{{c}, a}, c, a); }

void sum(ConstMatrix a, ConstMatrix b, Matrix c) { change_by("sum", Sum{{a, nullptr, c}, b}, c, a, b); }

void add_widened(Dense<const Bf16> in, Matrix out) { change_by("add_widened", Add<Bf16>{{out}, in}, out, in); }

void add_squares(ConstMatrix a, Matrix c) { change_by("add_squares", AddSquares{{c}, a}, c, a); }

void add_scaled(float scale, const float* more, ConstMatrix a, Matrix c) {
    change_by("add_scaled", AddScaled{{c}, a, scale, more}, c, a);
}

void blend(float share, ConstMatrix a, Matrix c) { change_by("blend", Blend{{c}, a, share}, c, a); }

void divide(Matrix g, ConstMatrix by) { change_by("divide", Divide{{g}, by}, g, by); }

void copy(ConstMatrix in, Matrix out) { change_by("copy", Copy{in, nullptr, out}, out, in); }

void narrow(ConstMatrix in, Dense<Bf16> out) { change_by("narrow", CopyAs<float, Bf16>{in, nullptr, out}, out, in); }

void widen(Dense<const Bf16> in, Matrix out) { change_by("widen", CopyAs<Bf16, float>{in, nullptr, out}, out, in); }

void scale(float factor, ConstMatrix a, Matrix c) { change_by("scale", Scaled{{a, nullptr, c}, factor}, c, a); }

void add_identity(float factor, Matrix c) {
    const Matrix diagonal{c.data, c.rows, 1, c.stride + 1};
    change_all("add_identity", false, false, c.rows, 1, AddConstant{{diagonal}, factor});
}

}  // namespace gnnplan::kernels::cuda
