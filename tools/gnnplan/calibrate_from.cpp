#include "tools/gnnplan/calibrate_from.hpp"

#include "planner/calibrate/learn.hpp"
#include "planner/calibrate/residual.hpp"
#include "planner/io/calibrations.hpp"
#include "planner/io/enum_names.hpp"
#include "planner/io/files.hpp"
#include "planner/io/fingerprint.hpp"
#include "planner/io/report.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/table.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gnnplan::tools {
namespace {

constexpr double fault = 1.15;

io::KeptCalibration predicted_with(const RunReport& report, const std::string& name) {
    for (io::KeptCalibration& kept : io::every_calibration()) {
        if (io::machine_fingerprint(kept.profile.machine) == report.fingerprints.machine) return std::move(kept);
    }
    throw Error(ErrorCode::data, "the run was predicted with a profile that is not kept here, or has changed since",
                name,
                "plan with the calibration that is kept, run, and learn from that report; gnnplan machines lists them");
}

std::string part_words(ModelPart part) {
    std::string words(io::name_of(part));
    std::ranges::replace(words, '_', ' ');
    return words;
}

bool is_fault(const StepCorrection& correction) { return std::abs(std::log(correction.factor)) > std::log(fault); }

}  // namespace

Learner learn_from_reports(const std::vector<std::string>& reports) {
    Learner learner;
    std::string machine;
    for (const std::string& file : reports) {
        const RunReport report = io::read_report(io::read_file(file), file);
        if (machine.empty()) {
            io::KeptCalibration kept = predicted_with(report, file);
            learner = {kept.file, std::move(kept.profile)};
            machine = report.fingerprints.machine;
        }
        if (report.fingerprints.machine != machine)
            throw Error(ErrorCode::data, "the run was predicted with another profile than " + reports.front(), file,
                        "give reports of one profile at a time");
        calibrate::learn(learner.profile, report, file);
    }
    calibrate::correct(learner.profile);
    return learner;
}

std::string corrections_text(const Calibration& calibration, bool color) {
    if (calibration.corrections.empty()) return "";
    Table table({{"step in an epoch"}, {"times its curves", Align::right}, {"spread", Align::right}});
    std::string faults;
    for (const StepCorrection& correction : calibration.corrections) {
        table.add({part_words(correction.part), fmt::format("{:.2f}", correction.factor),
                   fmt::format("{:.0f} %", 100 * correction.spread)});
        if (!is_fault(correction)) continue;
        faults += labelled("fault", fmt::format("{} takes {:.2f} times what its curves say, which is a fault of the "
                                                "model of these steps; predictions correct it",
                                                part_words(correction.part), correction.factor));
    }
    return table.text(color) + faults;
}

std::string epoch_errors_line(const Calibration& calibration) {
    return labelled("error",
                    fmt::format("epochs: median {:.1f} %, nine in ten below {:.1f} % (each graph predicted from "
                                "the others)",
                                100 * calibration.error_median, 100 * calibration.error_p90));
}

}  // namespace gnnplan::tools
