#include "tools/gnnplan/found_plan.hpp"

#include "tools/advise/pins.hpp"
#include "tools/ask/machine.hpp"
#include "tools/ask/plan_data.hpp"
#include "tools/text/version.hpp"

#include <gnnplan/question.hpp>

#include <utility>

namespace gnnplan::tools {

SelectResult find_plan(LoadedProblem& loaded, const RunQuestion& run, const Machine& machine,
                       const SelectOptions& options, const std::string& command_line) {
    loaded.problem.record.run = run_record(run);
    SelectResult result = select(loaded.problem, machine, options);
    if (!result) return result;
    if (options.alternatives) add_plan_without_maps(*result.selection, loaded.problem, machine, options);
    Plan& plan = result.selection->plan;
    plan.tool_version = version();
    plan.command_line = command_line;
    note_data(plan, loaded);
    return result;
}

std::vector<std::string> found_notes(const Plan& plan, const Machine& machine, const SelectOptions& pins,
                                     const Shape& shape) {
    std::vector<std::string> notes = pin_remarks(pins, plan, shape.replication_factor.has_value());
    for (std::string& warning : node_notes(machine, {plan.problem.ranks})) notes.push_back(std::move(warning));
    for (std::string& note : notes) note.insert(0, "note: ");
    return notes;
}

}  // namespace gnnplan::tools
