#include "tools/advise/pins.hpp"

#include "planner/enumerate/grids.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gnnplan::tools {
namespace {

// The grids that the pinned choices leave. The paper space has RDM's own replications, whatever is genuine elsewhere.
std::vector<Distribution> grids_left(const SelectOptions& options, int ranks) {
    const bool paper = options.space == SearchSpace::paper && options.scheme.value_or("rdm") == "rdm";
    const enumerate::GridChoice choice{options.scheme, options.replication, options.grid};
    return paper ? enumerate::paper_distributions(ranks, choice) : enumerate::distributions(ranks, choice);
}

// Each grid once, on however many ways nonzeros may be shared.
std::string texts(const std::vector<Distribution>& grids) {
    std::vector<std::string> all;
    for (const Distribution& entry : grids) {
        const std::string text = entry.grid.text();
        if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
    }
    return fmt::format("{}", fmt::join(all, ", "));
}

std::string exchange_flag(const SelectOptions& options) {
    return fmt::format("--exchange {}", options.exchange == Exchange::rows ? "rows" : "panels");
}

}  // namespace

std::vector<std::string> check_pins(const SelectOptions& options, int ranks) {
    std::vector<Distribution> grids;
    try {
        grids = grids_left(options, ranks);
    } catch (const Error&) {
        return {};  // the search refuses them, with the reason
    }
    const auto none = [&](const auto& applies) { return std::none_of(grids.begin(), grids.end(), applies); };
    const bool pinned = (options.scheme || options.replication || options.grid) && !grids.empty();
    const auto refuse = [&](const std::string& flag, const char* why) {
        throw Error(ErrorCode::usage, fmt::format("{} on {}", why, texts(grids)), flag,
                    "leave it out, or take another scheme, replication or grid");
    };
    if (pinned && options.exchange && none([](const Distribution& g) { return g.sends_rows(); })) {
        refuse(exchange_flag(options), "ranks exchange no rows for the aggregation");
    }
    if (pinned && options.overlap == true && none([](const Distribution& g) { return g.can_overlap(); })) {
        refuse("--overlap on", "there is no exchange that a product could overlap");
    }
    std::vector<std::string> remarks;
    const bool free = options.scheme == "3d" && !options.replication && !options.grid;
    if (free && none([](const Distribution& g) { return g.grid.y > 1 && g.grid.z > 1; })) {
        remarks.push_back(fmt::format("{} form{} no proper 3D grid; planned on {}, which are those of simpler schemes",
                                      ranks == 1 ? "1 rank" : fmt::format("{} ranks", ranks), ranks == 1 ? "s" : "",
                                      texts(grids)));
    }
    return remarks;
}

std::vector<std::string> pin_remarks(const SelectOptions& options, const Configuration& chosen) {
    std::vector<std::string> remarks;
    const std::string where = fmt::format("{} {}", scheme_of(chosen.on()), chosen.grid.text());
    if (options.exchange && !chosen.on().sends_rows()) {
        remarks.push_back(fmt::format("{} has no effect on the plan: ranks exchange no rows for the aggregation on {}",
                                      exchange_flag(options), where));
    }
    if (options.overlap == true && !chosen.on().can_overlap()) {
        remarks.push_back(fmt::format(
            "--overlap on has no effect on the plan: there is no exchange that a product could overlap on {}", where));
    }
    if (options.loss_rows == true && !chosen.loss_rows) {
        remarks.emplace_back(
            "--loss-rows on has no effect on the plan: the loss needs all rows, or the space prunes none");
    }
    if (options.scores && chosen.scores != *options.scores) {
        remarks.push_back(fmt::format(
            "--scores has no effect on the plan: the model scores no edges, or ranks share no columns on {}", where));
    }
    if (options.attention && chosen.attention != *options.attention) {
        remarks.push_back(
            fmt::format("--attention has no effect on the plan: no rank has all edges of its vertices on {}", where));
    }
    if (options.bf16 && !chosen.bf16) {
        remarks.emplace_back(
            "--bf16 has no effect on the chosen configuration: with overlap or needed rows nothing is packed for the "
            "cache (--overlap "
            "off --exchange panels)");
    }
    return remarks;
}

}  // namespace gnnplan::tools
