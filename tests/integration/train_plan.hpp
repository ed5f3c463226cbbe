// Trains plans on ranks as threads, the way gnnrun --in-process does.
#pragma once

#include "runtime/measure/clock.hpp"
#include "runtime/train/train.hpp"
#include "tests/integration/problem.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace gnnplan::testing {

// A plan with these candidates, the first one chosen.
Plan make_plan(const Problem& problem, const Machine& machine, std::vector<Candidate> candidates);

// The tools with which a rank trains, beside the plan; a null clock is the steady one.
struct RankTools {
    std::shared_ptr<measure::Clock> clock;
    train::TrainHooks hooks;
};

// Every rank's report, in rank order.
std::vector<RunReport> train_ranks(const Plan& plan, const data::Dataset& dataset, const train::TrainOptions& options,
                                   const std::function<RankTools(int rank)>& tools = {});

}  // namespace gnnplan::testing
