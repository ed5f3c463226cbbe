#pragma once

#include <gnnplan/ir/steps/step.hpp>

#include <vector>

namespace gnnplan {

// out = in * W with both in layout C on a grid whose y axis splits them, W replicated: DEAL's ring GEMM (section 3.4,
// figure 7 (b), Table 1). It takes the place of a redistribution of `in` to R, a product of whole rows, and a
// redistribution of the result to C. Every pair of ranks exchanges as many bytes as in these two; neither matrix in R
// ever exists.
//
// The M = p_y ranks of a y-group have the same rows. Rank j has the columns f_j of `in` and g_j of `out`, and it
// multiplies the rows r_j, which are its block in layout R, cut into T balanced tiles of rows q_j0, q_j1, ... (T = M,
// or 8 if that is more: ring_tiles). In stage t = 0 .. T - 1, with i running over the other ranks of the group,
//   (1)  j sends in[q_it, f_j] to each i and gets in[q_jt, f_i], which completes the rows q_jt;
//   (2)  j computes in[q_jt, :] * W;
//   (3)  j sends the columns g_i of that to each i and gets out[q_it, g_j].
// (1) of stage t + 1 and (3) of stage t - 1 are under way during (2) of stage t. In all, i sends j the elements
// |r_j| |f_i| in (1) and |r_i| |g_j| in (3), whatever the sizes: those of the redistributions C -> R and R -> C.
//
// DEAL's stages go by ranks: in the k-th, j gets in[r_j, f_(j+k)], a tile of ND / (P M^2) elements, and adds its
// product to all columns of the rows r_j, which wait as a whole, ND / (P M) elements, for step (3). Here a tile is of
// whole rows, with as many elements where T = M, so that what is made of it can leave at once. T times as many messages
// are the price. Two tiles of `in` are staged, one that is multiplied and one that arrives, and two of `out`, one that
// is made and one that leaves; of each tile a rank has its own columns in place.
struct RingGemmStep {
    TensorId in, weight, out;

    static constexpr std::string_view kind = "ring_gemm";
    static constexpr bool local = false;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.reads("in", self.in);
        archive.reads("weight", self.weight);
        archive.writes("out", self.out);
    }
    TensorId subject() const { return out; }
    std::vector<TensorId> tiled() const { return {in, out}; }
    // The rows of the t-th tile that `rank` multiplies, of all rows of the matrices.
    Range tile(const Schedule& schedule, int rank, int t) const;
    // Bytes that `rank` receives of its t-th tile, and that it sends of the tile's result.
    std::int64_t arriving_bytes(const Schedule& schedule, int rank, int t) const;
    std::int64_t leaving_bytes(const Schedule& schedule, int rank, int t) const;
    void check(const StepCheck& step) const;
    std::vector<int> peers(const Schedule& schedule, int rank) const;
    Message between(const Schedule& schedule, const GraphStats& graph, int from, int to) const;
    Staging staging(const Schedule& schedule, const GraphStats& graph, int rank) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
};

}  // namespace gnnplan
