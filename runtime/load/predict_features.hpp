// The traffic of dealing features, predicted.
#pragma once

#include "runtime/data/dataset.hpp"
#include "runtime/load/predict.hpp"

#include <gnnplan/ir/schedule.hpp>

#include <vector>

namespace gnnplan::load {

// The bytes that ranks send while all features of a schedule are dealt; this holds for files of which each rank reads
// the same rows. The ids of the data set's files are read once for it, in the shares of all ranks. Nothing where its
// features are found in place.
Dealing predict_features(const data::Dataset& dataset, const std::vector<const Schedule*>& schedules);

}  // namespace gnnplan::load
