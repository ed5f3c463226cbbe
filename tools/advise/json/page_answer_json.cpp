#include "planner/cost/likely.hpp"
#include "planner/cost/tie.hpp"
#include "tools/advise/certainty.hpp"
#include "tools/advise/configuration_text.hpp"
#include "tools/advise/feature_dropout.hpp"
#include "tools/advise/json/page_parts.hpp"
#include "tools/advise/plan_text.hpp"
#include "tools/advise/switch_words.hpp"
#include "tools/advise/worth.hpp"
#include "tools/text/format.hpp"
#include "tools/text/model_text.hpp"
#include "tools/text/option_names.hpp"
#include "tools/text/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace gnnplan::tools {
namespace {

struct Racer {
    std::string name;  // "1d 8x1 SD S-"
    Configuration configuration;
    std::string differs;  // from the fastest one of the same name
    std::string detail;   // all of the configuration
    std::string kind;     // "chosen", "candidate", "scheme" or "framework"
    Prediction predicted;
};

std::string racer_name(const Configuration& configuration, const Choice& choice) {
    const std::string orders = configuration.backward.empty() ? format_orders_cell(text(configuration.forward))
                                                              : format_orders_cell(text(configuration.forward)) + " " +
                                                                    format_orders_cell(text(configuration.backward));
    std::string name = fmt::format("{} {} {}", scheme_of(configuration), configuration.grid.text(), orders);
    if (choice.key != "baseline") return name;
    return (choice.value == "pyg" ? "PyG's default: " : "DGL's default: ") + name;
}

// Each configuration once, by what a reader sees of it.
std::vector<Racer> racers_of(const Plan& plan) {
    std::vector<Racer> racers;
    std::set<std::string> seen;
    const auto add = [&](const Configuration& configuration, const Choice& choice, const char* kind,
                         const Prediction& predicted) {
        const std::string detail = configuration_text(configuration);
        if (!seen.insert(kind == std::string("framework") ? "baseline " + detail : detail).second) return;
        racers.push_back({racer_name(configuration, choice), configuration, "", detail, kind, predicted});
    };
    for (const Candidate& candidate : plan.candidates)
        add(candidate.configuration, {}, racers.empty() ? "chosen" : "candidate", candidate.predicted);
    for (const Alternative& alternative : plan.alternatives) {
        const bool framework = alternative.choice.key == "baseline";
        if (!framework && alternative.choice.key != "scheme") continue;
        add(alternative.configuration, alternative.choice, framework ? "framework" : "scheme", alternative.predicted);
    }
    std::ranges::stable_sort(racers, {}, [](const Racer& racer) { return racer.predicted.ranked_seconds(); });
    for (Racer& racer : racers) {
        const Racer& first = *std::ranges::find(racers, racer.name, &Racer::name);
        racer.differs = difference_text(first.configuration, racer.configuration);
    }
    return racers;
}

std::string memory_words(const Plan& plan, const RunReport* run) {
    const Prediction& predicted = plan.candidates.front().predicted;
    std::string text = fmt::format("{} of {} per rank{}", format_memory(predicted.peak_bytes_per_rank),
                                   format_memory(plan.memory_per_rank()), predicted.estimate ? " (estimate)" : "");
    if (run != nullptr && run->measured.peak_bytes_per_rank > 0)
        text += fmt::format("; in the run {} predicted, {} measured", format_memory(run->predicted.peak_bytes_per_rank),
                            format_memory(run->measured.peak_bytes_per_rank));
    return text;
}

// Time and memory with how sure they are.
void add_figures(const PageQuestion& question, io::Document& answer) {
    const Plan& plan = question.plan;
    const Prediction& predicted = plan.candidates.front().predicted;
    const Certainty certainty = certainty_of(plan);
    answer.set("seconds", predicted.shown_seconds())
        .set("seconds_text", format_seconds(predicted.shown_seconds(), plan.machine))
        .set("digits", calibrated(plan.machine) ? 3 : 2)
        .set("model_error", cost::model_error(plan.machine))
        .set("range_seconds", encode_range(certainty.seconds, certainty.factors))
        .set("range_text", range_text(certainty.seconds, certainty.factors, plan.machine, plan.problem.task))
        .set("sure", certainty.text)
        .set("evidence", certainty.evidence)
        .set("peak_bytes_per_rank", predicted.peak_bytes_per_rank)
        .set("limit_bytes_per_rank", plan.memory_per_rank())
        .set("memory_text", memory_words(plan, question.run))
        .set("bytes_text", fmt::format("{} in total, {} of the busiest rank", format_bytes(predicted.total_bytes),
                                       format_bytes(predicted.max_rank_bytes)));
}

void add(io::Document& rows, const char* name, const std::string& value) {
    if (!value.empty()) rows.push(io::Document::object({{"name", name}, {"value", value}}));
}

void add_run(io::Document& rows, const RunReport& run) {
    add(rows, "run, made by", run.command_line);
    add(rows, "run, gnnrun", run.tool_version);
    add(rows, "run on",
        fmt::format("{} ranks of {} threads, {} backend, ranks as {}", run.ranks, run.threads, run.backend,
                    run.communicator));
    add(rows, "threads of the run", run.placement.value_or(""));
    add(rows, "seed of the run", std::to_string(run.seed));
    add(rows, "end of the run", run.ended.value_or(""));
}

}  // namespace

