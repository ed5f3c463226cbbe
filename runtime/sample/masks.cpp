#include "runtime/sample/masks.hpp"

#include "runtime/graph/streams.hpp"
#include "runtime/sample/neighbours.hpp"

#include <gnnplan/base/at.hpp>

#include <algorithm>
#include <utility>

namespace gnnplan::sample {

data::Graph masked_graph(const data::Graph& graph, std::int64_t fanout, std::uint64_t seed, std::int64_t number) {
    const std::uint64_t own =
        kernels::RandomStream(seed, data::batch_stream).at(static_cast<std::uint64_t>(number), 0)[0];
    data::Graph made;
    made.in = std::move(draw_neighbours(graph.matrix(forward_matrix), {fanout}, own, true).front());
    made.out = data::transpose(made.in);
    made.weighted = true;
    return made;
}

std::int64_t masked_nonzeros(const data::Graph& graph, std::int64_t fanout) {
    const data::Csr& matrix = graph.matrix(forward_matrix);
    std::int64_t nonzeros = 0;
    for (std::int64_t v = 0; v < matrix.rows(); ++v) {
        const auto first = matrix.column.begin() + matrix.row_start[at(v)];
        const std::int64_t loop =
            std::binary_search(first, first + matrix.degree(v), static_cast<std::int32_t>(v)) ? 1 : 0;
        nonzeros += std::min(matrix.degree(v) - loop, fanout) + loop;
    }
    return nonzeros;
}

}  // namespace gnnplan::sample
