#include "tools/advise/feature_dropout.hpp"

namespace gnnplan::tools {

std::optional<SelectResult> with_features_otherwise(Problem problem, const Machine& machine, SelectOptions options,
                                                    const Configuration& chosen) {
    constexpr double usual_dropout = 0.5;  // of the original GCN
    RunRecord& run = problem.record.run;
    const std::optional<bool> drops = run.drops_features();
    if (problem.record.task == Task::infer || options.constant_input) return std::nullopt;
    if (drops ? !*drops : !chosen.constant_input) return std::nullopt;
    if (drops) {
        run.input_dropout = 0;
    } else {
        run.dropout = usual_dropout;
    }
    options.alternatives = false;
    return select(problem, machine, options);
}

}  // namespace gnnplan::tools
