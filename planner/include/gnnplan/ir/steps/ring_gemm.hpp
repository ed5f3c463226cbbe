#pragma once

#include <gnnplan/ir/steps/step.hpp>
#include <gnnplan/ir/wire.hpp>

#include <array>
#include <vector>

namespace gnnplan {

// How a ring GEMM divides its staging: where each buffer begins, all on cache lines, those of what leaves first. Tiles
// of floats take turns: the t-th lies in buffer t % 2 of its kind, and these are one where messages are rounded.
struct RingBuffers {
    std::array<std::int64_t, 2> made{}, multiplied{};  // results of tiles, and tiles, of floats
    // These are rounded: results that leave and pieces of others' tiles, then tiles and pieces of results that arrive.
    std::int64_t results_sent = 0, pieces_sent = 0, tile_received = 0, pieces_received = 0;
    std::int64_t send_bytes = 0, receive_bytes = 0;
};

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
//
// In bfloat16 all that is sent in (1) and (3) is rounded, and W multiplies floats: then the tile that arrives and the
// one that leaves have half the bytes, and so have their counterparts, what a rank sends in (1) and gets in (3), which
// without rounding lie in the matrices themselves. One result is under way at a time. The sum is that of four tiles of
// floats, as without rounding.
struct RingGemmStep {
    TensorId in, weight, out;
    Wire wire = Wire::fp32;

    static constexpr std::string_view kind = "ring_gemm";
    static constexpr bool local = false;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.reads("in", self.in);
        archive.reads("weight", self.weight);
        archive.writes("out", self.out);
        archive.optional("wire", self.wire);
    }
    TensorId subject() const { return out; }
    std::vector<TensorId> tiled() const { return {in, out}; }
    // The rows of the t-th tile that `rank` multiplies, of all rows of the matrices.
    Range tile(const Schedule& schedule, int rank, int t) const;
    // Elements that `rank` receives of its t-th tile, and that it sends of the tile's result.
    std::int64_t arriving(const Schedule& schedule, int rank, int t) const;
    std::int64_t leaving(const Schedule& schedule, int rank, int t) const;
    RingBuffers buffers(const Schedule& schedule, int rank) const;
    bool can_narrow(const Schedule&) const { return true; }
    void check(const StepCheck& step) const;
    std::vector<int> peers(const Schedule& schedule, int rank) const;
    Message between(const Schedule& schedule, const GraphStats& graph, int from, int to) const;
    Staging staging(const Schedule& schedule, const GraphStats& graph, int rank) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
};

}  // namespace gnnplan
