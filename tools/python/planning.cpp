// Plans as `gnnplan plan` does, without its words: options in, the plan and the table out.
#include "planner/io/parse.hpp"
#include "planner/io/plan.hpp"
#include "tools/advise/json/selection_json.hpp"
#include "tools/advise/pins.hpp"
#include "tools/common/run_question.hpp"
#include "tools/gnnplan/found_plan.hpp"
#include "tools/gnnplan/problem_flags.hpp"
#include "tools/python/bind.hpp"

#include <gnnplan/select.hpp>

#include <string>
#include <utility>
#include <vector>

namespace gnnplan::python {
namespace {

struct Planned {
    std::string plan, table;  // gnnplan.plan/4 and gnnplan.ranking/1; or empty, and
    std::string infeasible;   // gnnplan.infeasible/1
    std::vector<std::string> notes;
};

Planned plan(const Arguments& arguments, const std::string& command_line) {
    check_process();
    CLI::App app;
    tools::ProblemFlags flags;
    tools::RunQuestion run;
    tools::add_problem_flags(app, flags);
    tools::add_run_question(app, run, false);
    parse(app, arguments);
    const SelectOptions pins = tools::select_options(flags.search);
    tools::ChosenMachine chosen = tools::chosen_machine(flags, flags.shape.ranks);
    tools::check_pins(pins, static_cast<int>(flags.shape.ranks));
    if (flags.model.task == "infer") tools::refuse_training_questions(run);
    tools::LoadedProblem loaded = tools::load_problem(flags);
    Planned planned{.notes = std::move(chosen.notes)};
    planned.notes.insert(planned.notes.end(), loaded.notes.begin(), loaded.notes.end());
    const SelectResult result = tools::find_plan(loaded, run, chosen.machine, pins, command_line);
    if (!result) {
        if (!result.infeasible) throw Error(result.code, result.message);
        planned.infeasible = io::dump(tools::encode(*result.infeasible, result.message), 1);
        return planned;
    }
    const Plan& found = result.selection->plan;
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