std::string page_title(const Plan& plan) {
    const ProblemRecord& problem = plan.problem;
    return fmt::format("{} {} on {}, {} rank{} of {}", problem.task == Task::infer ? "Inference by" : "Training",
                       network_text(problem.model), problem.graph.name, problem.ranks, problem.ranks == 1 ? "" : "s",
                       plan.machine.name);
}

io::Document encode_answer(const PageQuestion& question) {
    const Plan& plan = question.plan;
    const Candidate& chosen = plan.candidates.front();
    io::Document answer =
        io::Document::object({{"title", page_title(plan)},
                              {"task", plan.problem.task == Task::infer ? "infer" : "train"},
                              {"time_name", ranked_time_name(plan.problem.task)},
                              {"scheme", scheme_of(chosen.configuration)},
                              {"grid", chosen.configuration.grid.text()},
                              {"configuration", configuration_text(chosen.configuration)},
                              {"inexact", other_results(chosen.configuration)},
                              {"ranks", plan.problem.ranks},
                              {"ranks_text", ranks_text(plan.problem.ranks, plan.machine)},
                              {"graph", graph_line(plan.problem)},
                              {"model", network_text(plan.problem.model) + loss_text(plan.problem.model)},
                              {"machine", machine_line(plan.machine)},
                              {"dropout", with_dashes(dropout_text(plan))},
                              {"command_line", plan.command_line}});
    add_figures(question, answer);
    if (question.run == nullptr) return answer;
    return answer.set("measured_seconds", question.run->measured.epoch_seconds)
        .set("measured_text", format_seconds(question.run->measured.epoch_seconds));
}

io::Document encode_race(const Plan& plan) {
    const Prediction& chosen = plan.candidates.front().predicted;
    io::Document race = io::Document::array();
    for (const Racer& racer : racers_of(plan)) {
        const Prediction& predicted = racer.predicted;
        race.push(io::Document::object({{"name", racer.name},
                                        {"differs", racer.differs},
                                        {"configuration", racer.detail},
                                        {"kind", racer.kind},
                                        {"seconds", predicted.shown_seconds()},
                                        {"ratio", predicted.ranked_seconds() / chosen.ranked_seconds()},
                                        {"peak_bytes_per_rank", predicted.peak_bytes_per_rank},
                                        {"tie", cost::tie(predicted, chosen, plan.machine)},
                                        {"fits", predicted.peak_bytes_per_rank <= plan.memory_per_rank()}}));
    }
    return race;
}

io::Document encode_worth(const Plan& plan) {
    const double chosen = plan.candidates.front().predicted.ranked_seconds();
    io::Document worth = io::Document::array();
    for (const Alternative& alternative : plan.alternatives) {
        const ChoiceWords words = choice_words(plan, alternative);
        worth.push(io::Document::object(
            {{"chosen", words.chosen},
             {"instead", words.instead},
             {"verdict", words.verdict},
             {"details", words.details},
             {"seconds", alternative.predicted.shown_seconds()},
             {"more_seconds", alternative.predicted.ranked_seconds() - chosen},
             {"tie", cost::tie(alternative.predicted, plan.candidates.front().predicted, plan.machine)},
             {"fits", alternative.predicted.peak_bytes_per_rank <= plan.memory_per_rank()}}));
    }
    return worth;
}

io::Document encode_provenance(const PageQuestion& question) {
    const Plan& plan = question.plan;
    io::Document rows = io::Document::array();
    add(rows, "page, made by", question.command_line);
    add(rows, "plan, made by", plan.command_line);
    add(rows, "plan, gnnplan", plan.tool_version);
    add(rows, "machine", machine_line(plan.machine));
    add(rows, "graph", graph_line(plan.problem));
    add(rows, "fingerprint of the plan", plan.fingerprints.content);
    add(rows, "of the graph", plan.fingerprints.graph);
    add(rows, "of the machine", plan.fingerprints.machine);
    add(rows, "of the features", plan.fingerprints.features);
    add(rows, "of the labels", plan.fingerprints.labels);
    add(rows, "of the split", plan.fingerprints.split);
    if (question.run != nullptr) add_run(rows, *question.run);
    return rows;
}

}  // namespace gnnplan::tools
