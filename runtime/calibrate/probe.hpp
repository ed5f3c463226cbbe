// The figures of a probe: a few rates that say in which state the machine is.
#pragma once

#include "runtime/calibrate/measurements.hpp"

#include <gnnplan/ir/probe.hpp>

#include <cstdint>
#include <memory>

namespace gnnplan::calibrate {

// Many short batches and not a few long ones: steps of an epoch are as short, and where other programs share the cores,
// most of them are not interrupted. All figures and making their operands take less than two seconds, on a busy machine
// too.
inline constexpr Effort probe_effort{0.01, 15, 0.25};

// Measures the figures, as often as is asked. It keeps their operands from one time to the next, so that the pages that
// these lie on are no reason for a difference: up to two and a half times `largest` bytes.
class Probe {
public:
    // No operand is larger than `largest`. setting.effort is that of each figure. Collective.
    Probe(const Setting& setting, const Nodes& nodes, std::int64_t largest);
    ~Probe();
    Probe(const Probe&) = delete;
    Probe& operator=(const Probe&) = delete;

    // All ranks measure at once, and the slowest counts. Collective; the same on every rank.
    ProbeFigures measure();

private:
    struct Operands;

    Setting setting_;
    std::int64_t largest_;
    std::unique_ptr<Operands> operands_;
};

}  // namespace gnnplan::calibrate
