// Rule: which forward products T^l = A^T H^(l-1) are kept for the weight gradient (RDM section III-C).
#pragma once

#include <gnnplan/ir/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan::enumerate {

// Y^l = (T^l)^T G^l needs T^l, which a forward S leaves in layout R, and G^l in R; Y^l = (H^(l-1))^T (A G^l) needs A
// G^l, which a backward S leaves in R, and H^(l-1) in R. T^l is kept where forward l is S and G^l is in R anyway, and
// where neither pair is in R and moving G^l (f_l) costs less than moving H^(l-1) (f_(l-1), less the mask it brings
// along).
//
// The operand of every layer's weight gradient in the paper space: T^l where it is kept; A G^l of a backward S; where
// both passes are D, the narrower product, made again (RDM section III-C).
OperandChoice paper_operands(const Orders& forward, const Orders& backward, const std::vector<std::int64_t>& widths);

}  // namespace gnnplan::enumerate
