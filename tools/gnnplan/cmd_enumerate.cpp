// gnnplan enumerate: every configuration of a space with its units.
#include "planner/enumerate/orders.hpp"
#include "planner/enumerate/replication.hpp"
#include "planner/enumerate/units.hpp"
#include "planner/io/enumeration.hpp"
#include "tools/common/format.hpp"
#include "tools/common/options.hpp"
#include "tools/common/table.hpp"
#include "tools/common/version.hpp"
#include "tools/gnnplan/command.hpp"
#include "tools/gnnplan/problem.hpp"

#include <fmt/format.h>

#include <memory>

namespace gnnplan::tools {
namespace {

constexpr std::int64_t max_ranks = 1 << 20;

struct EnumerateOptions {
    ShapeFlags shape;
    std::optional<std::int64_t> replication;
    std::string scheme = "rdm";
    std::string space = "paper";
    bool json = false;
};

io::EnumeratedConfiguration entry(const enumerate::OrderPair& orders, const Units& units, bool pareto,
                                  const io::EnumerationDocument& document) {
    io::EnumeratedConfiguration configuration;
    configuration.id = paper_id(orders.forward, orders.backward);
    configuration.forward = text(orders.forward);
    configuration.backward = text(orders.backward);
    configuration.redistribution_units = units.redistribution;
    configuration.sparse_units = units.sparse;
    configuration.communication_elements =
        communication_elements(units, document.vertices, document.ranks, document.replication);
    configuration.spmm_ops = spmm_operations(units, document.nonzeros);
    configuration.pareto = pareto;
    return configuration;
}

io::EnumerationDocument enumerate_paper_space(const EnumerateOptions& options) {
    const GraphSizes sizes = graph_sizes(options.shape);
    io::EnumerationDocument document;
    document.tool_version = version();
    document.vertices = sizes.vertices;
    document.nonzeros = sizes.nonzeros;
    document.ranks = static_cast<int>(options.shape.ranks);
    document.replication = static_cast<int>(options.replication.value_or(options.shape.ranks));
    enumerate::check_replication(document.replication, document.ranks);
    document.widths = widths_of(options.shape, sizes.features, sizes.classes);

    const auto configurations = enumerate::all_orders(static_cast<int>(document.widths.size()) - 1);
    std::vector<Units> units;
    units.reserve(configurations.size());
    for (const auto& orders : configurations) units.push_back(enumerate::paper_units(orders, document.widths));
    const std::vector<bool> pareto = enumerate::pareto_front(units);
    for (std::size_t i = 0; i < configurations.size(); ++i) {
        document.configurations.push_back(entry(configurations[i], units[i], pareto[i], document));
    }
    return document;
}

std::string human_table(const io::EnumerationDocument& document, bool color) {
    Table table({{"id", Align::right},
                 {"forward"},
                 {"backward"},
                 {"redistribution", Align::right},
                 {"sparse", Align::right},
                 {"elements moved", Align::right},
                 {"SpMM operations", Align::right},
                 {"Pareto"}});
    for (const auto& c : document.configurations) {
        table.add({std::to_string(c.id), c.forward, c.backward, format_number(c.redistribution_units),
                   format_number(c.sparse_units), format_number(c.communication_elements), format_number(c.spmm_ops),
                   c.pareto ? "yes" : ""},
                  c.pareto);
    }
    return fmt::format("{} configurations of widths {} on N={} nnz={}, {} ranks, R_A={}\n\n",
                       document.configurations.size(), fmt::join(document.widths, ","), format_count(document.vertices),
                       format_count(document.nonzeros), document.ranks, document.replication) +
           table.text(color);
}

int run_enumerate(const Context& context, const EnumerateOptions& options) {
    io::EnumerationDocument document = enumerate_paper_space(options);
    document.command_line = context.command_line;
    print(options.json ? io::write_enumeration(document) : human_table(document, use_color(context.color)));
    return 0;
}

}  // namespace

void add_enumerate(CLI::App& root, Context& context) {
    const auto options = std::make_shared<EnumerateOptions>();
    CLI::App& command =
        add_command(root, "enumerate", "List every configuration with its units, volumes and the Pareto mark",
                    "gnnplan enumerate --graph reddit --widths 602,128,41 --ranks 8\n"
                    "gnnplan enumerate --widths 128,128,40 --vertices 169343 --nonzeros 1166243 --ranks 4 --json");
    add_shape_flags(command, options->shape, "CARD", max_ranks);
    add_count(command, "--replication", options->replication, "Copies R_A of the adjacency matrix; default: the ranks",
              {1, max_ranks});
    command.add_option("--scheme", options->scheme, "Family of schemes: rdm")
        ->check(CLI::IsMember({"rdm"}))
        ->type_name("NAME")
        ->capture_default_str();
    command.add_option("--space", options->space, "Which configurations: paper (RDM's, 4^layers of them)")
        ->check(CLI::IsMember({"paper"}))
        ->type_name("NAME")
        ->capture_default_str();
    command.add_flag("--json", options->json, "Print one JSON object (gnnplan.enumeration/1)");
    on_command(command, context, options, run_enumerate);
}

}  // namespace gnnplan::tools
