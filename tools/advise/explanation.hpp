// A plan, explained: what each step of the chosen schedule costs, and how its units compare with the paper's.
#pragma once

#include <gnnplan/ir/cost.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

struct StepCost {
    std::string name;
    std::string section;  // "forward, layer 1", "loss", "backward, layer 2", "update"
    Phase phase = Phase::epoch;
    std::string kind;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::string layout;               // "C", or "C -> R" of a redistribution
    std::int64_t total_bytes = 0;     // that leave a rank for another one
    std::int64_t max_rank_bytes = 0;  // the busiest rank's, the larger of sent and received
    double seconds = 0;
    std::optional<std::string> within = {};  // the product that does this step to its result as it makes it
};

// A move that the paper's units leave out, or a remark on one they count.
struct UnitRemark {
    std::string step;  // "" when it is about the whole schedule
    double units = 0;  // of redistribution, beyond the paper's
    std::string reason;
};

// The chosen candidate over the second one.
struct RunnerUp {
    Configuration configuration;
    double epoch_seconds_ratio = 1;
    std::optional<double> total_bytes_ratio;  // none when the chosen one moves nothing
    double peak_bytes_ratio = 1;
};

struct Explanation {
    std::vector<StepCost> steps;
    std::optional<Units> paper;  // of configurations of the paper space
    Units executed;
    std::vector<UnitRemark> remarks;
    std::vector<TensorSize> largest;    // on rank 0, which holds the largest dense blocks
    std::optional<RunnerUp> runner_up;  // none in a plan with one candidate
};

Explanation explain(const Plan& plan);

}  // namespace gnnplan::tools
