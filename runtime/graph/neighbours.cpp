#include "runtime/graph/neighbours.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <iterator>
#include <limits>

namespace gnnplan::data {

Neighbours neighbours_of(const Graph& graph) {
    const Csr& out = graph.matrix(backward_matrix);
    const Csr& in = graph.matrix(forward_matrix);
    const std::int64_t most = graph.symmetric ? out.nonzeros() : checked_add(out.nonzeros(), in.nonzeros());
    if (most > std::numeric_limits<std::int32_t>::max()) {
        throw Error(ErrorCode::unavailable, "the partitioner counts in 32 bits, too few for this graph", {},
                    "plan without a partition");
    }
    Neighbours result;
    result.start.reserve(at(out.vertices) + 1);
    result.start.push_back(0);
    const auto row = [](const Csr& matrix, std::int64_t v) { return matrix.column.begin() + matrix.row_start[at(v)]; };
    for (std::int64_t v = 0; v < out.vertices; ++v) {
        std::set_union(row(out, v), row(out, v + 1), row(in, v), row(in, v + 1), std::back_inserter(result.vertex));
        const auto self = std::lower_bound(result.vertex.begin() + result.start.back(), result.vertex.end(), v);
        if (self != result.vertex.end() && *self == v) result.vertex.erase(self);
        result.start.push_back(static_cast<std::int32_t>(result.vertex.size()));
    }
    return result;
}

}  // namespace gnnplan::data
