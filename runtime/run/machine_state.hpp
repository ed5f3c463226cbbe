// In which state the machine is when a long training begins, compared with when it was calibrated.
#pragma once

#include "runtime/run/rank.hpp"

#include <gnnplan/ir/probe.hpp>

#include <optional>

namespace gnnplan::run {

// Measures the figures of a probe where a training is predicted to take longer than a minute, of which that is a
// fiftieth at most; where its plan's machine is a calibration of this host with figures to compare with, measured with
// as many ranks and threads; and where operands fit beside the run. Collective; the same on every rank.
std::optional<ProbeFigures> probe_state(const Shared& shared, comm::Communicator& comm, const Launch& launch,
                                        measure::Clock& clock);

}  // namespace gnnplan::run
