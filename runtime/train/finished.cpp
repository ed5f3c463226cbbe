#include "runtime/train/finished.hpp"

#include "runtime/deploy/match.hpp"
#include "runtime/train/course.hpp"

namespace gnnplan::train {

bool is_finished(const TrainOptions& options) {
    if (options.start == nullptr) return false;
    const Course course(options, false);
    return course.is_over() && course.is_last_run();
}

RunReport report_of_finished(const Plan& plan, const TrainOptions& options, const data::Dataset& dataset) {
    RunReport report;
    Course(options, false).report(report);
    report.ranks = plan.problem.ranks;
    report.threads = options.threads;
    report.chosen = deploy::usable_candidates(plan, options.features_dropout()).front();
    const Candidate& candidate = plan.candidates[static_cast<std::size_t>(report.chosen)];
    report.configuration = candidate.configuration;
    report.predicted = candidate.predicted;
    report.eval_every = options.eval_every;
    report.wall.emplace();
    report.wall->load_seconds = options.load_seconds;
    report.wall->total_seconds = options.load_seconds;
    report.fingerprints = plan.fingerprints;
    report.fingerprints.graph = dataset.fingerprint();
    return report;
}

}  // namespace gnnplan::train
