// gnnplan plan: search, choose, write the plan.
#include "planner/catalog/host.hpp"
#include "planner/io/files.hpp"
#include "planner/io/outputs.hpp"
#include "planner/io/plan.hpp"
#include "runtime/comm/launcher.hpp"
#include "tools/advise/feature_dropout.hpp"
#include "tools/advise/json/selection_json.hpp"
#include "tools/advise/pins.hpp"
#include "tools/ask/calibration.hpp"
#include "tools/ask/machine.hpp"
#include "tools/common/options.hpp"
#include "tools/common/run_question.hpp"
#include "tools/gnnplan/command.hpp"
#include "tools/gnnplan/found_plan.hpp"
#include "tools/gnnplan/output.hpp"
#include "tools/gnnplan/plan_answer.hpp"
#include "tools/gnnplan/plan_lines.hpp"
#include "tools/gnnplan/plan_table.hpp"
#include "tools/gnnplan/probe_machine.hpp"
#include "tools/gnnplan/problem_flags.hpp"
#include "tools/gnnplan/progress_line.hpp"
#include "tools/gnnplan/run_outlook.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/option_names.hpp"
#include "tools/text/shell.hpp"
#include "tools/text/table.hpp"

#include <gnnplan/base/words.hpp>
#include <gnnplan/io.hpp>
#include <gnnplan/ir/work.hpp>
#include <gnnplan/question.hpp>
#include <gnnplan/select.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

