// Samples of computation into curves and tables.
#pragma once

#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/profile.hpp>

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace gnnplan::calibrate {

// "gemm.forward" etc., "stream.copy" etc.; nothing for other names.
std::optional<GemmKind> product_of(std::string_view what);
std::optional<ElementwiseKind> elementwise_kind_of(std::string_view what);

// One curve for each width among the "spmm" samples. The cost of a row follows from working sets that were measured
// with rows of two lengths; it is 0 where there are none. "spmm.add" and "spmm.pass" say what rows cost in further
// panels.
std::vector<GatherCurve> fit_gather(std::span<const Sample> samples);

// For each width the rate with a dense operand of a size that is neither cached nor far from it.
std::vector<SpmmRate> spmm_rates(std::span<const Sample> samples);

// The time of programs over nonzeros besides sums: the "program." samples without what the gather curves say of as many
// columns. None where there are no curves.
std::vector<ProgramCost> fit_programs(std::span<const Sample> samples, const Calibration& gathered);

std::vector<GemmRate> fit_gemm(std::span<const Sample> samples);
// As the "gemm." samples say; nothing where they do not, as those of older profiles.
std::optional<int> gemm_lanes(std::span<const Sample> samples);
std::optional<LossCost> fit_loss(std::span<const Sample> samples);
// From the "load." samples; rows are made of edges that are dealt first, which takes what dealing takes. None without
// them.
std::optional<LoadingCost> fit_loading(std::span<const Sample> samples);
std::vector<StreamRate> fit_streams(std::span<const Sample> samples);

}  // namespace gnnplan::calibrate
