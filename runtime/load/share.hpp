// A rank's share of a graph: read by all ranks together, each a part of the file, without any of them holding the
// whole.
#pragma once

#include "runtime/blocks/block.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/comm/traffic.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/graph/order.hpp"
#include "runtime/load/row_shares.hpp"

#include <gnnplan/ir/plan.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gnnplan::load {

// The traffic of one part of loading on the data channel, and how long it took.
struct LoadStep {
    std::string name;  // "deal", "rows", "degrees"
    comm::Traffic traffic;
    double seconds = 0;
    std::int64_t expected_bytes = 0;  // that this rank was to send
};

struct GraphShare {
    data::Graph graph;  // rows of this rank; `share` is set
    Range rows;         // these, as the schedule numbers them
    bool drawn_weighted = false;
    data::DegreeScales scales;
    std::shared_ptr<const data::VertexOrder> order;
    data::LoadReport report;  // of the whole graph, the same on every rank
    std::string fingerprint;  // of the whole graph
    std::string listing;      // of its edges as ranks have read them
    std::vector<LoadStep> steps;
    bool by_one = false;  // one rank read the file for all

    // The bytes that the share keeps, as the memory plan predicts for loading, without the order.
    std::int64_t bytes = 0;
};

// The bytes that a loaded graph, or a share of one, and its scales hold, as the memory plan predicts for loading.
// Buffers of reading and parsing, such as the edge list, are gone by then and are outside that equality, although they
// may need more.
std::int64_t held_bytes(const data::Graph& graph, const data::DegreeScales& scales);

// Collective. Loads what this rank needs of the data set's graph to cut the blocks of `schedule`: rows of A^T, and of A
// where the schedule multiplies by it, or what layers have drawn of A^T. Blocks cut out of it are the same bits as
// those of the whole graph. `dataset` was opened with DatasetOptions::in_shares; `symmetric`: it is expected to be.
// Throws AgreedError as open_dataset() throws, and ErrorCode::mismatch when there are more vertices than expected, or
// the graph is not symmetric against the expectation.
GraphShare load_share(comm::Communicator& comm, const data::Dataset& dataset, const Schedule& schedule,
                      Normalisation normalisation, bool symmetric);

}  // namespace gnnplan::load
