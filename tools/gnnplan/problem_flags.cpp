#include "tools/gnnplan/problem_flags.hpp"

#include "tools/common/options.hpp"

#include <fmt/format.h>

namespace gnnplan::tools {
namespace {

void add_switch(CLI::App& command, const char* name, std::optional<std::string>& value, const char* description) {
    command.add_option(name, value, description)->check(CLI::IsMember({"on", "off"}))->type_name("on|off");
}

std::optional<bool> switched(const std::optional<std::string>& value) {
    if (!value) return std::nullopt;
    return *value == "on";
}

void add_pins(CLI::App& command, SearchFlags& flags) {
    command
        .add_option(
            "--forward", flags.forward,
            "Pin what each layer multiplies first, layers 1..L: S the sparse adjacency matrix (aggregate first), "
            "D the dense weights; e.g. SD")
        ->type_name("ORDERS");
    command
        .add_option("--backward", flags.backward,
                    "The same for the backward pass, layers L..1, e.g. SS; S- in the full space, where layer 1 needs "
                    "no gradient of its input")
        ->type_name("ORDERS");
    add_count(command, "--replication", flags.replication,
              "Pin how many copies of the adjacency matrix there are: R_A of rdm, c of 1.5d", {1, max_ranks});
    command.add_option("--grid", flags.grid, "Pin how the ranks are arranged, e.g. 2x3 for 6 of them")
        ->type_name("XxY[xZ]");
    command
        .add_option("--exchange", flags.exchange,
                    "Pin what ranks send each other for a sparse product: panels (whole blocks of rows) or rows (those "
                    "only that the other needs)")
        ->check(CLI::IsMember({"panels", "rows"}))
        ->type_name("panels|rows");
    add_switch(command, "--overlap", flags.overlap, "Pin whether panels travel while others are multiplied");
    command
        .add_option("--values", flags.values,
                    "Pin how nonzeros are stored: each with its value, or factored, as one scale for each row and "
                    "column")
        ->check(CLI::IsMember({"stored", "factored"}))
        ->type_name("stored|factored");
    add_switch(command, "--permute", flags.permute, "Pin whether vertices are shuffled, so that work lies evenly");
    add_switch(command, "--loss-rows", flags.loss_rows,
               "Pin whether layers compute those rows only that the loss needs, where few vertices train");
    command.add_flag("--bf16", flags.bf16,
                     "Let products round their dense operand to bfloat16 where it is packed for the cache, which is "
                     "inexact, and not done with overlap nor with needed rows");
    command.add_flag("--partition", flags.partition,
                     "Let a partitioner number the vertices; the graph must be there, not a card");
    command.add_flag("--constant-input", flags.constant_input,
                     "The features never change (no dropout on them), so what is computed of them can be kept");
}

}  // namespace

void add_space_flags(CLI::App& command, std::string& space, std::optional<std::string>& scheme) {
    command
        .add_option("--space", space, "Which configurations are searched: full, or paper (RDM's, as its paper counts)")
        ->check(CLI::IsMember({"full", "paper"}))
        ->type_name("full|paper")
        ->capture_default_str();
    command
        .add_option("--scheme", scheme,
                    fmt::format("Keep to one way of cutting the matrices: {}", fmt::join(scheme_names(), ", ")))
        ->check(CLI::IsMember(scheme_names()))
        ->type_name("NAME");
    under_heading(command, pin_heading);
}

void add_problem_flags(CLI::App& command, ProblemFlags& flags) {
    add_shape_flags(command, flags.shape, "CARD|PATH", max_ranks);
    add_preparation_flags(command, flags.preparation);
    command.add_option("--model", flags.model, "The network: gcn")->type_name("NAME")->capture_default_str();
    command.add_flag("--bias", flags.bias, "Give every layer a bias");
    under_heading(command, model_heading);
    command
        .add_option("--machine", flags.machine,
                    "The machine to plan for: a preset (gnnplan machines list) or the file of a profile; default: what "
                    "gnnplan calibrate measured here, else cpu-node")
        ->type_name("NAME|FILE");
    add_size(command, "--memory", flags.search.memory,
             "How much memory a rank may use, e.g. 16GiB; default: what the machine has");
    under_heading(command, machine_heading);
    add_space_flags(command, flags.search.space, flags.search.scheme);
    add_pins(command, flags.search);
    under_heading(command, pin_heading);
}

std::vector<NamedFile> files_read(const ProblemFlags& flags) {
    return {{"--graph", flags.shape.graph}, {"--machine", flags.machine}};
}

void check_partition(const ProblemFlags& flags) {
    const bool from_path = !flags.shape.graph.empty() && !is_card(flags.shape.graph);
    if (flags.search.partition && !from_path) {
        throw Error(ErrorCode::usage, "there is no graph to partition", "--partition", "give --graph PATH");
    }
}

LoadedProblem load_problem(const ProblemFlags& flags) {
    check_partition(flags);
    LoadedProblem loaded = load_problem(flags.shape, flags.preparation, flags.model, flags.bias);
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
    if (flags.exchange) options.exchange = *flags.exchange == "rows" ? Exchange::rows : Exchange::panels;
    options.overlap = switched(flags.overlap);
    options.permutation = switched(flags.permute);
    options.loss_rows = switched(flags.loss_rows);
    if (flags.values) options.factored_values = *flags.values == "factored";
    options.bf16 = flags.bf16;
    options.partition = flags.partition;
    options.memory_per_rank = flags.memory;
    options.constant_input = flags.constant_input;
    return options;
}

}  // namespace gnnplan::tools
