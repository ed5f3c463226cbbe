// Sorts the entries of rows, drops self-loops, and drops or adds up entries that are listed more than once.
#include "runtime/graph/row_parts.hpp"
#include "runtime/graph/rows.hpp"
#include "runtime/graph/rows_in_place.hpp"
#include "runtime/graph/sort_columns.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

namespace gnnplan::data {
namespace {

void clean_plain_rows(Csr& csr, const RowVertices& vertices, RowsInPlace& part) {
    ColumnSorter sorter(csr.vertices);
    std::int64_t next = part.begin;
    std::int64_t begin = part.begin;
    for (std::int64_t u = part.rows.begin; u < part.rows.end; ++u) {
        const std::int64_t vertex = vertices[u];
        std::int32_t* const first = csr.column.data() + begin;
        std::int32_t* const last = csr.column.data() + csr.row_start[at(u) + 1];
        begin = csr.row_start[at(u) + 1];
        sorter.sort({first, last});
        std::int32_t previous = -1;
        for (const std::int32_t* c = first; c != last; ++c) {
            if (*c == vertex) {
                ++part.counts.self_loops_dropped;
            } else if (*c == previous) {
                ++part.counts.duplicates_dropped;
            } else {
                previous = *c;
                csr.column[at(next++)] = *c;
            }
        }
        csr.row_start[at(u) + 1] = next;
    }
    part.kept = next - part.begin;
}

// An entry of a row while its weights are sorted and added up.
struct Weighted {
    std::int32_t column;
    float weight;
};

float sum_of_duplicates(std::span<const Weighted> entries, std::int64_t vertex, bool into) {
    double sum = 0;
    for (const Weighted& entry : entries) sum += entry.weight;
    const auto weight = static_cast<float>(sum);
    if (std::isfinite(weight)) return weight;
    const std::int64_t other = entries.front().column;
    throw Error(ErrorCode::data, "the weights of the edge " + std::to_string(into ? other : vertex) + " -> " +
                                     std::to_string(into ? vertex : other) +
                                     " (counted from 0), which is listed more than once, add up to more than float32 "
                                     "holds");
}

// The same for rows with weights. Equal columns are added up from the smallest weight on, so that the sum does not
// depend on the order of listing, and is that of the reverse edge where the same weights are listed for both.
void clean_weighted_rows(Csr& csr, const RowVertices& vertices, bool into, RowsInPlace& part) {
    std::vector<Weighted> row;
    std::int64_t next = part.begin;
    std::int64_t begin = part.begin;
    for (std::int64_t u = part.rows.begin; u < part.rows.end; ++u) {
        const std::int64_t vertex = vertices[u];
        const std::int64_t end = csr.row_start[at(u) + 1];
        row.clear();
        for (std::int64_t k = begin; k < end; ++k) row.push_back({csr.column[at(k)], csr.weight[at(k)]});
        begin = end;
        std::sort(row.begin(), row.end(), [](const Weighted& a, const Weighted& b) {
            return a.column != b.column ? a.column < b.column : a.weight < b.weight;
        });
        for (auto first = row.begin(); first != row.end();) {
            const auto last =
                std::find_if(first, row.end(), [&](const Weighted& entry) { return entry.column != first->column; });
            if (first->column == vertex) {
                part.counts.self_loops_dropped += last - first;
            } else {
                part.counts.duplicates_dropped += last - first - 1;
                csr.column[at(next)] = first->column;
                csr.weight[at(next++)] = sum_of_duplicates({first, last}, vertex, into);
            }
            first = last;
        }
        csr.row_start[at(u) + 1] = next;
    }
    part.kept = next - part.begin;
}

}  // namespace

void clean_rows(Csr& csr, const RowVertices& vertices, PreparationCounts& counts, bool into) {
    std::vector<RowsInPlace> parts;
    for (const Range rows : row_parts(csr.row_start)) parts.push_back({rows, csr.row_start[at(rows.begin)]});
    for_parts(std::ssize(parts), [&](std::int64_t i) {
        if (csr.weighted()) return clean_weighted_rows(csr, vertices, into, parts[at(i)]);
        clean_plain_rows(csr, vertices, parts[at(i)]);
    });
    join_rows(csr, parts);
    for (const RowsInPlace& part : parts) {
        counts.self_loops_dropped += part.counts.self_loops_dropped;
        counts.duplicates_dropped += part.counts.duplicates_dropped;
    }
}

}  // namespace gnnplan::data
