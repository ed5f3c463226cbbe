#include "tools/gnnplan/found_plan.hpp"

#include "tools/ask/plan_data.hpp"
#include "tools/text/version.hpp"

#include <gnnplan/question.hpp>

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

}  // namespace gnnplan::tools
