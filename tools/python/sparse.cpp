// Products of a sparse matrix with dense ones, on arrays of NumPy or PyTorch.
#include "kernels/parallel.hpp"
#include "kernels/table.hpp"
#include "tools/python/bind.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace gnnplan::python {
namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using In = nb::ndarray<const float, nb::ndim<2>, nb::device::cpu>;
using Out = nb::ndarray<float, nb::ndim<2>, nb::device::cpu>;

Error refused(const std::string& what, const char* where) { return {ErrorCode::usage, what, where}; }

template <class T, class Array>
kernels::Dense<T> view_of(const Array& array, std::int64_t rows) {
    if (static_cast<std::int64_t>(array.shape(0)) != rows || (array.shape(1) > 1 && array.stride(1) != 1))
        throw refused("a matrix of " + std::to_string(rows) + " rows is expected, whose elements lie side by side",
                      "x");
    return {array.data(), rows, static_cast<std::int64_t>(array.shape(1)), array.stride(0)};
}

bool has_nan(kernels::ConstMatrix x) {
    std::atomic<bool> found{false};
    const std::int64_t chunk = kernels::rows_per_chunk(x.columns);
    kernels::parallel_chunks(x.rows, chunk, x.rows * x.columns, [&](std::int64_t first, std::int64_t last) {
        bool here = false;
        for (std::int64_t i = first; i < last; ++i) {
            const float* const row = x.data + i * x.stride;
            for (std::int64_t j = 0; j < x.columns; ++j) here |= row[j] != row[j];
        }
        if (here) found = true;
    });
    return found;
}

// The kernels pass over NaNs; here, as in PyTorch, a maximum of which one is a NaN is a NaN.
void spread_nan(const kernels::Csr& a, kernels::ConstMatrix x, kernels::Matrix maxima) {
    kernels::parallel_for(a.rows, a.most_nonzeros * x.columns, kernels::LoopSchedule::fixed, [&](std::int64_t i) {
        float* const to = maxima.data + i * maxima.stride;
        for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
            const float* const from = x.data + a.column[k] * x.stride;
            for (std::int64_t j = 0; j < x.columns; ++j) to[j] = from[j] != from[j] ? from[j] : to[j];
        }
    });
}

// The threads of the calling thread's team, for as long as it lives.
class Threads {
public:
    explicit Threads(int threads) : before_(kernels::max_threads()) { kernels::set_threads(threads); }
    ~Threads() { kernels::set_threads(before_); }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

private:
    int before_;
};

// Compressed sparse rows in arrays that Python keeps for as long as the object.
class CsrMatrix {
public:
    CsrMatrix(Vector<std::int64_t> starts, Vector<std::int32_t> columns, std::optional<Vector<float>> values,
              std::int64_t column_count)
        : starts_(std::move(starts)), columns_(std::move(columns)), values_(std::move(values)) {
        const auto nonzeros = static_cast<std::int64_t>(columns_.size());
        if (starts_.size() == 0 || starts_.data()[0] != 0 || starts_.data()[starts_.size() - 1] != nonzeros ||
            !std::is_sorted(starts_.data(), starts_.data() + starts_.size()))
            throw refused("row starts ascend from 0 to the number of nonzeros", "indptr");
        const auto inside = [&](std::int32_t column) { return column >= 0 && column < column_count; };
        if (!std::all_of(columns_.data(), columns_.data() + nonzeros, inside))
            throw refused("columns are from 0 to " + std::to_string(column_count - 1), "indices");
        if (values_ && values_->size() != columns_.size()) throw refused("each nonzero has one value", "data");
        view_.rows = static_cast<std::int64_t>(starts_.size()) - 1;
        view_.columns = column_count;
        view_.row_start = starts_.data();
        view_.column = columns_.data();
        if (values_) view_.value = values_->data();
        view_.most_nonzeros = nonzeros;
    }

    // out = a * x.
    void multiply(const In& x, const Out& out, int threads) const {
        check_process();
        const auto result = view_of<float>(out, view_.rows);
        const auto operand = view_of<const float>(x, view_.columns);
        if (operand.columns != result.columns) throw refused("operand and result have as many columns", "x");
        const Threads team(threads);
        kernels::cpu_table().spmm(view_, operand, result, false, {});
    }

    // maxima(i, j) is the largest x(u, j) over the entries (i, u), or NaN where one of them is; ties(i, j) is how many
    // of the numbers among them equal the largest; 0 of none.
    void maxima(const In& x, const Out& maxima, const Out& ties, int threads) const {
        check_process();
        const Threads team(threads);
        const auto operand = view_of<const float>(x, view_.columns);
        const auto largest = view_of<float>(maxima, view_.rows);
        kernels::cpu_table().spmm_max(view_, operand, largest, view_of<float>(ties, view_.rows), false, {});
        if (has_nan(operand)) spread_nan(view_, operand, largest);
    }
    // This matrix is the transpose of the one whose maxima were taken: out(u, j) is the sum of share(v, j) over the
    // entries (u, v) where own(u, j) equals maxima(v, j).
    void maxima_back(const In& share, const In& maxima, const In& own, const Out& out, int threads) const {
        check_process();
        const Threads team(threads);
        kernels::cpu_table().spmm_max_back(
            view_, view_of<const float>(share, view_.columns), view_of<const float>(maxima, view_.columns),
            view_of<const float>(own, view_.rows), view_of<float>(out, view_.rows), false);
    }

private:
    Vector<std::int64_t> starts_;
    Vector<std::int32_t> columns_;
    std::optional<Vector<float>> values_;
    kernels::Csr view_;
};

}  // namespace

void add_sparse(nb::module_& module) {
    nb::class_<CsrMatrix>(module, "CsrMatrix")
        .def(nb::init<Vector<std::int64_t>, Vector<std::int32_t>, std::optional<Vector<float>>, std::int64_t>(),
             nb::arg("indptr"), nb::arg("indices"), nb::arg("data").none(), nb::arg("columns"))
        .def("multiply", &CsrMatrix::multiply, nb::arg("x"), nb::arg("out"), nb::arg("threads"),
             nb::call_guard<nb::gil_scoped_release>())
        .def("maxima", &CsrMatrix::maxima, nb::arg("x"), nb::arg("maxima"), nb::arg("ties"), nb::arg("threads"),
             nb::call_guard<nb::gil_scoped_release>())
        .def("maxima_back", &CsrMatrix::maxima_back, nb::arg("share"), nb::arg("maxima"), nb::arg("own"),
             nb::arg("out"), nb::arg("threads"), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace gnnplan::python
