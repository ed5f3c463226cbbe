#include "runtime/graph/vertex_cover.hpp"

#include <gnnplan/base/at.hpp>

#include <algorithm>
#include <numeric>

namespace gnnplan::data {
namespace {

constexpr std::int32_t none = -1;

class Matching {
public:
    explicit Matching(const Bipartite& graph)
        : start_(at(graph.left) + 1, 0),
          neighbour_(graph.edges.size()),
          of_left_(at(graph.left), none),
          of_right_(at(graph.right), none),
          level_(at(graph.left)) {
        for (const auto& [l, r] : graph.edges) ++start_[at(l) + 1];
        std::partial_sum(start_.begin(), start_.end(), start_.begin());
        std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
        for (const auto& [l, r] : graph.edges) neighbour_[next[at(l)]++] = r;
    }

    void grow() {
        while (find_levels()) {
            next_.assign(start_.begin(), start_.end() - 1);
            for (std::size_t l = 0; l < of_left_.size(); ++l) {
                if (of_left_[l] == none) augment(static_cast<std::int32_t>(l));
            }
        }
    }

    // After the last search: left vertices that no alternating path from an unmatched one reaches, and right ones that
    // such a path does reach.
    VertexCover cover() const {
        VertexCover found{std::vector<bool>(of_left_.size()), std::vector<bool>(of_right_.size())};
        for (std::size_t l = 0; l < of_left_.size(); ++l) found.left[l] = level_[l] == none;
        for (std::size_t l = 0; l < of_left_.size(); ++l) {
            if (level_[l] == none) continue;
            for (std::size_t k = start_[l]; k < start_[l + 1]; ++k) found.right[at(neighbour_[k])] = true;
        }
        return found;
    }

private:
    // Breadth first from the unmatched left vertices: over any edge to the right, over matched ones back. Whether an
    // unmatched right vertex was reached.
    bool find_levels() {
        std::vector<std::int32_t> reached;
        for (std::size_t l = 0; l < of_left_.size(); ++l) {
            level_[l] = of_left_[l] == none ? 0 : none;
            if (level_[l] == 0) reached.push_back(static_cast<std::int32_t>(l));
        }
        bool ends = false;
        for (std::size_t i = 0; i < reached.size(); ++i) {
            const std::size_t l = at(reached[i]);
            for (std::size_t k = start_[l]; k < start_[l + 1]; ++k) {
                const std::int32_t back = of_right_[at(neighbour_[k])];
                if (back == none) {
                    ends = true;
                } else if (level_[at(back)] == none) {
                    level_[at(back)] = level_[l] + 1;
                    reached.push_back(back);
                }
            }
        }
        return ends;
    }

    // Depth first along the levels, without recursion: paths are as long as the graph is deep.
    void augment(std::int32_t from) {
        std::vector<std::int32_t> path{from};
        while (!path.empty()) {
            const std::size_t l = at(path.back());
            if (next_[l] == start_[l + 1]) {
                level_[l] = beyond;
                path.pop_back();
                continue;
            }
            const std::int32_t r = neighbour_[next_[l]++];
            const std::int32_t back = of_right_[at(r)];
            if (back == none) return match(path, r);
            if (level_[at(back)] == level_[l] + 1) path.push_back(back);
        }
    }

    // Each vertex of the path takes the right one that the vertex after it had.
    void match(const std::vector<std::int32_t>& path, std::int32_t last) {
        std::int32_t taken = last;
        for (auto l = path.rbegin(); l != path.rend(); ++l) {
            std::swap(of_left_[at(*l)], taken);
            of_right_[at(of_left_[at(*l)])] = *l;
        }
    }

    static constexpr std::int32_t beyond = -2;  // no path through this vertex is left in this round

    std::vector<std::size_t> start_;  // of each left vertex's neighbours
    std::vector<std::int32_t> neighbour_;
    std::vector<std::int32_t> of_left_, of_right_;  // whom they are matched with
    std::vector<std::int32_t> level_;               // of left vertices
    std::vector<std::size_t> next_;                 // the first neighbour that was not tried in this round
};

}  // namespace

VertexCover smallest_vertex_cover(const Bipartite& graph) {
    Matching matching(graph);
    matching.grow();
    return matching.cover();
}

}  // namespace gnnplan::data
