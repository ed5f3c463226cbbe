#include "planner/search/candidates.hpp"

#include "planner/cost/executed_units.hpp"
#include "planner/cost/predict.hpp"
#include "planner/enumerate/memoization.hpp"
#include "planner/enumerate/orders.hpp"
#include "planner/enumerate/replication.hpp"
#include "planner/enumerate/units.hpp"
#include "planner/lower/lower.hpp"

#include <gnnplan/base/checked.hpp>

#include <algorithm>

namespace gnnplan::search {
namespace {

// Bytes and operations are added up over steps and ranks in 64 bits: refuses sizes whose sums might not fit.
void check_total_size(const Space& space) {
    constexpr std::int64_t bytes_per_element = 4;
    constexpr std::int64_t uses_per_layer =
        32;  // steps that touch a matrix of a layer, both phases, with room to spare
    try {
        std::int64_t elements = space.graph->nonzeros();
        for (std::size_t l = 0; l < space.widths.size(); ++l) {
            elements = checked_add(elements, checked_multiply(space.graph->vertices(), space.widths[l]));
            if (l > 0) elements = checked_add(elements, checked_multiply(space.widths[l - 1], space.widths[l]));
        }
        checked_multiply(checked_multiply(elements, bytes_per_element * uses_per_layer), space.ranks);
    } catch (const Error&) {
        throw Error(ErrorCode::usage, "sizes too large: vertices x widths x ranks does not fit 64-bit byte counts");
    }
}

void check_ranks(int ranks) {
    if (ranks >= 1 && ranks <= max_ranks) return;
    throw Error(ErrorCode::usage, std::to_string(ranks) + " is not 1.." + std::to_string(max_ranks), "ranks");
}

void check_pinned(const std::optional<Orders>& orders, std::size_t layers, const char* flag) {
    if (orders && orders->size() != layers) {
        throw Error(ErrorCode::usage,
                    "'" + text(*orders) + "' has " + std::to_string(orders->size()) + " letters for " +
                        std::to_string(layers) + " layers",
                    flag);
    }
}

std::vector<enumerate::OrderPair> orders_of(const Space& space) {
    const auto& forward = space.options.forward;
    const auto& backward = space.options.backward;
    if (forward && backward) return {{*forward, *backward}};
    std::vector<enumerate::OrderPair> pairs = enumerate::all_orders(static_cast<int>(space.layers.size()));
    std::erase_if(pairs, [&](const enumerate::OrderPair& pair) {
        return (forward && pair.forward != *forward) || (backward && pair.backward != *backward);
    });
    return pairs;
}

Configuration configure(const Space& space, const enumerate::OrderPair& orders, int replication) {
    Configuration configuration;
    if (space.layers.size() <= 31) configuration.id = paper_id(orders.forward, orders.backward);
    configuration.grid = {space.ranks / replication, replication, 1};
    configuration.replication = replication;
    configuration.forward = orders.forward;
    configuration.backward = orders.backward;
    configuration.kept = enumerate::kept_products(orders.forward, orders.backward, space.widths);
    configuration.exchange = configuration.grid.x > 1 ? Exchange::panels : Exchange::none;
    configuration.constant_input = space.options.constant_input;
    return configuration;
}

Costed cost_listed(const Space& space, const Listed& listed, const Machine& machine) {
    Costed costed;
    costed.candidate = cost_configuration(space, listed.configuration, machine);
    costed.ranked = {listed.configuration,       listed.units, cost::executed_units(costed.candidate.schedule),
                     costed.candidate.predicted, false,        false};
    costed.ranked.fits = costed.ranked.predicted.peak_bytes_per_rank <= space.memory_per_rank;
    return costed;
}

std::vector<bool> front_of(const std::vector<Listed>& listed) {
    std::vector<Units> units;
    units.reserve(listed.size());
    for (const Listed& entry : listed) units.push_back(entry.units);
    return enumerate::pareto_front(units);
}

// The front of what fits, without costing what is not on it: cost the front, drop what does not fit, look again.
std::vector<Costed> cost_front(const Space& space, std::vector<Listed> listed, const Machine& machine) {
    std::vector<Costed> all;
    std::vector<Costed> fitting;
    while (!listed.empty()) {
        const std::vector<bool> front = front_of(listed);
        std::vector<Listed> kept;
        fitting.clear();
        for (std::size_t i = 0; i < listed.size(); ++i) {
            if (!front[i]) {
                kept.push_back(listed[i]);
                continue;
            }
            Costed costed = cost_listed(space, listed[i], machine);
            costed.ranked.pareto = costed.ranked.fits;
            if (costed.ranked.fits) kept.push_back(listed[i]);
            (costed.ranked.fits ? fitting : all).push_back(std::move(costed));
        }
        if (kept.size() == listed.size()) break;  // all of the front fits
        listed = std::move(kept);
    }
    for (Costed& costed : fitting) all.push_back(std::move(costed));
    return all;
}

std::vector<Costed> cost_all(const Space& space, const std::vector<Listed>& listed, const Machine& machine) {
    std::vector<Costed> all;
    std::vector<Listed> fitting;
    std::vector<std::size_t> index;
    for (const Listed& entry : listed) {
        all.push_back(cost_listed(space, entry, machine));
        if (!all.back().ranked.fits) continue;
        fitting.push_back(entry);
        index.push_back(all.size() - 1);
    }
    const std::vector<bool> front = front_of(fitting);
    for (std::size_t i = 0; i < index.size(); ++i) all[index[i]].ranked.pareto = front[i];
    return all;
}

}  // namespace

Space make_space(const Problem& problem, const Machine& machine, const SelectOptions& options) {
    validate(machine);
    Space space;
    space.layers = product_chain(problem.ops);
    space.widths.push_back(space.layers.front().in_width);
    for (const ProductLayer& layer : space.layers) space.widths.push_back(layer.out_width);
    ensure(problem.graph != nullptr, "select needs graph statistics");
    space.graph = problem.graph;
    space.one_copy = one_copy_serves(problem.graph->symmetric(), problem.record.graph.normalisation);
    space.ranks = problem.record.ranks;
    space.options = options;
    check_ranks(space.ranks);
    check_total_size(space);
    if (options.replication) enumerate::check_replication(*options.replication, space.ranks);
    check_pinned(options.forward, space.layers.size(), "forward");
    check_pinned(options.backward, space.layers.size(), "backward");
    if (options.candidates < 1 || options.candidates > max_candidates) {
        throw Error(ErrorCode::usage, "a plan holds 1.." + std::to_string(max_candidates) + " candidates",
                    "candidates");
    }
    if (options.memory_per_rank < 0) throw Error(ErrorCode::usage, "memory must not be negative", "memory");
    space.memory_per_rank = options.memory_per_rank > 0 ? options.memory_per_rank : machine.memory_per_rank;
    return space;
}

std::vector<Listed> list_configurations(const Space& space, int replication) {
    std::vector<Listed> listed;
    for (const enumerate::OrderPair& orders : orders_of(space)) {
        listed.push_back({configure(space, orders, replication), enumerate::paper_units(orders, space.widths)});
    }
    return listed;
}

Candidate cost_configuration(const Space& space, const Configuration& configuration, const Machine& machine) {
    Candidate candidate;
    candidate.configuration = configuration;
    candidate.schedule = lower::lower(space.layers, configuration, {space.graph->vertices(), space.one_copy});
    candidate.predicted = cost::predict(candidate.schedule, *space.graph, machine);
    return candidate;
}

std::vector<Costed> cost_space(const Space& space, const Machine& machine) {
    const auto replications =
        space.options.replication ? std::vector<int>{*space.options.replication} : enumerate::replications(space.ranks);
    const bool fully = static_cast<int>(space.layers.size()) <= max_fully_costed_layers;
    std::vector<Costed> all;
    for (const int replication : replications) {
        std::vector<Listed> listed = list_configurations(space, replication);
        std::vector<Costed> costed =
            fully ? cost_all(space, listed, machine) : cost_front(space, std::move(listed), machine);
        for (Costed& entry : costed) all.push_back(std::move(entry));
    }
    return all;
}

}  // namespace gnnplan::search
