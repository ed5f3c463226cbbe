// What `gnnplan plan` does, without its words: options in, the plan and the table out.
#include "planner/io/parse.hpp"
#include "planner/io/plan.hpp"
#include "tools/advise/json/selection_json.hpp"
#include "tools/ask/machine.hpp"
#include "tools/ask/plan_data.hpp"
#include "tools/common/run_question.hpp"
#include "tools/gnnplan/probe_machine.hpp"
#include "tools/gnnplan/problem_flags.hpp"
#include "tools/python/bind.hpp"
#include "tools/text/version.hpp"

#include <gnnplan/question.hpp>
#include <gnnplan/select.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::python {
namespace {

using tools::ProblemFlags;

struct Planned {
    std::string plan, table;  // gnnplan.plan/4 and gnnplan.ranking/1; or empty, and
    std::string infeasible;   // gnnplan.infeasible/1
    std::vector<std::string> notes;
};

Machine machine_of(const ProblemFlags& flags, std::vector<std::string>& notes) {
    const std::int64_t ranks = flags.shape.ranks;
    const auto per_node = flags.ranks_per_node ? std::optional(static_cast<int>(*flags.ranks_per_node)) : std::nullopt;
    tools::ChosenMachine chosen = tools::load_machine(flags.machine, ranks, per_node);
    notes = std::move(chosen.notes);
    if (!chosen.built_in) return std::move(chosen.machine);
    std::optional<tools::RescaledHere> probed = tools::probed_machine(per_node.value_or(ranks));
    if (!probed) return std::move(chosen.machine);
    if (!probed->note.empty()) notes.push_back("note: " + probed->note);
    if (per_node) probed->machine.ranks_per_node = *per_node;
    return std::move(probed->machine);
}

Planned plan(const Arguments& arguments, const std::string& command_line) {
    check_process();
    CLI::App app;
    ProblemFlags flags;
    tools::RunQuestion run;
    tools::add_problem_flags(app, flags);
    tools::add_run_question(app, run, false);
    parse(app, arguments);
    Planned planned;
    const SelectOptions pins = tools::select_options(flags.search);
    const Machine machine = machine_of(flags, planned.notes);
    if (flags.model.task == "infer") tools::refuse_training_questions(run);
    tools::LoadedProblem loaded =
        tools::load_problem(flags.shape, tools::reading_of(flags.preparation), tools::network_of(flags.model));
    planned.notes.insert(planned.notes.end(), loaded.notes.begin(), loaded.notes.end());
    loaded.problem.record.run = tools::run_record(run);
    SelectResult result = select(loaded.problem, machine, pins);
    if (!result) {
        if (!result.infeasible) throw Error(result.code, result.message);
        planned.infeasible = io::dump(tools::encode(*result.infeasible, result.message), 1);
        return planned;
    }
    add_plan_without_maps(*result.selection, loaded.problem, machine, pins);
    Plan& found = result.selection->plan;
    found.tool_version = tools::version();
    found.command_line = command_line;
    tools::note_data(found, loaded);
    planned.plan = io::write_plan(found);
    planned.table = io::dump(tools::encode_ranking(*result.selection), 1);
    return planned;
}

}  // namespace

void add_planning(nb::module_& module) {
    nb::class_<Planned>(module, "Planned")
        .def_ro("plan", &Planned::plan)
        .def_ro("table", &Planned::table)
        .def_ro("infeasible", &Planned::infeasible)
        .def_ro("notes", &Planned::notes);
    module.def("plan", &plan, nb::arg("arguments"), nb::arg("command_line"), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace gnnplan::python
