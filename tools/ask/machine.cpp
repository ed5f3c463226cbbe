#include "tools/ask/machine.hpp"

#include "planner/catalog/machines.hpp"
#include "runtime/comm/launcher.hpp"
#include "tools/ask/calibration.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace gnnplan::tools {
namespace {

constexpr const char* built_in = "cpu-node";
constexpr std::int64_t old_days = 90;

// The command that measures with so many ranks.
std::string to_calibrate(std::int64_t ranks) {
    return comm::start_command_here(ranks, mpi_library()) + " `calibrate/`";
}

void set_ranks_per_node(Machine& machine, int ranks) {
    if (machine.measured && machine.ranks_per_node != ranks) {
        throw Error(ErrorCode::usage,
                    fmt::format("the profile {} was measured with {} ranks on a node, all busy", machine.name,
                                machine.ranks_per_node),
                    "`ranks-per-node`", "measure with so many: " + to_calibrate(ranks));
    }
    machine.ranks_per_node = ranks;
}

// With notes where it is stale, old, or was measured beside other programs.
ChosenMachine machine_of(const KeptCalibration& kept, std::vector<std::string> notes, const std::string& name = {}) {
    const std::string again = !name.empty()                       ? "`calibrate/name " + name + "` there"
                              : kept.profile.machine.accelerators ? "`calibrate/backend cuda`"
                                                                  : "`calibrate/`";
    const std::string which = name.empty() ? "of this machine" : name;
    if (!kept.stale.empty()) {
        notes.push_back(fmt::format("warning: the calibration {} is stale: {} (run {})", which,
                                    fmt::join(kept.stale, "; "), again));
    } else if (const std::int64_t days = days_since(calibration_date(kept.profile)); days > old_days) {
        notes.push_back(fmt::format("note: the calibration {} is {} days old (run {})", which, days, again));
    }
    const auto& calibration = kept.profile.machine.calibration;
    if (calibration && calibration->busy > 0) {
        notes.push_back(
            fmt::format("note: other programs took {:.0f} % of the cores while {} was calibrated (run {} "
                        "when it is quiet)",
                        100 * calibration->busy, name.empty() ? "this machine" : name, again));
    }
    return {kept.profile.machine, std::move(notes), false};
}

ChosenMachine machine_of_devices(std::int64_t ranks) {
    KeptCalibrations kept = kept_calibrations();
    return machine_of(device_calibration_for(ranks, kept.all), std::move(kept.warnings));
}

bool has_calibration(const std::string& name) {
    const std::vector<std::string> names = io::calibration_names();
    return std::ranges::find(names, name) != names.end();
}

ChosenMachine machine_of_name(std::int64_t ranks, const std::string& name) {
    KeptCalibrations kept = kept_calibrations(name);
    return machine_of(io::named_calibration_for(ranks, kept.all, name), std::move(kept.warnings), name);
}

}  // namespace

ChosenMachine load_machine(const std::string& name_or_file, std::int64_t ranks, std::optional<int> ranks_per_node) {
    ChosenMachine chosen = name_or_file.empty()                 ? default_machine(ranks)
                           : name_or_file == io::device_machine ? machine_of_devices(ranks)
                           : has_calibration(name_or_file)      ? machine_of_name(ranks, name_or_file)
                                                                : ChosenMachine{find_machine(name_or_file), {}, false};
    if (ranks_per_node) set_ranks_per_node(chosen.machine, *ranks_per_node);
    return chosen;
}

ChosenMachine default_machine(std::int64_t ranks) {
    KeptCalibrations kept = kept_calibrations();
    const KeptCalibration* chosen = calibration_for(ranks, kept.all);
    if (chosen != nullptr) return machine_of(*chosen, std::move(kept.warnings));
    return {catalog::find_machine(built_in), std::move(kept.warnings), true};
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
                        node, fmt::join(fewer, ", "), most == 1 ? "`calibrate/ranks 1`" : to_calibrate(most)));
    }
    if (!more.empty()) {
        notes.push_back(
            fmt::format("{} ranks are planned as {} nodes, because the profile was measured with {} ranks on one; to "
                        "measure more on this node: {}",
                        fmt::join(more, ", "), fmt::join(nodes, ", "), node, to_calibrate(*more.rbegin())));
    }
    return notes;
}

}  // namespace gnnplan::tools
