#include "tools/advise/search.hpp"

#include "tools/text/counts.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

namespace gnnplan::tools {
namespace {

std::optional<bool> switched(const std::optional<std::string>& value) {
    if (!value) return std::nullopt;
    return *value == "on";
}

}  // namespace

void check_partition(const ProblemFlags& flags) {
    const bool from_path = !flags.shape.graph.empty() && !is_card(flags.shape.graph);
    if (flags.search.partition && !from_path) {
        throw Error(ErrorCode::usage, "there is no graph to partition", "--partition", "give --graph PATH");
    }
    if (flags.search.partition && flags.model.load == "sharded") {
        throw Error(ErrorCode::usage, "parts are made of the whole graph, of which --load sharded gives ranks shares",
                    "--partition", "use --load whole, or leave --partition out");
    }
}

LoadedProblem load_problem(const ProblemFlags& flags) {
    check_partition(flags);
    LoadedProblem loaded = load_problem(flags.shape, flags.preparation, flags.model);
    loaded.problem.record.space = flags.search.space;
    return loaded;
}

Grid parse_grid(const std::string& text) {
    const std::vector<std::int64_t> extents = parse_counts(text, 'x', {1, max_ranks});
    if (extents.size() != 2 && extents.size() != 3) {
        throw Error(ErrorCode::usage, fmt::format("'{}' is no grid", text), "--grid", "write for example 2x3 or 2x3x2");
    }
    const auto extent = [&](std::size_t i) { return i < extents.size() ? static_cast<int>(extents[i]) : 1; };
    return {extent(0), extent(1), extent(2)};
}

SearchSpace parse_space(const std::string& name) { return name == "paper" ? SearchSpace::paper : SearchSpace::full; }

Scores parse_scores(const std::string& name) {
    if (name == "columns") return Scores::columns;
    return name == "whole-rows" ? Scores::whole_rows : Scores::dealt_rows;
}

AttentionScores parse_attention(const std::string& name) {
    if (name == "sddmm") {
        throw Error(ErrorCode::usage,
                    "scores of gat are sums of one number of each end of an edge, and no products of rows (SDDMM)",
                    "--attention sddmm",
                    "write recompute or stored; scores of --model agnn are such products, see --scores");
    }
    return name == "stored" ? AttentionScores::stored : AttentionScores::recompute;
}

SelectOptions select_options(const SearchFlags& flags) {
    SelectOptions options;
    options.space = parse_space(flags.space);
    options.scheme = flags.scheme;
    if (flags.replication) options.replication = static_cast<int>(*flags.replication);
    if (flags.grid) options.grid = parse_grid(*flags.grid);
    if (flags.forward) options.forward = parse_orders(*flags.forward);
    if (flags.backward) options.backward = parse_orders(*flags.backward);
    if (flags.exchange) options.exchange = *flags.exchange == "rows" ? Exchange::rows : Exchange::panels;
    options.overlap = switched(flags.overlap);
    options.permutation = switched(flags.permute);
    options.loss_rows = switched(flags.loss_rows);
    if (flags.values) options.factored_values = *flags.values == "factored";
    if (flags.attention) options.attention = parse_attention(*flags.attention);
    if (flags.scores) options.scores = parse_scores(*flags.scores);
    options.ring = switched(flags.ring);
    options.bf16 = flags.bf16;
    options.partition = flags.partition;
    options.memory_per_rank = flags.memory;
    options.buffer_bytes = flags.buffer;
    options.constant_input = flags.constant_input;
    return options;
}

}  // namespace gnnplan::tools
