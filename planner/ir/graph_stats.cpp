#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/graph_stats.hpp>

namespace gnnplan {

UniformStats::UniformStats(std::int64_t vertices, std::int64_t nonzeros, bool symmetric)
    : vertices_(vertices), nonzeros_(nonzeros), symmetric_(symmetric) {
    if (vertices < 1) throw Error(ErrorCode::usage, "a graph needs at least one vertex", "vertices");
    if (nonzeros < 0) throw Error(ErrorCode::usage, "the number of nonzeros is negative", "nonzeros");
}

std::int64_t UniformStats::row_nonzeros(bool /*transposed*/, Range rows) const {
    // 128-bit: vertices * nonzeros exceeds 2^63 for the largest graphs.
    const auto up_to = [&](std::int64_t row) {
        return static_cast<std::int64_t>(static_cast<__int128>(nonzeros_) * row / vertices_);
    };
    return up_to(rows.end) - up_to(rows.begin);
}

}  // namespace gnnplan
