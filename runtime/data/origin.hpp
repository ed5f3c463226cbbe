// The parts of a data set, wherever it comes from: a graph, and what opens the rest once the graph is accepted.
#pragma once

#include "runtime/graph/arrays.hpp"
#include "runtime/graph/features.hpp"
#include "runtime/read/parsed_graph.hpp"
#include "runtime/read/supervision.hpp"
#include "runtime/read/unread.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace gnnplan::data {

struct Origin {
    std::string where;  // for messages and the report: a path, or the name of arrays
    ParsedGraph graph;
    // Returns null where there are no features.
    std::function<std::unique_ptr<FeatureSource>(std::int64_t vertices)> open_features;
    // `split` names one of several splits, or is empty.
    std::function<Supervision(const std::string& split, std::int64_t vertices)> read_supervision;
    std::function<Leftovers(std::int64_t vertices)> leftovers;  // null: all is read
};

// `edge_weights`: the edges' weights will be used. Throws ErrorCode::data when the arrays are not as data::Arrays says.
Origin origin_of(Arrays arrays, bool edge_weights);

}  // namespace gnnplan::data
