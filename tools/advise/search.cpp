#include "tools/advise/search.hpp"

#include "tools/advise/switch_words.hpp"
#include "tools/text/counts.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

namespace gnnplan::tools {

void check_partition(const ProblemFlags& flags) {
    const bool partitions = flags.search.switches.contains("parts");
    const bool from_path = !flags.shape.graph.empty() && !is_card(flags.shape.graph);
    if (partitions && !from_path) {
        throw Error(ErrorCode::usage, "there is no graph to partition", "--partition", "give --graph PATH");
    }
    if (partitions && flags.model.load == "sharded") {
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

SelectOptions select_options(const SearchFlags& flags) {
    SelectOptions options;
    options.space = parse_space(flags.space);
    options.scheme = flags.scheme;
    if (flags.replication) options.replication = static_cast<int>(*flags.replication);
    if (flags.grid) options.grid = parse_grid(*flags.grid);
    if (flags.forward) options.forward = parse_orders(*flags.forward);
    if (flags.backward) options.backward = parse_orders(*flags.backward);
    for (const auto& [key, value] : flags.switches) pin_switch(options, key, value);
    options.memory_per_rank = flags.memory;
    options.buffer_bytes = flags.buffer;
    return options;
}

}  // namespace gnnplan::tools
