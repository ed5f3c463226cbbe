#include "runtime/data/block.hpp"

#include <algorithm>
#include <cmath>

namespace gnnplan::data {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// The columns of row `row` that fall into `columns`, as positions into matrix.column.
Range entries_in(const Csr& matrix, std::int64_t row, Range columns) {
    const std::int64_t begin = matrix.row_start[at(row)];
    const std::int64_t end = matrix.row_start[at(row) + 1];
    if (columns.begin <= 0 && columns.end >= matrix.vertices) return {begin, end};
    const auto first = matrix.column.begin() + begin;
    const auto last = matrix.column.begin() + end;
    const auto low = std::lower_bound(first, last, columns.begin);
    const auto high = std::lower_bound(low, last, columns.end);
    return {low - matrix.column.begin(), high - matrix.column.begin()};
}

std::vector<double> degree_powers(const Csr& matrix, double exponent) {
    std::vector<double> powers(at(matrix.vertices));
    for (std::int64_t i = 0; i < matrix.vertices; ++i) {
        const std::int64_t degree = matrix.degree(i);
        powers[at(i)] = degree == 0 ? 0.0 : std::pow(static_cast<double>(degree), exponent);
    }
    return powers;
}

}  // namespace

DegreeScales compute_scales(const Graph& graph, Normalisation normalisation) {
    switch (normalisation) {
        case Normalisation::none: break;
        case Normalisation::symmetric:
            return {degree_powers(graph.matrix(false), -0.5), degree_powers(graph.matrix(true), -0.5)};
        case Normalisation::row_mean:
            return {std::vector<double>(at(graph.vertices()), 1.0), degree_powers(graph.matrix(true), -1.0)};
    }
    return {};
}

std::int64_t block_nonzeros(const Graph& graph, bool transposed, Range rows, Range columns) {
    const Csr& matrix = graph.matrix(transposed);
    if (rows.empty() || columns.empty()) return 0;
    if (columns.begin <= 0 && columns.end >= matrix.vertices) {
        return matrix.row_start[at(rows.end)] - matrix.row_start[at(rows.begin)];
    }
    std::int64_t count = 0;
    for (std::int64_t row = rows.begin; row < rows.end; ++row) count += entries_in(matrix, row, columns).size();
    return count;
}

LocalBlock build_block(const Graph& graph, bool transposed, Range rows, Range columns, const DegreeScales& scales) {
    const Csr& matrix = graph.matrix(transposed);
    LocalBlock block;
    block.rows = rows.size();
    block.columns = columns.size();
    block.row_start = std::vector<std::int64_t>(at(block.rows) + 1, 0);
    const std::size_t nonzeros = at(block_nonzeros(graph, transposed, rows, columns));
    block.column = std::vector<std::int32_t>(nonzeros);
    block.value = std::vector<float>(nonzeros);

    const bool weighted = !scales.source.empty();
    const std::vector<double>& row_scale = transposed ? scales.target : scales.source;
    const std::vector<double>& column_scale = transposed ? scales.source : scales.target;
    std::size_t next = 0;
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const Range entries = entries_in(matrix, row, columns);
        for (std::int64_t k = entries.begin; k < entries.end; ++k, ++next) {
            const std::int32_t c = matrix.column[at(k)];
            block.column[next] = static_cast<std::int32_t>(c - columns.begin);
            block.value[next] = weighted ? static_cast<float>(row_scale[at(row)] * column_scale[at(c)]) : 1.0F;
        }
        block.row_start[at(row - rows.begin) + 1] = static_cast<std::int64_t>(next);
    }
    return block;
}

}  // namespace gnnplan::data
