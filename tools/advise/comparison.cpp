#include "tools/advise/comparison.hpp"

#include "planner/cost/tie.hpp"
#include "planner/io/cursor.hpp"
#include "planner/io/enum_names.hpp"
#include "planner/io/files.hpp"
#include "planner/io/fingerprint.hpp"
#include "planner/io/plan.hpp"
#include "planner/io/report.hpp"
#include "planner/io/sampling_words.hpp"
#include "planner/io/schema.hpp"
#include "tools/advise/configuration_text.hpp"
#include "tools/advise/evidence.hpp"
#include "tools/advise/explanation.hpp"
#include "tools/advise/plan_text.hpp"
#include "tools/text/model_text.hpp"
#include "tools/text/run_course.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace gnnplan::tools {
namespace {

using Words = std::vector<std::pair<std::string, std::string>>;

void add(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

Words configuration_of(const Configuration& c) {
    return {{"scheme", scheme_of(c)},
            {"grid", c.grid.text()},
            {"replication", std::to_string(replication_of(c))},
            {"forward", text(c.forward)},
            {"backward", text(c.backward)},
            {"kept", kept_text(products_kept(c))},
            {"choices", choices_text(c)},
            {"constant input", c.constant_input ? "yes" : "no"}};
}

// "" for training, which always reads all neighbours.
std::string neighbours_text(const ProblemRecord& problem) {
    if (problem.task == Task::train) return "";
    return problem.fanout.empty() ? "all" : fmt::format("{}", fmt::join(problem.fanout, ","));
}

Words settings_of(const std::optional<RunSettings>& settings) {
    if (!settings) return {};
    const auto yes_or_no = [](bool value) { return std::string(value ? "yes" : "no"); };
    return {{"epochs asked for", std::to_string(settings->epochs)},
            {"learning rate", fmt::format("{}", settings->learning_rate)},
            {"learning rate's schedule", settings->lr_schedule.empty() ? "constant" : settings->lr_schedule},
            {"weight decay", fmt::format("{}", settings->weight_decay)},
            {"decay of", settings->decay.empty() ? (settings->decay_all ? "weights" : "first") : settings->decay},
            {"optimizer", std::string(rule_of(settings->optimiser).name)},
            {"momentum", fmt::format("{}", settings->momentum)},
            {"dropout", fmt::format("{}", settings->dropout)},
            {"input dropout", fmt::format("{}", settings->input_dropout)},
            {"feature normalisation", settings->feature_norm},
            {"best weights kept", yes_or_no(settings->keep_best)},
            {"best by", std::string(io::name_of(settings->best_by))},
            {"patience", settings->patience ? std::to_string(*settings->patience) : "none"},
            {"first weights", settings->first_weights.value_or("drawn")}};
}

// The value under `name`, nullptr when the side does not say.
const std::string* find(const Words& pairs, const std::string& name) {
    const auto found = std::find_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == name; });
    return found == pairs.end() ? nullptr : &found->second;
}

// The values that both sides have and that differ.
std::vector<Difference> differences(const Words& a, const Words& b) {
    std::vector<Difference> found;
    for (const auto& [name, value] : a) {
        const std::string* other = find(b, name);
        if (other != nullptr && *other != value) found.push_back({name, value, *other});
    }
    return found;
}

void add_kinds(std::map<std::string, KindCost>& kinds, const std::vector<StepRecord>& steps) {
    for (const StepRecord& step : steps) {
        KindCost& kind = kinds[step.kind];
        kind.predicted_seconds = kind.predicted_seconds.value_or(0) + step.predicted_seconds;
        kind.measured_seconds = kind.measured_seconds.value_or(0) + step.measured_seconds;
        kind.bytes += step.counted_bytes;
    }
}

std::optional<double> number(std::int64_t value) { return static_cast<double>(value); }

std::vector<Compared> compare_kinds(const Side& a, const Side& b, const auto& value_of) {
    std::set<std::string> names;
    for (const Side* side : {&a, &b}) {
        for (const auto& [name, kind] : side->kinds) names.insert(name);
    }
    // A kind that a side does not have takes it no time and moves nothing.
    const auto value = [&](const Side& side, const std::string& name) -> std::optional<double> {
        const auto found = side.kinds.find(name);
        return found == side.kinds.end() ? std::optional<double>(0) : value_of(found->second);
    };
    std::vector<Compared> compared;
    compared.reserve(names.size());
    for (const std::string& name : names) compared.push_back({name, value(a, name), value(b, name)});
    return compared;
}

void take_prediction(const Prediction& predicted, Side& side) {
    side.predicted_seconds = predicted.epoch_seconds;
    side.kept_seconds = predicted.kept_seconds;
    if (predicted.loading != LoadingSeconds())
        side.loading_seconds = predicted.loading.total() + predicted.setup_seconds;
}

}  // namespace

