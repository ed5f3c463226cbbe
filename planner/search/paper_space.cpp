#include "planner/search/paper_space.hpp"

#include "planner/cost/executed_units.hpp"
#include "planner/enumerate/memoization.hpp"
#include "planner/enumerate/orders.hpp"
#include "planner/enumerate/units.hpp"

namespace gnnplan::search {
namespace {

std::vector<enumerate::OrderPair> orders_of(const Space& space) {
    const auto& forward = space.options.forward;
    const auto& backward = space.options.backward;
    if (forward && backward) return {{*forward, *backward}};
    // CAGNET and MG-GCN multiply by the sparse matrix first.
    const bool rdm = space.options.scheme.value_or("rdm") == "rdm";
    const Orders sparse_first(space.depth(), Order::sparse_first);
    if (!rdm) return {{forward.value_or(sparse_first), backward.value_or(sparse_first)}};
    std::vector<enumerate::OrderPair> pairs = enumerate::all_orders(space.model.depth);
    std::erase_if(pairs, [&](const enumerate::OrderPair& pair) {
        return (forward && pair.forward != *forward) || (backward && pair.backward != *backward);
    });
    return pairs;
}

Configuration configure(const Space& space, const enumerate::OrderPair& orders, const Distribution& on) {
    Configuration configuration;
    configuration.sharing = on.sharing;
    if (space.depth() <= 31) configuration.id = paper_id(orders.forward, orders.backward);
    configuration.grid = on.grid;
    configuration.forward = orders.forward;
    configuration.backward = orders.backward;
    configuration.operands = enumerate::paper_operands(orders.forward, orders.backward, space.widths);
    configuration.switches() = space.options.unsearched(on.grid.x);
    configuration.constant_input = space.options.constant_input;
    return configuration;
}

EvaluatedCandidate cost_listed(const Space& space, const PaperMember& listed, const Machine& machine,
                               NumberedGraphs& graphs) {
    EvaluatedCandidate costed;
    costed.candidate = cost_configuration(space, listed.configuration, machine, graphs);
    costed.ranked = {listed.configuration,       listed.units, cost::executed_units(costed.candidate.schedule),
                     costed.candidate.predicted, false,        false};
    costed.ranked.fits = costed.ranked.predicted.peak_bytes_per_rank <= space.memory_per_rank;
    return costed;
}

std::vector<bool> front_of(const std::vector<PaperMember>& listed) {
    std::vector<Units> units;
    units.reserve(listed.size());
    for (const PaperMember& entry : listed) units.push_back(entry.units);
    return enumerate::pareto_front(units);
}

// The front of what fits, without costing what is not on it: cost the front, drop what does not fit, look again.
std::vector<EvaluatedCandidate> cost_front(const Space& space, std::vector<PaperMember> listed, const Machine& machine,
                                           NumberedGraphs& graphs) {
    std::vector<EvaluatedCandidate> all;
    std::vector<EvaluatedCandidate> fitting;
    while (!listed.empty()) {
        const std::vector<bool> front = front_of(listed);
        std::vector<PaperMember> kept;
        fitting.clear();
        for (std::size_t i = 0; i < listed.size(); ++i) {
            if (!front[i]) {
                kept.push_back(listed[i]);
                continue;
            }
            EvaluatedCandidate costed = cost_listed(space, listed[i], machine, graphs);
            costed.ranked.pareto = costed.ranked.fits;
            if (costed.ranked.fits) kept.push_back(listed[i]);
            (costed.ranked.fits ? fitting : all).push_back(std::move(costed));
        }
        if (kept.size() == listed.size()) break;  // all of the front fits
        listed = std::move(kept);
    }
    for (EvaluatedCandidate& costed : fitting) all.push_back(std::move(costed));
    return all;
}

std::vector<EvaluatedCandidate> cost_all(const Space& space, const std::vector<PaperMember>& listed,
                                         const Machine& machine, NumberedGraphs& graphs) {
    std::vector<EvaluatedCandidate> all;
    std::vector<PaperMember> fitting;
    std::vector<std::size_t> index;
    for (const PaperMember& entry : listed) {
        all.push_back(cost_listed(space, entry, machine, graphs));
        if (!all.back().ranked.fits) continue;
        fitting.push_back(entry);
        index.push_back(all.size() - 1);
    }
    const std::vector<bool> front = front_of(fitting);
    for (std::size_t i = 0; i < index.size(); ++i) all[index[i]].ranked.pareto = front[i];
    return all;
}

}  // namespace

std::vector<PaperMember> list_paper_space(const Space& space, const Distribution& grid) {
    std::vector<PaperMember> listed;
    for (const enumerate::OrderPair& orders : orders_of(space)) {
        listed.push_back({configure(space, orders, grid), enumerate::paper_units(orders, space.widths)});
    }
    return listed;
}

std::vector<EvaluatedCandidate> cost_paper_space(const Space& space, const Machine& machine, NumberedGraphs& graphs) {
    const bool fully = space.model.depth <= max_fully_costed_layers;
    std::vector<EvaluatedCandidate> all;
    std::size_t searched = 0;
    for (const Distribution& grid : space.grids) {
        say_searching(space, grid, ++searched, space.grids.size());
        std::vector<PaperMember> listed = list_paper_space(space, grid);
        std::vector<EvaluatedCandidate> costed =
            fully ? cost_all(space, listed, machine, graphs) : cost_front(space, std::move(listed), machine, graphs);
        for (EvaluatedCandidate& entry : costed) all.push_back(std::move(entry));
    }
    return all;
}

}  // namespace gnnplan::search
