// Views of sparse and dense matrices that kernels work on. Views own nothing.
#pragma once

#include <cstdint>

namespace gnnplan::kernels {

// Dense, row-major: element (i, j) is data[i * stride + j]; stride >= columns.
template <class T>
struct Dense {
    T* data = nullptr;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t stride = 0;

    T* row(std::int64_t i) const { return data + i * stride; }
    operator Dense<const T>() const { return {data, rows, columns, stride}; }
};

using Matrix = Dense<float>;
using ConstMatrix = Dense<const float>;

// Compressed sparse rows: row i holds entries row_start[i] .. row_start[i + 1] of column and value.
template <class T>
struct BasicCsr {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    const std::int64_t* row_start = nullptr;  // rows + 1 entries
    const std::int32_t* column = nullptr;     // 0 .. columns - 1
    const T* value = nullptr;

    std::int64_t nonzeros() const { return rows == 0 ? 0 : row_start[rows] - row_start[0]; }
};

using Csr = BasicCsr<float>;

}  // namespace gnnplan::kernels
