// Lowering: a configuration of a model -> the schedule that runs it.
#pragma once

#include <gnnplan/base/blocking.hpp>
#include <gnnplan/ir/config.hpp>
#include <gnnplan/ir/schedule.hpp>
#include <gnnplan/ir/sites.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace gnnplan::lower {

struct GraphShape {
    std::int64_t vertices = 0;
    bool symmetric = true;  // A equals A^T in values: one copy serves both passes
    std::vector<std::int64_t>
        loss_rows;                   // |N_0| .. |N_L| (ir/graph_stats.hpp); read for configurations that prune rows
    std::uint64_t seed = 0;          // of the permutation
    bool symmetric_pattern = false;  // A has the pattern of A^T: one copy of the columns serves both passes
    std::int64_t nonzeros = 0;
    std::int64_t cache_bytes = 0;    // largest working set that is gathered from at speed; 0: unknown, no panels
    std::int64_t panel_columns = 0;  // of source panels, instead of what follows from these two
    Optimiser optimiser = Optimiser::adam;
    Blocking blocking{};               // of the machine
    int ranks_per_node = 1;            // of the machine
    Loading loading = Loading::whole;  // where the numbering allows it
    std::optional<Batches> batches{};  // that groups train on
    std::vector<int> samples{};        // by layer: whose drawn edges it multiplies by; empty: all edges, of all layers
};

// One training epoch and one evaluation of `model` under `configuration`. In the paper space every redistribution and
// SpMM that the paper's units count is a step, the unused input gradient included; what the paper leaves out (masks and
// operands in the wrong layout, reductions) are steps of their own. Throws Error{usage} when the orders' length is not
// the number of layers, or the configuration contradicts itself.
Schedule lower(const SiteGraph& model, const Configuration& configuration, const GraphShape& graph);
// The same without the evaluation, for those who cost epochs of many configurations.
Schedule lower_epoch(const SiteGraph& model, const Configuration& configuration, const GraphShape& graph);

}  // namespace gnnplan::lower
