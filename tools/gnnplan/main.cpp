#include "tools/gnnplan/command.hpp"

int main(int argc, char** argv) {
    using namespace gnnplan::tools;
    CLI::App app{"Plans how to distribute whole-graph GNN training over the ranks of a machine"};
    Context context;
    set_up(app, "gnnplan",
           "gnnplan plan --graph reddit --ranks 8 --machine a6000x8 -o plan.json\n"
           "gnnplan enumerate --graph reddit --widths 602,128,41 --ranks 8",
           context.color);
    app.require_subcommand(0, 1);
    add_enumerate(app, context);
    add_plan(app, context);
    add_explain(app, context);
    add_sweep(app, context);
    add_compare(app, context);
    add_calibrate(app, context);
    add_validate(app, context);
    add_graph(app, context);
    add_datasets(app, context);
    add_machines(app, context);
    add_completion(app, context);
    return run_main(app, argc, argv, [&] {
        context.command_line = command_line(argc, argv);
        if (context.run) return context.run();
        print(app.help());
        return 0;
    });
}
