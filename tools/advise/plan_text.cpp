#include "tools/advise/plan_text.hpp"

#include "planner/cost/likely.hpp"
#include "tools/advise/evidence.hpp"
#include "tools/text/format.hpp"
#include "tools/text/model_text.hpp"
#include "tools/text/option_names.hpp"

#include <gnnplan/base/memory_text.hpp>
#include <gnnplan/models.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace gnnplan::tools {

std::string widths_text(const std::vector<std::int64_t>& widths) {
    constexpr std::ptrdiff_t counted = 4;
    std::vector<std::string> parts;
    for (auto at = widths.begin(); at != widths.end();) {
        const auto end = std::find_if(at, widths.end(), [&](std::int64_t width) { return width != *at; });
        const bool many = end - at >= counted;
        parts.push_back(many ? fmt::format("({} x {})", end - at, *at) : std::to_string(*at));
        at = many ? end : at + 1;
    }
    return fmt::format("{}", fmt::join(parts, "-"));
}

std::string network_text(const ModelRecord& model, bool with_widths) {
    const ModelRecord asked = models::as_asked(model);
    return model_text(asked) + (with_widths ? " " + widths_text(asked.widths) : "");
}

std::string machine_line(const Machine& machine) {
    if (machine.measured || machine.probe) {
        return fmt::format("{} ({}{})", machine.name, machine.source,
                           machine.measured && machine.probe ? "; rescaled to a probe" : "");
    }
    return fmt::format("{} ({}, not measured here: expect larger error)", machine.name,
                       origin_of(machine) == MachineOrigin::preset ? "preset" : "a profile of your own");
}

std::string ranks_text(int ranks, const Machine& machine) {
    if (ranks == 1) return "1 rank";
    const int nodes = (ranks - 1) / machine.ranks_per_node + 1;
    return fmt::format("{} ranks on {} of {}", format_count(ranks),
                       nodes == 1 ? "one node" : format_count(nodes) + " nodes", machine.ranks_per_node);
}

std::string graph_line(const ProblemRecord& problem) {
    const GraphRecord& graph = problem.graph;
    const std::string source = graph.source == graph.name ? "" : " (" + graph.source + ")";
    const auto& widths = problem.model.widths;
    return fmt::format("{}{}   N={}  nnz={} ({}{})  {} features, {} classes", graph.name, source,
                       format_count(graph.vertices), format_count(graph.nonzeros),
                       graph.self_loops ? "self loops included" : "without self loops",
                       graph.edge_weights ? ", weighted" : "", widths.front(), widths.back());
}

std::string infeasible_text(const Infeasible& infeasible) {
    std::string text = fmt::format("needs {} of {} per rank", enough_memory_text(infeasible.needed_bytes),
                                   limit_text(infeasible.available_bytes));
    if (infeasible.sharded_bytes) {
        return with_dashes(text + fmt::format("; {} with `load sharded`", format_memory(*infeasible.sharded_bytes)));
    }
    if (infeasible.smallest_ranks) return text + fmt::format(", fits on {} ranks", *infeasible.smallest_ranks);
    if (infeasible.load_bytes <= infeasible.available_bytes) return text;
    return text + fmt::format("; on no number of ranks, for each holds the graph's {} while loading",
                              format_memory(infeasible.load_bytes));
}

std::string buffer_text(const Plan& plan) {
    if (plan.problem.buffer_bytes == 0) return "";
    const std::string bound = limit_text(plan.problem.buffer_bytes) + " a rank for what others send to a product; ";
    const Candidate& chosen = plan.candidates.front();
    if (!chosen.configuration.on().can_overlap()) return bound + "here they send it nothing";
    Storage cut;  // of the matrix whose blocks are cut most
    for (const Tensor& tensor : chosen.schedule.tensors) {
        if (tensor.role == Role::adjacency && tensor.storage.splits >= cut.splits) cut = tensor.storage;
    }
    const std::string pieces =
        cut.splits == 1 ? "blocks come whole" : fmt::format("blocks come in {} pieces", cut.splits);
    if (!chosen.configuration.overlap) return bound + pieces;
    return bound + pieces + fmt::format(", {} ahead", cut.pieces_ahead());
}

std::int64_t ties(const Selection& selection) {
    const std::vector<RankedConfiguration>& ranked = selection.ranked;
    return std::count_if(ranked.begin(), ranked.end(), [&](const RankedConfiguration& r) {
        return r.fits && cost::tie(r.predicted, ranked.front().predicted, selection.plan.machine);
    });
}

std::optional<double> separation(const Selection& selection) {
    const std::vector<RankedConfiguration>& ranked = selection.ranked;
    if (ranked.size() < 2 || !ranked[1].fits) return std::nullopt;
    return ranked[1].predicted.ranked_seconds() / ranked[0].predicted.ranked_seconds() - 1;
}

}  // namespace gnnplan::tools
