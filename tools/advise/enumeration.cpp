#include "tools/advise/enumeration.hpp"

#include "planner/enumerate/orders.hpp"
#include "planner/enumerate/replication.hpp"
#include "planner/enumerate/units.hpp"
#include "planner/enumerate/units_front.hpp"
#include "planner/io/files.hpp"
#include "tools/text/shell.hpp"
#include "tools/text/version.hpp"

#include <fmt/format.h>

namespace gnnplan::tools {
namespace {

constexpr int max_numbered_layers = 31;  // of whose letters a paper id, 64 bits, holds both passes

}  // namespace

io::EnumerationDocument enumeration_question(const EnumerateOptions& options) {
    const std::string& graph = options.shape.graph;
    if (!graph.empty() && !is_card(graph) && io::is_there(graph)) {
        throw Error(ErrorCode::usage, "enumerate takes cards or sizes; plan takes files", "--graph " + graph,
                    command_line({"gnnplan", "graph", "info", graph}) + " says --vertices and --nonzeros");
    }
    const GraphSizes sizes = graph_sizes(options.shape);
    io::EnumerationDocument document;
    document.tool_version = version();
    document.vertices = sizes.vertices;
    document.nonzeros = sizes.nonzeros;
    document.ranks = static_cast<int>(options.shape.ranks);
    document.widths = widths_of(options.shape, "gcn", sizes.features, sizes.classes);
    document.scheme = options.scheme;
    document.space = options.space;
    if (options.replication) document.replication = static_cast<int>(*options.replication);
    return document;
}

io::EnumeratedConfiguration enumerated(const Configuration& configuration, const Units& units,
                                       const io::EnumerationDocument& document) {
    io::EnumeratedConfiguration entry;
    entry.forward = text(configuration.forward);
    entry.backward = text(configuration.backward);
    entry.redistribution_units = units.redistribution;
    entry.sparse_units = units.sparse;
    entry.spmm_ops = spmm_operations(units, document.nonzeros);
    return entry;
}

void mark_pareto(io::EnumerationDocument& document) {
    std::vector<Units> units;
    for (const auto& c : document.configurations) units.push_back({c.redistribution_units, c.sparse_units});
    const std::vector<bool> pareto = enumerate::pareto_front(units);
    for (std::size_t i = 0; i < pareto.size(); ++i) document.configurations[i].pareto = pareto[i];
}

io::EnumerationDocument enumerate_paper_space(const EnumerateOptions& options) {
    if (options.scheme.value_or("rdm") != "rdm") {
        throw Error(ErrorCode::usage, "the paper space has configurations of the scheme rdm only", "--scheme",
                    "use --space full");
    }
    io::EnumerationDocument document = enumeration_question(options);
    document.scheme = "rdm";
    document.replication = document.replication.value_or(document.ranks);
    enumerate::check_replication(*document.replication, document.ranks);
    const int layers = static_cast<int>(document.widths.size()) - 1;
    document.truncated = layers > enumerate::max_listed_layers;
    const auto add = [&](const enumerate::OrderPair& orders, const Units& units) {
        Configuration configuration;
        configuration.forward = orders.forward;
        configuration.backward = orders.backward;
        io::EnumeratedConfiguration entry = enumerated(configuration, units, document);
        entry.id = layers <= max_numbered_layers ? paper_id(orders.forward, orders.backward)
                                                 : static_cast<std::int64_t>(document.configurations.size());
        entry.communication_elements =
            communication_elements(units, document.vertices, document.ranks, *document.replication);
        document.configurations.push_back(std::move(entry));
    };
    if (document.truncated) {
        for (const auto& member : enumerate::paper_front(document.widths)) add(member.orders, member.units);
    } else {
        for (const auto& orders : enumerate::all_orders(layers)) {
            add(orders, enumerate::paper_units(orders, document.widths));
        }
    }
    mark_pareto(document);
    return document;
}

}  // namespace gnnplan::tools
