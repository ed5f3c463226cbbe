// Candidates of a search: configurations listed, costed, filtered by memory.
#pragma once

#include <gnnplan/select.hpp>

#include <vector>

namespace gnnplan::search {

// A problem read once: the chain of layers, the options resolved and checked.
struct Space {
    std::vector<ProductLayer> layers;
    std::vector<std::int64_t> widths;  // f_0 .. f_L
    const GraphStats* graph = nullptr;
    bool one_copy = true;  // of the adjacency serves both passes
    int ranks = 1;
    SelectOptions options;
    std::int64_t memory_per_rank = 0;
};
Space make_space(const Problem& problem, const Machine& machine, const SelectOptions& options);

// Networks up to this depth have every configuration costed; deeper ones only the Pareto front of what fits in memory.
inline constexpr int max_fully_costed_layers = 3;

// One configuration of R_A = `replication`, not costed yet.
struct Listed {
    Configuration configuration;
    Units units;
};
std::vector<Listed> list_configurations(const Space& space, int replication);

Candidate cost_configuration(const Space& space, const Configuration& configuration, const Machine& machine);

// Every costed configuration with its schedule, in no particular order.
struct Costed {
    Ranked ranked;
    Candidate candidate;
};
std::vector<Costed> cost_space(const Space& space, const Machine& machine);

}  // namespace gnnplan::search
