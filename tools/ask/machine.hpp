// The machine to plan for.
#pragma once

#include <gnnplan/question.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan::tools {

// A machine, and what there is to say of it: whole lines, which begin with "note: " or "warning: ".
struct ChosenMachine {
    Machine machine;
    std::vector<std::string> notes;
};

// A preset's name or the file of a profile; "" for default_machine(ranks).
ChosenMachine load_machine(const std::string& name_or_file, std::int64_t ranks);

// The machine to plan `ranks` ranks for when none is named: that of calibration_for(), else the built-in cpu-node.
// Notes say when the calibration is stale or old.
ChosenMachine default_machine(std::int64_t ranks);

// What predictions for so many ranks suffer from, the profile being of another number a node; empty for presets.
std::vector<std::string> node_notes(const Machine& machine, const std::vector<std::int64_t>& ranks);

}  // namespace gnnplan::tools
