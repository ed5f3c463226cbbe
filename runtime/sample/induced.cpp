#include "runtime/sample/induced.hpp"

#include <numeric>

namespace gnnplan::sample {
namespace {

data::Csr induced(const data::Csr& matrix, const Induced& room) {
    data::Csr made;
    made.vertices = room.size();
    made.row_start.assign(at(room.size() + 1), 0);
    room.visit(matrix, [&](std::int64_t e, std::int64_t i, std::int32_t j) {
        ++made.row_start[at(i + 1)];
        made.column.push_back(j);
        if (matrix.weighted()) made.weight.push_back(matrix.weight[at(e)]);
    });
    std::partial_sum(made.row_start.begin(), made.row_start.end(), made.row_start.begin());
    return made;
}

}  // namespace

data::Graph induced_graph(const data::Graph& graph, std::span<const std::int32_t> vertices) {
    Induced room(graph.vertices());
    room.choose(vertices);
    data::Graph made;
    made.out = induced(graph.out, room);
    if (!graph.symmetric) made.in = induced(graph.in, room);
    made.symmetric = graph.symmetric;
    made.weighted = graph.weighted;
    return made;
}

}  // namespace gnnplan::sample
