#include "planner/io/enum_names.hpp"
#include "tools/advise/explanation.hpp"
#include "tools/advise/json/page_columns.hpp"
#include "tools/advise/json/page_parts.hpp"

#include <gnnplan/ir/traffic.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace gnnplan::tools {
namespace {

io::Document number_or_null(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? io::Document(*value) : io::Document();
}

// The seconds that a run measured, by the step's name.
std::map<std::string, double> measured_seconds(const RunReport* run) {
    std::map<std::string, double> measured;
    if (run == nullptr) return measured;
    for (const auto* steps : {&run->setup, &run->steps, &run->evaluation}) {
        for (const StepRecord& step : *steps) measured.emplace(step.name, step.measured_seconds);
    }
    return measured;
}

void add_to(std::vector<std::int64_t>& sums, const std::vector<std::int64_t>& more) {
    if (sums.size() < more.size()) sums.resize(more.size(), 0);
    for (std::size_t rank = 0; rank < more.size(); ++rank) sums[rank] += more[rank];
}

// A column of a run's epochs; none where no epoch has a value.
template <class Value>
void add_column(io::Document& columns, const std::string& name, const RunReport& run, Value value) {
    std::vector<io::Document> column;
    bool any = false;
    for (const EpochRecord& epoch : run.epochs) {
        const std::optional<double> found = value(epoch);
        any = any || found;
        column.push_back(number_or_null(found));
    }
    if (any) columns.set(name, column);
}

}  // namespace

Plan as_trained(const PageQuestion& question) {
    Plan plan = question.plan;
    const auto chosen = static_cast<std::size_t>(question.run != nullptr ? question.run->chosen : 0);
    if (chosen < plan.candidates.size()) std::swap(plan.candidates.front(), plan.candidates[chosen]);
    return plan;
}

io::Document encode_page_steps(const PageQuestion& question, const Analysis* analysis) {
    const std::map<std::string, double> measured = measured_seconds(question.run);
    std::map<std::string, int> worst;
    if (analysis != nullptr) {
        for (const StepAnalysis& step : analysis->steps) worst.emplace(step.name, step.worst);
    }
    const std::vector<StepCost> steps = explain(as_trained(question)).steps;
    const auto column_of = [&](auto value) {
        io::Document values = io::Document::array();
        for (const StepCost& step : steps) values.push(io::Document(value(step)));
        return column(std::move(values));
    };
    io::Document columns = io::Document::object();
    columns.set("name", column_of([](const StepCost& step) { return step.name; }))
        .set("phase", column_of([](const StepCost& step) { return io::name_of(step.phase); }))
        .set("section", column_of([](const StepCost& step) { return step.section; }))
        .set("work", column_of([](const StepCost& step) { return text_of(work_of(step.kind, step.total_bytes)); }))
        .set("rows", column_of([](const StepCost& step) { return step.rows; }))
        .set("columns", column_of([](const StepCost& step) { return step.columns; }))
        .set("layout", column_of([](const StepCost& step) { return step.layout; }))
        .set("total_bytes", column_of([](const StepCost& step) { return step.total_bytes; }))
        .set("max_rank_bytes", column_of([](const StepCost& step) { return step.max_rank_bytes; }))
        .set("predicted_seconds", column_of([](const StepCost& step) { return step.seconds; }));
    if (analysis == nullptr) return columns;
    return columns
        .set("measured_seconds", column_of([&](const StepCost& step) {
                 const auto found = measured.find(step.name);
                 return found != measured.end() ? io::Document(found->second) : io::Document();
             }))
        .set("worst", column_of([&](const StepCost& step) {
                 const auto found = worst.find(step.name);
                 return found != worst.end() ? found->second : 0;
             }));
}

io::Document encode_rank_bytes(const PageQuestion& question) {
    const auto ranks = static_cast<std::size_t>(question.plan.problem.ranks);
    std::vector<std::int64_t> sent(ranks, 0), counted;
    if (question.run != nullptr) {
        for (const StepRecord& step : question.run->steps) {
            add_to(sent, step.predicted_bytes_by_rank);
            add_to(counted, step.counted_bytes_by_rank);
        }
        return io::Document::object({{"sent", sent}, {"counted", counted}, {"spread_evenly", false}});
    }
    const Candidate& chosen = question.plan.candidates.front();
    const std::shared_ptr<const GraphStats> sizes = sizes_of(question.plan, chosen.schedule.numbering);
    std::int64_t total = 0;
    for (const Step& step : chosen.schedule.steps) {
        if (step.phase != Phase::epoch) continue;
        const std::vector<RankTraffic> traffic = traffic_of(chosen.schedule, step, *sizes);
        for (std::size_t rank = 0; rank < traffic.size(); ++rank) sent[rank] += traffic[rank].sent_bytes;
        for (const RankTraffic& rank : traffic) total += rank.sent_bytes;
    }
    return io::Document::object(
        {{"sent", sent}, {"counted", io::Document()}, {"spread_evenly", total != chosen.predicted.total_bytes}});
}

io::Document encode_course(const RunReport& run) {
    io::Document columns = io::Document::object();
    std::vector<std::int64_t> epochs;
    for (const EpochRecord& epoch : run.epochs) epochs.push_back(epoch.epoch);
    columns.set("epoch", epochs);
    add_column(columns, "loss", run, [](const EpochRecord& epoch) { return std::optional(epoch.loss); });
    add_column(columns, "valid_loss", run, [](const EpochRecord& epoch) { return epoch.valid_loss; });
    add_column(columns, "seconds", run, [](const EpochRecord& epoch) { return std::optional(epoch.seconds); });
    for (const Metric& metric : metrics) {
        const std::string name(metric.name);
        const auto add_set = [&](const char* set, std::optional<double> SetScores::*score) {
            add_column(columns, set + name, run,
                       [&](const EpochRecord& epoch) { return (epoch.judgement.*metric.sets).*score; });
        };
        add_set("train_", &SetScores::train);
        add_set("valid_", &SetScores::valid);
        add_set("test_", &SetScores::test);
    }
    return columns;
}

}  // namespace gnnplan::tools
