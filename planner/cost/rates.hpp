// Times that follow from a machine's measured curves, interpolated between what was measured and clamped outside.
#pragma once

#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/packed_panel.hpp>

#include <cstdint>
#include <optional>

namespace gnnplan {

// One message of so many bytes. Does not fall as bytes grow.
double message_seconds(const Link& link, double bytes);

// The time of each row of the long side is bilinear in inner and columns within the four measured shapes around, the
// side along the rows of the result counting in whole vectors of Calibration::gemm_lanes: that is what a product of
// tiles takes. No shape takes less than the smallest measured, and beyond the largest time grows in proportion. Where
// one of the four was not measured, the mean rate of the product's shapes, weighted by 1 / distance^2; the single rate
// where the product was not measured.
double gemm_flops_per_second(const Machine& machine, GemmKind product, std::int64_t inner, std::int64_t columns);

// Elementwise work on so many bytes, its working set: linear in log(bytes). Streams not measured count as copies; the
// single rate where there are none either.
double elementwise_bytes_per_second(const Machine& machine, ElementwiseKind stream, std::int64_t bytes);
// The same where the bytes are in cache already: as fast as the stream was measured for any smaller working set.
double cached_bytes_per_second(const Machine& machine, ElementwiseKind stream, std::int64_t bytes);

// One nonzero of a product of this width, on average over reuses of the dense operand's rows with evenly from
// `from_bytes` to `to_bytes` > from_bytes of other rows in between.
//
// A curve's cost g(W) is not that of distance W. Uniformly random columns among R rows come back after a number of
// other rows that is uniform on 0 .. R - 1, so with h the cost by distance, g(W) = 1/W * integral of h from 0 to W, and
// the mean of h over [a, b] is (b g(b) - a g(a)) / (b - a). A matrix that was measured so gets its own time back. g is
// linear in log(W) between the measurements, constant below them; above them h is constant. Between widths the result
// is linear in the width; above the widest it grows with the width, below the narrowest it does not fall.
// Calibration::gather is not empty.
double gather_seconds(const Calibration& calibration, std::int64_t width, double from_bytes, double to_bytes);

// The same for all slices of a packed row; the bytes are those of one slice of the rows. Taken from the widths whose
// rows lay as packed ones do when they were measured. The machine is calibrated.
double packed_gather_seconds(const Machine& machine, const PackedPanel& packed, double from_bytes, double to_bytes);

// One row of the result in one source panel, linear in the width likewise.
double row_seconds(const Calibration& calibration, std::int64_t width);

// The extra time of a row that adds to an earlier panel's sums; none if it was not measured at every width.
std::optional<double> row_again_seconds(const Calibration& calibration, std::int64_t width);

// The time of a program besides a sum, as in ProgramCost, at one width.
struct ProgramSeconds {
    double nonzero = 0;
    double row = 0;
    double working_set_bytes = 0;
    double waiting = 0;
};
// For `width` columns of the program's wide operands; linear in the heads, between measured ones and beyond the most.
// All 0 where the program was not measured.
ProgramSeconds program_seconds(const Calibration& calibration, Program program, std::int64_t heads, std::int64_t width,
                               bool dropout = false);

// The cost of loading, as measured on the machine, or else as measured on one core of an AMD EPYC (Zen 3), divided by
// the threads that a rank has.
LoadingCost loading_cost(const Machine& machine);

// The cost of rows without nonzeros, linear between the measured widths; nothing if there is none.
PassingCost passing_cost(const Calibration& calibration, std::int64_t width);

}  // namespace gnnplan
