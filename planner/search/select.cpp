#include <gnnplan/select.hpp>

#include "planner/enumerate/orders.hpp"
#include "planner/search/candidates.hpp"
#include "planner/search/infeasible.hpp"

#include <algorithm>
#include <tuple>

namespace gnnplan {
namespace {

// What fits first, then by predicted time; equal times by bytes, then id, so that the order is the same everywhere.
bool ranks_before(const search::Costed& a, const search::Costed& b) {
    const auto key = [](const Ranked& r) {
        return std::tuple(!r.fits, r.predicted.epoch_seconds, r.predicted.total_bytes, r.configuration.id,
                          r.configuration.replication);
    };
    return key(a.ranked) < key(b.ranked);
}

// The fastest first, then the rest of the Pareto fronts by predicted time: what autotuning tries.
std::vector<Candidate> choose_candidates(const std::vector<search::Costed>& costed, int most) {
    std::vector<Candidate> candidates;
    for (const search::Costed& entry : costed) {
        if (!entry.ranked.fits || static_cast<int>(candidates.size()) == most) break;
        if (candidates.empty() || entry.ranked.pareto) candidates.push_back(entry.candidate);
    }
    return candidates;
}

SelectResult run(const Problem& problem, const Machine& machine, const SelectOptions& options) {
    const search::Space space = search::make_space(problem, machine, options);
    std::vector<search::Costed> costed = search::cost_space(space, machine);
    ensure(!costed.empty(), "the search listed no configuration");
    std::sort(costed.begin(), costed.end(), ranks_before);
    SelectResult result;
    if (!costed.front().ranked.fits) {
        result.code = ErrorCode::infeasible;
        result.infeasible = search::explain_infeasible(space, costed);
        result.message = search::describe(*result.infeasible, space.ranks);
        return result;
    }
    Selection selection;
    selection.memory_per_rank = space.memory_per_rank;
    selection.plan.problem = problem.record;
    selection.plan.machine = machine;
    selection.plan.candidates = choose_candidates(costed, options.candidates);
    for (const search::Costed& entry : costed) selection.ranked.push_back(entry.ranked);
    result.selection = std::move(selection);
    return result;
}

}  // namespace

SelectResult select(const Problem& problem, const Machine& machine, const SelectOptions& options) {
    try {
        return run(problem, machine, options);
    } catch (const Error& error) {
        SelectResult result;
        result.code = error.code();
        result.message = error.what();
        return result;
    }
}

OrderAdvice select_orders(const std::vector<std::int64_t>& widths, std::int64_t vertices, std::int64_t nonzeros,
                          int ranks, const Machine& machine) {
    Problem problem;
    const UniformStats graph(vertices, nonzeros, true);
    problem.graph = &graph;
    problem.record.ranks = ranks;
    int previous = -1;
    const auto add = [&](OpKind kind, std::int64_t width, int layer) {
        problem.ops.ops.push_back({kind, previous < 0 ? std::vector<int>{} : std::vector<int>{previous}, width, layer});
        ++previous;
    };
    if (widths.size() < 2) throw Error(ErrorCode::usage, "at least two widths are needed", "widths");
    add(OpKind::input, widths.front(), 0);
    for (std::size_t l = 1; l < widths.size(); ++l) {
        add(OpKind::aggregate, widths[l - 1], static_cast<int>(l));
        add(OpKind::linear, widths[l], static_cast<int>(l));
        if (l + 1 < widths.size()) add(OpKind::relu, widths[l], static_cast<int>(l));
    }
    add(OpKind::softmax_cross_entropy, widths.back(), static_cast<int>(widths.size()) - 1);
    SelectOptions options;
    options.candidates = 1;
    const SelectResult result = select(problem, machine, options);
    if (!result) throw Error(result.code, result.message);
    const Ranked& best = result.selection->ranked.front();
    return {best.configuration.forward, best.configuration.backward, best.configuration.kept, best.units};
}

}  // namespace gnnplan
