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
#include <array>

namespace gnnplan::tools {
namespace {

// Probed machines by epochs of machines that were not the reference.
constexpr TimeFactors probed_epochs{0.67, 1, 1.5};

// Presets by published epochs: the largest, the middle and the smallest of predicted over published times. Where nobody
// has published any, those of A6000 GPUs stand for them, which are the widest of GPUs.
constexpr TimeFactors published_epochs{1, 2.8, 6.3};

// A publication whose training on a preset's machine was compared with predictions (docs/published.md, which
// bench/published/trust.py compares with these sentences).
struct Finding {
    const char* machine;
    const char* model;
    bool ranks_schemes;  // whether it tells which orders or schemes are faster
    TimeFactors epochs;
    const char* text;
};

constexpr std::array findings{
    Finding{
        "a6000x8", "gcn", true, published_epochs,
        "In GNN-RDM's training on this machine the predicted order of products was right in 21 of 24 cases, and RDM "
        "against 1.5D in 32 of 32; epochs took 1 to 6 times as long as predicted, and more GPUs gained less "
        "(docs/published.md)."},
    Finding{
        "dgx-a100",
        "gcn",
        false,
        {0.9, 1.3, 3.6},
        "In MG-GCN's training on this machine, in 1D, what fits was right in 15 of 16 cases; epochs took 0.9 to 3.6 "
        "times as long as predicted, and more GPUs gained less. Orders and schemes were compared on A6000 GPUs "
        "alone (docs/published.md)."},
    Finding{"summit", "gcn", false, published_epochs,
            "CAGNET's training on this machine is published without seconds; what fits was right in 16 of 19 cases "
            "(docs/published.md)."},
    Finding{"xeon-9242",
            "sage",
            false,
            {0.5, 3, 17},
            "In DistGNN's training on one socket of this machine epochs took 0.5 to 17 times as long as predicted; its "
            "way to use several sockets is none of these schemes (docs/published.md)."},
};

constexpr const char* several_nodes =
    " Schemes on several nodes are less sure: CAGNET found 2D never faster than 1.5D on Summit, which is predicted in "
    "7 of 11 cases.";

const Finding* finding_of(const Machine& machine, const std::string& model) {
    const auto* found = std::ranges::find_if(
        findings, [&](const Finding& each) { return each.machine == machine.name && each.model == model; });
    return found == findings.end() ? nullptr : found;
}

bool kept_here(const std::string& fingerprint) {
    const std::vector<io::KeptCalibration> kept = io::every_calibration();
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

bool on_several_nodes(const Machine& machine, const ProblemRecord& problem) {
    return problem.ranks > machine.ranks_per_node;
}

std::string published_training(const Machine& machine, const std::string& model) {
    if (const Finding* found = finding_of(machine, model)) return found->text;
    const std::string none = model != "gcn" ? fmt::format("No published {} run was compared. ", model_title(model))
                                            : fmt::format("No published run on {} was compared. ", machine.name);
    return none +
           fmt::format(
               "In published GCN training on A6000 and A100 GPUs of one node the predicted order of products was "
               "right in 21 of 24 cases, and RDM against 1.5D in 32 of 32; epochs took 1 to 6 times as long as "
               "predicted, and more {} gained less (docs/published.md).",
               machine.accelerators ? "GPUs" : "ranks");
}

std::string published_text(const Machine& machine, const ProblemRecord& problem) {
    const std::string& model = problem.model.name;
    if (problem.task == Task::infer) {
        const bool model_compared = model == "gcn" || model == "gat";
        return fmt::format(
            "{}In published inference of GCN and GAT, 16 machines gained over 2 between 0.5 and 1.9 times what is "
            "predicted; the order of the cases was not confirmed, nor were seconds (docs/published.md). Seconds are "
            "rather too small than too large: all cores of a rank are taken to load equally fast, and files to be read "
            "in no time.",
            model_compared ? "" : fmt::format("No published {} inference was compared. ", model_title(model)));
    }
    return published_training(machine, model) + (on_several_nodes(machine, problem) ? several_nodes : "");
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

bool was_compared(const Machine& machine, MachineOrigin origin, const ProblemRecord& problem) {
    if (calibrated(machine)) return true;
    if (origin != MachineOrigin::preset || problem.task == Task::infer || on_several_nodes(machine, problem))
        return false;
    const Finding* found = finding_of(machine, problem.model.name);
    return found != nullptr && found->ranks_schemes;
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
        const double seconds = predicted.shown_seconds();
        return seconds > 0 ? TimeFactors{likely.low / seconds, 1, likely.high / seconds} : TimeFactors{};
    }
    if (machine.probe) return probed_epochs;
    if (task == Task::infer) return std::nullopt;
    const auto* found =
        std::ranges::find_if(findings, [&](const Finding& each) { return each.machine == machine.name; });
    return found == findings.end() ? published_epochs : found->epochs;
}

std::string evidence_text(const Machine& machine, MachineOrigin origin, const ProblemRecord& problem) {
    if (calibrated(machine)) return calibration_text(machine, origin);
    if (origin == MachineOrigin::probed)
        return "A few rates of this machine were probed, and the others follow from those of a machine that was "
               "calibrated; gnnplan calibrate measures them all.";
    if (origin == MachineOrigin::preset) return published_text(machine, problem);
    return fmt::format(
        "{} is a profile of your own and not calibrated: nothing was compared with it. {}Orders and schemes are as "
        "good as its figures.",
        machine.name,
        problem.task == Task::train
            ? "With presets, which are made of data sheets too, published epochs took 1 to 6 times as "
              "long as predicted (docs/published.md). "
            : "");
}

}  // namespace gnnplan::tools
