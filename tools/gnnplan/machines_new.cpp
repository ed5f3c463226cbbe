#include "tools/gnnplan/machines_new.hpp"

#include "planner/catalog/data_sheet.hpp"
#include "planner/io/files.hpp"
#include "planner/io/machine.hpp"
#include "tools/common/options.hpp"
#include "tools/text/format.hpp"
#include "tools/text/streams.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/config.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace gnnplan::tools {
namespace {

struct NewOptions {
    std::string name = "described";
    std::optional<std::int64_t> ranks_per_node, cards, cores;
    std::int64_t memory = 0, l2 = std::int64_t{40} << 20;
    std::string memory_bandwidth, in_node, between_nodes, flops;
    bool cpu = false;
    std::optional<std::string> output;
};

// "3.35TB/s" and "3.35TB" in bytes per second.
double parse_bandwidth(const std::string& text, const char* flag) {
    const bool per_second = text.ends_with("/s");
    try {
        return static_cast<double>(parse_size(per_second ? text.substr(0, text.size() - 2) : text));
    } catch (const Error&) {
        throw Error(ErrorCode::usage, "'" + text + "' is no bandwidth", flag, "write for example 450GB/s or 3.35TB/s");
    }
}

// "67TF", "19.5 TFLOP/s" and "900GF" in operations per second.
double parse_flops(const std::string& text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    const std::string unit = text.substr(static_cast<std::size_t>(stop - text.data()));
    const std::size_t first = unit.find_first_not_of(' ');
    const std::string letters = first == std::string::npos ? "" : unit.substr(first, 2);
    const double scale = letters == "TF" ? 1e12 : letters == "GF" ? 1e9 : 0;
    if (error == std::errc() && std::isfinite(value) && value > 0 && scale > 0) return value * scale;
    throw Error(ErrorCode::usage, "'" + text + "' is no number of operations per second", "--fp32",
                "write for example 67TF or 900GF");
}

// All at once, so that nobody meets them one after the other.
void check_given(const NewOptions& options) {
    std::vector<std::string> missing;
    for (const auto& [given, flag] :
         {std::pair(options.ranks_per_node.has_value(), "--ranks-per-node"), std::pair(options.memory > 0, "--memory"),
          std::pair(!options.memory_bandwidth.empty(), "--memory-bandwidth"),
          std::pair(!options.flops.empty(), "--fp32"), std::pair(!options.in_node.empty(), "--in-node"),
          std::pair(!options.between_nodes.empty(), "--between-nodes")}) {
        if (!given) missing.emplace_back(flag);
    }
    if (missing.empty()) return;
    throw Error(ErrorCode::usage, fmt::format("a machine needs {}", fmt::join(missing, ", ")), {},
                "see gnnplan machines new --help; data sheets have these figures");
}

int describe(const Context&, const NewOptions& options) {
    check_given(options);
    catalog::DataSheet sheet;
    sheet.name = options.name;
    sheet.ranks_per_node = static_cast<int>(*options.ranks_per_node);
    sheet.accelerators = !options.cpu;
    sheet.memory_per_rank = options.memory;
    sheet.memory_bytes_per_second = parse_bandwidth(options.memory_bandwidth, "--memory-bandwidth");
    sheet.flops_per_second = parse_flops(options.flops);
    sheet.in_node_bytes_per_second = parse_bandwidth(options.in_node, "--in-node");
    sheet.between_nodes_bytes_per_second = parse_bandwidth(options.between_nodes, "--between-nodes");
    sheet.cache_bytes = options.l2;
    sheet.threads_per_rank = static_cast<int>(options.cores.value_or(0));
    sheet.network_cards = static_cast<int>(options.cards.value_or(0));
    const std::string text = io::write_machine(catalog::machine_of(sheet));
    if (!options.output) {
        print(text);
        return 0;
    }
    io::write_file_atomically(*options.output, text);
    print(fmt::format("wrote {}; gnnplan plan --machine {} plans for it, gnnplan machines show {} shows it\n",
                      *options.output, *options.output, *options.output));
    return 0;
}

}  // namespace

void add_machines_new(CLI::App& machines, Context& context) {
    const auto options = std::make_shared<NewOptions>();
    CLI::App& command =
        add_command(machines, "new", "A profile of your own machine from six figures of its data sheets",
                    "gnnplan machines new --ranks-per-node 8 --memory 80GiB --memory-bandwidth 3.35TB/s --fp32 67TF "
                    "--in-node 450GB/s --between-nodes 50GB/s -o mine.json\n"
                    "gnnplan plan --graph reddit --ranks 64 --machine mine.json");
    add_count(command, "--ranks-per-node,--gpus-per-node", options->ranks_per_node,
              "How many ranks (GPUs, or shares of the cores) a node has", {1, max_ranks});
    add_size(command, "--memory", options->memory, "How much memory a rank has");
    const auto add_rate = [&](const char* name, std::string& value, const char* description) {
        command.add_option(name, value, description)->type_name("RATE");
    };
    add_rate("--memory-bandwidth", options->memory_bandwidth, "Peak bandwidth of a rank's memory, such as 3.35TB/s");
    add_rate("--fp32", options->flops, "Peak of a rank in single precision, without tensor cores, such as 67TF");
    add_rate("--in-node", options->in_node,
             "Peak bandwidth of a rank to the other ranks of its node, in one direction, such as 450GB/s");
    add_rate(
        "--between-nodes", options->between_nodes,
        "Peak bandwidth of a rank to other nodes, in one direction: a node's network divided by its ranks, or with "
        "--cards that of one network card");
    add_count(
        command, "--cards", options->cards,
        "How many network cards a node has, which its ranks share: then what leaves and enters the node is limited",
        {1, max_ranks});
    add_count(command, "--cores", options->cores,
              "How many processor cores a rank has to load graphs with; default: as if it had one", {1, max_ranks});
    command.add_flag("--cpu", options->cpu, "Ranks are processors that share the node's memory, not GPUs");
    add_size(command, "--l2", options->l2, "The L2 cache of a GPU; default: 40MiB");
    command.add_option("--name", options->name, "The name of the machine in plans")
        ->type_name("NAME")
        ->capture_default_str();
    add_path(command, "-o,--output", options->output, "FILE",
             "Where to write the profile; default: to standard output");
    on_command(command, context, options, describe);
}

}  // namespace gnnplan::tools
