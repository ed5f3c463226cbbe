// Starts the kernels that walk over the edges of attention (attention_walk.cuh): one in which each warp has a share of
// a panel's steps, and one that joins the parts of cut rows in the order of the shares. Columns are cut only where a
// warp cannot hold them: each slice of them weighs the edges again, and none is chosen so that its rows stay in the
// L2.
#pragma once

#include "kernels/cuda/attention_walk.cuh"
#include "kernels/cuda/spmm_sweep.cuh"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace gnnplan::kernels::cuda {

// Floats of a part, of which those of columns come first; each is a multiple of four floats from the first.
template <int width, int vectors, class Rule>
__host__ __device__ constexpr std::int64_t part_columns(int column_lanes) {
    return (std::int64_t{Rule::results} * vectors * width * column_lanes + 3) / 4 * 4;
}
template <int width, int vectors, class Rule>
__host__ __device__ constexpr std::int64_t part_floats(int column_lanes) {
    return part_columns<width, vectors, Rule>(column_lanes) + Rule::scalars * most_heads;
}

template <int width, int vectors, class Rule>
using Found = FoundRow<width, vectors, Rule::results, Rule::scalars>;

// A part of a row in the scratch.
template <int width, int vectors, class Rule>
struct SavedPart {
    const Walker<width, vectors>& walker;
    float* at;

    __device__ SavedPart(const Walker<width, vectors>& of, const Shares& shares, std::int64_t share, Part part)
        : walker(of),
          at(shares.parts + (2 * (share - shares.first) + static_cast<int>(part)) *
                                part_floats<width, vectors, Rule>(of.lane.lanes)) {}
    __device__ Pack<width>* vector(int r, int k) const {
        const std::int64_t number = (std::int64_t{r} * vectors + k) * walker.lane.lanes + walker.lane.index;
        return reinterpret_cast<Pack<width>*>(at + number * width);
    }
    __device__ float* scalar(int s) const {
        return at + part_columns<width, vectors, Rule>(walker.lane.lanes) + s * most_heads + walker.head;
    }
    __device__ void save(const Found<width, vectors, Rule>& found) const {
        GNNPLAN_UNROLL
        for (int r = 0; r < Rule::results; ++r) {
            GNNPLAN_UNROLL
            for (int k = 0; k < vectors; ++k) {
                Pack<width> pack;
                GNNPLAN_UNROLL
                for (int v = 0; v < width; ++v) pack.x[v] = found.x[r][k][v];
                if (walker.turn == 0) *vector(r, k) = pack;
            }
        }
        GNNPLAN_UNROLL
        for (int s = 0; s < Rule::scalars; ++s) {
            if (walker.edge == 0) *scalar(s) = found.of_head[s];
        }
    }
    __device__ Found<width, vectors, Rule> load() const {
        Found<width, vectors, Rule> found;
        GNNPLAN_UNROLL
        for (int r = 0; r < Rule::results; ++r) {
            GNNPLAN_UNROLL
            for (int k = 0; k < vectors; ++k) {
                const Pack<width> pack = *vector(r, k);
                GNNPLAN_UNROLL
                for (int v = 0; v < width; ++v) found.x[r][k][v] = pack.x[v];
            }
        }
        GNNPLAN_UNROLL
        for (int s = 0; s < Rule::scalars; ++s) found.of_head[s] = *scalar(s);
        return found;
    }
};

// Blocks of a walk that a multiprocessor has at least. With more than two, those of two vectors would have registers in
// memory, and so would many of one vector on GPUs before Hopper.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
template <int vectors>
inline constexpr int walk_blocks = 2;
#else
template <int vectors>
inline constexpr int walk_blocks = vectors == 1 ? choices::attention_blocks : 2;
#endif

