#include "tools/advise/explanation.hpp"

#include "planner/cost/executed_units.hpp"
#include "planner/enumerate/units.hpp"

#include <gnnplan/ir/traffic.hpp>

#include <algorithm>
#include <memory>

namespace gnnplan::tools {
namespace {

constexpr int largest_shown = 6;

std::string layout_name(const Layout& layout) {
    if (layout == layout_c()) return "C";
    if (layout == layout_r()) return "R";
    if (layout == layout_replicated()) return "replicated";
    if (layout == layout_partial()) return "partial sums";
    if (layout == layout_columns()) return "whole columns";
    return "rows " + layout.rows.text() + " columns " + layout.columns.text();
}

std::string layout_of(const Schedule& schedule, const Step& step) {
    std::string to = layout_name(tensor_of(schedule, subject_of(step.operation)).layout);
    if (!tiled(step.operation).empty()) return "C -> R -> " + to;  // in R are tiles alone
    if (!redistributed(step.operation)) return to;
    return layout_name(tensor_of(schedule, operands_of(step.operation).reads.front()).layout) + " -> " + to;
}

// The part of the network a step belongs to. A tensor for the backward pass belongs where it is made.
std::string section_of(const Step& step, const std::string& previous) {
    const Origin& origin = step.origin;
    if (origin.op == OpKind::dropout || origin.layer == 0) return previous.empty() ? "input" : previous;
    if (origin.pass == Pass::keep) return previous;
    if (is_loss(origin.op)) return logits_of(step.operation) ? std::string(kind_of(step.operation)) : previous;
    const bool behind = previous.starts_with("backward") || previous.starts_with("forward again");
    const std::string pass = origin.pass != Pass::forward ? "backward" : behind ? "forward again" : "forward";
    return pass + ", layer " + std::to_string(origin.layer);
}

// The product that does step `i`, too; none of most.
std::optional<std::string> product_around(const Schedule& schedule, std::size_t i) {
    const auto* map = std::get_if<MapStep>(&schedule.steps[i].operation);
    if (map == nullptr || !map->done_before) return std::nullopt;
    while (i-- > 0) {
        const auto* product = std::get_if<GemmStep>(&schedule.steps[i].operation);
        if (product != nullptr && product->then && product->out == map->tensor) return schedule.steps[i].name;
    }
    return std::nullopt;
}

std::vector<StepCost> step_costs(const Candidate& candidate, const GraphStats& graph) {
    const Schedule& schedule = candidate.schedule;
    std::vector<StepCost> costs;
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        const Tensor& subject = tensor_of(schedule, subject_of(step.operation));
        const bool same_phase = !costs.empty() && costs.back().phase == step.phase;
        StepCost cost{step.name,
                      section_of(step, same_phase ? costs.back().section : ""),
                      step.phase,
                      std::string(kind_of(step.operation)),
                      subject.rows,
                      subject.columns,
                      layout_of(schedule, step),
                      0,
                      0,
                      candidate.predicted.step_seconds[i],
                      product_around(schedule, i)};
        for (const RankTraffic& rank : traffic_of(schedule, step, graph)) {
            cost.total_bytes += rank.sent_bytes;
            cost.max_rank_bytes = std::max({cost.max_rank_bytes, rank.sent_bytes, rank.received_bytes});
        }
        costs.push_back(std::move(cost));
    }
    return costs;
}

// The remark on one step; none on those that the paper counts as they are.
std::optional<UnitRemark> remark_on(const Schedule& schedule, const Step& step) {
    if (const std::optional<TensorId> moved = redistributed(step.operation)) {
        const Tensor& tensor = tensor_of(schedule, *moved);
        const auto width = static_cast<double>(tensor.columns);
        if (tensor.dtype == DType::bits)
            return UnitRemark{step.name, width / 32,
                              "the activation mask is made in one layout and wanted in the other"};
        if (step.origin.pass == Pass::keep)
            return UnitRemark{step.name, width, "an operand of the weight gradient exists only in the other layout"};
        return std::nullopt;
    }
    const auto* map = std::get_if<MapStep>(&step.operation);
    if (map == nullptr || map->op != MapOp::apply_mask) return std::nullopt;
    const bool waited = std::any_of(schedule.steps.begin(), schedule.steps.end(),
                                    [&](const Step& other) { return redistributed(other.operation) == map->tensor; });
    if (!waited) return std::nullopt;
    return UnitRemark{step.name, 0, "the mask is applied after a redistribution of the gradient that happens anyway"};
}

// Moves of masks and operands, which the paper does not count; a mask that waits for a move that happens anyway is
// free.
std::vector<UnitRemark> remarks_on(const Schedule& schedule, bool places_differ) {
    if (!places_differ) {
        return {
            {"", 0,
             "R_A = 1: layouts C and R are one, nothing is redistributed, and the formula weighs these units with 0"}};
    }
    std::vector<UnitRemark> remarks;
    for (const Step& step : schedule.steps) {
        if (step.phase != Phase::epoch) continue;
        if (auto remark = remark_on(schedule, step)) remarks.push_back(std::move(*remark));
    }
    return remarks;
}

RunnerUp compare(const Candidate& chosen, const Candidate& second) {
    const auto ratio = [](auto a, auto b) { return static_cast<double>(a) / static_cast<double>(b); };
    RunnerUp runner_up;
    runner_up.configuration = second.configuration;
    runner_up.epoch_seconds_ratio = ratio(second.predicted.ranked_seconds(), chosen.predicted.ranked_seconds());
    if (chosen.predicted.total_bytes > 0) {
        runner_up.total_bytes_ratio = ratio(second.predicted.total_bytes, chosen.predicted.total_bytes);
    }
    runner_up.peak_bytes_ratio = ratio(second.predicted.peak_bytes_per_rank, chosen.predicted.peak_bytes_per_rank);
    return runner_up;
}

}  // namespace

Explanation explain(const Plan& plan) {
    const Candidate& chosen = plan.candidates.front();
    const Configuration& configuration = chosen.configuration;
    Explanation explanation;
    // The graph is not at hand: steps whose bytes depend on it are estimated from its sizes.
    const std::shared_ptr<const GraphStats> sizes = sizes_of(plan, chosen.schedule.numbering);
    explanation.steps = step_costs(chosen, *sizes);
    explanation.executed = cost::executed_units(chosen.schedule);
    const bool papers = configuration.sharing == Sharing::replicated && configuration.grid.z == 1;
    if (papers && plan.problem.space == "paper" && !configuration.backward.empty()) {
        explanation.paper =
            enumerate::paper_units({configuration.forward, configuration.backward}, plan.problem.model.widths);
        explanation.remarks = remarks_on(chosen.schedule, chosen.schedule.grid.y > 1);
    }
    explanation.largest = largest_tensors(chosen.schedule, *sizes, 0, largest_shown);
    if (plan.candidates.size() > 1) explanation.runner_up = compare(chosen, plan.candidates[1]);
    return explanation;
}

}  // namespace gnnplan::tools
