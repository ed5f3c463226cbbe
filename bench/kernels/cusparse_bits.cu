// Whether products of cuSPARSE have the same bits each time: cuSPARSE's calls and nothing of gnnplan. No target builds
// it:
//
//     nvcc -arch=native -std=c++17 bench/kernels/cusparse_bits.cu -lcusparse -o cusparse_bits && ./cusparse_bits
//
// A matrix of 20,000 rows of 15 nonzeros; with hubs, one row in 100 has 700 and one has 15,000. Ten products with each
// algorithm for CSR; one line says how many entries of the others differ from those of the first, and in which rows.
#include <cuda_runtime.h>
#include <cusparse.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <vector>

namespace {

constexpr int rows = 20000, products = 10;

void check(int status, const char* what) {
    if (status == 0) return;
    std::printf("%s: status %d\n", what, status);
    std::exit(1);
}

template <class T>
T* on_device(const std::vector<T>& values) {
    T* memory = nullptr;
    check(cudaMalloc(&memory, values.size() * sizeof(T)), "cudaMalloc");
    check(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    return memory;
}

void measure(cusparseHandle_t handle, cusparseSpMMAlg_t algorithm, const char* name, int columns, bool hubs,
             bool prepared) {
    std::mt19937 random(1);
    const auto draw = [&] { return static_cast<float>(random() % 1000 + 1) * 1e-3F; };
    std::vector<int> row_start{0}, column;
    for (int i = 0; i < rows; ++i) {
        const int degree = !hubs ? 15 : i == 7 ? 15000 : i % 100 == 0 ? 700 : 15;
        for (int k = 0; k < degree; ++k) column.push_back(static_cast<int>(random() % rows));
        row_start.push_back(static_cast<int>(column.size()));
    }
    std::vector<float> value(column.size()), b(static_cast<std::size_t>(rows) * columns);
    std::generate(value.begin(), value.end(), draw);
    std::generate(b.begin(), b.end(), draw);
    float* const c = on_device(b);
    cusparseSpMatDescr_t matrix = nullptr;
    cusparseDnMatDescr_t in = nullptr, out = nullptr;
    check(cusparseCreateCsr(&matrix, rows, rows, static_cast<std::int64_t>(column.size()), on_device(row_start),
                            on_device(column), on_device(value), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
          "cusparseCreateCsr");
    check(cusparseCreateDnMat(&in, rows, columns, columns, on_device(b), CUDA_R_32F, CUSPARSE_ORDER_ROW), "b");
    check(cusparseCreateDnMat(&out, rows, columns, columns, c, CUDA_R_32F, CUSPARSE_ORDER_ROW), "c");
    const float one = 1, zero = 0;
    const auto call = [&](auto function, auto last) {
        check(function(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, in,
                       &zero, out, CUDA_R_32F, algorithm, last),
              name);
    };
    std::size_t bytes = 0;
    call(cusparseSpMM_bufferSize, &bytes);
    void* const buffer = on_device(std::vector<char>(bytes + 1));
    if (prepared) call(cusparseSpMM_preprocess, buffer);
    std::vector<float> first(b.size()), now(b.size());
    std::set<std::size_t> differ;
    long entries = 0;
    for (int product = 0; product < products; ++product) {
        check(cudaMemset(c, 255, b.size() * sizeof(float)), "cudaMemset");
        call(cusparseSpMM, buffer);
        check(cudaMemcpy(now.data(), c, b.size() * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
        if (product == 0) first = now;
        for (std::size_t i = 0; i < now.size(); ++i) {
            if (std::memcmp(&now[i], &first[i], sizeof(float)) != 0) ++entries, differ.insert(i / columns);
        }
    }
    int shortest = 0;
    for (const std::size_t row : differ) {
        const int degree = row_start[row + 1] - row_start[row];
        shortest = shortest == 0 ? degree : std::min(shortest, degree);
    }
    std::printf("%s, %3d columns, %s, %s: %ld entries differ, in %zu rows, of at least %d nonzeros\n", name, columns,
                hubs ? "hubs" : "no hubs", prepared ? "prepared" : "not prepared", entries, differ.size(), shortest);
}

}  // namespace

int main() {
    cusparseHandle_t handle = nullptr;
    check(cusparseCreate(&handle), "cusparseCreate");
    for (const bool hubs : {false, true}) {
        for (const int columns : {16, 128}) {
            for (const bool prepared : {false, true}) {
                measure(handle, CUSPARSE_SPMM_CSR_ALG1, "CSR_ALG1", columns, hubs, prepared);
                measure(handle, CUSPARSE_SPMM_CSR_ALG2, "CSR_ALG2", columns, hubs, prepared);
                measure(handle, CUSPARSE_SPMM_CSR_ALG3, "CSR_ALG3", columns, hubs, prepared);
            }
        }
    }
}
