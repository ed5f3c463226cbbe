// A machine in another state than the one that it was calibrated in: five figures say by how much its rates differ.
#pragma once

#include <gnnplan/ir/machine.hpp>

#include <cstdint>

namespace gnnplan::cost {

// Rates now over rates then, by what they are of; 1 where either was not measured.
struct RateRatios {
    double gemm = 1;
    double copy = 1;
    double near = 1;  // gathering from near_bytes, and from far_bytes
    double far = 1;
    double within_node = 1;  // messages
    double between_nodes = 1;
    double near_bytes = 1;
    double far_bytes = 1;
    double copy_bytes = 1;  // that the figure of copies is of

    // Gathering from so many bytes: linear in their logarithm between the two figures, constant outside.
    double gather(double working_set_bytes) const;
    // Elementwise work on so many bytes: what lies in caches follows gathering from near, and what does not copies.
    double stream(double bytes) const;
    // The time now of a dense product that took `seconds` > 0 then, when copying as many bytes as its operands have
    // took `copy_seconds`. It follows the GEMM's figure where that was four fifths of its time or less, that of copies
    // where it was all, and something in between otherwise; it never takes less than its bytes do.
    double gemm_seconds(double seconds, double copy_seconds) const;
};
// Messages within a node follow copies where `now` has no figure of them.
RateRatios rate_ratios(const ProbeFigures& then, const ProbeFigures& now);

// The figures that the rates of a machine are of; null where nobody knows.
const ProbeFigures* probed_state(const Machine& machine);

// The figures that a probe with operands of at most `largest_bytes` would measure if the rates of the machine held.
ProbeFigures implied_figures(const Machine& machine, std::int64_t largest_bytes);

// The machine as it is where `now` is measured: gathering is rescaled by the ratio for its distance, elementwise work
// as RateRatios::stream says, loading by that of copies, dense products as RateRatios::gemm_seconds says, losses and
// the overhead of steps by that of GEMM, and messages by that of exchanges within nodes or between them.
// probed_state(machine) is not null.
Machine rescaled(const Machine& machine, const ProbeFigures& now);

}  // namespace gnnplan::cost
