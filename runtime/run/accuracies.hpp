// How many vertices an inference finds the class of.
#pragma once

#include "runtime/data/dataset.hpp"
#include "runtime/run/vertex_values.hpp"

#include <gnnplan/ir/measurement.hpp>

namespace gnnplan::run {

// Collective: compares the logits of all vertices, whole rows of which a rank holds, with the labels of the data, which
// has a split, too.
Accuracies accuracies_of(comm::Communicator& comm, const VertexMatrix& logits, const data::Dataset& dataset);

}  // namespace gnnplan::run
