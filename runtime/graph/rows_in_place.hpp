// Rows of a matrix that threads make in place, each a range of them.
#pragma once

#include "runtime/graph/rows.hpp"

#include <vector>

namespace gnnplan::data {

// A range of rows as one thread has made them: where they begin, and how many entries they have from there on.
struct RowsInPlace {
    Range rows;
    std::int64_t begin = 0;
    std::int64_t kept = 0;
    PreparationCounts counts = {};
};

// Closes the gaps between ranges of rows. The memory behind them is given back where that is worth a copy.
void join_rows(Csr& csr, const std::vector<RowsInPlace>& parts);

}  // namespace gnnplan::data
