#include "tools/gnnrun/discards.hpp"

#include "runtime/train/match.hpp"
#include "tools/common/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace gnnplan::tools {
namespace {

// "candidate 3", "candidates 1 to 5", "candidates 1, 2 and 4"
std::string named(const std::vector<int>& numbers) {
    if (numbers.size() == 1) return fmt::format("candidate {}", numbers.front());
    const bool run = numbers.back() - numbers.front() + 1 == std::ssize(numbers);
    if (run && numbers.size() > 2) return fmt::format("candidates {} to {}", numbers.front(), numbers.back());
    return fmt::format("candidates {} and {}", fmt::join(numbers.begin(), numbers.end() - 1, ", "), numbers.back());
}

}  // namespace

std::optional<std::string> discard_note(const Plan& plan, const train::TrainOptions& options) {
    if (options.features_dropout() == 0) return std::nullopt;
    std::vector<int> dropped;
    for (std::size_t i = 0; i < plan.candidates.size(); ++i) {
        if (plan.candidates[i].configuration.constant_input) dropped.push_back(static_cast<int>(i) + 1);
    }
    if (dropped.empty()) return std::nullopt;
    const double planned = plan.candidates.front().predicted.epoch_seconds;
    const double left = plan.candidates[static_cast<std::size_t>(train::usable_candidates(plan, options).front())]
                            .predicted.epoch_seconds;
    return fmt::format(
        "note: {} of {} cannot be used: what they keep needs features that never change, and this run drops some with "
        "probability {}; an epoch is then predicted to take {} instead of {}. --input-dropout 0 keeps them; gnnplan "
        "plan --dropout {} plans for it",
        named(dropped), plan.candidates.size(), options.features_dropout(), format_seconds(left, plan.machine),
        format_seconds(planned, plan.machine), options.features_dropout());
}

}  // namespace gnnplan::tools
