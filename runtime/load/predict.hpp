// The traffic of loading a graph in shares on the data channel, predicted.
#pragma once

#include "runtime/data/dataset.hpp"
#include "runtime/load/row_shares.hpp"

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/loading.hpp>
#include <gnnplan/ir/plan.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan::load {

// The bytes that ranks send while edges are dealt; this holds for a file that lists the same edges in each share.
struct Dealing {
    std::vector<std::vector<std::int64_t>> bytes;  // by schedule and rank
    std::string listing;                           // the fingerprint of that
};

// The data set's file is read once for it, in the shares of all ranks. `dataset` was opened with
// DatasetOptions::in_shares.
Dealing predict_dealing(const data::Dataset& dataset, const std::vector<const Schedule*>& schedules,
                        Normalisation normalisation, bool symmetric);

// The bytes that a rank sends while rows are shared and while degrees are asked for. `graph` answers in the schedule's
// numbering.
std::int64_t shared_bytes(const RowShares& shares, const LoadingNeeds& needs, const GraphStats& graph, int rank);
std::int64_t degree_bytes(const RowShares& shares, const LoadingNeeds& needs, Normalisation normalisation,
                          const GraphStats& graph, int rank);

}  // namespace gnnplan::load
