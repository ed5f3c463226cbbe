// How good the logits of an inference are.
#pragma once

#include "runtime/data/dataset.hpp"
#include "runtime/run/vertex_values.hpp"

#include <gnnplan/ir/measurement.hpp>

namespace gnnplan::run {

// Whether the data has labels and a split, and as many labels a vertex as there are logits.
bool can_judge(const data::Dataset& dataset, std::int64_t columns);

// Collective: compares the logits of all vertices, whole rows of which a rank holds, with the labels of the data.
Judgement judge_logits(comm::Communicator& comm, const VertexMatrix& logits, const data::Dataset& dataset);

}  // namespace gnnplan::run
