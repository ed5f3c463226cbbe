// What the planner asks of a graph, answered by the loaded graph.
#pragma once

#include "runtime/data/block.hpp"

#include <gnnplan/ir/graph_stats.hpp>

namespace gnnplan::exec {

class GraphCounts final : public GraphStats {
public:
    // `graph` outlives this object.
    explicit GraphCounts(const data::Graph& graph) : graph_(graph) {}

    std::int64_t vertices() const override { return graph_.vertices(); }
    std::int64_t nonzeros() const override { return graph_.nonzeros(); }
    bool symmetric() const override { return graph_.symmetric; }
    bool exact() const override { return true; }
    std::int64_t row_nonzeros(bool transposed, Range rows) const override {
        return data::block_nonzeros(graph_, transposed, rows, {0, graph_.vertices()});
    }

private:
    const data::Graph& graph_;
};

}  // namespace gnnplan::exec
