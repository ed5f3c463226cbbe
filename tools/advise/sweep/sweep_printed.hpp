// The figures that a publication prints of the points of a sweep, beside those predicted.
#pragma once

#include "tools/advise/sweep/sweep.hpp"

#include <optional>
#include <string>

namespace gnnplan::tools {

// The prediction of the printed quantity; none where nothing fits.
std::optional<double> predicted_as_printed(const Sweep& sweep, const SweepPoint& point);
// "12 ms", "2.28x", "OOM", "ran"; "" where nothing is printed.
std::string printed_text(const Sweep& sweep, const SweepPoint& point);
// Predicted over printed, "0.77"; "" where one of them is not there.
std::string printed_ratio_text(const Sweep& sweep, const SweepPoint& point);
// "printed: MG-GCN, Table 3: seconds of an epoch. Predicted is 0.77 of printed in the mean (0.28 to 1.08, 13 figures);
// 15 of 16 runs fit or do not fit as printed"; "" where nothing is printed.
std::string printed_sentence(const Sweep& sweep);

}  // namespace gnnplan::tools
