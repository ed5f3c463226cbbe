// gnnplan graph: look at a graph; generating one is in cmd_generate.cpp.
#include "planner/io/files.hpp"
#include "runtime/data/dataset.hpp"
#include "tools/advise/json/graph_json.hpp"
#include "tools/ask/threads.hpp"
#include "tools/gnnplan/command.hpp"
#include "tools/gnnplan/output.hpp"
#include "tools/gnnplan/problem_flags.hpp"
#include "tools/text/format.hpp"
#include "tools/text/shell.hpp"
#include "tools/text/streams.hpp"

#include <fmt/format.h>

#include <memory>

namespace gnnplan::tools {
namespace {

struct InfoOptions {
    std::string path;
    std::string index_base;
    bool symmetrise = false;
    bool edge_weights = false;
    std::string split;
    bool json = false;
};

std::string info_text(const data::Dataset& dataset, const Degrees& degrees) {
    const data::LoadReport& report = dataset.report();
    const auto count_or_dash = [](std::int64_t count) { return count > 0 ? format_count(count) : std::string("-"); };
    std::string split = "-";
    if (!dataset.subset().empty() && !report.split_generated) {
        split =
            fmt::format("{} train, {} valid, {} test", format_count(dataset.subset_size(data::train)),
                        format_count(dataset.subset_size(data::valid)), format_count(dataset.subset_size(data::test)));
    }
    const Loss loss = dataset.loss();
    const std::string several = !several_labels(loss)          ? ""
                                : loss == Loss::masked_sigmoid ? ", of which a vertex may have several (not all known)"
                                                               : ", of which a vertex may have several";
    return fmt::format(
        "format       {}, ids from {}\nvertices     {}\nedges        {} {}, without self loops\nnonzeros     {} (one "
        "self loop on "
        "every vertex)\nread         {} edges{}; dropped {} self loops and {} duplicates{}\ndegree       min {}, mean "
        "{:.2f}, max "
        "{}\nfeatures     {}\nclasses      {}\nsplit        {}\nfingerprint  {}\n",
        report.format, report.index_base, format_count(report.vertices),
        format_count(report.nonzeros - report.vertices), dataset.graph().symmetric ? "in both directions" : "directed",
        format_count(report.nonzeros), format_count(report.edges_read), report.weighted ? " with their weights" : "",
        format_count(report.self_loops_dropped), format_count(report.duplicates_dropped),
        std::string(report.symmetrised ? "; added the reverse of every edge" : "") +
            (report.edge_values_ignored > 0
                 ? fmt::format("; ignored {} values of {} entries{}", report.weighted ? "further" : "the",
                               format_count(report.edge_values_ignored),
                               report.weighted ? "" : ": --edge-weights reads weights")
                 : ""),
        format_count(degrees.min), degrees.mean, format_count(degrees.max), count_or_dash(dataset.features()),
        count_or_dash(dataset.classes()) + several, split, dataset.fingerprint());
}

int run_info(const Context&, const InfoOptions& options) {
    if (is_card(options.path) && !io::is_there(options.path)) {
        throw Error(ErrorCode::missing_input,
                    fmt::format("{} is a card, which has sizes and no graph: {}", options.path,
                                command_line({"gnnplan", "datasets", "show", options.path})));
    }
    data::DatasetOptions read;
    read.index_base = parse_index_base(options.index_base);
    read.preparation.symmetrise = options.symmetrise;
    read.preparation.edge_weights = options.edge_weights;
    read.split = options.split;
    use_available_threads();
    const data::Dataset dataset = data::open_dataset(options.path, read);
    const Degrees degrees = degrees_of(dataset);
    const Fingerprints fingerprints = data::fingerprints_of(dataset);  // also without --json: it looks at all features
    if (options.json) {
        print_json(encode(dataset, degrees, fingerprints));
    } else {
        print(info_text(dataset, degrees));
        for (const std::string& note : dataset.report().notes) say_line(note);
    }
    say_notes(dataset.report().remarks);
    say_notes(dataset.report().hints);
    try {
        data::check_generated(dataset.report());
    } catch (const Error& error) {  // a plan would be refused; looking is not
        say_notes({error.what()});
    }
    return 0;
}

}  // namespace

void add_graph(CLI::App& root, Context& context) {
    CLI::App& graph = add_command(root, "graph", "Look at a graph, or generate one",
                                  "gnnplan graph info path/to/graph\n"
                                  "gnnplan graph generate rmat --vertices 65536 --nonzeros 1000000 -o rmat.npz");
    help_when_alone(graph, context);
    const auto options = std::make_shared<InfoOptions>();
    CLI::App& info =
        add_command(graph, "info", "Read a graph and say what was found",
                    "gnnplan graph info path/to/graph\ngnnplan graph info edges.txt.gz --symmetrise --json");
    info.add_option("path", options->path,
                    "The graph: an OGB raw folder, a folder of .npy files, .npz, Matrix Market, METIS (.graph), SNAP "
                    "or CSV edge list")
        ->required()
        ->type_name("PATH");
    add_index_base(info, options->index_base);
    info.add_flag("--symmetrise", options->symmetrise, "Add the reverse of every edge");
    info.add_flag("--edge-weights", options->edge_weights, "Read a weight of every edge, and say where one is missing");
    info.add_option("--split", options->split,
                    "Take this split, where the data has several: a folder of split/, or a column of masks, from 0")
        ->type_name("NAME");
    info.add_flag("--json", options->json, "Print one JSON object (gnnplan.graph/1)");
    on_command(info, context, options, run_info);
    add_generate(graph, context);
}

}  // namespace gnnplan::tools
