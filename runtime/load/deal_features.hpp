// Rows of features go to the ranks whose layers want them, out of files of which each rank reads a share.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/graph/order.hpp"
#include "runtime/load/feature_takers.hpp"
#include "runtime/load/share.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace gnnplan::load {

// Called for each row that this rank takes of a tensor: the values are those of its block, in which the row counts.
using PutRow = std::function<void(std::size_t tensor, std::int64_t row, std::span<const float> values)>;

struct DealtFeatures {
    LoadStep step;           // "features"
    std::uint64_t hash = 0;  // the sum of row_hash() over all rows
    std::string listing;     // the fingerprint of who has read which rows
    bool by_one = false;     // one of several ranks has read all of them
};

// Collective. Reads each row once, in rounds, and normalises it; the data set has features in shares. `order` is that
// in which the rows of `takers` count. A rank sends 4 bytes for each row that it read and another one takes, and 4 for
// each of the columns that this one wants; and in every round feature_header_bytes() to each other rank. Throws
// AgreedError with ErrorCode::data where a file is malformed, and where a vertex has no row or two.
DealtFeatures deal_features(comm::Communicator& comm, const data::Dataset& dataset, const FeatureTakers& takers,
                            const data::VertexOrder& order, const PutRow& put);

}  // namespace gnnplan::load
