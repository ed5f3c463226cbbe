// Counting sort by source, sort and unique within rows, one transpose, and for undirected graphs one merge. Peak memory
// is that of the edges (8 bytes each) beside the columns (4 bytes each), then of three patterns at most; weights take 4
// bytes more each time.
#include "runtime/graph/csr.hpp"
#include "runtime/graph/rows.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <limits>
#include <string>
#include <utility>

namespace gnnplan::data {
namespace {

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
    clean_rows(graph.out, {}, counts);
    graph.in = transpose(graph.out);
    const bool one_pattern = graph.in.row_start == graph.out.row_start && graph.in.column == graph.out.column;
    counts.directed = !one_pattern || graph.in.weight != graph.out.weight;
    counts.weights_only = one_pattern && counts.directed;
    counts.one_way = !one_pattern && !any_reverse(graph.out, graph.in);
    graph.symmetric = !counts.directed || preparation.symmetrise;
    if (graph.symmetric) {
        if (!counts.directed) graph.in = {};
        if (counts.directed || preparation.add_self_loops) {
            graph.out =
                merge(graph.out, counts.directed ? &graph.in : nullptr, {}, preparation.add_self_loops, weighted);
        }
        graph.in = {};
    } else if (preparation.add_self_loops) {
        graph.out = merge(graph.out, nullptr, {}, true, weighted);
        graph.in = merge(graph.in, nullptr, {}, true, weighted);
    }
    return graph;
}

}  // namespace gnnplan::data
