#include "planner/search/frames.hpp"

#include "planner/enumerate/ring.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace gnnplan::search {
namespace {

std::vector<bool> switch_values(const std::optional<bool>& pinned) {
    return pinned ? std::vector{*pinned} : std::vector{false, true};
}

// How scores may be made on a grid: where columns are not split there is one way.
std::vector<Scores> scores_on(const Space& space, const Distribution& on) {
    if (!space.compares() || !on.splits_columns()) return {Scores::columns};
    if (space.options.scores) return {*space.options.scores};
    return {Scores::columns, Scores::whole_rows, Scores::dealt_rows};
}

// Where backward passes of attention have scores from. Storing them saves draws of dropout and nothing else that costs
// time; they lie with whole neighbourhoods on every rank of a y-group.
std::vector<AttentionScores> attention_on(const Space& space, const Distribution& on) {
    if (!space.may_store_scores() || on.sends_nonzeros()) return {AttentionScores::recompute};
    if (space.options.attention) return {*space.options.attention};
    if (!space.drops_attention) return {AttentionScores::recompute};
    return {AttentionScores::recompute, AttentionScores::stored};
}

// Each of the frames with each of the values, all frames with the first one first.
template <class Value>
void multiply(std::vector<ConfigurationFrame>& frames, const std::vector<Value>& values,
              Value ConfigurationFrame::*member) {
    std::vector<ConfigurationFrame> all;
    for (const Value value : values) {
        for (ConfigurationFrame frame : frames) {
            frame.*member = value;
            all.push_back(frame);
        }
    }
    frames = std::move(all);
}

}  // namespace

std::vector<ExchangeOptions> switches_of(const Space& space, const Distribution& on) {
    const bool rows = on.sends_rows();
    std::vector<Exchange> exchanges{Exchange::none};
    if (rows && space.options.exchange) exchanges = {*space.options.exchange};
    if (rows && !space.options.exchange) exchanges = {Exchange::panels, Exchange::rows};
    std::vector<ExchangeOptions> switches;
    for (const Exchange exchange : exchanges) {
        for (const bool overlap : on.can_overlap() ? switch_values(space.options.overlap) : std::vector{false}) {
            switches.push_back({exchange, overlap, space.options.bf16});
        }
    }
    return switches;
}

std::vector<ConfigurationFrame> frames_on(const Space& space, const Distribution& on, bool factored) {
    const auto& rows = space.shape.loss_rows;
    const bool prunable = std::any_of(rows.begin() + 1, rows.end(), [&](auto n) { return n < space.shape.vertices; });
    const bool balances = space.graph->exact() && on.grid.x * on.grid.z > 1;
    std::vector<ConfigurationFrame> frames;
    for (const bool loss_rows :
         prunable && !never_pruned(space) ? switch_values(space.options.loss_rows) : std::vector{false}) {
        const std::vector<bool> unpermuted{space.options.permutation.value_or(false)};
        for (const bool permutation : balances ? switch_values(space.options.permutation) : unpermuted) {
            frames.push_back({on, loss_rows, permutation, 0, factored, {}});
        }
        // Parts are balanced already: a permutation within them changes nothing that counts.
        const bool shuffled = space.options.permutation.value_or(false);
        if (space.options.partition && on.grid.x > 1)
            frames.push_back({on, loss_rows, shuffled, on.grid.x, factored, {}});
    }
    for (ConfigurationFrame& frame : frames) frame.trains = space.model.trains();
    multiply(frames, scores_on(space, on), &ConfigurationFrame::scores);
    multiply(frames, attention_on(space, on), &ConfigurationFrame::attention);
    multiply(frames, enumerate::ring_choices(space.model.trains(), on, space.options.ring), &ConfigurationFrame::ring);
    return frames;
}

}  // namespace gnnplan::search
