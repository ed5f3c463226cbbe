// The product of a sparse and a dense matrix. Reading guide: the columns of the product are cut into slices, and each
// is multiplied panel after panel. Where there is room, the rows of the operand that a panel meets are copied there
// first, a slice at a time: rounded to bfloat16, or as they are, so that each begins with the 32 bytes that memory
// gives at a time. The rest is in spmm_walk.cuh.
#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/packed.cuh"
#include "kernels/cuda/spmm_sweep.cuh"

namespace gnnplan::kernels::cuda {
namespace {

template <class Element, bool has_weights = true>
struct SumSweep {
    static constexpr bool weighted = has_weights;
    static constexpr int results = 1;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    static constexpr int blocks = 3;  // four would spill registers
#else
    static constexpr int blocks = 4;
#endif
    Dense<const Element> b;
    Matrix c;
    const float* row_scale;  // null: ones
    bool aligned;            // c's rows, for vectors of four
    bool accumulate;

    template <int width, int vectors>
    using Sum = Held<width, vectors, 1>;
    struct Nothing {};
    template <int width, int vectors>
    using OfRow = Nothing;

    __host__ __device__ std::int64_t columns() const { return c.columns; }
    template <int width, int vectors>
    __device__ Nothing of_row(const Lane<width, vectors>&, std::int64_t, bool) const {
        return {};
    }
    template <int width, int vectors>
    __device__ Sum<width, vectors> start() const {
        return {};
    }
    template <int width, int vectors>
    __device__ Gathered<width, vectors> fetch(const Lane<width, vectors>& lane,
                                              const std::int32_t (&rows)[entries_at_once], int count) const {
        return gather(lane, b, rows, count, 0.0F);
    }
    template <int width, int vectors>
    __device__ void take(const Nothing&, const Gathered<width, vectors>& x, int s, float weight,
                         Sum<width, vectors>& sum) const {
        GNNPLAN_UNROLL
        for (int k = 0; k < vectors; ++k) {
            GNNPLAN_UNROLL
            for (int v = 0; v < width; ++v) {
                const float term = x.x[s][k].x[v];
                sum.x[0][k][v] = weighted ? fmaf(weight, term, sum.x[0][k][v]) : sum.x[0][k][v] + term;
            }
        }
    }
    template <int width, int vectors>
    __device__ Sum<width, vectors> old(const Lane<width, vectors>& lane, std::int64_t row, bool wanted) const {
        Sum<width, vectors> sum = {};
        if (wanted) load_row(lane, row_of(c, row), aligned, sum.x[0]);
        return sum;
    }
    // Rounded step by step: the compiler must not make another number of it where it knows more.
    template <int width, int vectors>
    __device__ void join(Sum<width, vectors>& held, const Sum<width, vectors>& sum, std::int64_t row,
                         bool something) const {
        const float scale = row_scale != nullptr ? row_scale[row] : 1.0F;
        GNNPLAN_UNROLL
        for (int k = 0; k < vectors; ++k) {
            GNNPLAN_UNROLL
            for (int v = 0; v < width; ++v) {
                const float scaled = __fmul_rn(scale, sum.x[0][k][v]);
                held.x[0][k][v] = something ? __fadd_rn(held.x[0][k][v], scaled) : scaled;
            }
        }
    }
    template <int width, int vectors>
    __device__ void keep(const Lane<width, vectors>& lane, const Sum<width, vectors>& held, std::int64_t row) const {
        store_row(lane, held.x[0], row_of(c, row), aligned);
    }
};

template <int width, bool weighted = true, class Element>
void multiply_panel(const Panel& panel, Dense<const Element> b, Matrix c, bool accumulate) {
    const float* const row_scale = panel.a.value == nullptr ? panel.a.row_scale : nullptr;
    sweep_panel<width>("spmm", panel, SumSweep<Element, weighted>{b, c, row_scale, is_aligned(c), accumulate});
}

// Rows that are scaled while they are copied.
struct ScaledRows : Copy {
    const float* factor;

    template <int width>
    __device__ void change(float (&x)[width], const Run& at) const {
        for (int k = 0; k < width; ++k) x[k] *= factor[at.row];
    }
};

struct Product {
    Csr a;
    ConstMatrix b;
    Matrix c;
    bool accumulate;

    std::int64_t met_rows() const { return ceil_divide(a.columns, a.panels); }
};

// The product of the slices that there is room for, with a copy of the operand.
template <class Element, bool weighted = true>
void multiply_packed(const Product& x, const PanelRoom& room, const float* scale = nullptr) {
    for_packed<Element>(x.a, x.b, scale, room, [&](const PackedSlice<Element>& at) {
        multiply_panel<4, weighted>(panel_of(x.a, at.panel), at.rows, columns_of(x.c, at.first, at.rows.columns),
                                    x.accumulate || at.panel > 0);
    });
}

// The copy of the rows has the scales of the matrix's columns, too, and nonzeros weigh nothing more.
void multiply_scaled(const Product& x, const PanelRoom& room) {
    if constexpr (choices::scaled_copies) multiply_packed<float, false>(x, room, x.a.column_scale);
}

void multiply_in_place(const Product& x, const ColumnSlices& slices, int width) {
    for_slices(slices, x.c.columns, [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t p = 0; p < x.a.panels; ++p) {
            with_width(width, [&](auto known) {
                multiply_panel<known.value>(panel_of(x.a, p), columns_of(x.b, first, count),
                                            columns_of(x.c, first, count), x.accumulate || p > 0);
            });
        }
    });
}

}  // namespace

void pack(ConstMatrix from, const float* scale, Dense<float> to) {
    if (scale == nullptr) return copy(from, to);
    const bool aligned = is_aligned(from) && is_aligned(to);
    change_all("spmm", false, aligned, to.rows, to.columns, ScaledRows{{from, nullptr, to}, scale});
}
void pack(ConstMatrix from, const float* /*scale*/, Dense<Bf16> to) { narrow(from, to); }

void spmm(const Csr& a, ConstMatrix b, Matrix c, bool accumulate, PanelRoom room) {
    if (c.rows == 0 || c.columns == 0) return;
    const Product product = {a, b, c, accumulate};
    const PreparedMatrix::Choice& choice = PreparedMatrix::choice(a, c.columns);
    if (room.bf16) return multiply_packed<Bf16>(product, room);
    if (choice.library != nullptr && choice.library->fits(a, b, c)) return choice.library->multiply(b, c, accumulate);
    const bool sliced = choice.kernel == SpmmKernel::sliced;
    if (sliced && !room.memory.empty()) {
        if (choices::scaled_copies && a.value == nullptr) return multiply_scaled(product, room);
        multiply_packed<float>(product, room);
    } else {
        const int width = vector_width({b});
        multiply_in_place(product,
                          sliced ? cached_slices(product.met_rows(), c.columns, width)
                                 : widest_slices(c.columns, most_columns(width)),
                          width);
    }
}

bool cuts_columns(const Csr& a, const ConstMatrix& b, const PanelRoom& room) {
    if (!room.memory.empty()) return true;
    const int width = vector_width({b});
    return cached_slices(ceil_divide(a.columns, a.panels), b.columns, width).count >
           widest_slices(b.columns, most_columns(width)).count;
}

}  // namespace gnnplan::kernels::cuda
