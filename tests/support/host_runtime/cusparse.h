// The part of cuSPARSE that kernels/cuda uses, as plain loops that run in the stream; see cuda_runtime.h.
#pragma once

#include "tests/support/host_cuda/cublas_v2.h"
#include "tests/support/host_runtime/cuda_runtime.h"

#include <cstdint>

enum cusparseStatus_t {
    CUSPARSE_STATUS_SUCCESS = 0,
    CUSPARSE_STATUS_INVALID_VALUE = 3,
    CUSPARSE_STATUS_NOT_SUPPORTED = 10
};
enum cusparseIndexType_t { CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3 };
enum cusparseIndexBase_t { CUSPARSE_INDEX_BASE_ZERO };
enum cusparseOrder_t { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 };
enum cusparseOperation_t { CUSPARSE_OPERATION_NON_TRANSPOSE };
enum cusparseSpMMAlg_t { CUSPARSE_SPMM_CSR_ALG1 = 4, CUSPARSE_SPMM_CSR_ALG2 = 6, CUSPARSE_SPMM_CSR_ALG3 = 12 };

using cusparseHandle_t = struct cusparseContext*;
struct cusparseSpMatDescr;
struct cusparseDnMatDescr;
using cusparseConstSpMatDescr_t = const cusparseSpMatDescr*;
using cusparseConstDnMatDescr_t = const cusparseDnMatDescr*;
using cusparseDnMatDescr_t = cusparseDnMatDescr*;

namespace gnnplan::testing::host_runtime {

bool sparse_products_fail();

}  // namespace gnnplan::testing::host_runtime

const char* cusparseGetErrorName(cusparseStatus_t status);
cusparseStatus_t cusparseGetProperty(libraryPropertyType part, int* number);
cusparseStatus_t cusparseCreate(cusparseHandle_t* handle);
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle);
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream);

// Refuses row starts and columns of different widths, as the library does.
cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t* matrix, std::int64_t rows, std::int64_t columns,
                                        std::int64_t nonzeros, const void* row_start, const void* column,
                                        const void* value, cusparseIndexType_t row_start_type,
                                        cusparseIndexType_t column_type, cusparseIndexBase_t base,
                                        cudaDataType_t value_type);
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix);
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* matrix, std::int64_t rows, std::int64_t columns,
                                     std::int64_t stride, void* values, cudaDataType_t type, cusparseOrder_t order);
cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t matrix, void* values);
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix);

// Larger for a beta that is not 0.
cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t operation_a,
                                         cusparseOperation_t operation_b, const void* alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void* beta,
                                         cusparseDnMatDescr_t c, cudaDataType_t compute_type,
                                         cusparseSpMMAlg_t algorithm, std::size_t* bytes);
// Copies the row starts of `a` into the buffer, which the products then use: one that was overwritten shows.
cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t operation_a,
                                         cusparseOperation_t operation_b, const void* alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void* beta,
                                         cusparseDnMatDescr_t c, cudaDataType_t compute_type,
                                         cusparseSpMMAlg_t algorithm, void* buffer);
// Refuses a buffer that was not prepared for `a`; the library would only be slower.
cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t operation_a, cusparseOperation_t operation_b,
                              const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void* beta, cusparseDnMatDescr_t c, cudaDataType_t compute_type,
                              cusparseSpMMAlg_t algorithm, void* buffer);
