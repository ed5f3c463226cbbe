// Graphs that were read or generated as JSON.
#pragma once

#include "planner/io/document.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/generate/generate.hpp"

#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace gnnplan::tools {

// How many entries the rows of the prepared matrix have, without the self loop that every vertex was given.
struct Degrees {
    std::int64_t min = std::numeric_limits<std::int64_t>::max();
    std::int64_t max = 0;
    double mean = 0;
};
Degrees degrees_of(const data::Dataset& dataset);

// gnnplan.graph/1: what was found in the graph, which is there.
io::Document encode(const data::Dataset& dataset, const Degrees& degrees, const Fingerprints& of);

// How a graph was generated and where it was written.
struct Generation {
    std::string path;
    bool relabelled = false;
    bool symmetrised = false;
    bool duplicates_dropped = false;
};
// gnnplan.generated/1.
io::Document encode(const data::GeneratedGraph& graph, const Generation& generation);

}  // namespace gnnplan::tools
