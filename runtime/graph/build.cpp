// Counting sort by source, sort and unique within rows, one transpose, and for undirected graphs one merge. Peak memory
// is that of the edges (8 bytes each) beside the columns (4 bytes each), then of three patterns at most; weights take 4
// bytes more each time.
#include "runtime/graph/csr.hpp"

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

// Turns counts of row i at row_start[i + 1] into starts.
void accumulate_counts(std::vector<std::int64_t>& row_start) {
    for (std::size_t i = 1; i < row_start.size(); ++i) row_start[i] += row_start[i - 1];
}

// After a scatter that advanced row_start[i] to the end of row i: moves the starts back.
void rewind_starts(std::vector<std::int64_t>& row_start) {
    for (std::size_t i = row_start.size() - 1; i > 0; --i) row_start[i] = row_start[i - 1];
    row_start[0] = 0;
}

void check_size(std::int64_t vertices, std::int64_t edges) {
    if (vertices <= 0) throw Error(ErrorCode::data, "the graph has no vertices");
    if (vertices > std::numeric_limits<std::int32_t>::max()) {
        throw Error(ErrorCode::data, std::to_string(vertices) + " vertices: at most 2^31 - 1 are supported");
    }
    // A slip in one id must not cost gigabytes of empty rows.
    if (vertices > (std::int64_t{1} << 24) && vertices / 1024 > edges) {
        throw Error(ErrorCode::data,
                    std::to_string(vertices) + " vertices but only " + std::to_string(edges) + " edges", {},
                    "number the vertices 0 .. N - 1 without large gaps");
    }
}

