// gnnplan explain: the schedule of a plan as a tree, with its costs; or a run of it, predicted against measured.
#include "planner/catalog/machines.hpp"
#include "planner/io/files.hpp"
#include "planner/io/fingerprint.hpp"
#include "planner/io/plan.hpp"
#include "planner/io/report.hpp"
#include "tools/advise/certainty.hpp"
#include "tools/advise/configuration_text.hpp"
#include "tools/advise/feature_dropout.hpp"
#include "tools/advise/json/analysis_json.hpp"
#include "tools/advise/json/explanation_json.hpp"
#include "tools/advise/plan_text.hpp"
#include "tools/advise/pytorch/pytorch.hpp"
#include "tools/advise/worth.hpp"
#include "tools/common/plan_file.hpp"
#include "tools/gnnplan/analysis_output.hpp"
#include "tools/gnnplan/command.hpp"
#include "tools/gnnplan/output.hpp"
#include "tools/gnnplan/plan_answer.hpp"
#include "tools/gnnplan/plan_lines.hpp"
#include "tools/gnnplan/plan_table.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/option_names.hpp"
#include "tools/text/table.hpp"
#include "tools/text/trust.hpp"

#include <fmt/format.h>

#include <memory>

namespace gnnplan::tools {
namespace {

struct ExplainOptions {
    std::string plan;
    std::optional<std::string> run;
    bool pytorch = false;
    bool json = false;
};

std::string phase_title(Phase phase, Task task) {
    switch (phase) {
        case Phase::setup: return "setup, once";
        case Phase::epoch: return time_name(task);
        case Phase::evaluation: return "evaluation, when asked";
    }
    return "";
}

// The name within its phase.
std::string step_title(const std::string& name) {
    const std::string prefix = "evaluation.";
    return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

std::string layout_text(const StepCost& step) {
    return step.within ? step.layout + ", within " + step_title(*step.within) : step.layout;
}

// Phases, then layers, then steps.
std::string tree(const Explanation& explanation, const Plan& plan, bool color) {
    const Machine& machine = plan.machine;
    Table table({{"step"},
                 {"shape", Align::right},
                 {"total", Align::right},
                 {"busiest", Align::right},
                 {"time", Align::right},
                 {"layout"}});
    const StepCost* previous = nullptr;
    for (const StepCost& step : explanation.steps) {
        const bool new_phase = previous == nullptr || previous->phase != step.phase;
        if (new_phase) table.add({phase_title(step.phase, plan.problem.task), "", "", "", "", ""}, true);
        if (new_phase || previous->section != step.section) table.add({"  " + step.section, "", "", "", "", ""});
        const bool moves = step.total_bytes > 0;
        table.add({"    " + step_title(step.name), fmt::format("{}x{}", step.rows, step.columns),
                   moves ? format_bytes(step.total_bytes) : "-", moves ? format_bytes(step.max_rank_bytes) : "-",
                   format_seconds(step.seconds, machine), layout_text(step)});
        previous = &step;
    }
    return table.text(color, line_width());
}

std::string units_text(const Explanation& explanation) {
    const auto beside = [&](double executed, double Units::*which) {
        const std::string paper =
            explanation.paper ? " (paper " + format_number((*explanation.paper).*which) + ")" : "";
        return format_number(executed) + paper;
    };
    std::string out = fmt::format("units    redistribution {}, sparse {}\n",
                                  beside(explanation.executed.redistribution, &Units::redistribution),
                                  beside(explanation.executed.sparse, &Units::sparse));
    for (const UnitRemark& remark : explanation.remarks) {
        const std::string units = remark.units > 0 ? fmt::format("+{} ", format_number(remark.units)) : "";
        out += "         " + units + (remark.step.empty() ? "" : remark.step + ": ") + remark.reason + "\n";
    }
    return out;
}

std::string memory_text(const Plan& plan, const Explanation& explanation) {
    const Prediction& predicted = plan.candidates.front().predicted;
    std::string out =
        fmt::format("memory   peak {} on the fullest rank{}; largest on rank 0:\n",
                    format_memory(predicted.peak_bytes_per_rank), predicted.estimate ? " (estimate)" : "");
    for (const TensorSize& tensor : explanation.largest) {
        out += fmt::format("         {:>10}  {}\n", format_memory(tensor.bytes), tensor.name);
    }
    return out;
}

std::string runner_up_text(const Plan& plan, const Explanation& explanation) {
    if (!explanation.runner_up) return "runner-up  the plan has no other candidate\n";
    const RunnerUp& second = *explanation.runner_up;
    const std::string bytes =
        second.total_bytes_ratio ? fmt::format(", {:.3f}x the bytes", *second.total_bytes_ratio) : "";
    const std::string differs = difference_text(plan.candidates.front().configuration, second.configuration);
    return wrapped("runner-up  ", "           ",
                   fmt::format("candidate 2 of {} differs in {}; it takes {:.3f}x the time{}, "
                               "{:.3f}x the peak memory",
                               plan.candidates.size(), differs.empty() ? "choices that are not shown" : differs,
                               second.epoch_seconds_ratio, bytes, second.peak_bytes_ratio));
}

// The time before the pass of an inference, part by part.
std::string before_text(const Plan& plan) {
    const Prediction& predicted = plan.candidates.front().predicted;
    const LoadingSeconds& loading = predicted.loading;
    const auto seconds = [&](double value) { return format_seconds(value, plan.machine); };
    std::string text;
    if (loading != LoadingSeconds()) {
        text = fmt::format(
            "loading takes {}: reading and dealing edges {}, making rows of them {}, degrees {}, cutting blocks {}",
            seconds(loading.total()), seconds(loading.deal), seconds(loading.rows), seconds(loading.degrees),
            seconds(loading.cut));
        if (loading.features > 0) text += fmt::format(", reading and dealing features {}", seconds(loading.features));
    }
    if (predicted.setup_seconds > 0)
        text += fmt::format("{}requests for rows take {}", text.empty() ? "" : "; ", seconds(predicted.setup_seconds));
    return text.empty() ? "" : wrapped("before   ", std::string(9, ' '), text);
}

std::string head_text(const Plan& plan) {
    const Candidate& chosen = plan.candidates.front();
    const Prediction& predicted = chosen.predicted;
    const std::string indent(9, ' ');
    const std::string buffer = buffer_text(plan), dropout = with_dashes(dropout_text(plan));
    return inexact_line(plan) + labelled("graph", graph_line(plan.problem)) +
           labelled("machine", machine_line(plan.machine) + ", " + ranks_text(plan.problem.ranks, plan.machine)) +
           wrapped("chosen   ", indent, configuration_text(chosen.configuration), ", ") +
           (buffer.empty() ? "" : wrapped("buffers  ", indent, buffer)) + before_text(plan) +
           fmt::format("{:<9}{}; {} in total, {} of the busiest rank{}\n", time_name(plan.problem.task),
                       format_seconds(predicted.epoch_seconds, plan.machine), format_bytes(predicted.total_bytes),
                       format_bytes(predicted.max_rank_bytes), predicted.estimate ? " (estimate)" : "") +
           batch_seconds_line(plan) + labelled("sure", sure_text(certainty_of(plan))) +
           (dropout.empty() ? "" : labelled("dropout", dropout)) + "\n";
}

// A plan does not hold the graph that it was made with.
std::string spread_note(const Plan& plan, const Explanation& explanation) {
    std::int64_t bytes = 0;
    for (const StepCost& step : explanation.steps) {
        if (step.phase == Phase::epoch) bytes += step.total_bytes;
    }
    const Prediction& predicted = plan.candidates.front().predicted;
    if (predicted.estimate || bytes == predicted.total_bytes) return "";
    return wrapped(
        "note     ", std::string(9, ' '),
        fmt::format("bytes of single steps are those of edges that are spread evenly, as the plan does not hold "
                    "the graph; they add up to {}. The total above is exact",
                    format_bytes(bytes)));
}

std::string human_text(const Plan& plan, const Explanation& explanation, bool color) {
    return head_text(plan) + tree(explanation, plan, color) + spread_note(plan, explanation) + "\n" +
           worth_text(plan, color) + "\n" + units_text(explanation) + memory_text(plan, explanation) +
           runner_up_text(plan, explanation) +
           (has_pytorch_program(plan) ? "pytorch    gnnplan explain --pytorch PLAN prints it as a PyTorch program\n"
                                      : "");
}

// The machine the plan of a run was made for: of the plan if it is given, else a preset of the same fingerprint.
std::optional<ProfileOrigin> profile_of(const RunReport& report, const std::string& plan_file) {
    if (!plan_file.empty()) {
        const Plan plan = io::read_plan(io::read_file(plan_file), plan_file);
        if (plan.fingerprints.content != report.fingerprints.content) {
            throw Error(ErrorCode::mismatch, "the run is of another plan", plan_file, "leave the plan out");
        }
        return ProfileOrigin{plan.machine.name, calibrated(plan.machine)};
    }
    for (const Machine& preset : catalog::machines()) {
        if (io::machine_fingerprint(preset) == report.fingerprints.machine) {
            return ProfileOrigin{preset.name, calibrated(preset)};
        }
    }
    return std::nullopt;
}

int analyse_run(const Context& context, const ExplainOptions& options) {
    const RunReport report = io::read_report(io::read_file(*options.run), *options.run);
    const Analysis analysis = analyse(report, profile_of(report, options.plan));
    if (options.json) {
        print_json(encode(analysis, report));
    } else {
        print(analysis_text(analysis, report, use_color(context.color)));
    }
    return 0;
}

int run_explain(const Context& context, const ExplainOptions& options) {
    if (options.run) return analyse_run(context, options);
    if (options.plan.empty()) throw Error(ErrorCode::usage, "neither a plan nor --analyze RUN is given");
    Plan plan = io::read_plan(io::read_file(options.plan), options.plan);
    add_origins(plan);
    if (options.pytorch) {
        print(pytorch_program(plan));
        return 0;
    }
    const Explanation explanation = explain(plan);
    if (options.json) {
        print_json(encode(plan, explanation));
    } else {
        print(human_text(plan, explanation, use_color(context.color)));
    }
    return 0;
}

}  // namespace

void add_explain(CLI::App& root, Context& context) {
    const auto options = std::make_shared<ExplainOptions>();
    CLI::App& command =
        add_command(root, "explain", "Show what the steps of a plan cost, or of a run: predicted against measured",
                    "gnnplan explain plan.json\ngnnplan explain --analyze run.json\ngnnplan explain --pytorch "
                    "plan.json > train.py");
    command.add_option("plan", options->plan, "The plan; with --analyze it says which machine was planned for")
        ->type_name("PLAN");
    command
        .add_option("--analyze", options->run,
                    "Lay predicted and measured side by side, mark the steps that err most, give a hint; RUN is what "
                    "gnnrun --report wrote")
        ->type_name("RUN");
    CLI::Option* pytorch = command.add_flag(
        "--pytorch", options->pytorch,
        "Print the plan as a PyTorch program: the model as a class with the plan's products, and a script");
    pytorch->excludes("--analyze");
    command.add_flag("--json", options->json, "Print one JSON object (gnnplan.explanation/1, or gnnplan.analysis/1)");
    on_command(command, context, options, run_explain);
}

}  // namespace gnnplan::tools
