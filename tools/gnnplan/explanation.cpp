#include "tools/gnnplan/explanation.hpp"

#include "planner/cost/executed_units.hpp"
#include "planner/enumerate/units.hpp"

#include <gnnplan/ir/traffic.hpp>

#include <algorithm>

namespace gnnplan::tools {
namespace {

constexpr int largest_shown = 6;

std::string layout_name(const Layout& layout) {
    if (layout == layout_c()) return "C";
    if (layout == layout_r()) return "R";
    if (layout == layout_replicated()) return "replicated";
    if (layout == layout_partial()) return "partial sums";
    return "rows " + layout.rows.text() + " columns " + layout.columns.text();
}

std::string layout_of(const Schedule& schedule, const Step& step) {
    if (const auto* move = std::get_if<RedistributeStep>(&step.operation)) {
        return layout_name(tensor_of(schedule, move->in).layout) + " -> " +
               layout_name(tensor_of(schedule, move->out).layout);
    }
    return layout_name(tensor_of(schedule, subject_of(step.operation)).layout);
}

// The part of the network a step belongs to: "forward.2.spmm" says it; others belong where they stand.
std::string section_of(const std::string& step, const std::string& previous) {
    std::string name = step;
    for (const std::string prefix : {"evaluation.", "setup."}) {
        if (name.starts_with(prefix)) name.erase(0, prefix.size());
    }
    for (const std::string pass : {"forward.", "backward."}) {
        if (!name.starts_with(pass)) continue;
        const std::string rest = name.substr(pass.size());
        const std::string layer = rest.substr(0, rest.find('.'));
        const bool numbered = !layer.empty() && layer.find_first_not_of("0123456789") == std::string::npos;
        return numbered ? name.substr(0, pass.size() - 1).append(", layer ").append(layer) : previous;
    }
    if (name.starts_with("loss") || name.starts_with("score")) return name.substr(0, name.find('.'));
    return previous.empty() ? "input" : previous;
}

std::vector<StepCost> step_costs(const Candidate& candidate, const GraphStats& graph) {
    const Schedule& schedule = candidate.schedule;
    std::vector<StepCost> costs;
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        const Tensor& subject = tensor_of(schedule, subject_of(step.operation));
        const bool same_phase = !costs.empty() && costs.back().phase == step.phase;
        StepCost cost{step.name,
                      section_of(step.name, same_phase ? costs.back().section : ""),
                      step.phase,
                      std::string(kind_of(step.operation)),
                      subject.rows,
                      subject.columns,
                      layout_of(schedule, step),
                      0,
                      0,
                      candidate.predicted.step_seconds[i]};
        for (const RankTraffic& rank : traffic_of(schedule, step, graph)) {
            cost.total_bytes += rank.sent_bytes;
            cost.max_rank_bytes = std::max({cost.max_rank_bytes, rank.sent_bytes, rank.received_bytes});
        }
        costs.push_back(std::move(cost));
    }
    return costs;
}

// Moves of masks and operands, which the paper does not count; a mask that waits for a move that happens anyway is
// free.
std::vector<UnitRemark> remarks_on(const Schedule& schedule, bool places_differ) {
    std::vector<UnitRemark> remarks;
    if (!places_differ) {
        return {
            {"", 0,
             "R_A = 1: layouts C and R are one, nothing is redistributed, and the formula weighs these units with 0"}};
    }
    for (const Step& step : schedule.steps) {
        if (step.phase != Phase::epoch) continue;
        if (const auto* move = std::get_if<RedistributeStep>(&step.operation)) {
            const Tensor& tensor = tensor_of(schedule, move->in);
            const auto width = static_cast<double>(tensor.columns);
            if (tensor.dtype == DType::bits) {
                remarks.push_back(
                    {step.name, width / 32, "the activation mask is made in one layout and wanted in the other"});
            } else if (step.name.find("operand") != std::string::npos) {
                remarks.push_back(
                    {step.name, width, "an operand of the weight gradient exists only in the other layout"});
            }
        } else if (const auto* map = std::get_if<MapStep>(&step.operation); map && map->op == MapOp::apply_mask) {
            const bool waited = std::any_of(schedule.steps.begin(), schedule.steps.end(), [&](const Step& other) {
                const auto* source = std::get_if<RedistributeStep>(&other.operation);
                return source != nullptr && source->out == map->tensor;
            });
            if (waited) {
                remarks.push_back(
                    {step.name, 0, "the mask is applied after a redistribution of the gradient that happens anyway"});
            }
        }
    }
    return remarks;
}

RunnerUp compare(const Candidate& chosen, const Candidate& second) {
    const auto ratio = [](auto a, auto b) { return static_cast<double>(a) / static_cast<double>(b); };
    RunnerUp runner_up;
    runner_up.configuration = second.configuration;
    runner_up.epoch_seconds_ratio = ratio(second.predicted.epoch_seconds, chosen.predicted.epoch_seconds);
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
    const GraphRecord& graph = plan.problem.graph;
    Explanation explanation;
    // The graph is not at hand: steps whose bytes depend on it are estimated from its sizes.
    const UniformStats sizes(graph.vertices, graph.nonzeros, graph.symmetric);
    explanation.steps = step_costs(chosen, *sizes.numbered(chosen.schedule.numbering));
    explanation.executed = cost::executed_units(chosen.schedule);
    if (paper_semantics(configuration) && configuration.scheme == "rdm") {
        explanation.paper =
            enumerate::paper_units({configuration.forward, configuration.backward}, plan.problem.model.widths);
        explanation.remarks = remarks_on(chosen.schedule, chosen.schedule.grid.y > 1);
    }
    explanation.largest = largest_tensors(chosen.schedule, sizes, 0, largest_shown);
    if (plan.candidates.size() > 1) explanation.runner_up = compare(chosen, plan.candidates[1]);
    return explanation;
}

}  // namespace gnnplan::tools
