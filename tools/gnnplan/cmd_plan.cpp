// gnnplan plan: search, choose, write the plan.
#include "planner/io/files.hpp"
#include "planner/io/plan.hpp"
#include "tools/common/format.hpp"
#include "tools/common/options.hpp"
#include "tools/common/table.hpp"
#include "tools/common/version.hpp"
#include "tools/gnnplan/command.hpp"
#include "tools/gnnplan/output.hpp"
#include "tools/gnnplan/plan_table.hpp"
#include "tools/gnnplan/problem.hpp"

#include <gnnplan/select.hpp>

#include <fmt/format.h>

#include <memory>

namespace gnnplan::tools {
namespace {

// A search looks at every pair of ranks of every step, for every R_A: minutes at this number.

struct PlanOptions {
    ShapeFlags shape;
    PreparationFlags preparation;
    std::string model = "gcn";
    bool bias = false;
    std::string machine = "cpu-node";
    std::int64_t memory = 0;
    std::string space = "paper", scheme = "rdm";
    std::optional<std::string> forward, backward, grid;
    std::optional<std::int64_t> replication;
    bool constant_input = false;
    std::int64_t top = 10;
    std::optional<std::string> output;
    bool json = false;
};

// R_A of a pinned grid "XxY"; rdm's grid is (P / R_A) x R_A.
std::int64_t replication_of_grid(const PlanOptions& options) {
    const std::vector<std::int64_t> extents = parse_counts(*options.grid, 'x', {1, max_ranks});
    if (extents.size() != 2 || extents[0] * extents[1] != options.shape.ranks) {
        throw Error(ErrorCode::usage,
                    fmt::format("there is no grid {} of {} ranks", *options.grid, options.shape.ranks), "--grid",
                    "rdm's grid is (P/R_A)x(R_A)");
    }
    if (options.replication && *options.replication != extents[1]) {
        throw Error(ErrorCode::usage, fmt::format("grid {} has R_A={}", *options.grid, extents[1]), "--replication");
    }
    return extents[1];
}

SelectOptions select_options(const PlanOptions& options) {
    SelectOptions select;
    if (options.replication) select.replication = static_cast<int>(*options.replication);
    if (options.grid) select.replication = static_cast<int>(replication_of_grid(options));
    if (options.forward) select.forward = parse_orders(*options.forward);
    if (options.backward) select.backward = parse_orders(*options.backward);
    select.memory_per_rank = options.memory;
    select.constant_input = options.constant_input;
    return select;
}

io::Document encode(const Infeasible& infeasible, const std::string& message) {
    io::Document largest = io::Document::array();
    for (const TensorSize& tensor : infeasible.largest) {
        largest.push(io::Document::object({{"name", tensor.name}, {"bytes", tensor.bytes}}));
    }
    io::Document document = io::Document::object({{"schema", "gnnplan.infeasible/1"},
                                                  {"message", message},
                                                  {"needed_bytes_per_rank", infeasible.needed_bytes},
                                                  {"available_bytes_per_rank", infeasible.available_bytes},
                                                  {"largest_tensors", std::move(largest)}});
    return document.set("smallest_ranks",
                        infeasible.smallest_ranks ? io::Document(*infeasible.smallest_ranks) : io::Document());
}

std::string run_hint(const PlanOptions& options) {
    if (!options.output) return "to keep it:  add -o plan.json\n";
    const bool from_path = !options.shape.graph.empty() && !is_card(options.shape.graph);
    return fmt::format("run it:  mpirun -n {} gnnrun {} --data {}\n", options.shape.ranks, *options.output,
                       from_path ? options.shape.graph : "DIR");
}

int run_plan(const Context& context, const PlanOptions& options) {
    if (options.output) io::check_can_create(*options.output);
    const SelectOptions pins = select_options(options);
    const Machine machine = load_machine(options.machine);
    const LoadedProblem loaded = load_problem(options.shape, options.preparation, options.model, options.bias);
    SelectResult result = select(loaded.problem, machine, pins);
    if (!result) {
        if (result.infeasible && options.json) print_json(encode(*result.infeasible, result.message));
        throw Error(result.code, result.message);
    }
    Plan& plan = result.selection->plan;
    plan.tool_version = version();
    plan.command_line = context.command_line;
    plan.fingerprints.graph = loaded.fingerprint;
    const std::string file = io::write_plan(plan);
    if (options.output) io::write_file_atomically(*options.output, file);
    if (options.json) {
        print(file);
        return 0;
    }
    const bool color = use_color(context.color);
    print(plan_header(plan.problem, machine, *result.selection) + "\n" +
          plan_table(*result.selection, options.top, color) + run_hint(options));
    return 0;
}

void add_pins(CLI::App& command, PlanOptions& options) {
    command.add_option("--space", options.space, "Which configurations: paper (RDM's)")
        ->check(CLI::IsMember({"paper"}))
        ->type_name("NAME")
        ->capture_default_str();
    command.add_option("--scheme", options.scheme, "Pin the family of schemes: rdm")
        ->check(CLI::IsMember({"rdm"}))
        ->type_name("NAME")
        ->capture_default_str();
    command.add_option("--forward", options.forward, "Pin the forward orders, layers 1..L, e.g. SD")
        ->type_name("ORDERS");
    command.add_option("--backward", options.backward, "Pin the backward orders, layers L..1, e.g. SS")
        ->type_name("ORDERS");
    add_count(command, "--replication", options.replication, "Pin the copies R_A of the adjacency matrix",
              {1, max_ranks});
    command.add_option("--grid", options.grid, "Pin the grid (P/R_A)x(R_A), e.g. 2x3")->type_name("XxY");
}

}  // namespace

void add_plan(CLI::App& root, Context& context) {
    const auto options = std::make_shared<PlanOptions>();
    CLI::App& command =
        add_command(root, "plan", "Search the configurations, choose the best, write the plan",
                    "gnnplan plan --graph reddit --hidden 128 --ranks 8 --machine a6000x8 -o plan.json\n"
                    "gnnplan plan --graph path/to/graph --symmetrise --ranks 4 -o plan.json");
    add_shape_flags(command, options->shape, "CARD|PATH", max_ranks);
    add_preparation_flags(command, options->preparation);
    command.add_option("--model", options->model, "Model: gcn")->type_name("NAME")->capture_default_str();
    command.add_flag("--bias", options->bias, "Give every layer a bias");
    command.add_option("--machine", options->machine, "A preset (see gnnplan machines list) or the file of a profile")
        ->type_name("NAME|FILE")
        ->capture_default_str();
    add_size(command, "--memory", options->memory, "Memory per rank, e.g. 16GiB; default: the machine's");
    add_pins(command, *options);
    command.add_flag("--constant-input", options->constant_input, "The features never change: no dropout on them");
    add_count(command, "--top", options->top, "Rows of the table", {1});
    command.add_option("-o,--output", options->output, "Where to write the plan")->type_name("FILE");
    command.add_flag("--json", options->json, "Print the plan itself (gnnplan.plan/1)");
    on_command(command, context, options, run_plan);
}

}  // namespace gnnplan::tools
