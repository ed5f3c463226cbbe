#include "runtime/graph/rows.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>

namespace gnnplan::data {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

void clean_plain_rows(Csr& csr, const RowVertices& vertices, PreparationCounts& counts) {
    std::int64_t kept = 0;
    std::int64_t begin = 0;
    for (std::int64_t u = 0; u < csr.rows(); ++u) {
        const std::int64_t vertex = vertices[u];
        const auto first = csr.column.begin() + begin;
        const auto last = csr.column.begin() + csr.row_start[at(u) + 1];
        begin = csr.row_start[at(u) + 1];
        std::sort(first, last);
        std::int32_t previous = -1;
        for (auto c = first; c != last; ++c) {
            if (*c == vertex) {
                ++counts.self_loops_dropped;
            } else if (*c == previous) {
                ++counts.duplicates_dropped;
            } else {
                previous = *c;
                csr.column[at(kept++)] = *c;
            }
        }
        csr.row_start[at(u) + 1] = kept;
    }
    csr.column.resize(at(kept));
    csr.column.shrink_to_fit();
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
void clean_weighted_rows(Csr& csr, const RowVertices& vertices, PreparationCounts& counts, bool into) {
    std::vector<Weighted> row;
    std::int64_t kept = 0;
    std::int64_t begin = 0;
    for (std::int64_t u = 0; u < csr.rows(); ++u) {
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
                counts.self_loops_dropped += last - first;
            } else {
                counts.duplicates_dropped += last - first - 1;
                csr.column[at(kept)] = first->column;
                csr.weight[at(kept++)] = sum_of_duplicates({first, last}, vertex, into);
            }
            first = last;
        }
        csr.row_start[at(u) + 1] = kept;
    }
    csr.column.resize(at(kept));
    csr.column.shrink_to_fit();
    csr.weight.resize(at(kept));
    csr.weight.shrink_to_fit();
}

// The weight of entry i of `a`, of entry j of `b`, or of both; -1 stands for no entry.
float joint_weight(const Csr& a, std::int64_t i, const Csr* b, std::int64_t j) {
    if (i >= 0 && j >= 0) {
        return static_cast<float>((double{a.weight[at(i)]} + double{b->weight[at(j)]}) / 2);
    }
    return i >= 0 ? a.weight[at(i)] : b->weight[at(j)];
}

// Calls emit(column, i, j) for the union of two rows (the second may be empty) and, when asked, the vertex itself;
// ascending. i and j are the places of the entry in the two matrices, -1 where one has none.
template <class Emit>
void merge_row(std::int64_t row, std::int64_t vertex, bool self_loop, const Csr& a, const Csr* b, Emit&& emit) {
    const std::int32_t* i = a.column.data() + a.row_start[at(row)];
    const std::int32_t* i_end = a.column.data() + a.row_start[at(row) + 1];
    const std::int32_t* j = b != nullptr ? b->column.data() + b->row_start[at(row)] : nullptr;
    const std::int32_t* j_end = b != nullptr ? b->column.data() + b->row_start[at(row) + 1] : nullptr;
    bool pending = self_loop;
    while (i != i_end || j != j_end || pending) {
        std::int64_t next = std::numeric_limits<std::int64_t>::max();
        if (i != i_end) next = *i;
        if (j != j_end) next = std::min<std::int64_t>(next, *j);
        if (pending) next = std::min(next, vertex);
        const bool in_a = i != i_end && *i == next;
        const bool in_b = j != j_end && *j == next;
        if (next == vertex) pending = false;
        emit(static_cast<std::int32_t>(next), in_a ? i - a.column.data() : -1, in_b ? j - b->column.data() : -1);
        if (in_a) ++i;
        if (in_b) ++j;
    }
}

}  // namespace

void accumulate_counts(std::vector<std::int64_t>& row_start) {
    for (std::size_t i = 1; i < row_start.size(); ++i) row_start[i] += row_start[i - 1];
}

void rewind_starts(std::vector<std::int64_t>& row_start) {
    for (std::size_t i = row_start.size() - 1; i > 0; --i) row_start[i] = row_start[i - 1];
    row_start[0] = 0;
}

Csr scatter(EdgeList edges, std::int64_t rows, bool weighted) {
    Csr csr{rows, std::vector<std::int64_t>(at(rows) + 1, 0), {}};
    edges.for_each([&](Edge e) { ++csr.row_start[at(e.from) + 1]; });
    accumulate_counts(csr.row_start);
    csr.column.resize(at(csr.row_start.back()));
    if (weighted) {
        csr.weight.resize(csr.column.size());
        edges.drain([&](Edge e, float weight) {
            const std::size_t k = at(csr.row_start[at(e.from)]++);
            csr.column[k] = e.to;
            csr.weight[k] = weight;
        });
    } else {
        edges.drain([&](Edge e) { csr.column[at(csr.row_start[at(e.from)]++)] = e.to; });
    }
    rewind_starts(csr.row_start);
    return csr;
}

void clean_rows(Csr& csr, const RowVertices& vertices, PreparationCounts& counts, bool into) {
    if (csr.weighted()) return clean_weighted_rows(csr, vertices, counts, into);
    clean_plain_rows(csr, vertices, counts);
}

Csr merge(const Csr& a, const Csr* b, const RowVertices& vertices, bool self_loops, bool weighted) {
    Csr csr{a.vertices, std::vector<std::int64_t>(a.row_start.size(), 0), {}};
    for (std::int64_t u = 0; u < a.rows(); ++u) {
        std::int64_t count = 0;
        merge_row(u, vertices[u], self_loops, a, b, [&](std::int32_t, std::int64_t, std::int64_t) { ++count; });
        csr.row_start[at(u) + 1] = csr.row_start[at(u)] + count;
    }
    csr.column.resize(at(csr.row_start.back()));
    if (weighted) csr.weight.resize(csr.column.size());
    std::size_t k = 0;
    for (std::int64_t u = 0; u < a.rows(); ++u) {
        merge_row(u, vertices[u], self_loops, a, b, [&](std::int32_t c, std::int64_t i, std::int64_t j) {
            if (weighted) csr.weight[k] = i < 0 && j < 0 ? 1.0F : joint_weight(a, i, b, j);  // neither: the self loop
            csr.column[k++] = c;
        });
    }
    return csr;
}

}  // namespace gnnplan::data
