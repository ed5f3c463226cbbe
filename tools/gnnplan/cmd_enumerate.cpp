// gnnplan enumerate: every configuration of a space with its units.
#include "tools/advise/enumeration.hpp"
#include "tools/common/options.hpp"
#include "tools/gnnplan/command.hpp"
#include "tools/gnnplan/output.hpp"
#include "tools/gnnplan/plan_legend.hpp"
#include "tools/gnnplan/plan_table.hpp"
#include "tools/gnnplan/problem_flags.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace gnnplan::tools {
namespace {

constexpr std::int64_t max_enumerated_ranks = 1 << 20;

// Says which part is listed, where not everything is.
std::string part_listed(const io::EnumerationDocument& document) {
    if (!document.truncated) return "";
    const bool front_only = std::all_of(document.configurations.begin(), document.configurations.end(),
                                        [](const auto& c) { return c.pareto; });
    const char* one_each = document.space == "paper" ? ", one order of each pair of units" : "";
    return fmt::format(" ({}the Pareto front{}; all of them are too many to list)",
                       front_only ? "" : "the fastest, with units of both kinds weighed alike, and ", one_each);
}

std::string headline(const io::EnumerationDocument& document) {
    return wrapped("", "",
                   fmt::format("{} configuration{}{} of widths {} on N={} nnz={}, {} rank{}{}",
                               document.configurations.size(), document.configurations.size() == 1 ? "" : "s",
                               part_listed(document), widths_text(document.widths), format_count(document.vertices),
                               format_count(document.nonzeros), document.ranks, document.ranks == 1 ? "" : "s",
                               document.replication ? fmt::format(", R_A={}", *document.replication) : "")) +
           "\n";
}

std::vector<Column> columns_of(bool full) {
    std::vector<Column> columns{{full ? "  " : "Pareto"}, {"id", Align::right}};
    if (full) columns.insert(columns.end(), {{"scheme"}, {"grid"}});
    columns.insert(columns.end(), {{"forward"},
                                   {"backward"},
                                   {full ? "redist." : "redistribution", Align::right},
                                   {"sparse", Align::right},
                                   {full ? "moved" : "elements moved", Align::right},
                                   {full ? "SpMM" : "SpMM operations", Align::right}});
    if (full) columns.insert(columns.end(), {{"choices"}});
    return columns;
}

std::string human_table(const io::EnumerationDocument& document, bool color) {
    const bool full = document.space == "full";
    Table table(columns_of(full));
    for (const auto& c : document.configurations) {
        std::vector<std::string> cells{c.pareto ? (full ? "+" : "yes") : "", std::to_string(c.id)};
        if (full) cells.insert(cells.end(), {scheme_of(*c.configuration), c.configuration->grid.text()});
        cells.insert(cells.end(), {format_orders_cell(c.forward), format_orders_cell(c.backward),
                                   format_number(c.redistribution_units), format_number(c.sparse_units),
                                   format_number(c.communication_elements), format_number(c.spmm_ops)});
        if (full) cells.push_back(choices_cell(*c.configuration));
        table.add(std::move(cells), c.pareto);
    }
    const char* legend =
        "+: on the Pareto front of both units. redist.: columns redistributed, sparse: columns of "
        "sparse products, an epoch; moved: elements sent; SpMM: multiply-adds.";
    return headline(document) + table.text(color, line_width()) + (full ? labelled("legend", legend) : "");
}

int run_enumerate(const Context& context, const EnumerateOptions& options) {
    const bool full = options.space == "full";
    auto [document, note] = full ? enumerate_full_space(options) : Enumeration{enumerate_paper_space(options), {}};
    if (!note.empty()) say_notes({note});
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
                    "gnnplan enumerate --widths 128,128,40 --vertices 169343 --nonzeros 1166243 --ranks 4 --space full "
                    "--scheme rdm --json");
    add_shape_flags(command, options->shape, "CARD", max_enumerated_ranks);
    add_count(command, "--replication", options->replication,
              "How many copies of the adjacency matrix there are (R_A); default: one per rank; in the full space every "
              "number there is",
              {1, max_enumerated_ranks});
    add_space_flags(command, options->space, options->scheme);
    command.add_flag("--json", options->json, "Print one JSON object (gnnplan.enumeration/1)");
    on_command(command, context, options, run_enumerate);
}

}  // namespace gnnplan::tools
