// Normalised blocks of the adjacency matrix, as one rank holds them.
#pragma once

#include "kernels/views.hpp"
#include "runtime/data/csr.hpp"

#include <gnnplan/base/range.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan::data {

// How edges are weighted; A below is the prepared matrix (with its self loops when they were added).
enum class Normalisation : std::uint8_t {
    none,       // 1
    symmetric,  // D_out^-1/2 A D_in^-1/2 (Kipf & Welling 2017, eq. 2, for directed graphs)
    row_mean,   // 1 / in-degree of the target: each non-empty row of the forward matrix A^T sums to 1
};

// The value of edge u -> v is source[u] * target[v]; both are empty for Normalisation::none (all values 1).
struct DegreeScales {
    std::vector<double> source;
    std::vector<double> target;
};

DegreeScales compute_scales(const Graph& graph, Normalisation normalisation);

// Rows and columns of the block count from the begin of its ranges.
struct LocalBlock {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<std::int64_t> row_start;  // rows + 1
    std::vector<std::int32_t> column;     // ascending within a row
    std::vector<float> value;

    std::int64_t nonzeros() const { return static_cast<std::int64_t>(column.size()); }
    kernels::Csr view() const { return {rows, columns, row_start.data(), column.data(), value.data()}; }
    // 8 (rows + 1) + 8 nonzeros: each array is allocated once, at its exact size.
    std::int64_t bytes() const {
        return static_cast<std::int64_t>(row_start.capacity() * sizeof(std::int64_t) +
                                         column.capacity() * sizeof(std::int32_t) + value.capacity() * sizeof(float));
    }
};

// The block (rows x columns) of A (backward), or of A^T when `transposed` (forward). The two are exact transposes of
// each other, values included.
LocalBlock build_block(const Graph& graph, bool transposed, Range rows, Range columns, const DegreeScales& scales);

// Nonzeros of such a block: O(1) when the columns are all columns, else two binary searches per row.
std::int64_t block_nonzeros(const Graph& graph, bool transposed, Range rows, Range columns);

}  // namespace gnnplan::data
