#include "tests/support/host_runtime/cusparse.h"

#include <cstring>

struct cusparseContext {
    cudaStream_t stream = nullptr;
};
struct cusparseSpMatDescr {
    std::int64_t rows, columns, nonzeros;
    const std::int32_t *row_start, *column;
    const float* value;
    mutable void* active = nullptr;  // the buffer of the last cusparseSpMM_preprocess
};
struct cusparseDnMatDescr {
    std::int64_t rows, columns, stride;
    float* values;
};

using namespace gnnplan::testing::host_runtime;

namespace {

cusparseStatus_t status_of(cudaError_t queued) {
    return queued == cudaSuccess ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
}

bool fit(cusparseHandle_t handle, const cusparseSpMatDescr& a, const cusparseDnMatDescr& b,
         const cusparseDnMatDescr& c) {
    return handle != nullptr && handle->stream != nullptr && a.columns == b.rows && a.rows == c.rows &&
           b.columns == c.columns;
}

std::size_t row_start_bytes(const cusparseSpMatDescr& a) {
    return static_cast<std::size_t>(a.rows + 1) * sizeof(std::int32_t);
}

void multiply_rows(const cusparseSpMatDescr& a, const std::int32_t* row_start, const cusparseDnMatDescr& b,
                   const cusparseDnMatDescr& c, float alpha, float beta) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < c.columns; ++j) {
            float sum = 0;
            for (std::int32_t k = row_start[i]; k < row_start[i + 1]; ++k)
                sum += a.value[k] * b.values[a.column[k] * b.stride + j];
            float& to = c.values[i * c.stride + j];
            to = alpha * sum + (beta == 0 ? 0.0F : beta * to);
        }
    }
}

}  // namespace

const char* cusparseGetErrorName(cusparseStatus_t status) {
    return status == CUSPARSE_STATUS_NOT_SUPPORTED ? "CUSPARSE_STATUS_NOT_SUPPORTED" : "CUSPARSE_STATUS_INVALID_VALUE";
}
cusparseStatus_t cusparseGetProperty(libraryPropertyType /*part*/, int* number) {
    *number = 0;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
    *handle = new cusparseContext;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
    delete handle;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t* matrix, std::int64_t rows, std::int64_t columns,
                                        std::int64_t nonzeros, const void* row_start, const void* column,
                                        const void* value, cusparseIndexType_t row_start_type,
                                        cusparseIndexType_t column_type, cusparseIndexBase_t /*base*/,
                                        cudaDataType_t /*value_type*/) {
    if (row_start_type != CUSPARSE_INDEX_32I || column_type != CUSPARSE_INDEX_32I) return CUSPARSE_STATUS_NOT_SUPPORTED;
    if (nonzeros > 0 && (column == nullptr || value == nullptr)) return CUSPARSE_STATUS_INVALID_VALUE;
    *matrix = new cusparseSpMatDescr{rows,
                                     columns,
                                     nonzeros,
                                     static_cast<const std::int32_t*>(row_start),
                                     static_cast<const std::int32_t*>(column),
                                     static_cast<const float*>(value)};
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) {
    delete matrix;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* matrix, std::int64_t rows, std::int64_t columns,
                                     std::int64_t stride, void* values, cudaDataType_t /*type*/,
                                     cusparseOrder_t order) {
    if (order != CUSPARSE_ORDER_ROW) return CUSPARSE_STATUS_NOT_SUPPORTED;
    if (stride < columns || values == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    *matrix = new cusparseDnMatDescr{rows, columns, stride, static_cast<float*>(values)};
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t matrix, void* values) {
    if (values == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    matrix->values = static_cast<float*>(values);
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix) {
    delete matrix;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t /*operation_a*/,
                                         cusparseOperation_t /*operation_b*/, const void* /*alpha*/,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void* beta,
                                         cusparseDnMatDescr_t c, cudaDataType_t /*compute_type*/,
                                         cusparseSpMMAlg_t /*algorithm*/, std::size_t* bytes) {
    if (!fit(handle, *a, *b, *c)) return CUSPARSE_STATUS_INVALID_VALUE;
    *bytes = row_start_bytes(*a) + (*static_cast<const float*>(beta) == 0 ? 0 : sizeof(float));
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t /*operation_a*/,
                                         cusparseOperation_t /*operation_b*/, const void* /*alpha*/,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void* /*beta*/,
                                         cusparseDnMatDescr_t c, cudaDataType_t /*compute_type*/,
                                         cusparseSpMMAlg_t /*algorithm*/, void* buffer) {
    if (!fit(handle, *a, *b, *c) || buffer == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    a->active = buffer;
    return status_of(enqueue(handle->stream, [matrix = *a] {
        std::memcpy(matrix.active, matrix.row_start, row_start_bytes(matrix));
        return cudaSuccess;
    }));
}

cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t /*operation_a*/,
                              cusparseOperation_t /*operation_b*/, const void* alpha, cusparseConstSpMatDescr_t a,
                              cusparseConstDnMatDescr_t b, const void* beta, cusparseDnMatDescr_t c,
                              cudaDataType_t /*compute_type*/, cusparseSpMMAlg_t /*algorithm*/, void* buffer) {
    if (sparse_products_fail() || !fit(handle, *a, *b, *c) || buffer == nullptr || buffer != a->active)
        return CUSPARSE_STATUS_INVALID_VALUE;
    const float scale = *static_cast<const float*>(alpha), old = *static_cast<const float*>(beta);
    return status_of(enqueue(handle->stream, [matrix = *a, from = *b, to = *c, scale, old] {
        const auto* row_start = static_cast<const std::int32_t*>(matrix.active);
        if (row_start[0] != 0 || row_start[matrix.rows] != matrix.nonzeros) return cudaErrorInvalidValue;
        multiply_rows(matrix, row_start, from, to, scale, old);
        return cudaSuccess;
    }));
}
