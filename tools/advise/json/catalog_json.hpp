// Cards of data sets, calibrations that are kept, and machines as JSON.
#pragma once

#include "planner/catalog/cards.hpp"
#include "planner/io/document.hpp"
#include "tools/ask/calibration.hpp"

#include <span>
#include <vector>

namespace gnnplan::tools {

io::Document encode_datasets(std::span<const catalog::Card> cards);  // gnnplan.datasets/1
io::Document encode_dataset(const catalog::Card& card);              // gnnplan.dataset/1
io::Document encode_machines();                                      // gnnplan.machines/1, the presets
// gnnplan.calibrations/1
io::Document encode_calibrations(const std::vector<KeptCalibration>& calibrations,
                                 const std::vector<KeptCalibration>& probes);

}  // namespace gnnplan::tools
