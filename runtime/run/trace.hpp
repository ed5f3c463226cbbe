// Traces: when the steps of the last epochs ran on every rank, the prediction beside them.
#pragma once

#include "planner/io/trace.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/measure/clock.hpp"
#include "runtime/measure/timeline.hpp"

#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gnnplan::run {

// Epochs that a trace shows at most, the last ones; fewer where that would be more than so many slices on all ranks.
inline constexpr std::int64_t traced_epochs = 20;
inline constexpr std::size_t traced_slices = 200000;

// Records on one rank while it trains.
class TraceRecorder {
public:
    // `clock` is the one that the rank trains with.
    TraceRecorder(measure::Clock& clock, int ranks)
        : clock_(clock), timeline_(traced_epochs, traced_slices / static_cast<std::size_t>(ranks)) {}

    // To be called when another candidate is built, and after each pass.
    void restart() { timeline_.clear(); }
    void add(std::span<const measure::TimedStep> pass);

    // Collective, after training. Every rank's steps, in rank order, all in rank 0's time.
    std::vector<measure::Timeline> gather(comm::Communicator& comm);

private:
    measure::Clock& clock_;
    measure::Timeline timeline_;
};

// Process 0 has one lane per rank; process 1 the predicted steps of an epoch or an evaluation laid end to end from
// where each began, in another lane where the one before was predicted to take longer than it did.
io::Trace make_trace(const Plan& plan, const RunReport& report, const std::vector<measure::Timeline>& ranks);

}  // namespace gnnplan::run
