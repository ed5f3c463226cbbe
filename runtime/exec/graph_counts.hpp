// Counts of graphs by the names that those who run schedules use.
#pragma once

#include "runtime/blocks/graph_counts.hpp"

namespace gnnplan::exec {

using data::GraphCounts;
using data::NumberedCounts;

}  // namespace gnnplan::exec