namespace gnnplan::tools {
namespace {

struct PlanOptions {
    ProblemFlags problem;
    RunQuestion run;
    std::string pareto = "time,memory";
    std::int64_t top = 5;
    std::optional<std::string> output, table;
    bool json = false, brief = false, probe = false;
};

struct NamedObjective {
    const char* name;
    Objective objective;
};
constexpr std::array<NamedObjective, 4> objectives{{{"time", Objective::time},
                                                    {"memory", Objective::memory},
                                                    {"volume", Objective::volume},
                                                    {"spmm", Objective::spmm}}};

std::vector<Objective> parse_objectives(const std::string& text) {
    std::vector<Objective> parsed;
    for (const std::string& name : split(text, ",")) {
        const auto* known =
            std::find_if(objectives.begin(), objectives.end(), [&](const NamedObjective& o) { return name == o.name; });
        if (known == objectives.end()) {
            throw Error(ErrorCode::usage, "'" + name + "' is no objective", "--pareto",
                        "a list of time, memory, volume, spmm");
        }
        parsed.push_back(known->objective);
    }
    return parsed;
}

// By the launcher that is here; ranks that run here are started as Open MPI wants it of this user on this machine.
std::string start_command(std::int64_t ranks, bool here) {
    comm::LaunchPlace place{.launcher = comm::launcher_here(), .library = mpi_library()};
    if (here) {
        place.root = geteuid() == 0;
        place.slots = catalog::physical_cores();
    }
    return comm::start_command(ranks, place);
}

// With as many threads as the plan's times are of.
std::string run_hint(const PlanOptions& options, const ProblemRecord& problem, const Machine& machine) {
    if (!options.output) return "to keep it:  add -o plan.json\n";
    const Shape& shape = options.problem.shape;
    const bool from_path = reads_graph(shape);
    if (problem.batches && !from_path)
        return "to run it:  plan again with --graph PATH, as batches are drawn from the data's edges\n";
    // A machine that was named is another one, as a rule.
    const bool here = from_path && options.problem.machine.empty();
    const std::string start = shape.ranks == 1 ? "" : start_command(shape.ranks, here) + " ";
    const bool known = machine.calibration && machine.calibration->threads;
    const std::string threads = known ? fmt::format(" --threads {}", *machine.calibration->threads) : "";
    const bool infers = options.problem.model.task == "infer";
    return fmt::format("run it:  {}{}{}{}\n", start,
                       command_line({"gnnrun", *options.output, "--data", from_path ? shape.graph : "DIR"}), threads,
                       infers ? " --load-weights WEIGHTS --save-logits OUT.npy" : "");
}

SelectResult search(LoadedProblem& loaded, const RunQuestion& run, const Machine& machine, SelectOptions options,
                    const std::string& command_line) {
    measure::SteadyClock clock;
    ProgressLine line(clock, is_quiet());
    options.progress = [&](const std::string& what) { line.show(what); };
    return find_plan(loaded, run, machine, options, command_line);
}

// Lines about what the chosen plan makes of the graph: memory, balance, cuts.
std::string graph_lines(const Selection& selection, const GraphStats& graph) {
    return memory_lines(selection, graph) + balance_line(selection.plan, graph) + cut_line(selection.plan, graph);
}

// The answer with the features treated otherwise; "" where that is no question, or has none for another reason.
std::string dropout_line(const Selection& selection) {
    const Plan& plan = selection.plan;
    std::string text = dropout_text(plan);
    if (selection.otherwise) text = dropout_text(*selection.otherwise, plan.problem.run);
    return text.empty() ? "" : labelled("dropout", with_dashes(text));
}

// The answer for the network without linear maps before layer 1; "" where it has none.
std::string maps_line(const Plan& plan) {
    const std::string text = without_maps_text(plan);
    return text.empty() ? "" : labelled("maps", with_dashes(text));
}

Machine planned_machine(const PlanOptions& options) {
    Machine machine = machine_and_say(options.problem, options.problem.shape.ranks);
    if (!options.probe) return machine;
    RescaledHere now = rescaled_here(machine);
    say_notes({now.note});
    return std::move(now.machine);
}

int run_plan(const Context& context, const PlanOptions& options) {
    io::check_outputs({{"-o", options.output}, {"--table", options.table}}, files_read(options.problem));
    SelectOptions pins = select_options(options.problem.search);
    pins.pareto = parse_objectives(options.pareto);
    const Machine machine = planned_machine(options);
    check_pins(pins, static_cast<int>(options.problem.shape.ranks));
    if (options.problem.model.task == "infer") refuse_training_questions(options.run);
    LoadedProblem loaded = load_and_say(options.problem);
    SelectResult result = search(loaded, options.run, machine, pins, context.command_line);
    if (!result) {
        if (result.infeasible && options.json) print_json(encode(*result.infeasible, with_dashes(result.message)));
        throw Error(result.code, result.message);
    }
    Plan& plan = result.selection->plan;
    say_lines(found_notes(plan, machine, pins, options.problem.shape));
    if (options.output) write_plan(*options.output, plan);
    if (options.table) {
        io::write_file_atomically(*options.table, io::dump(encode_ranking(*result.selection), 1) + "\n");
    }
    if (options.json) {
        print(io::write_plan(plan));
        return 0;
    }
    if (options.brief) {
        print(answer_line(*result.selection) + sure_line(*result.selection) + dropout_line(*result.selection) +
              maps_line(plan) + run_hint(options, plan.problem, machine));
        return 0;
    }
    const bool color = use_color(context.color);
    print(plan_header(plan.problem, machine, *result.selection) + samples_lines(plan, *loaded.problem.graph) + "\n" +
          plan_table(*result.selection, pins.pareto, options.top, color) + dropout_line(*result.selection) +
          maps_line(plan) + graph_lines(*result.selection, *loaded.problem.graph) +
          run_outlook(plan, *loaded.problem.graph) + run_hint(options, plan.problem, machine));
    return 0;
}

}  // namespace

void add_plan(CLI::App& root, Context& context) {
    const auto options = std::make_shared<PlanOptions>();
    CLI::App& command =
        add_command(root, "plan", "Search the configurations, choose the best, write the plan",
                    "gnnplan plan --graph reddit --hidden 128 --ranks 8 --machine a6000x8 -o plan.json\n"
                    "gnnplan plan --graph path/to/graph --symmetrise --ranks 4 -o plan.json");
    add_problem_flags(command, options->problem);
    add_run_question(command, options->run, false);
    under_heading(command, training_heading);
    command.add_flag("--probe", options->probe,
                     "Measure for a second or two in which state this machine is, and plan with the rates of its "
                     "calibration rescaled to that");
    under_heading(command, machine_heading);
    command
        .add_option(
            "--pareto", options->pareto,
            "The figures that the Pareto mark (not beaten in all of these) compares: time, memory, volume, spmm")
        ->type_name("LIST")
        ->capture_default_str();
    add_count(command, "--top", options->top, "How many of the fastest are listed, besides the best of each scheme",
              {1});
    command.add_option("-o,--output", options->output, "Where to write the plan")->type_name("FILE");
    command
        .add_option("--table", options->table,
                    "Where to write the whole table and what was set aside (gnnplan.ranking/1)")
        ->type_name("FILE");
    command.add_flag("--json", options->json, "Print the plan itself (gnnplan.plan/4)");
    command.add_flag("--brief", options->brief, "Print the answer, how sure it is, and what to run, without the table")
        ->excludes("--json");
    under_heading(command, output_heading);
    on_command(command, context, options, run_plan);
}

}  // namespace gnnplan::tools
