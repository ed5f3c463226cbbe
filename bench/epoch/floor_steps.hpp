// The least time that a step can take on a machine of given peaks.
#pragma once

#include "bench/epoch/floor_operands.hpp"
#include "bench/epoch/floor_peaks.hpp"

#include <string_view>

namespace gnnplan::bench {

enum class Bound { flops, bytes, link };
std::string_view text_of(Bound bound);

// Seconds on one rank.
struct StepFloor {
    double flops = 0;  // multiplying and adding
    double bytes = 0;  // reading and writing what must be, each byte once
    double link = 0;   // the larger of what is sent and received, between nodes
    // In place of `bytes`: a product gathers the rows again that it has lost from the second level since it used them.
    double bytes_with_reuse = 0;

    double seconds() const;
    double seconds_with_reuse() const;
    Bound bound() const;  // the largest term
};

// The floor of a step with these accesses on `rank`. `graph` answers in the schedule's numbering.
StepFloor floor_of(const Schedule& schedule, const Step& step, const StepAccesses& accesses, const GraphStats& graph,
                   int rank, const Peaks& peaks);

}  // namespace gnnplan::bench
