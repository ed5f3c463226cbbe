// An example of a binding: it reads a plan, and trains on the plan's ranks as threads of this process.
#include <gnnplan/base/error.hpp>
#include <gnnplan/io.hpp>

#include <runtime/comm/self.hpp>
#include <runtime/run/run.hpp>

#include <cmath>
#include <iostream>

int main(int argc, char** argv) try {
    if (argc != 3) {
        std::cerr << "usage: train PLAN DATA\n";
        return 64;
    }
    gnnplan::run::Settings settings;
    settings.plan = argv[1];
    settings.data = argv[2];
    settings.training.epochs = 5;
    gnnplan::run::Observer silent;
    gnnplan::run::Run run(settings, gnnplan::read_plan(settings.plan), silent);
    gnnplan::comm::SelfCommunicator self;
    gnnplan::run::Ranks ranks{.processes = self, .communicator = "threads"};
    const auto outcome = run.go(ranks);
    const double loss = outcome->report.epochs.back().loss;
    std::cout << outcome->report.ranks << " ranks, loss " << loss << '\n';
    return std::isfinite(loss) ? 0 : 1;
} catch (const gnnplan::Error& error) {
    std::cerr << "train: " << error.what() << '\n';
    return static_cast<int>(error.code());
}
