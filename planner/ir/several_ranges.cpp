// Questions about several ranges of a matrix, answered by asking about one at a time.
#include <gnnplan/ir/graph_stats.hpp>

namespace gnnplan {

std::vector<std::int64_t> GraphStats::columns_by_next(MatrixId matrix, const std::vector<Range>& rows,
                                                      Range columns) const {
    const std::size_t ranges = rows.size();
    // Columns that range i meets, and no other up to range j.
    const auto alone = [&](std::size_t i, std::size_t j) {
        const std::int64_t all = distinct_columns(matrix, {rows[i].begin, rows[j].end}, columns);
        return i == j ? all : all - distinct_columns(matrix, {rows[i + 1].begin, rows[j].end}, columns);
    };
    std::vector<std::int64_t> found(ranges * ranges, 0);
    for (std::size_t i = 0; i < ranges; ++i) {
        std::int64_t left = alone(i, i);
        for (std::size_t j = i + 1; j < ranges; ++j) {
            const std::int64_t without = alone(i, j);
            found[i * ranges + j] = left - without;
            left = without;
        }
        found[i * ranges + i] = left;
    }
    return found;
}

std::vector<std::int64_t> GraphStats::block_nonzeros_of(MatrixId matrix, Range rows,
                                                        const std::vector<Range>& columns) const {
    std::vector<std::int64_t> found;
    found.reserve(columns.size());
    for (const Range& range : columns) found.push_back(block_nonzeros(matrix, rows, range));
    return found;
}

std::vector<std::int64_t> GraphStats::distinct_columns_of(MatrixId matrix, Range rows,
                                                          const std::vector<Range>& columns) const {
    std::vector<std::int64_t> found;
    found.reserve(columns.size());
    for (const Range& range : columns) found.push_back(distinct_columns(matrix, rows, range));
    return found;
}

}  // namespace gnnplan
