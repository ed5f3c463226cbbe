// Bytes of many schedules that share most of their steps.
#pragma once

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <string>
#include <unordered_map>

namespace gnnplan::tools {

// Counts each kind and shape of step on each grid once. All counts are of one graph's statistics, which do not depend
// on how vertices are numbered.
class StepBytes {
public:
    // The bytes between ranks in an epoch: total_traffic's total_bytes.
    std::int64_t of_epoch(const Schedule& schedule, const GraphStats& graph);

private:
    std::unordered_map<std::string, std::int64_t> known_;
};

}  // namespace gnnplan::tools
