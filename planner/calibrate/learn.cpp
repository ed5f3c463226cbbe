#include "planner/calibrate/learn.hpp"

#include "planner/calibrate/quantile.hpp"
#include "planner/cost/correction.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/operation.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace gnnplan::calibrate {
namespace {

constexpr std::size_t least_epochs = 5;
constexpr double quarter_slower = 1.25;  // a quarter of the epochs of a disturbed run take so many times the median

void check(const RunReport& report, const std::string& name) {
    const auto refuse = [&](const char* why, const char* instead) { throw Error(ErrorCode::data, why, name, instead); };
    if (report.task == Task::infer)
        refuse("an inference has no training epochs to learn from", "give reports of training");
    if (report.backend != "cpu") refuse("the run computed on an accelerator, which is not calibrated", "");
    if (report.oversubscribed) {
        refuse("the run had fewer processing units than threads, and its ranks waited for each other",
               "run as many ranks and threads as there are cores");
    }
    const bool known = std::ranges::all_of(report.steps, [](const StepRecord& step) { return step.part.has_value(); });
    if (!known || report.steps.empty())
        refuse("the report does not say which part of the model predicted each step",
               "run once more: it is of an earlier version");
    if (report.epochs.size() < least_epochs) refuse("the run has fewer than five epochs", "train for more");
    std::vector<double> seconds;
    for (const EpochRecord& epoch : report.epochs) seconds.push_back(epoch.seconds);
    constexpr double three_quarters = 0.75;
    if (quantile(seconds, three_quarters) > quarter_slower * median(seconds)) {
        refuse("a quarter of the epochs took over 1.25 times the median: other programs disturbed the run",
               "run once more on an idle machine");
    }
}

}  // namespace

std::vector<EpochStep> epoch_steps(const Machine& machine, const RunReport& report, const std::string& graph, int run) {
    std::vector<EpochStep> steps;
    std::optional<std::size_t> product;  // the last dense one
    for (const StepRecord& step : report.steps) {
        const ModelPart part = step.part.value();
        const double predicted = cost::uncorrected(machine, part, step.predicted_seconds);
        if (product && part == ModelPart::gemm && step.kind == MapStep::kind) {
            steps[*product].predicted += predicted;
            steps[*product].measured += step.advance_seconds;
            continue;
        }
        if (part == ModelPart::gemm) product = steps.size();
        steps.push_back({part, graph, run, predicted, step.advance_seconds});
    }
    return steps;
}

void learn(Profile& profile, const RunReport& report, const std::string& name) {
    check(report, name);
    const std::string& print = report.fingerprints.graph;
    const std::string graph = print.empty() ? name : print;
    int run = 0;
    for (const EpochStep& step : profile.epoch_steps) run = std::max(run, step.run + 1);
    const std::vector<EpochStep> steps = epoch_steps(profile.machine, report, graph, run);
    const auto same = [](const EpochStep& a, const EpochStep& b) {
        return a.graph == b.graph && a.measured == b.measured;
    };
    auto& all = profile.epoch_steps;
    if (std::search(all.begin(), all.end(), steps.begin(), steps.end(), same) != all.end()) return;
    all.insert(all.end(), steps.begin(), steps.end());
    auto& learned = profile.machine.calibration->learned_from;
    if (std::ranges::find(learned, graph, &LearnedGraph::graph) == learned.end()) learned.push_back({name, graph});
}

}  // namespace gnnplan::calibrate
