// A list of directed edges, with weights or without, that grows without copying and frees itself while it is read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
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
    EdgeList() = default;
    explicit EdgeList(bool weighted) : weighted_(weighted) {}

    // Whether every edge has a weight; if not, add() takes no notice of one.
    bool weighted() const { return weighted_; }

    void add(std::int32_t from, std::int32_t to, float weight = 1) {
        if (last_used_ == block_edges) {
            blocks_.push_back(std::make_unique_for_overwrite<Edge[]>(block_edges));
            if (weighted_) weights_.push_back(std::make_unique_for_overwrite<float[]>(block_edges));
            last_used_ = 0;
        }
        if (weighted_) weights_.back()[last_used_] = weight;
        blocks_.back()[last_used_++] = {from, to};
    }

    std::int64_t size() const {
        return static_cast<std::int64_t>(blocks_.size() * block_edges + last_used_) - std::int64_t{block_edges};
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

private:
    static constexpr std::size_t block_edges = std::size_t{1} << 16;  // 512 KiB

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
    std::vector<std::unique_ptr<Edge[]>> blocks_;
    std::vector<std::unique_ptr<float[]>> weights_;  // as many as `blocks_` in a list with weights, else none
    std::size_t last_used_ = block_edges;            // of the last block; "full" when there is none
};

}  // namespace gnnplan::data
