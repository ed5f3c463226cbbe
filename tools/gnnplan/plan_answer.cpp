#include "tools/gnnplan/plan_answer.hpp"

#include "planner/cost/likely.hpp"
#include "tools/advise/certainty.hpp"
#include "tools/advise/switch_words.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"

#include <gnnplan/ir/plan.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace gnnplan::tools {
namespace {

// "aggregate first in layers 1 and 3, transform first in layer 2", or their letters where there are many layers.
std::string forward_text(const Orders& forward) {
    constexpr std::size_t most_named = 4;
    if (forward.size() > most_named) return "orders " + format_orders(text(forward));
    std::vector<std::string> parts;
    for (const auto& [order, what] :
         {std::pair(Order::sparse_first, "aggregate"), std::pair(Order::dense_first, "transform")}) {
        std::vector<std::string> layers;
        for (std::size_t layer = 0; layer < forward.size(); ++layer) {
            if (forward[layer] == order) layers.push_back(std::to_string(layer + 1));
        }
        if (!layers.empty())
            parts.push_back(fmt::format("{} first in layer{} {}", what, layers.size() > 1 ? "s" : "", listed(layers)));
    }
    if (forward.front() == Order::dense_first) std::reverse(parts.begin(), parts.end());
    return fmt::format("{}", fmt::join(parts, ", "));
}

// 1D as PyTorch Geometric multiplies by default; null where it was not looked at.
const Alternative* pyg_default(const Plan& plan) {
    const Choice pyg{"baseline", "pyg"};
    const auto found = std::ranges::find(plan.alternatives, pyg, &Alternative::choice);
    return found == plan.alternatives.end() ? nullptr : &*found;
}

// How the plan compares with PyG's default, and what else its time cannot be told from.
std::string compared_text(const Selection& selection, const Certainty& certainty) {
    std::string text;
    std::vector<std::string> ties;
    for (std::size_t i = 1; i < certainty.schemes.size(); ++i) ties.push_back(certainty.schemes[i].name);
    if (const Alternative* pyg = pyg_default(selection.plan)) {
        const double chosen = selection.ranked.front().predicted.ranked_seconds();
        const double seconds = pyg->predicted.ranked_seconds();
        if (pyg->predicted.peak_bytes_per_rank > selection.memory_per_rank) {
            text = "; PyG's default does not fit";
        } else if (cost::tie(pyg->predicted, selection.ranked.front().predicted, selection.plan.machine)) {
            ties.emplace_back("PyG's default");
        } else {
            text = fmt::format("; {:.1f} times as fast as PyG's default", seconds / chosen);
        }
    }
    return ties.empty() ? text : text + "; a tie with " + listed(ties);
}

}  // namespace

std::string inexact_line(const Plan& plan) {
    const Schedule& schedule = plan.candidates.front().schedule;
    const std::string other = other_results(plan.candidates.front().configuration);
    if (other.empty()) return "";
    const double clones = static_cast<double>(schedule.grid.groups.back()) /
                          static_cast<double>(std::max<std::int64_t>(1, plan.problem.graph.vertices));
    const bool counted = !plan.candidates.front().predicted.estimate;
    return labelled("inexact", fmt::format("{}; a vertex has {:.2f} clones{}", other, clones,
                                           counted ? "" : ", as published or as you say: not counted"));
}

std::string answer_line(const Selection& selection) {
    const RankedConfiguration& best = selection.ranked.front();
    const Configuration& c = best.configuration;
    const std::string recomputed = recomputed_text(c);
    return inexact_line(selection.plan) +
           labelled("answer", fmt::format("fits ({} of {} a rank); fastest: {} on {}, {}{}{}",
                                          format_memory(best.predicted.peak_bytes_per_rank),
                                          format_memory(selection.memory_per_rank), scheme_of(c), c.grid.text(),
                                          forward_text(c.forward), recomputed.empty() ? "" : ", " + recomputed,
                                          compared_text(selection, certainty_of(selection.plan))));
}

std::string sure_line(const Selection& selection) { return labelled("sure", sure_text(certainty_of(selection.plan))); }

}  // namespace gnnplan::tools
