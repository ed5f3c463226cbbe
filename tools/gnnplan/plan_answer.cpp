#include "tools/gnnplan/plan_answer.hpp"

#include "tools/advise/certainty.hpp"
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

// How the plan compares with what PyTorch Geometric does by default; "" where it does the same, or was not looked at.
std::string over_pyg(const Selection& selection) {
    for (const Alternative& a : selection.plan.alternatives) {
        if (a.choice.key != "baseline" || a.choice.value != "pyg") continue;
        if (a.predicted.peak_bytes_per_rank > selection.memory_per_rank) return "; PyG's order does not fit";
        const double ratio = a.predicted.ranked_seconds() / selection.ranked.front().predicted.ranked_seconds();
        return ratio < 1.05 ? "" : fmt::format("; {:.1f} times as fast as PyG's order", ratio);
    }
    return "";
}

// The other schemes whose times cannot be told from the chosen one's.
std::string tied_schemes(const Certainty& certainty) {
    std::vector<std::string> names;
    for (std::size_t i = 1; i < certainty.schemes.size(); ++i) names.push_back(certainty.schemes[i].name);
    return names.empty() ? "" : "; a tie with " + listed(names);
}

}  // namespace

std::string answer_line(const Selection& selection) {
    const RankedConfiguration& best = selection.ranked.front();
    const Configuration& c = best.configuration;
    return labelled("answer", fmt::format("fits ({} of {} a rank); fastest: {} on {}, {}{}{}",
                                          format_memory(best.predicted.peak_bytes_per_rank),
                                          format_memory(selection.memory_per_rank), scheme_of(c), c.grid.text(),
                                          forward_text(c.forward), over_pyg(selection),
                                          tied_schemes(certainty_of(selection.plan))));
}

std::string sure_line(const Selection& selection) { return labelled("sure", sure_text(certainty_of(selection.plan))); }

}  // namespace gnnplan::tools
