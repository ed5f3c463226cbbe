// GraphCounts by the name that those who run schedules use.
#pragma once

#include "runtime/blocks/graph_counts.hpp"

namespace gnnplan::exec {

using data::GraphCounts;

}  // namespace gnnplan::exec
