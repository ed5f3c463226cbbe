#include "planner/catalog/host.hpp"
#include "tools/common/memory_limit.hpp"
#include "tools/gnnplan/command.hpp"
#include "tools/gnnplan/output.hpp"

namespace {

constexpr const char* next_steps =
    "From a graph to a trained network and a better prediction:\n"
    "  gnnplan plan --graph DATA --ranks 4 -o plan.json             choose how the work is shared out\n"
    "  mpirun -n 4 gnnrun plan.json --data DATA --report run.json   train as the plan says\n"
    "  gnnplan explain --analyze run.json                           compare predicted with measured times\n"
    "  gnnplan report plan.json run.json -o report.html             both as a page with charts\n"
    "  gnnplan calibrate                                            measure this machine, then plan again\n"
    "  gnnplan sweep --graph DATA --vary ranks=2,4,8                ask what other settings would do\n";

}  // namespace

int main(int argc, char** argv) {
    using namespace gnnplan::tools;
    namespace catalog = gnnplan::catalog;
    CLI::App app{"Plans how to distribute whole-graph GNN training over the ranks of a machine"};
    Context context;
    set_up(app, "gnnplan",
           "gnnplan plan --graph reddit --ranks 8 --machine a6000x8 -o plan.json\n"
           "gnnplan sweep --graph reddit --machine a6000x8 --vary ranks=2,4,8",
           next_steps, context.color);
    app.add_flag_callback("-q,--quiet", be_quiet, "Say nothing but warnings, errors and the result");
    app.require_subcommand(0, 1);
    add_enumerate(app, context);
    add_plan(app, context);
    add_explain(app, context);
    add_report(app, context);
    add_sweep(app, context);
    add_compare(app, context);
    add_calibrate(app, context);
    add_launch(app, context);
    add_validate(app, context);
    add_graph(app, context);
    add_datasets(app, context);
    add_machines(app, context);
    add_completion(app, context);
    add_help(app, context);
    return run_main(app, argc, argv, [&] {
        context.command_line = command_line({argv, argv + argc});
        limit_memory(catalog::available_units());
        if (context.run) return context.run();
        print(help_text(app));
        return 0;
    });
}
