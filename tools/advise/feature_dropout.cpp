#include "tools/advise/feature_dropout.hpp"

#include "planner/cost/likely.hpp"
#include "tools/advise/configuration_text.hpp"
#include "tools/advise/plan_text.hpp"
#include "tools/text/trust.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gnnplan::tools {

std::string other_dropout_words(const RunRecord& run) {
    return run.drops_features() ? "without dropout on the features (`input-dropout 0`)"
                                : "with dropout on the features (`dropout 0.5`)";
}

std::string times_text(double ratio) {
    if (ratio >= 2) return fmt::format("{:.1f}x", ratio);
    if (ratio <= 0.5) return fmt::format("{:.1f}x as fast", 1 / ratio);
    return fmt::format("{:+.0f} %", 100 * (ratio - 1));
}

namespace {

// The plan's alternative of another problem, and how it compares; "" where it has none.
std::string other_text(const Plan& plan, const char* key, const std::string& words, const std::string& if_cached = "") {
    const auto other = std::find_if(plan.alternatives.begin(), plan.alternatives.end(),
                                    [&](const Alternative& a) { return a.choice.key == key; });
    if (other == plan.alternatives.end()) return "";
    const Prediction& chosen = plan.candidates.front().predicted;
    const Configuration& c = other->configuration;
    return fmt::format("{}: {} {} {}{}, {}, {}{}", words, scheme_of(c), c.grid.text(), orders_text(c),
                       c.cached_aggregation ? if_cached : "",
                       format_seconds(other->predicted.shown_seconds(), plan.machine),
                       times_text(other->predicted.ranked_seconds() / chosen.ranked_seconds()),
                       cost::tie(other->predicted, chosen, plan.machine) ? ", a tie" : "");
}

}  // namespace

std::string dropout_text(const Plan& plan) {
    return other_text(plan, "feature_dropout", other_dropout_words(plan.problem.run));
}

std::string without_maps_text(const Plan& plan) {
    return other_text(plan, "pre", "without the linear maps before layer 1 (`pre`)", " with ÂX kept over epochs");
}

std::string dropout_text(const Infeasible& infeasible, const RunRecord& run) {
    return fmt::format("{} nothing fits: it {}", other_dropout_words(run), infeasible_text(infeasible));
}

}  // namespace gnnplan::tools