// Each warp has a share.
template <int width, int vectors, class Rule>
__global__ void __launch_bounds__(block_threads, walk_blocks<vectors>)
    walk_shares(Csr a, Rule rule, HeadSlice slice, Shares shares) {
    __shared__ EdgeBatch batches[block_warps];
    const std::int64_t share = shares.first + thread_number() / warp_lanes;
    if (share >= shares.first + shares.count) return;
    const auto walker = walker_of<width, vectors>(slice, batches + threadIdx.x / warp_lanes, rule.dropout.stream());
    const Place from = shares.place(a, share);
    const Place to = shares.place(a, share + 1);
    bool begins = from.entry == start_of(a, from.row);
    std::int64_t entry = from.entry;
    for (std::int64_t row = from.row; row < a.rows && row <= to.row; ++row) {
        const bool ends = row < to.row;
        const std::int64_t end = ends ? start_of(a, row + 1) : to.entry;
        const bool whole = begins && ends;
        const auto count = static_cast<int>(end - entry);
        const std::int64_t first = entry;
        begins = true, entry = end;
        if (count == 0 && (whole ? rule.passes_empty_rows : !ends)) continue;
        const auto found = rule.template find<width, vectors>(walker, row, a.column, first, count);
        if (!whole) {
            const Part part = ends ? Part::of_first_row : Part::of_last_row;
            SavedPart<width, vectors, Rule>(walker, shares, share, part).save(found);
            continue;
        }
        auto all = found;
        if (rule.adds) {
            all = rule.template old<width, vectors>(walker, row, rule.accumulate);
            rule.join(walker, all, found);
        }
        rule.keep(walker, all, row, true);
    }
}

// Each warp has a share, and joins the parts of the row that begins to be cut there.
template <int width, int vectors, class Rule>
__global__ void __launch_bounds__(block_threads, 2) join_shares(Csr a, Rule rule, HeadSlice slice, Shares shares) {
    const std::int64_t share = shares.first + thread_number() / warp_lanes;
    const std::int64_t end = shares.first + shares.count;
    if (share >= end) return;
    const auto walker = walker_of<width, vectors>(slice, nullptr, {});
    const Place from = shares.place(a, share);
    const Place to = shares.place(a, share + 1);
    const auto part_of = [&](std::int64_t s, Part part) {
        return SavedPart<width, vectors, Rule>(walker, shares, s, part).load();
    };
    // Earlier calls have joined the parts of the row that their last share ended in.
    const bool continues = from.entry > start_of(a, from.row);
    if (share == shares.first && continues && to.row > from.row) {
        auto all = rule.template old<width, vectors>(walker, from.row, true);
        rule.join(walker, all, part_of(share, Part::of_first_row));
        rule.keep(walker, all, from.row, true);
    }
    const std::int64_t row = to.row;
    if (row == a.rows || to.entry == start_of(a, row)) return;  // the last row that it has ends here
    const bool in_middle = continues && row == from.row;
    if (in_middle && share > shares.first) return;
    auto all = rule.template old<width, vectors>(walker, row, rule.accumulate || in_middle);
    const std::int64_t last = (row + start_of(a, row + 1) - start_of(a, 0)) / shares.steps;  // where the row ends
    join_in_order<parts_ahead(width * vectors * Rule::results + Rule::scalars)>(
        share, smaller(last + 1, end),
        [&](std::int64_t s) { return part_of(s, s < last ? Part::of_last_row : Part::of_first_row); },
        [&](const Found<width, vectors, Rule>& part) { rule.join(walker, all, part); });
    rule.keep(walker, all, row, last < end);
}

// Heads that share kernels, and their columns.
struct HeadChunk {
    std::int64_t first_head, heads;
    std::int64_t begin, end;  // columns that are here

