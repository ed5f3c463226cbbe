#pragma once

#include <gnnplan/ir/traffic.hpp>

#include <cstdint>
#include <string>

namespace gnnplan::testing {

// The bytes that all ranks together send in the steps of a name.
inline std::int64_t sent_bytes(const Schedule& schedule, const GraphStats& graph, const std::string& step) {
    std::int64_t bytes = 0;
    for (const Step& each : schedule.steps) {
        if (each.name != step) continue;
        for (const RankTraffic& rank : traffic_of(schedule, each, graph)) bytes += rank.sent_bytes;
    }
    return bytes;
}

}  // namespace gnnplan::testing
