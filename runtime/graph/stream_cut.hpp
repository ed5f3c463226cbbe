// Edges that are dealt to parts one after the other.
#pragma once

#include "runtime/graph/neighbours.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace gnnplan::data {

constexpr std::int16_t no_part = -1;

// The part of each entry of Neighbours::vertex, of both directions of an edge the same.
using EdgeParts = std::vector<std::int16_t>;

// In which parts each vertex has edges.
class Replicas {
public:
    Replicas(std::int64_t vertices, int parts);

    void add(std::int64_t vertex, int part);
    bool has(std::int64_t vertex, int part) const;
    int count(std::int64_t vertex) const;
    // A bit for each part, the lowest first; as many words for every vertex.
    std::span<const std::uint64_t> words(std::int64_t vertex) const;

private:
    std::size_t first_word(std::int64_t vertex) const;

    std::size_t words_;  // of a vertex
    std::vector<std::uint64_t> bits_;
};

Replicas replicas_of(const Neighbours& graph, const EdgeParts& part, int parts);

// Sets the part of an edge in both directions: of entry k, a neighbour of u, and of u among that one's neighbours.
void set_both(const Neighbours& graph, std::int32_t u, std::int32_t k, std::int16_t value, EdgeParts& part);

// Deals the edges that have no part yet, by the vertex of theirs that comes first in `order`. An edge goes to the
// least loaded part that has both ends; else to the least loaded that has the end of lower degree (or the only end that
// is anywhere); else to the least loaded of all. A part that has `most` edges gets no more. Ties go to the lowest part.
void deal_edges(const Neighbours& graph, const std::vector<std::int32_t>& order, int parts, std::int64_t most,
                EdgeParts& part);

}  // namespace gnnplan::data
