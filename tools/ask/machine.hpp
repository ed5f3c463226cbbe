// The machine to plan for.
#pragma once

#include <gnnplan/question.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

// A machine, and what there is to say of it: whole lines, which begin with "note: " or "warning: ".
struct ChosenMachine {
    Machine machine;
    std::vector<std::string> notes;
    bool built_in = false;  // nobody named a machine, and none was calibrated
};

// A preset's name or the file of a profile; "" for default_machine(ranks), "cuda" for this machine's GPUs.
// `ranks_per_node` ranks share a node, each with the memory and the rates that the profile gives a rank; unset: as many
// as in the profile. Throws Error{usage} where the profile was measured with another number, on which its rates depend.
ChosenMachine load_machine(const std::string& name_or_file, std::int64_t ranks,
                           std::optional<int> ranks_per_node = std::nullopt);

// The machine to plan `ranks` ranks for when none is named: that of calibration_for(), else the built-in cpu-node.
// Notes say when the calibration is stale or old.
ChosenMachine default_machine(std::int64_t ranks);

// Warnings about predictions for so many ranks, where the profile has another number a node; empty for presets.
std::vector<std::string> node_notes(const Machine& machine, const std::vector<std::int64_t>& ranks);

}  // namespace gnnplan::tools
