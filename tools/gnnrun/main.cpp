#include "tools/common/main.hpp"
#include "tools/gnnrun/launch.hpp"

int main(int argc, char** argv) {
    using namespace gnnplan::tools;
    CLI::App app{"Trains a GNN as a plan says, and lays what was measured beside what was predicted"};
    RunFlags flags;
    set_up(app, "gnnrun",
           "gnnrun plan.json --data cora --in-process --dropout 0.5 --feature-norm row --report run.json\n"
           "mpirun -n 4 gnnrun plan.json --data cora",
           "Next: gnnplan explain --analyze run.json lays the predicted beside the measured times,\n"
           "gnnplan calibrate measures this machine, so that predictions get better.\n",
           flags.color);
    add_flags(app, flags);
    return launch(app, flags, argc, argv);
}
