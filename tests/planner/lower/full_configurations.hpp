// Configurations of the full space, chosen by turns so that few of them meet every grid with every switch.
#pragma once

#include "planner/enumerate/choices.hpp"
#include "planner/enumerate/grids.hpp"
#include "planner/lower/lower.hpp"

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/models.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan::lower {

struct FullCase {
    Distribution on;
    std::vector<enumerate::LayerChoice> choices;  // layers 1 .. L
    Exchange exchange = Exchange::none;
    bool overlap = false;
    bool loss_rows = false;

    Configuration configuration() const {
        Configuration c;
        c.sharing = on.sharing;
        c.grid = on.grid;
        c.exchange = exchange;
        c.overlap = overlap;
        c.loss_rows = loss_rows;
        enumerate::apply(choices, c);
        return c;
    }
    std::string text() const {
        const Configuration c = configuration();
        return scheme_of(c) + " on " + c.grid.text() + ", " + gnnplan::text(c.forward) + " " +
               gnnplan::text(c.backward) + " " + gnnplan::text(c.operands) +
               (exchange == Exchange::rows ? ", rows" : "") + (exchange == Exchange::relay ? ", relayed" : "") +
               (overlap ? ", overlap" : "") + (loss_rows ? ", loss rows" : "") +
               (c.cached_aggregation ? ", cached" : "") + (c.replicated_input ? ", replicated" : "") +
               (c.column_loss ? ", column loss" : "");
    }
};

inline Schedule lowered(const FullCase& full, const std::vector<std::int64_t>& widths, const GraphStats& graph,
                        bool rocauc = false) {
    SiteGraph model = sites_of(models::gcn(widths, true));
    model.sites.back().rocauc = rocauc;
    if (rocauc) model.sites.back().loss = Loss::sigmoid;
    GraphShape shape{graph.vertices(), graph.symmetric(), graph.loss_rows(model.depth), 0};
    shape.ranks_per_node = 4;
    return lower(model, full.configuration(), shape);
}

// Every combination of the choices of two layers on one grid, the dominated ones included.
inline std::vector<std::vector<enumerate::LayerChoice>> two_layer_choices(const Distribution& on) {
    enumerate::LayerRules rules;
    rules.layers = 2;
    rules.columns_split = on.splits_columns();
    const auto first = enumerate::layer_choices(rules, false);
    rules.layer = 2;
    std::vector<std::vector<enumerate::LayerChoice>> pairs;
    for (const auto& last : enumerate::layer_choices(rules, false)) {
        for (const auto& input : first) pairs.push_back({input, last});
    }
    return pairs;
}

// Every scheme on every grid of these ranks, each with one in `every` of its two-layer choices; switches take turns.
inline std::vector<FullCase> full_cases(const std::vector<int>& ranks, std::size_t every) {
    std::vector<FullCase> cases;
    std::size_t turn = 0;
    for (const int p : ranks) {
        for (const Distribution& on : enumerate::distributions(p, {})) {
            const auto all = two_layer_choices(on);
            for (std::size_t i = turn % every; i < all.size(); i += every, ++turn) {
                FullCase full{on, all[i]};
                const Exchange whole = turn / 8 % 2 == 0 ? Exchange::panels : Exchange::relay;
                if (on.grid.x > 1) full.exchange = turn % 2 == 0 ? whole : Exchange::rows;
                full.overlap = on.can_overlap() && turn / 2 % 2 == 1;
                full.loss_rows = turn / 4 % 2 == 1;
                cases.push_back(full);
            }
        }
    }
    return cases;
}

}  // namespace gnnplan::lower
