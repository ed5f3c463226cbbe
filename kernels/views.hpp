// Views of sparse and dense matrices that kernels work on. Views own nothing.
#pragma once

#include <cstdint>
#include <type_traits>

namespace gnnplan::kernels {

// Dense, row-major: element (i, j) is data[i * stride + j]; stride >= columns.
template <class T>
struct Dense {
    T* data = nullptr;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t stride = 0;

    T* row(std::int64_t i) const { return data + i * stride; }
    template <class Same>
    requires(std::is_same_v<Same, const T> && !std::is_const_v<T>) operator Dense<Same>() const {
        return {data, rows, columns, stride};
    }
};

using Matrix = Dense<float>;
using ConstMatrix = Dense<const float>;

// A device's own form of a matrix that it multiplies again and again; see Device::prepare().
class Prepared {
public:
    virtual ~Prepared() = default;
};

class Look;

// Compressed sparse rows, in one or several source panels: panel p holds the nonzeros of a range of columns, panels
// ascend, and row i of panel p holds entries row_start[p * panel_stride + i] .. row_start[p * panel_stride + i + 1] of
// column and value. One panel is plain CSR. A product walks panel after panel, so that the rows of the dense operand
// that one panel meets stay in cache.
//
// Without values (factored), entry (i, j) is row_scale[i] * column_scale[j]; a null scale counts as ones.
template <class T>
struct BasicCsr {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    const std::int64_t* row_start = nullptr;  // panels * panel_stride entries
    const std::int32_t* column = nullptr;     // 0 .. columns - 1, whatever the panel
    const T* value = nullptr;
    const T* row_scale = nullptr;     // rows entries; only without values
    const T* column_scale = nullptr;  // columns entries; only without values
    std::int64_t panels = 1;
    std::int64_t panel_stride = 0;  // >= rows + 1; unread when there is one panel
    // The nonzeros of all panels, or more, for those who give out work without looking into the matrix.
    std::int64_t most_nonzeros = -1;
    Prepared* prepared = nullptr;  // of this matrix as a whole, or null
    // While messages are under way, a product reports each chunk of rows of the calling thread to this object, where
    // the backend computes in that thread. It may be null.
    Look* look = nullptr;
    // Row starts of 32 bits, row_start being null: for devices whose kernels read them (TensorMemory::row_start_bytes).
    const std::int32_t* narrow_row_start = nullptr;

    std::int64_t start(std::int64_t i) const { return row_start != nullptr ? row_start[i] : narrow_row_start[i]; }
    std::int64_t nonzeros() const {
        std::int64_t count = 0;
        for (std::int64_t p = 0; rows > 0 && p < panels; ++p) {
            count += start(p * panel_stride + rows) - start(p * panel_stride);
        }
        return count;
    }
    // Panel p alone, over all columns.
    BasicCsr panel(std::int64_t p) const {
        BasicCsr one = *this;
        if (narrow_row_start != nullptr) {
            one.narrow_row_start += p * panel_stride;
        } else {
            one.row_start += p * panel_stride;
        }
        one.panels = 1;
        one.prepared = nullptr;
        return one;
    }
};

using Csr = BasicCsr<float>;

}  // namespace gnnplan::kernels
