// Problems and machines of the search tests.
#pragma once

#include "planner/search/full_space.hpp"

#include <gnnplan/models.hpp>
#include <gnnplan/select.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan::test {

inline Machine machine() {
    return {"m",  "made up", false, 8, std::int64_t{64} << 30, {1e-6, 1e10}, {1e-5, 1e9}, {{8, 1e10}, {128, 5e10}},
            1e12, 1e11,      0};
}

// Machines on which different things take most of the time.
inline std::vector<Machine> machines() {
    Machine slow_network = machine();
    slow_network.intra_node = slow_network.inter_node = {1e-6, 1e8};
    Machine slow_products = machine();
    slow_products.spmm = {{4, 1e8}, {32, 3e8}, {256, 4e8}};
    Machine slow_messages = machine();
    slow_messages.intra_node.latency_seconds = 1e-3;
    slow_messages.step_seconds = 1e-4;
    Machine small_nodes = machine();
    small_nodes.ranks_per_node = 2;
    return {slow_network, slow_products, slow_messages, small_nodes};
}

inline Problem problem(const std::vector<std::int64_t>& widths, int ranks, const GraphStats& graph) {
    Problem p;
    p.record.model.widths = widths;
    p.record.ranks = ranks;
    p.record.graph.vertices = graph.vertices();
    p.record.graph.nonzeros = graph.nonzeros();
    p.ops = models::gcn(widths, false);
    p.graph = &graph;
    return p;
}

// A frame with its exchange where there is one.
inline search::ConfigurationFrame frame_on(const Distribution& on, bool loss_rows, bool overlap = false) {
    search::ConfigurationFrame frame{on};
    frame.switches.loss_rows = loss_rows;
    if (on.grid.x > 1) frame.switches.exchange = Exchange::panels, frame.switches.overlap = overlap;
    return frame;
}

inline std::string describe(const search::ConfigurationFrame& frame, const search::Choices& choices) {
    const Configuration c = search::configuration_of(frame, choices);
    return scheme_of(c) + " " + c.grid.text() + " " + text(c.forward) + " " + text(c.backward) + " " +
           text(c.operands) + (c.constant_input ? ", constant" : "") + (c.cached_aggregation ? ", cached" : "") +
           (c.replicated_input ? ", replicated" : "") + (c.column_loss ? ", column loss" : "") +
           (c.loss_rows ? ", loss rows" : "");
}

// The seconds by which training is ranked, step by step, each shape looked up once: with what is made once for all
// epochs, but for requests of rows, divided by these.
inline double epoch_seconds(const search::Space& space, const search::ConfigurationFrame& frame,
                            const search::Choices& choices, search::StepCosts& costs) {
    const Schedule schedule = lower::lower(space.model, search::configuration_of(frame, choices), space.shape);
    double seconds = 0;
    for (const Step& step : schedule.steps) {
        const bool once = step.phase == Phase::setup && !std::holds_alternative<RowRequestStep>(step.operation);
        if (step.phase != Phase::epoch && !once) continue;
        const double epochs = once ? static_cast<double>(space.epochs) : 1;
        seconds += costs.seconds(schedule, step.operation) / epochs;
    }
    return seconds;
}

}  // namespace gnnplan::test