// Rows in the order of listing, with self loops and duplicates as listed; consumes the edges.
Csr scatter(EdgeList edges, std::int64_t vertices, bool weighted) {
    Csr csr{vertices, std::vector<std::int64_t>(at(vertices) + 1, 0), {}};
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

// Sorts each row and drops repeated columns and the diagonal, in place.
void clean_rows(Csr& csr, PreparationCounts& counts) {
    std::int64_t kept = 0;
    std::int64_t begin = 0;
    for (std::int64_t u = 0; u < csr.vertices; ++u) {
        const auto first = csr.column.begin() + begin;
        const auto last = csr.column.begin() + csr.row_start[at(u) + 1];
        begin = csr.row_start[at(u) + 1];
        std::sort(first, last);
        std::int32_t previous = -1;
        for (auto c = first; c != last; ++c) {
            if (*c == u) {
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

float sum_of_duplicates(std::span<const Weighted> entries, std::int64_t row) {
    double sum = 0;
    for (const Weighted& entry : entries) sum += entry.weight;
    const auto weight = static_cast<float>(sum);
    if (std::isfinite(weight)) return weight;
    throw Error(ErrorCode::data, "the weights of the edge " + std::to_string(row) + " -> " +
                                     std::to_string(entries.front().column) +
                                     " (counted from 0), which is listed more than once, add up to more than float32 "
                                     "holds");
}

// The same for rows with weights. Equal columns are added up from the smallest weight on, so that the sum does not
// depend on the order of listing, and is that of the reverse edge where the same weights are listed for both.
void clean_weighted_rows(Csr& csr, PreparationCounts& counts) {
    std::vector<Weighted> row;
    std::int64_t kept = 0;
    std::int64_t begin = 0;
    for (std::int64_t u = 0; u < csr.vertices; ++u) {
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
            if (first->column == u) {
                counts.self_loops_dropped += last - first;
            } else {
                counts.duplicates_dropped += last - first - 1;
                csr.column[at(kept)] = first->column;
                csr.weight[at(kept++)] = sum_of_duplicates({first, last}, u);
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

// Calls emit(column, i, j) for the union of two rows (the second may be empty) and, when asked, the diagonal; ascending.
// i and j are the places of the entry in the two matrices, -1 where one has none.
template <class Emit>
void merge_row(std::int64_t row, bool self_loop, const Csr& a, const Csr* b, Emit&& emit) {
    const std::int32_t* i = a.column.data() + a.row_start[at(row)];
    const std::int32_t* i_end = a.column.data() + a.row_start[at(row) + 1];
    const std::int32_t* j = b != nullptr ? b->column.data() + b->row_start[at(row)] : nullptr;
    const std::int32_t* j_end = b != nullptr ? b->column.data() + b->row_start[at(row) + 1] : nullptr;
    bool pending = self_loop;
    while (i != i_end || j != j_end || pending) {
        std::int64_t next = std::numeric_limits<std::int64_t>::max();
        if (i != i_end) next = *i;
        if (j != j_end) next = std::min<std::int64_t>(next, *j);
        if (pending) next = std::min(next, row);
        const bool in_a = i != i_end && *i == next;
        const bool in_b = j != j_end && *j == next;
        if (next == row) pending = false;
        emit(static_cast<std::int32_t>(next), in_a ? i - a.column.data() : -1, in_b ? j - b->column.data() : -1);
        if (in_a) ++i;
        if (in_b) ++j;
    }
}

Csr merge(const Csr& a, const Csr* b, bool self_loops, bool weighted) {
    Csr csr{a.vertices, std::vector<std::int64_t>(at(a.vertices) + 1, 0), {}};
    for (std::int64_t u = 0; u < a.vertices; ++u) {
        std::int64_t count = 0;
        merge_row(u, self_loops, a, b, [&](std::int32_t, std::int64_t, std::int64_t) { ++count; });
        csr.row_start[at(u) + 1] = csr.row_start[at(u)] + count;
    }
    csr.column.resize(at(csr.row_start.back()));
    if (weighted) csr.weight.resize(csr.column.size());
    std::size_t k = 0;
    for (std::int64_t u = 0; u < a.vertices; ++u) {
        merge_row(u, self_loops, a, b, [&](std::int32_t c, std::int64_t i, std::int64_t j) {
            if (weighted) csr.weight[k] = i < 0 && j < 0 ? 1.0F : joint_weight(a, i, b, j);  // neither: the self loop
            csr.column[k++] = c;
        });
    }
    return csr;
}

// Whether some u -> v comes with v -> u; `in` is the transpose of `out`, both without self loops.
bool any_reverse(const Csr& out, const Csr& in) {
    for (std::int64_t u = 0; u < out.vertices; ++u) {
        const std::int32_t* i = out.column.data() + out.row_start[at(u)];
        const std::int32_t* i_end = out.column.data() + out.row_start[at(u) + 1];
        const std::int32_t* j = in.column.data() + in.row_start[at(u)];
        const std::int32_t* j_end = in.column.data() + in.row_start[at(u) + 1];
        while (i != i_end && j != j_end) {
            if (*i == *j) return true;
            ++(*i < *j ? i : j);
        }
    }
    return false;
}

}  // namespace

Csr transpose(const Csr& matrix) {
    Csr result{matrix.vertices, std::vector<std::int64_t>(matrix.row_start.size(), 0), {}};
    for (const std::int32_t c : matrix.column) ++result.row_start[at(c) + 1];
    accumulate_counts(result.row_start);
    result.column.resize(matrix.column.size());
    result.weight.resize(matrix.weight.size());
    for (std::int64_t u = 0; u < matrix.vertices; ++u) {
        for (std::int64_t k = matrix.row_start[at(u)]; k < matrix.row_start[at(u) + 1]; ++k) {
            const std::size_t to = at(result.row_start[at(matrix.column[at(k)])]++);
            result.column[to] = static_cast<std::int32_t>(u);
            if (matrix.weighted()) result.weight[to] = matrix.weight[at(k)];
        }
    }
    rewind_starts(result.row_start);
    return result;
}

Graph build_graph(EdgeList edges, std::int64_t vertices, const Preparation& preparation, PreparationCounts& counts) {
    check_size(vertices, edges.size());
    const bool weighted = preparation.edge_weights;
    ensure(!weighted || edges.weighted(), "edges whose weights are kept have some");
    Graph graph;
    graph.weighted = weighted;
    graph.out = scatter(std::move(edges), vertices, weighted);
    if (weighted) {
        clean_weighted_rows(graph.out, counts);
    } else {
        clean_rows(graph.out, counts);
    }
    graph.in = transpose(graph.out);
    const bool one_pattern = graph.in.row_start == graph.out.row_start && graph.in.column == graph.out.column;
    counts.directed = !one_pattern || graph.in.weight != graph.out.weight;
    counts.weights_only = one_pattern && counts.directed;
    counts.one_way = !one_pattern && !any_reverse(graph.out, graph.in);
    graph.symmetric = !counts.directed || preparation.symmetrise;
    if (graph.symmetric) {
        if (!counts.directed) graph.in = {};
        if (counts.directed || preparation.add_self_loops) {
            graph.out = merge(graph.out, counts.directed ? &graph.in : nullptr, preparation.add_self_loops, weighted);
        }
        graph.in = {};
    } else if (preparation.add_self_loops) {
        graph.out = merge(graph.out, nullptr, true, weighted);
        graph.in = merge(graph.in, nullptr, true, weighted);
    }
    return graph;
}

}  // namespace gnnplan::data
