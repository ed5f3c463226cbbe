// The order in which vertices are cut into blocks, when it is not that of the file.
#pragma once

#include "runtime/graph/cut.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/graph_stats.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace gnnplan::data {

struct VertexOrder {
    std::vector<std::int32_t> vertex;     // the user's vertex at each position; empty: the order of the file
    std::vector<std::int32_t> position;   // of each of the user's vertices; as long as `vertex`, or empty of clones
    std::shared_ptr<const Cut> cut = {};  // by whose owners vertices are numbered; null: by none

    bool identity() const { return vertex.empty(); }
    // The user's vertex at a position, whatever the order.
    std::int64_t vertex_at(std::int64_t at) const { return identity() ? at : vertex[static_cast<std::size_t>(at)]; }
    // Whether vertices have several positions: one in each of some groups.
    bool has_clones() const { return !identity() && position.empty(); }
    // Where its clone is among `rows`, all of one group, in which clones ascend by vertex; -1: nowhere.
    std::int64_t clone_of(std::int64_t v, Range rows) const;
    // The position of a user's vertex that has one, whatever the order.
    std::int64_t position_of(std::int64_t v) const { return identity() ? v : position[static_cast<std::size_t>(v)]; }
    std::int64_t bytes() const {
        return static_cast<std::int64_t>((vertex.size() + position.size()) * sizeof(std::int32_t)) +
               (cut != nullptr ? cut->bytes() : 0);
    }
};

// The part of each nonzero of a matrix that is of a part of the order's cut; null for other matrices.
inline const std::int16_t* parts_of_nonzeros(const VertexOrder* order, MatrixId which) {
    if (!which.is_part()) return nullptr;
    ensure(order != nullptr && order->cut != nullptr, "parts are those of the order's cut");
    return order->cut->of(which).data();
}

// `numbering`, worked out: a function of its arguments alone. `subset` holds a Subset for each vertex; empty, all
// train. With loss_layers the first |N_l| positions are N_l for every l, and vertices that no layer needs come last;
// parts then order the vertices within each group only, so blocks of the matrix are not parts. Throws what partition()
// throws. O(nonzeros), and the time of the partitioner.
VertexOrder make_order(const Graph& graph, const std::vector<std::uint8_t>& subset, const Numbering& numbering);

// The same where it follows from the number of vertices: numberings by parts and by who needs whom take the graph.
VertexOrder make_order(std::int64_t vertices, const Numbering& numbering);

// |N_0| .. |N_L| for L = layers: the rows of H^l that the loss of an L-layer network depends on. N_L is the training
// vertices, N_(l-1) is N_l and the columns of its rows of A^T; N_0 is what layer 1 reads.
std::vector<std::int64_t> loss_row_counts(const Graph& graph, const std::vector<std::uint8_t>& subset, int layers);

}  // namespace gnnplan::data
