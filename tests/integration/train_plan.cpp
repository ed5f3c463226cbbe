#include "tests/integration/train_plan.hpp"

#include "runtime/comm/threads.hpp"

namespace gnnplan::testing {

Plan make_plan(const Problem& problem, const Machine& machine, std::vector<Candidate> candidates) {
    Plan plan;
    plan.problem = problem.record;
    plan.machine = machine;
    plan.candidates = std::move(candidates);
    return plan;
}

std::vector<RunReport> train_ranks(const Plan& plan, const data::Dataset& dataset, const train::TrainOptions& options,
                                   const std::function<RankTools(int rank)>& tools) {
    std::vector<RunReport> reports(static_cast<std::size_t>(plan.problem.ranks));
    comm::run_ranks(plan.problem.ranks, [&](comm::Communicator& comm) {
        RankTools mine = tools ? tools(comm.rank()) : RankTools{};
        if (!mine.clock) mine.clock = std::make_shared<measure::SteadyClock>();
        reports[static_cast<std::size_t>(comm.rank())] =
            train::train(comm, plan, dataset, options, mine.hooks, *mine.clock);
    });
    return reports;
}

}  // namespace gnnplan::testing