    static HeadChunk of(const Attention& how, std::int64_t head, std::int64_t all_heads, std::int64_t columns,
                        std::int64_t most_of_slice) {
        const std::int64_t in_group = most_heads - (how.dropout.first_head + head) % most_heads;
        const std::int64_t fit = std::max<std::int64_t>(1, most_of_slice / how.heads.columns);
        const std::int64_t heads = std::min({in_group, fit, all_heads - head});
        const auto column = [&](std::int64_t k) {
            return std::clamp<std::int64_t>(k * how.heads.columns - how.heads.first, 0, columns);
        };
        return {head, heads, column(head), column(head + heads)};
    }
    HeadSlice slice(const Heads& of, std::int64_t first, std::int64_t count, int width) const {
        const auto power = [](std::int64_t x, std::int64_t most) {
            return static_cast<int>(std::min(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(x, 1))),
                                             static_cast<std::uint64_t>(most)));
        };
        HeadSlice slice = {};
        slice.first_head = first_head, slice.heads = static_cast<int>(heads);
        slice.head_lanes = power(heads, most_heads), slice.edges = warp_lanes / slice.head_lanes;
        slice.first_column = first, slice.columns = static_cast<int>(count);
        slice.column_lanes = power(ceil_divide(count, width), warp_lanes);
        slice.turns = warp_lanes / slice.column_lanes;
        slice.before = count > 0 ? of.first + first - first_head * of.columns : 0;
        slice.head_columns = of.columns;
        slice.first_of_heads = first == begin, slice.last_of_heads = first + count == end;
        return slice;
    }
};

// Vectors have columns of one head only.
inline int attention_width(const Heads& heads, std::initializer_list<ConstMatrix> operands) {
    int width = vector_width(operands);
    while (heads.columns % width != 0 || heads.first % width != 0) width /= 2;
    return width;
}

template <int width, int vectors, class Rule>
void start_walk(const char* what, const Panel& panel, const Rule& rule, const HeadSlice& slice, const Shares& shares) {
    const std::int64_t blocks = ceil_divide(shares.count, block_warps);
    launch(what, blocks, walk_shares<width, vectors, Rule>, panel.a, rule, slice, shares);
    if (panel.most_shares > 1) launch(what, blocks, join_shares<width, vectors, Rule>, panel.a, rule, slice, shares);
}

// Walks over the edges of a panel for some heads. rule_of(slice) gives the rule for a slice of their columns. Parts of
// a cut row must hold all columns when the next shares begin, so shares are the outer loop.
template <int width, class RuleOf>
void walk_panel(const char* what, const Panel& panel, const Heads& heads, const HeadChunk& chunk,
                const RuleOf& rule_of) {
    using Rule = decltype(rule_of(HeadSlice{}));
    constexpr std::int64_t most = most_columns(width);
    const std::span<std::byte> scratch = queue().scratch;
    constexpr std::int64_t pair_bytes = 2 * std::int64_t{sizeof(float)} * part_floats<width, 2, Rule>(warp_lanes);
    const std::int64_t at_once = static_cast<std::int64_t>(scratch.size()) / pair_bytes;
    for (std::int64_t first = 0; first < panel.most_shares; first += at_once) {
        const Shares shares = {panel.share_steps, first, std::min(at_once, panel.most_shares - first), panel.known_row,
                               reinterpret_cast<float*>(scratch.data())};
        std::int64_t column = chunk.begin;
        do {
            const std::int64_t count = std::min(most, chunk.end - column);
            const HeadSlice slice = chunk.slice(heads, column, count, width);
            if (count <= std::int64_t{warp_lanes} * width) {
                start_walk<width, 1>(what, panel, rule_of(slice), slice, shares);
            } else {
                start_walk<width, 2>(what, panel, rule_of(slice), slice, shares);
            }
            column += count;
        } while (column < chunk.end);
    }
}

// rule_of(slice, p) gives the rule for a slice of the columns and the heads of panel p.
template <class RuleOf>
void walk_edges(const char* what, const Csr& a, const Attention& how, std::int64_t heads, std::int64_t columns,
                int width, const RuleOf& rule_of) {
    for (std::int64_t p = 0; p < a.panels; ++p) {
        const Panel panel = panel_of(a, p);
        for (std::int64_t head = 0; head < heads;) {
            const HeadChunk chunk = HeadChunk::of(how, head, heads, columns, most_columns(width));
            with_width(width, [&](auto known) {
                walk_panel<known.value>(what, panel, how.heads, chunk,
                                        [&](const HeadSlice& slice) { return rule_of(slice, p); });
            });
            head += chunk.heads;
        }
    }
}

}  // namespace gnnplan::kernels::cuda
