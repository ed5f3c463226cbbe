// A sparse matrix whose columns are uniformly random: nothing but its sizes says how fast it is multiplied.
#pragma once

#include "kernels/device.hpp"
#include "kernels/large_vector.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace gnnplan::calibrate {

// The places of its nonzeros, in the host's memory.
struct RandomRows {
    // About `degree` nonzeros in a row, at least one, exponentially distributed, as no branch predictor guesses them;
    // columns ascend. One row in `one_in`, at random, is such a row; the others have none.
    RandomRows(std::int64_t rows, std::int64_t columns, std::int64_t degree, std::int64_t one_in = 1);

    std::int64_t rows;
    std::int64_t columns;
    std::int64_t rows_with_nonzeros = 0;
    std::vector<std::int64_t> row_start;
    kernels::LargeVector<std::int32_t> column;
};

// In the memory of a device, as a run stores and prepares it.
class RandomMatrix {
public:
    RandomMatrix(kernels::Device& device, RandomRows rows);

    const kernels::Csr& view() const { return view_; }
    std::int64_t rows() const { return view_.rows; }
    std::int64_t rows_with_nonzeros() const { return rows_with_nonzeros_; }
    std::int64_t nonzeros() const { return view_.most_nonzeros; }

private:
    std::int64_t rows_with_nonzeros_;
    std::unique_ptr<kernels::DeviceMemory> row_start_, column_, value_;
    kernels::Csr view_;
    std::unique_ptr<kernels::Prepared> prepared_;
};

}  // namespace gnnplan::calibrate
