// The graph to measure on: read, or drawn for the occasion.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/data/dataset.hpp"

#include <cstdint>
#include <string>

namespace gnnplan::bench {

struct GraphOptions {
    std::string graph;  // a path, or rmat:VERTICES:NONZEROS:SEED
    bool symmetrise = false;
    bool self_loops = true;
    std::int64_t features = 0, classes = 0;  // generated where the graph has none
};

// Collective. A graph that is drawn lies in rank 0's temporary folder for a moment, which every rank must see. Throws
// ErrorCode::usage when widths are not those of the data, else like open_dataset, on every rank.
data::Dataset open_graph(comm::Communicator& comm, const GraphOptions& options);

}  // namespace gnnplan::bench
