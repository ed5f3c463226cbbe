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
void multiply(std::vector<ConfigurationFrame>& frames, const std::vector<Value>& values, Value Switches::*member) {
    std::vector<ConfigurationFrame> all;
    for (const Value value : values) {
        for (ConfigurationFrame frame : frames) {
            frame.switches.*member = value;
            all.push_back(frame);
        }
    }
    frames = std::move(all);
}

}  // namespace

std::vector<Switches> exchanges_under(const Space& space, const ConfigurationFrame& frame) {
    const Distribution& on = frame.on;
    const bool rows = on.sends_rows();
    std::vector<Exchange> exchanges{Exchange::none};
    if (rows && space.options.exchange) exchanges = {*space.options.exchange};
    if (rows && !space.options.exchange) exchanges = {Exchange::panels, Exchange::rows};
    std::vector<Switches> switches;
    for (const Exchange exchange : exchanges) {
        for (const bool overlap : on.can_overlap() ? switch_values(space.options.overlap) : std::vector{false}) {
            Switches& each = switches.emplace_back(frame.switches);
            each.exchange = exchange, each.overlap = overlap, each.bf16 = space.options.bf16;
        }
    }
    return switches;
}

std::vector<ConfigurationFrame> frames_on(const Space& space, const Distribution& on, bool factored) {
    const auto& rows = space.shape.loss_rows;
    const bool prunable = std::any_of(rows.begin() + 1, rows.end(), [&](auto n) { return n < space.shape.vertices; });
    const bool balances = space.graph->exact() && on.grid.x * on.grid.z > 1;
    std::vector<ConfigurationFrame> frames;
    const auto add = [&](bool loss_rows, bool permutation, int parts) {
        ConfigurationFrame& frame = frames.emplace_back(ConfigurationFrame{on, {}, space.model.trains()});
        frame.switches.loss_rows = loss_rows, frame.switches.permutation = permutation;
        frame.switches.parts = parts, frame.switches.factored_values = factored;
    };
    for (const bool loss_rows :
         prunable && !never_pruned(space) ? switch_values(space.options.loss_rows) : std::vector{false}) {
        const std::vector<bool> unpermuted{space.options.permutation.value_or(false)};
        for (const bool permutation : balances ? switch_values(space.options.permutation) : unpermuted) {
            add(loss_rows, permutation, 0);
        }
        // Parts are balanced already: a permutation within them changes nothing that counts.
        const bool shuffled = space.options.permutation.value_or(false);
        if (space.options.partition && on.grid.x > 1) add(loss_rows, shuffled, on.grid.x);
    }
    multiply(frames, scores_on(space, on), &Switches::scores);
    multiply(frames, attention_on(space, on), &Switches::attention);
    multiply(frames, enumerate::ring_choices(space.model.trains(), on, space.options.ring), &Switches::ring);
    return frames;
}

}  // namespace gnnplan::search
