#include "kernels/cuda/library_spmm.hpp"

#include "kernels/cuda/error.hpp"
#include "kernels/cuda/queue.hpp"

#include <gnnplan/base/error.hpp>

#include <cusparse.h>

#include <algorithm>
#include <utility>

namespace gnnplan::kernels::cuda {
namespace {

struct DestroySparseMatrix {
    void operator()(const cusparseSpMatDescr* matrix) const { cusparseDestroySpMat(matrix); }
};
struct DestroyDenseMatrix {
    void operator()(const cusparseDnMatDescr* matrix) const { cusparseDestroyDnMat(matrix); }
};
using SparseMatrix = std::unique_ptr<const cusparseSpMatDescr, DestroySparseMatrix>;
using DenseMatrix = std::unique_ptr<cusparseDnMatDescr, DestroyDenseMatrix>;

constexpr const char* describing = "describing a product to cuSPARSE";

SparseMatrix describe(const Csr& a, std::int64_t nonzeros) {
    cusparseConstSpMatDescr_t made = nullptr;
    check(cusparseCreateConstCsr(&made, a.rows, a.columns, nonzeros, a.narrow_row_start, a.column, a.value,
                                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
          describing);
    return SparseMatrix(made);
}

// cuSPARSE has one kind of description whose address can be set later, and it is of a matrix that may be written to.
DenseMatrix describe(ConstMatrix x) {
    cusparseDnMatDescr_t made = nullptr;
    check(cusparseCreateDnMat(&made, x.rows, x.columns, x.stride, const_cast<float*>(x.data), CUDA_R_32F,
                              CUSPARSE_ORDER_ROW),
          describing);
    return DenseMatrix(made);
}

cusparseSpMMAlg_t number(LibraryAlgorithm algorithm) {
    switch (algorithm) {
        case LibraryAlgorithm::csr1: return CUSPARSE_SPMM_CSR_ALG1;
        case LibraryAlgorithm::csr2: return CUSPARSE_SPMM_CSR_ALG2;
        case LibraryAlgorithm::csr3: return CUSPARSE_SPMM_CSR_ALG3;
    }
    std::abort();
}

constexpr float one = 1;

void note(cusparseStatus_t status) {
    if (status == CUSPARSE_STATUS_SUCCESS) return;
    queue().note(cudaErrorUnknown, "a sparse product", cusparseGetErrorName(status));
}

// The same arguments serve three functions of cuSPARSE, which differ in the last one. Products are in fp32 throughout.
template <class Function, class Last>
cusparseStatus_t call(const Function& function, cusparseHandle_t handle, const SparseMatrix& a, const DenseMatrix& b,
                      float beta, const DenseMatrix& c, cusparseSpMMAlg_t algorithm, Last last) {
    return function(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a.get(), b.get(),
                    &beta, c.get(), CUDA_R_32F, algorithm, last);
}

}  // namespace

// At most one buffer is active for a description of a sparse matrix, so each product has descriptions of its own.
struct LibrarySpmm::Prepared {
    std::int64_t rows, inner, columns, b_stride, c_stride;
    cusparseSpMMAlg_t algorithm;
    cusparseHandle_t handle = nullptr;  // null where nothing is to be multiplied
    SparseMatrix a{};
    DenseMatrix b{}, c{};
    std::size_t buffer_bytes = 0;
    std::byte* buffer = nullptr;
    bool ready = false;
};

LibrarySpmm::LibrarySpmm(const Csr& a, std::int64_t nonzeros, ConstMatrix b, Matrix c, LibraryAlgorithm algorithm)
    : prepared_(new Prepared{a.rows, a.columns, b.columns, b.stride, c.stride, number(algorithm)}) {
    ensure(a.panels == 1, "cuSPARSE multiplies one panel");
    ensure(b.rows == a.columns && c.rows == a.rows && c.columns == b.columns, "operands of an SpMM fit each other");
    Prepared& all = *prepared_;
    if (nonzeros == 0 || c.columns == 0) return;
    ensure(a.value != nullptr, "cuSPARSE multiplies a matrix with values");
    ensure(a.narrow_row_start != nullptr, "cuSPARSE reads row starts of 32 bits");
    all.handle = static_cast<cusparseHandle_t>(sparse_library());
    all.a = describe(a, nonzeros);
    all.b = describe(b);
    all.c = describe(c);
    for (const float beta : {0.0F, 1.0F}) {
        std::size_t bytes = 0;
        check(call(cusparseSpMM_bufferSize, all.handle, all.a, all.b, beta, all.c, all.algorithm, &bytes),
              "asking cuSPARSE for the size of a buffer");
        all.buffer_bytes = std::max(all.buffer_bytes, bytes);
    }
}

LibrarySpmm::~LibrarySpmm() = default;
LibrarySpmm::LibrarySpmm(LibrarySpmm&&) noexcept = default;
LibrarySpmm& LibrarySpmm::operator=(LibrarySpmm&&) noexcept = default;

std::size_t LibrarySpmm::buffer_bytes() const { return prepared_->buffer_bytes; }

void LibrarySpmm::prepare(std::span<std::byte> buffer) {
    Prepared& all = *prepared_;
    ensure(!all.ready && buffer.size() >= all.buffer_bytes,
           "a product of cuSPARSE gets its buffer once, and all of it");
    all.buffer = buffer.data();
    all.ready = true;
    if (all.handle == nullptr) return;
    check(call(cusparseSpMM_preprocess, all.handle, all.a, all.b, 0.0F, all.c, all.algorithm, all.buffer),
          "preparing a product of cuSPARSE");
}

void LibrarySpmm::multiply(ConstMatrix b, Matrix c, bool accumulate) {
    const Prepared& all = *prepared_;
    ensure(all.ready, "a product of cuSPARSE is prepared before it is queued");
    ensure(b.rows == all.inner && b.columns == all.columns && b.stride == all.b_stride && c.rows == all.rows &&
               c.columns == all.columns && c.stride == all.c_stride,
           "a product of cuSPARSE is for operands of one shape");
    if (all.handle == nullptr) {  // a sum of nothing
        if (accumulate || c.rows == 0 || c.columns == 0) return;
        const auto row_bytes = static_cast<std::size_t>(c.columns) * sizeof(float);
        const auto stride_bytes = static_cast<std::size_t>(c.stride) * sizeof(float);
        const auto rows = static_cast<std::size_t>(c.rows);
        queue().note(cudaMemset2DAsync(c.data, stride_bytes, 0, row_bytes, rows, queue().stream), "an SpMM");
        return;
    }
    note(cusparseDnMatSetValues(all.b.get(), const_cast<float*>(b.data)));
    note(cusparseDnMatSetValues(all.c.get(), c.data));
    note(call(cusparseSpMM, all.handle, all.a, all.b, accumulate ? 1.0F : 0.0F, all.c, all.algorithm, all.buffer));
}

}  // namespace gnnplan::kernels::cuda
