// A sparse matrix whose columns are uniformly random: nothing but its sizes says how fast it is multiplied.
#pragma once

#include "kernels/views.hpp"
#include "runtime/calibrate/array.hpp"

#include <cstdint>
#include <vector>

namespace gnnplan::calibrate {

class RandomMatrix {
public:
    // About `degree` nonzeros in a row, at least one, exponentially distributed, as no branch predictor guesses them;
    // columns ascend. One row in `one_in`, at random, is such a row; the others have none.
    RandomMatrix(std::int64_t rows, std::int64_t columns, std::int64_t degree, std::int64_t one_in = 1);

    kernels::Csr view() const;
    std::int64_t rows() const { return rows_; }
    std::int64_t rows_with_nonzeros() const { return rows_with_nonzeros_; }
    std::int64_t nonzeros() const { return static_cast<std::int64_t>(column_.size()); }

private:
    std::int64_t rows_;
    std::int64_t rows_with_nonzeros_ = 0;
    std::int64_t columns_;
    std::vector<std::int64_t> row_start_;
    Array<std::int32_t> column_;
    Array<float> value_;
};

}  // namespace gnnplan::calibrate