Side side_of(const Plan& plan) {
    const GraphRecord& graph = plan.problem.graph;
    const Candidate& chosen = plan.candidates.front();
    Side side;
    side.problem = {{"task", std::string(io::name_of(plan.problem.task))},
                    {"neighbours read", neighbours_text(plan.problem)},
                    {"graph", graph.name},
                    {"vertices", std::to_string(graph.vertices)},
                    {"nonzeros", std::to_string(graph.nonzeros)},
                    {"normalisation", std::string(io::name_of(graph.normalisation))},
                    {"edge weights", graph.edge_weights ? "of the data" : ""},
                    {"graph fingerprint", plan.fingerprints.graph},
                    {"model", model_text(plan.problem.model) + loss_text(plan.problem.model)},
                    {"widths", fmt::format("{}", fmt::join(plan.problem.model.widths, "-"))},
                    {"ranks", std::to_string(plan.problem.ranks)},
                    {"space", plan.problem.space},
                    {"machine", plan.machine.name},
                    {"machine fingerprint", io::machine_fingerprint(plan.machine)}};
    if (plan.problem.task == Task::train) add(side.problem, io::words_of(plan.problem.batches));
    std::erase_if(side.problem, [](const auto& pair) { return pair.second.empty(); });  // sizes have no fingerprint
    side.configuration = configuration_of(chosen.configuration);
    side.other_results = other_results(chosen.configuration);
    side.configuration.insert(side.configuration.begin(),
                              {"candidate", fmt::format("1 of {}", plan.candidates.size())});
    take_prediction(chosen.predicted, side);
    side.total_bytes = chosen.predicted.total_bytes;
    side.max_rank_bytes = chosen.predicted.max_rank_bytes;
    side.peak_bytes = chosen.predicted.peak_bytes_per_rank;
    side.machine = plan.machine;
    side.evidence = evidence_text(plan.machine, origin_of(plan.machine), plan.problem);
    side.ranks = plan.problem.ranks;
    for (const StepCost& step : explain(plan).steps) {
        if (step.phase != Phase::epoch) continue;
        KindCost& kind = side.kinds[step.kind];
        kind.predicted_seconds = kind.predicted_seconds.value_or(0) + step.seconds;
        kind.bytes += step.total_bytes;
    }
    return side;
}

Side side_of(const RunReport& report) {
    Side side;
    side.problem = {
        {"task", std::string(io::name_of(report.task))}, {"graph fingerprint", report.fingerprints.graph},
        {"ranks", std::to_string(report.ranks)},         {"machine fingerprint", report.fingerprints.machine},
        {"threads", std::to_string(report.threads)},     {"backend", report.backend},
        {"communicator", report.communicator},           {"seed", std::to_string(report.seed)},
        {"epochs", std::to_string(report.epochs.size())}};
    if (report.task == Task::train && !report.batches) add(side.problem, io::words_of(std::nullopt));
    if (report.batches && report.batches->sampling)
        add(side.problem, io::words_of(Batches{*report.batches->sampling, report.batches->per_update}));
    std::erase_if(side.problem, [](const auto& pair) { return pair.second.empty(); });
    side.course = course_text(report);
    side.ending = report.ending;
    side.resumed_after = report.resumed_after;
    side.settings = settings_of(report.settings);
    side.configuration = configuration_of(report.configuration);
    side.other_results = other_results(report.configuration);
    side.configuration.insert(side.configuration.begin(), {"candidate", fmt::format("{}", report.chosen + 1)});
    take_prediction(report.predicted, side);
    side.measured_seconds = report.measured.epoch_seconds;
    side.total_bytes = report.measured.total_bytes;
    side.max_rank_bytes = report.measured.max_rank_bytes;
    side.peak_bytes = report.measured.peak_bytes_per_rank;
    side.ranks = report.ranks;
    add_kinds(side.kinds, report.steps);
    return side;
}

Side read_side(const std::string& file) {
    const std::string text = io::read_file(file);
    const std::string schema = io::schema_of(text, file);
    Side side;
    if (schema.starts_with("gnnplan.plan/")) {
        side = side_of(io::read_plan(text, file));
    } else if (schema.starts_with("gnnplan.run/")) {
        const RunReport report = io::read_report(text, file);
        if (report.steps.empty() && report.resumed_after) {
            throw Error(ErrorCode::data, "the run was resumed after its end, and measured nothing to compare", file);
        }
        side = side_of(report);
    } else {
        io::refuse_kind(file, schema, "plans and run reports here");
    }
    side.file = file;
    side.schema = schema;
    return side;
}

std::optional<double> Compared::ratio() const {
    if (!a || !b || *a == 0) return std::nullopt;
    return *b / *a;
}

const Machine* Comparison::machine() const {
    if (a.machine) return &*a.machine;
    return b.machine ? &*b.machine : nullptr;
}

std::optional<bool> Comparison::tie() const {
    if (machine() == nullptr || !a.predicted_seconds || !b.predicted_seconds) return std::nullopt;
    if (a.loading_seconds.has_value() != b.loading_seconds.has_value()) return std::nullopt;
    return cost::tie(a.ranked_seconds(), b.ranked_seconds(), *machine());
}

Comparison compare(Side a, Side b) {
    Comparison comparison;
    comparison.problem = differences(a.problem, b.problem);
    comparison.settings = differences(a.settings, b.settings);
    for (const auto& [name, value] : a.configuration) {
        comparison.configuration.push_back({name, value, *find(b.configuration, name)});
    }
    comparison.seconds = {{"predicted", a.predicted_seconds, b.predicted_seconds},
                          {"measured", a.measured_seconds, b.measured_seconds}};
    if (a.loading_seconds || b.loading_seconds)
        comparison.seconds.push_back({"loading", a.loading_seconds, b.loading_seconds});
    comparison.bytes = {{"total", number(a.total_bytes), number(b.total_bytes)},
                        {"busiest rank", number(a.max_rank_bytes), number(b.max_rank_bytes)},
                        {"peak memory", number(a.peak_bytes), number(b.peak_bytes)}};
    const bool measured = a.measured_seconds && b.measured_seconds;
    comparison.kinds_measured = measured;
    comparison.kind_seconds = compare_kinds(
        a, b, [&](const KindCost& kind) { return measured ? kind.measured_seconds : kind.predicted_seconds; });
    comparison.kind_bytes = compare_kinds(a, b, [](const KindCost& kind) { return number(kind.bytes); });
    comparison.a = std::move(a);
    comparison.b = std::move(b);
    return comparison;
}

}  // namespace gnnplan::tools
