// Configurations lowered and costed.
#pragma once

#include "planner/lower/buffers.hpp"
#include "planner/search/space.hpp"
#include "planner/search/step_costs.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace gnnplan::search {

// The graph in the numberings that have been asked for, by one search or by several of the same machine.
class NumberedGraphs {
public:
    explicit NumberedGraphs(const GraphStats& graph) : graph_(graph) {}
    const GraphStats& numbered(const Numbering& numbering);
    lower::KnownCuts cuts;  // of adjacencies in these numberings

private:
    const GraphStats& graph_;
    std::vector<std::pair<Numbering, std::shared_ptr<const GraphStats>>> graphs_;
};

// A configuration lowered, its pieces cut as the space's bound on buffers asks for.
struct Lowered {
    Schedule schedule;
    std::int64_t needed_buffer = 0;  // where no cut keeps to the bound, bytes that would be enough; else 0
    bool fits() const { return needed_buffer == 0; }
};
Lowered lowered(const Space& space, const Configuration& configuration, NumberedGraphs& graphs);

// The cost of a schedule in this space: without dropping features where runs will not, and with dropping weights of
// attention where they will. `graph` answers in its numbering.
Prediction predict(const Space& space, const Schedule& schedule, const GraphStats& graph, const Machine& machine,
                   std::int64_t peak_bytes);
// The same with what is known of its steps.
Prediction predict(const Space& space, const Schedule& schedule, const GraphStats& graph, SharedCosts& costs,
                   std::int64_t peak_bytes);

// Lowers and costs one configuration, which fits the space; nothing where no cut keeps to the bound on buffers.
std::optional<Candidate> cost_if_bounded(const Space& space, const Configuration& configuration, const Machine& machine,
                                         NumberedGraphs& graphs);
// The same of one that keeps to it, as any does where there is none.
Candidate cost_configuration(const Space& space, const Configuration& configuration, const Machine& machine,
                             NumberedGraphs& graphs);

// A costed configuration with its schedule.
struct EvaluatedCandidate {
    RankedConfiguration ranked;
    Candidate candidate;
};

}  // namespace gnnplan::search
