#include "tools/advise/evidence.hpp"

#include "planner/catalog/host.hpp"
#include "planner/catalog/machines.hpp"
#include "planner/cost/likely.hpp"
#include "planner/cost/tie.hpp"
#include "planner/io/calibrations.hpp"
#include "planner/io/fingerprint.hpp"
#include "tools/text/model_text.hpp"
#include "tools/text/trust.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gnnplan::tools {
namespace {

// Probed machines by epochs of machines that were not the reference.
constexpr TimeFactors probed_epochs{0.67, 1, 1.5};

// Presets by published epochs of GCN: the largest, the middle and the smallest of predicted over published times.
constexpr TimeFactors published_epochs{1, 3, 8};

bool kept_here(const std::string& fingerprint) {
    const std::vector<io::KeptCalibration> kept = io::read_calibrations().kept;
    return std::any_of(kept.begin(), kept.end(), [&](const io::KeptCalibration& calibration) {
        return io::machine_fingerprint(calibration.profile.machine) == fingerprint;
    });
}

// With as many ranks a node as somebody asks for, too.
bool is_preset(Machine machine) {
    const auto presets = catalog::machines();
    return std::any_of(presets.begin(), presets.end(), [&](const Machine& preset) {
        machine.ranks_per_node = preset.ranks_per_node;
        return preset.name == machine.name && io::machine_fingerprint(preset) == io::machine_fingerprint(machine);
    });
}

// The largest error that nine of ten predictions stay below, as far as it is known.
double large_error(const Machine& machine) {
    return machine.calibration ? std::max(machine.calibration->error_p90, machine.calibration->error_median)
                               : cost::model_error(machine);
}

std::string calibration_text(const Machine& machine, MachineOrigin origin) {
    const std::string where = origin == MachineOrigin::calibrated_here
                                  ? "Calibrated on this machine"
                                  : "Calibrated elsewhere, as far as is known here";
    if (!machine.calibration) return fmt::format("{}, by a few rates.", where);
    return fmt::format(
        "{}{}: half of the predictions that were checked were off by less than {:.0f} %, nine in ten by "
        "less than {:.0f} %.",
        where, machine.probe ? ", and rescaled to a probe" : "", 100 * machine.calibration->error_median,
        100 * large_error(machine));
}

// "GraphSAGE run", "run on dgx-h100": of published training, what none is of; "" where this was compared.
std::string not_compared(const Machine& machine, const std::string& model) {
    const bool machine_compared = machine.name == "a6000x8" || machine.name == "dgx-a100";
    if (model != "gcn") return fmt::format("No published {} run was compared. ", model_title(model));
    return machine_compared ? "" : fmt::format("No published run on {} was compared. ", machine.name);
}

std::string published_text(const Machine& machine, Task task, const std::string& model) {
    if (task == Task::infer) {
        const bool model_compared = model == "gcn" || model == "gat";
        return fmt::format(
            "{}In published inference of GCN and GAT, 16 machines gained over 2 between 0.5 and 1.9 times what is "
            "predicted; the order of the cases was not confirmed, nor were seconds (docs/published.md). Seconds are "
            "rather too small than too large: all cores of a rank are taken to load equally fast, and files to be read "
            "in no time.",
            model_compared ? "" : fmt::format("No published {} inference was compared. ", model_title(model)));
    }
    return not_compared(machine, model) +
           fmt::format(
               "In published GCN training on A6000 and A100 GPUs the predicted order of products was right in 21 "
               "of 24 cases, and RDM against 1.5D in 32 of 32; epochs took 1 to 8 times as long as predicted, "
               "and more {} gained less (docs/published.md).",
               machine.accelerators ? "GPUs" : "ranks");
}

// A calibration that was rescaled to a probe is none that is kept, but it was one of a machine such as this.
bool rescaled_here(const Machine& machine) {
    return machine.probe && machine.calibration && machine.calibration->probe &&
           machine.calibration->probe->cpu == catalog::read_host().cpu_model;
}

}  // namespace

MachineOrigin origin_of(const Machine& machine) {
    if (machine.probe && !calibrated(machine)) return MachineOrigin::probed;
    if (calibrated(machine))
        return rescaled_here(machine) || kept_here(io::machine_fingerprint(machine))
                   ? MachineOrigin::calibrated_here
                   : MachineOrigin::calibrated_elsewhere;
    return is_preset(machine) ? MachineOrigin::preset : MachineOrigin::own_file;
}

std::string text(MachineOrigin origin) {
    switch (origin) {
        case MachineOrigin::calibrated_here: return "calibrated here";
        case MachineOrigin::calibrated_elsewhere: return "calibrated elsewhere";
        case MachineOrigin::probed: return "probed";
        case MachineOrigin::preset: return "preset";
        case MachineOrigin::own_file: return "own file";
    }
    return "";
}

bool was_compared(const Machine& machine, MachineOrigin origin, Task task, const std::string& model) {
    if (calibrated(machine)) return true;
    return origin == MachineOrigin::preset && task == Task::train && not_compared(machine, model).empty();
}

std::string tie_text(const Machine& machine) {
    return cost::knows_errors(machine) ? "the model's errors"
                                       : fmt::format("{:.0f} %", 100 * cost::model_error(machine));
}

std::string apart_text(const Machine& machine) {
    return cost::knows_errors(machine) ? "within " + tie_text(machine) : "less than " + tie_text(machine) + " apart";
}

std::optional<TimeFactors> time_factors(const Prediction& predicted, const Machine& machine, Task task) {
    if (calibrated(machine)) {
        const cost::Interval likely = cost::likely_seconds(predicted, machine);
        const double seconds = predicted.ranked_seconds();
        return seconds > 0 ? TimeFactors{likely.low / seconds, 1, likely.high / seconds} : TimeFactors{};
    }
    if (machine.probe) return probed_epochs;
    return task == Task::train ? std::optional(published_epochs) : std::nullopt;
}

std::string evidence_text(const Machine& machine, MachineOrigin origin, Task task, const std::string& model) {
    if (calibrated(machine)) return calibration_text(machine, origin);
    if (origin == MachineOrigin::probed)
        return "A few rates of this machine were probed, and the others follow from those of a machine that was "
               "calibrated; gnnplan calibrate measures them all.";
    if (origin == MachineOrigin::preset) return published_text(machine, task, model);
    return fmt::format(
        "{} is a profile of your own and not calibrated: nothing was compared with it. {}Orders and schemes are as "
        "good as its figures.",
        machine.name,
        task == Task::train ? "With presets, which are made of data sheets too, published epochs took 1 to 8 times as "
                              "long as predicted (docs/published.md). "
                            : "");
}

}  // namespace gnnplan::tools
