// The floor of an epoch as a table for people and as JSON for scripts.
#pragma once

#include "bench/epoch/floor_run.hpp"
#include "planner/io/document.hpp"

#include <string>

namespace gnnplan::bench {

std::string floor_text(const EpochFloor& epoch, const RunReport& report, const Peaks& peaks);

// Schema gnnplan.epoch_floor/1; seconds, and bytes and flops a second of a rank.
io::Document floor_json(const EpochFloor& epoch, const RunReport& report, const Peaks& peaks);

}  // namespace gnnplan::bench
