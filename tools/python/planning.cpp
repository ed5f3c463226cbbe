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

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::python {
namespace {

struct Question {
    tools::ProblemFlags flags;
    tools::RunQuestion run;
    SelectOptions options;
    tools::ChosenMachine chosen;
};

struct Stopped {};

Question question_of(const Arguments& arguments, const Stop& stop) {
    check_process();
    CLI::App app;
    Question question;
    tools::add_problem_flags(app, question.flags);
    tools::add_run_question(app, question.run, false);
    parse(app, arguments);
    const auto ranks = question.flags.shape.ranks;
    question.options = tools::select_options(question.flags.search);
    question.options.progress = [&stop](const std::string&) {
        if (stop.told) throw Stopped();
    };
    question.chosen = tools::chosen_machine(question.flags, ranks);
    tools::check_pins(question.options, static_cast<int>(ranks));
    if (question.flags.model.task == "infer") tools::refuse_training_questions(question.run);
    return question;
}

struct Planned {
    std::string plan, table;  // gnnplan.plan/4 and gnnplan.ranking/1; or empty, and
    std::string infeasible;   // gnnplan.infeasible/1
    std::vector<std::string> notes;
};

void append(std::vector<std::string>& notes, const std::vector<std::string>& more) {
    notes.insert(notes.end(), more.begin(), more.end());
}

Planned planned(const Question& question, tools::LoadedProblem loaded, const std::string& command_line) {
    Planned planned{.notes = question.chosen.notes};
    append(planned.notes, loaded.notes);
    const Machine& machine = question.chosen.machine;
    const SelectResult result = tools::find_plan(loaded, question.run, machine, question.options, command_line);
    if (!result) {
        if (!result.infeasible) throw Error(result.code, result.message);
        planned.infeasible = io::dump(tools::encode(*result.infeasible, result.message), 1);
        return planned;
    }
    const Plan& found = result.selection->plan;
    append(planned.notes, tools::found_notes(found, machine, question.options, question.flags.shape));
    planned.plan = io::write_plan(found);
    planned.table = io::dump(tools::encode_ranking(*result.selection), 1);
    return planned;
}

// Nothing where it was stopped.
std::optional<Planned> plan(const Arguments& arguments, const std::string& command_line, const Stop& stop) {
    try {
        const Question question = question_of(arguments, stop);
        return planned(question, tools::load_problem(question.flags), command_line);
    } catch (const Stopped&) {
        return std::nullopt;
    }
}

std::optional<OrderAdvice> orders(const Arguments& arguments, const Stop& stop) {
    try {
        const Question question = question_of(arguments, stop);
        tools::LoadedProblem loaded = tools::load_problem(question.flags);
        loaded.problem.record.run = tools::run_record(question.run);
        return select_orders(loaded.problem, question.chosen.machine, question.options);
    } catch (const Stopped&) {
        return std::nullopt;
    }
}

}  // namespace

void add_planning(nb::module_& module) {
    nb::class_<Stop>(module, "Stop").def(nb::init<>()).def("tell", [](Stop& stop) { stop.told = true; });
    nb::class_<Planned>(module, "Planned")
        .def_ro("plan", &Planned::plan)
        .def_ro("table", &Planned::table)
        .def_ro("infeasible", &Planned::infeasible)
        .def_ro("notes", &Planned::notes);
    nb::class_<OrderAdvice>(module, "OrderAdvice")
        .def_prop_ro("forward", [](const OrderAdvice& advice) { return text(advice.forward); })
        .def_prop_ro("backward", [](const OrderAdvice& advice) { return text(advice.backward); })
        .def_ro("kept", &OrderAdvice::kept)
        .def_ro("scheme", &OrderAdvice::scheme)
        .def_prop_ro("grid", [](const OrderAdvice& advice) { return advice.grid.text(); })
        .def_ro("epoch_seconds", &OrderAdvice::epoch_seconds)
        .def_ro("peak_bytes_per_rank", &OrderAdvice::peak_bytes_per_rank)
        .def_ro("memory_per_rank", &OrderAdvice::memory_per_rank);
    const auto released = nb::call_guard<nb::gil_scoped_release>();
    module.def("plan", &plan, nb::arg("arguments"), nb::arg("command_line"), nb::arg("stop"), released);
    module.def("select_orders", &orders, nb::arg("arguments"), nb::arg("stop"), released);
}

}  // namespace gnnplan::python
