#include <gnnplan/select.hpp>

#include "planner/search/alternatives.hpp"
#include "planner/search/candidates.hpp"
#include "planner/search/feature_dropout.hpp"
#include "planner/search/infeasible.hpp"
#include "planner/search/pick.hpp"

#include <algorithm>

namespace gnnplan {
namespace {

// In the paper space autotuning tries the fronts in the paper's units, the fastest first.
std::vector<Candidate> paper_candidates(const std::vector<search::EvaluatedCandidate>& costed, int most) {
    std::vector<Candidate> candidates;
    for (const search::EvaluatedCandidate& entry : costed) {
        if (!entry.ranked.fits || static_cast<int>(candidates.size()) == most) break;
        if (candidates.empty() || entry.ranked.pareto) candidates.push_back(entry.candidate);
    }
    return candidates;
}

// The configuration that comes nearest to fitting.
const search::EvaluatedCandidate& thriftiest(const std::vector<search::EvaluatedCandidate>& costed) {
    return *std::min_element(costed.begin(), costed.end(),
                             [](const search::EvaluatedCandidate& a, const search::EvaluatedCandidate& b) {
                                 return a.ranked.predicted.peak_bytes_per_rank < b.ranked.predicted.peak_bytes_per_rank;
                             });
}

// The peak of the best plan that loads in shares, where loading the whole graph may be what does not fit.
std::optional<std::int64_t> bytes_in_shares(Problem problem, const Machine& machine, SelectOptions options,
                                            const Infeasible& whole) {
    if (whole.load_bytes <= whole.available_bytes / 2) return std::nullopt;
    problem.record.loading = Loading::sharded;
    options.alternatives = false;
    const SelectResult shared = select(problem, machine, options);
    if (!shared) return std::nullopt;
    return shared.selection->ranked.front().predicted.peak_bytes_per_rank;
}

// The peak of the best plan that makes layers again, where that was ruled out.
std::optional<std::int64_t> bytes_recomputed(const Problem& problem, const Machine& machine, SelectOptions options) {
    if (options.remade != 0) return std::nullopt;
    options.remade.reset();
    options.alternatives = false;
    const SelectResult found = select(problem, machine, options);
    if (!found) return std::nullopt;
    return found.selection->ranked.front().predicted.peak_bytes_per_rank;
}

// `asked`: the numberings that an earlier search has asked for; null: there was none.
SelectResult run(const Problem& problem, const Machine& machine, const SelectOptions& options,
                 search::NumberedGraphs* asked) {
    const search::Space space = search::make_space(problem, machine, options);
    search::NumberedGraphs own(*space.graph);
    search::NumberedGraphs& graphs = asked != nullptr ? *asked : own;
    const bool paper = options.space == SearchSpace::paper;
    search::SearchResult found =
        paper ? search::search_paper_space(space, machine, graphs) : search::search_full_space(space, machine, graphs);
    SelectResult result;
    if (!found.costed.front().ranked.fits) {
        result.code = ErrorCode::infeasible;
        result.infeasible = search::explain_infeasible(space, thriftiest(found.costed).candidate, graphs);
        result.infeasible->sharded_bytes = bytes_in_shares(problem, machine, options, *result.infeasible);
        result.infeasible->recomputed_bytes = bytes_recomputed(problem, machine, options);
        result.message = search::describe(*result.infeasible, space.ranks);
        return result;
    }
    Selection selection;
    selection.memory_per_rank = space.memory_per_rank;
    selection.rejected = std::move(found.rejected);
    selection.plan.problem = problem.record;
    selection.plan.problem.task = space.model.trains() ? Task::train : Task::infer;
    if (options.memory_per_rank > 0) selection.plan.problem.memory_per_rank = options.memory_per_rank;
    selection.plan.problem.buffer_bytes = options.buffer_bytes;
    selection.plan.problem.space = paper ? "paper" : "full";
    selection.plan.machine = machine;
    selection.plan.candidates = paper ? paper_candidates(found.costed, options.candidates)
                                      : search::choose_candidates(found.costed, options.candidates,
                                                                  options.constant_input, space.graph->exact());
    // Other choices are compared with exact plans alone: these have other results.
    if (options.alternatives && !options.clones) {
        selection.plan.alternatives =
            search::alternatives(space, found.costed, selection.plan.candidates.front().configuration, machine, graphs);
        search::add_feature_dropout(selection, problem, machine, options, graphs);
    }
    for (const search::EvaluatedCandidate& entry : found.costed) selection.ranked.push_back(entry.ranked);
    result.selection = std::move(selection);
    return result;
}

SelectResult result_of(const Problem& problem, const Machine& machine, const SelectOptions& options,
                       search::NumberedGraphs* asked) {
    try {
        return run(problem, machine, options, asked);
    } catch (const Error& error) {
        SelectResult result;
        result.code = error.code();
        result.message = error.what();
        return result;
    }
}

}  // namespace

SelectResult search::select_on(NumberedGraphs& graphs, const Problem& problem, const Machine& machine,
                               const SelectOptions& options) {
    return result_of(problem, machine, options, &graphs);
}

SelectResult select(const Problem& problem, const Machine& machine, const SelectOptions& options) {
    return result_of(problem, machine, options, nullptr);
}

OrderAdvice select_orders(const Problem& problem, const Machine& machine, SelectOptions options) {
    options.alternatives = false;
    const SelectResult result = select(problem, machine, options);
    if (!result) throw Error(result.code, result.message);
    const RankedConfiguration& best = result.selection->ranked.front();
    return {best.configuration.forward,         best.configuration.backward,      kept_products(best.configuration),
            scheme_of(best.configuration),      best.configuration.grid,          best.predicted.epoch_seconds,
            best.predicted.peak_bytes_per_rank, result.selection->memory_per_rank};
}

}  // namespace gnnplan
