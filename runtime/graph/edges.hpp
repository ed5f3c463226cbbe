// A list of directed edges, with weights or without, that grows without copying and frees itself while it is read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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

// Edges in blocks: growing never moves what is there, so that the list never takes more than its own 8 bytes an edge, or
// 12 with weights.
class EdgeList {
public:
    // Gets edges and their weights, if they have any, a block at a time.
    using Take = std::function<void(std::span<const Edge>, std::span<const float>)>;

    EdgeList() = default;
    // With `take`, which may be empty, edges are handed on as soon as they fill a block, and hand_on() hands on the rest.
    explicit EdgeList(bool weighted, Take take = {}) : weighted_(weighted), take_(std::move(take)) {}

    // Whether every edge has a weight; if not, add() takes no notice of one.
    bool weighted() const { return weighted_; }

    void add(std::int32_t from, std::int32_t to, float weight = 1) {
        if (last_used_ == block_edges) begin_block();
        if (weighted_) weights_.back()[last_used_] = weight;
        blocks_.back()[last_used_++] = {from, to};
    }

    // Adds many; `weights` has as many as `edges` if the list is weighted.
    void add(std::span<const Edge> edges, std::span<const float> weights) {
        for (std::size_t done = 0; done < edges.size();) {
            if (last_used_ == block_edges) begin_block();
            const std::size_t count = std::min(block_edges - last_used_, edges.size() - done);
            std::copy_n(edges.data() + done, count, blocks_.back().get() + last_used_);
            if (weighted_) std::copy_n(weights.data() + done, count, weights_.back().get() + last_used_);
            last_used_ += count;
            done += count;
        }
    }

    // How many were added.
    std::int64_t size() const {
        return handed_on_ + static_cast<std::int64_t>(blocks_.size() * block_edges + last_used_) -
               std::int64_t{block_edges};
    }

    // Calls `take` for what has not filled a block; there is nothing in the list then.
    void hand_on() {
        if (blocks_.empty() || last_used_ == 0) return;
        take_({blocks_[0].get(), last_used_}, {weighted_ ? weights_[0].get() : nullptr, weighted_ ? last_used_ : 0});
        handed_on_ += static_cast<std::int64_t>(last_used_);
        last_used_ = 0;
    }

    std::int64_t blocks() const { return static_cast<std::int64_t>(blocks_.size()); }
    std::span<const Edge> block(std::int64_t i) const {
        const auto b = static_cast<std::size_t>(i);
        return {blocks_[b].get(), used(b)};
    }

    // visit(Edge), or visit(Edge, float weight), for all edges in the order they were added. The weight is 1 in a list
    // without weights.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t b = 0; b < blocks_.size(); ++b) visit_block(b, visit);
    }

    // Adds `by` to every id.
    void shift(std::int32_t by) {
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            for (std::size_t i = 0; i < used(b); ++i) {
                blocks_[b][i].from += by;
                blocks_[b][i].to += by;
            }
        }
    }

    // As for_each, but frees each block once it is visited; the list is empty afterwards.
    template <class Visit>
    void drain(Visit&& visit) {
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            visit_block(b, visit);
            blocks_[b].reset();
            if (weighted_) weights_[b].reset();
        }
        blocks_.clear();
        weights_.clear();
        last_used_ = block_edges;
    }

    static constexpr std::size_t block_edges = std::size_t{1} << 16;  // 512 KiB

private:
    void begin_block() {
        if (take_ && !blocks_.empty()) return hand_on();
        blocks_.push_back(std::make_unique_for_overwrite<Edge[]>(block_edges));
        if (weighted_) weights_.push_back(std::make_unique_for_overwrite<float[]>(block_edges));
        last_used_ = 0;
    }

    std::size_t used(std::size_t block) const { return block + 1 == blocks_.size() ? last_used_ : block_edges; }

    template <class Visit>
    void visit_block(std::size_t b, Visit& visit) const {
        for (std::size_t i = 0; i < used(b); ++i) {
            if constexpr (std::is_invocable_v<Visit&, Edge, float>) {
                visit(blocks_[b][i], weighted_ ? weights_[b][i] : 1.0F);
            } else {
                visit(blocks_[b][i]);
            }
        }
    }

    bool weighted_ = false;
    Take take_;
    std::int64_t handed_on_ = 0;
    std::vector<std::unique_ptr<Edge[]>> blocks_;
    std::vector<std::unique_ptr<float[]>> weights_;  // as many as `blocks_` in a list with weights, else none
    std::size_t last_used_ = block_edges;            // of the last block; "full" when there is none
};

}  // namespace gnnplan::data
