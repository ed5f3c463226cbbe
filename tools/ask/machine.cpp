#include "tools/ask/machine.hpp"

#include "planner/catalog/machines.hpp"
#include "tools/ask/calibration.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

#include <set>
#include <utility>

namespace gnnplan::tools {
namespace {

constexpr const char* built_in = "cpu-node";
constexpr std::int64_t old_days = 90;

void set_ranks_per_node(Machine& machine, int ranks) {
    if (machine.measured && machine.ranks_per_node != ranks) {
        throw Error(ErrorCode::usage,
                    fmt::format("the profile {} was measured with {} ranks on a node, all busy", machine.name,
                                machine.ranks_per_node),
                    "`ranks-per-node`", fmt::format("measure with so many: mpirun -n {} `calibrate/`", ranks));
    }
    machine.ranks_per_node = ranks;
}

}  // namespace

ChosenMachine load_machine(const std::string& name_or_file, std::int64_t ranks, std::optional<int> ranks_per_node) {
    ChosenMachine chosen =
        name_or_file.empty() ? default_machine(ranks) : ChosenMachine{find_machine(name_or_file), {}, false};
    if (ranks_per_node) set_ranks_per_node(chosen.machine, *ranks_per_node);
    return chosen;
}

ChosenMachine default_machine(std::int64_t ranks) {
    KeptCalibrations kept = kept_calibrations();
    const KeptCalibration* chosen = calibration_for(ranks, kept.all);
    ChosenMachine found{chosen == nullptr ? catalog::find_machine(built_in) : chosen->profile.machine,
                        std::move(kept.warnings), false};
    found.built_in = chosen == nullptr;
    if (chosen == nullptr) return found;
    if (!chosen->stale.empty()) {
        found.notes.push_back(fmt::format("warning: the calibration of this machine is stale: {} (run `calibrate/`)",
                                          fmt::join(chosen->stale, "; ")));
    } else if (const std::int64_t days = days_since(calibration_date(chosen->profile)); days > old_days) {
        found.notes.push_back(
            fmt::format("note: the calibration of this machine is {} days old (run `calibrate/`)", days));
    }
    const auto& calibration = chosen->profile.machine.calibration;
    if (calibration && calibration->busy > 0) {
        found.notes.push_back(
            fmt::format("note: other programs took {:.0f} % of the cores while this machine was calibrated (run "
                        "`calibrate/` when it is quiet)",
                        100 * calibration->busy));
    }
    return found;
}

std::vector<std::string> node_notes(const Machine& machine, const std::vector<std::int64_t>& ranks) {
    if (!machine.measured) return {};
    const std::int64_t node = machine.ranks_per_node;
    std::set<std::int64_t> fewer, more, nodes;
    for (const std::int64_t count : ranks) {
        if (count < node) fewer.insert(count);
        if (count <= node) continue;
        more.insert(count);
        nodes.insert((count + node - 1) / node);
    }
    std::vector<std::string> notes;
    if (!fewer.empty()) {
        const std::int64_t most = *fewer.rbegin();
        notes.push_back(
            fmt::format("the profile is of {} ranks a node, all busy; {} may be faster than predicted: {} "
                        "measures so many",
                        node, fmt::join(fewer, ", "),
                        most == 1 ? "`calibrate/ranks 1`" : fmt::format("mpirun -n {} `calibrate/`", most)));
    }
    if (!more.empty()) {
        notes.push_back(
            fmt::format("{} ranks are planned as {} nodes, because the profile was measured with {} ranks on one; to "
                        "measure more on this node: mpirun -n {} `calibrate/`",
                        fmt::join(more, ", "), fmt::join(nodes, ", "), node, *more.rbegin()));
    }
    return notes;
}

}  // namespace gnnplan::tools
