// A list of directed edges, with weights or without, that grows without copying and frees itself while it is read.
#pragma once

#include "kernels/large_buffer.hpp"

#include <gnnplan/base/range.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace gnnplan::data {

struct Edge {
    std::int32_t from = 0;
    std::int32_t to = 0;
    bool operator==(const Edge&) const = default;
};

// Edges in blocks: growing never moves what is there, so that the list never takes more than its own 8 bytes an edge,
// or 12 with weights, and what its last block has room for.
class EdgeList {
public:
    // Gets edges and their weights, if they have any, a block at a time.
    using Take = std::function<void(std::span<const Edge>, std::span<const float>)>;

    EdgeList() = default;
    // With `take`, which may be empty, edges are handed on as soon as there are `block_edges`, and hand_on() hands on
    // the rest.
    explicit EdgeList(bool weighted, Take take = {}) : weighted_(weighted), take_(std::move(take)) {}

    // Whether every edge has a weight; if not, add() takes no notice of one.
    bool weighted() const { return weighted_; }

    void add(std::int32_t from, std::int32_t to, float weight = 1) {
        if (blocks_.empty() || blocks_.back().full()) begin_block();
        Block& last = blocks_.back();
        if (weighted_) last.weight()[last.used] = weight;
        last.edge()[last.used++] = {from, to};
    }

    // Adds many; `weights` has as many as `edges` if the list is weighted.
    void add(std::span<const Edge> edges, std::span<const float> weights) {
        for (std::size_t done = 0; done < edges.size();) {
            if (blocks_.empty() || blocks_.back().full()) begin_block();
            Block& last = blocks_.back();
            const std::size_t count = std::min(last.room - last.used, edges.size() - done);
            std::copy_n(edges.data() + done, count, last.edge() + last.used);
            if (weighted_) std::copy_n(weights.data() + done, count, last.weight() + last.used);
            last.used += count;
            done += count;
        }
    }

    // How many were added.
    std::int64_t size() const { return blocks_.empty() ? handed_on_ : handed_on_ + blocks_.back().end(); }

    // Calls `take` for what has not filled a block; there is nothing in the list then.
    void hand_on() {
        if (blocks_.empty() || blocks_[0].used == 0) return;
        Block& all = blocks_[0];
        take_({all.edge(), all.used}, {weighted_ ? all.weight() : nullptr, weighted_ ? all.used : 0});
        handed_on_ += static_cast<std::int64_t>(all.used);
        all.used = 0;
    }

    // visit(Edge), or visit(Edge, float weight), for all edges in the order they were added. The weight is 1 in a list
    // without weights.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for_part({0, size()}, visit);
    }
    // The same for some of them, as they were counted while they were added.
    template <class Visit>
    void for_part(Range part, Visit&& visit) const {
        for (std::size_t b = 0; b < blocks_.size(); ++b) visit_block(blocks_[b], part, visit);
    }

    // Adds `by` to every id.
    void shift(std::int32_t by) {
        for (Block& block : blocks_) {
            for (std::size_t i = 0; i < block.used; ++i) {
                block.edge()[i].from += by;
                block.edge()[i].to += by;
            }
        }
    }

    // As for_each(), but frees each block once it is visited; the list is empty afterwards.
    template <class Visit>
    void drain(Visit&& visit) {
        drain_part({0, size()}, visit);
        clear();
    }
    // The same for some of them; may be called for different parts at the same time. Blocks that two parts share are
    // freed by clear(), which has to be the next call.
    template <class Visit>
    void drain_part(Range part, Visit&& visit) {
        for (Block& block : blocks_) {
            visit_block(block, part, visit);
            if (part.begin <= block.first && part.end >= block.end()) block.free();
        }
    }
    void clear() { blocks_.clear(); }

    static constexpr std::size_t block_edges = std::size_t{1} << 16;  // 512 KiB

private:
    struct Block {
        std::int64_t first = 0;  // how many edges are before it
        std::size_t room = 0;
        std::size_t used = 0;
        kernels::LargeBuffer edges, weights;

        bool full() const { return used == room; }
        std::int64_t end() const { return first + static_cast<std::int64_t>(used); }
        Edge* edge() const { return reinterpret_cast<Edge*>(edges.data()); }
        float* weight() const { return reinterpret_cast<float*>(weights.data()); }
        void free() { edges = {}, weights = {}; }
    };

    // Blocks double up to 4 MiB, which lie on huge pages.
    void begin_block() {
        if (take_ && !blocks_.empty()) return hand_on();
        const std::size_t room = block_edges << std::min<std::size_t>(blocks_.size(), 3);
        const std::int64_t first = blocks_.empty() ? 0 : blocks_.back().end();
        blocks_.push_back({first, room, 0, kernels::LargeBuffer(room * sizeof(Edge)), {}});
        if (weighted_) blocks_.back().weights = kernels::LargeBuffer(room * sizeof(float));
    }

    template <class Visit>
    void visit_block(const Block& block, Range part, Visit& visit) const {
        const Range here = intersect(part, {block.first, block.end()});
        if (here.begin >= here.end) return;  // another thread may have freed the block
        const Edge* const edge = block.edge();
        const float* const weight = weighted_ ? block.weight() : nullptr;
        for (std::int64_t i = here.begin - block.first; i < here.end - block.first; ++i) {
            if constexpr (std::is_invocable_v<Visit&, Edge, float>) {
                visit(edge[i], weight != nullptr ? weight[i] : 1.0F);
            } else {
                visit(edge[i]);
            }
        }
    }

    bool weighted_ = false;
    Take take_;
    std::int64_t handed_on_ = 0;
    std::vector<Block> blocks_;
};

}  // namespace gnnplan::data
