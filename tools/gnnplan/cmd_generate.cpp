// gnnplan graph generate: synthetic graphs.
#include "planner/io/files.hpp"
#include "runtime/generate/generate.hpp"
#include "runtime/generate/generated.hpp"
#include "tools/advise/json/graph_json.hpp"
#include "tools/ask/problem.hpp"
#include "tools/common/options.hpp"
#include "tools/gnnplan/command.hpp"
#include "tools/gnnplan/output.hpp"
#include "tools/text/format.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <limits>
#include <memory>

namespace gnnplan::tools {
namespace {

// A planted partition always has communities to find and features to find them by.
constexpr std::int64_t planted_features = 64;
constexpr std::int64_t planted_classes = 8;

struct GenerateOptions {
    std::int64_t vertices = 0, nonzeros = 0;
    std::optional<std::int64_t> features, classes;
    std::string abcd = "0.57,0.19,0.19,0.05";
    double homophily = 0.8;
    std::int64_t seed = 1;
    bool no_relabel = false, directed = false, keep_duplicates = false;
    std::string output;
    bool json = false;
};

std::array<double, 4> parse_abcd(const std::string& text) {
    std::array<double, 4> values{};
    const char* next = text.data();
    const char* end = next + text.size();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto [stop, error] = std::from_chars(next, end, values[i]);
        const bool last = i + 1 == values.size();
        if (error != std::errc() || (last ? stop != end : stop == end || *stop != ',')) {
            throw Error(ErrorCode::usage, fmt::format("'{}' is not four probabilities", text), "--abcd",
                        "write for example 0.57,0.19,0.19,0.05");
        }
        next = last ? stop : stop + 1;
    }
    return values;
}

// Features and classes for a graph that has no communities: classes are a random function of the features' generator,
// and the features written are drawn around the centroid of the class.
void add_supervision(data::GeneratedGraph& graph, const GenerateOptions& options) {
    graph.features = *options.features;
    graph.classes = *options.classes;
    graph.labels = data::generate_labels(graph.seed, *data::generate_features(graph.seed, graph.features),
                                         graph.vertices, graph.classes);
    graph.subset = data::generate_split(graph.seed, graph.labels);
}

data::GeneratedGraph rmat(const GenerateOptions& options) {
    const std::array<double, 4> p = parse_abcd(options.abcd);
    if (options.features.has_value() != options.classes.has_value()) {
        throw Error(ErrorCode::usage, "--features and --classes go together");
    }
    data::GeneratedGraph graph = data::generate_rmat({options.vertices, options.nonzeros, p[0], p[1], p[2], p[3],
                                                      static_cast<std::uint64_t>(options.seed), !options.no_relabel,
                                                      !options.directed, !options.keep_duplicates});
    if (options.features) add_supervision(graph, options);
    return graph;
}

data::GeneratedGraph planted(const GenerateOptions& options) {
    return data::generate_planted({options.vertices, options.nonzeros, options.classes.value_or(planted_classes),
                                   options.features.value_or(planted_features), options.homophily,
                                   static_cast<std::uint64_t>(options.seed), !options.no_relabel, !options.directed,
                                   !options.keep_duplicates});
}

// Before the graph is made: a file is replaced, a folder never is.
void check_output(const std::string& output) {
    if (std::filesystem::is_directory(output)) {
        throw Error(ErrorCode::cannot_create, fmt::format("{} exists; choose another -o, or remove it", output));
    }
    io::check_can_create(output);
}

int generate(const GenerateOptions& options, data::GeneratedGraph (*make)(const GenerateOptions&)) {
    check_output(options.output);
    const data::GeneratedGraph graph = make(options);
    data::write_graph(graph, options.output);
    if (options.json) {
        const Generation how{options.output, !options.no_relabel, !options.directed, !options.keep_duplicates};
        print_json(encode(graph, how));
        return 0;
    }
    print(fmt::format(
        "{}: {} vertices, {} directed edges of {} asked for; {}, {}, {}; {} features, {} classes; seed {}\n",
        options.output, format_count(graph.vertices), format_count(graph.edges.size()),
        format_count(graph.asked_nonzeros), options.directed ? "directed" : "symmetrised",
        options.no_relabel ? "not relabelled" : "randomly relabelled",
        options.keep_duplicates ? "duplicates and self loops kept" : "duplicates and self loops dropped",
        graph.features, graph.classes, graph.seed));
    return 0;
}

void add_generate_flags(CLI::App& command, GenerateOptions& options) {
    add_count(command, "--vertices", options.vertices, "How many vertices there are",
              {1, std::numeric_limits<std::int32_t>::max()})
        ->required();
    add_count(command, "--nonzeros", options.nonzeros, "How many directed edges to aim at", {0, max_nonzeros})
        ->required();
    add_count(command, "--features", options.features, "How many features a vertex has (planted: 64; rmat: none)",
              {1, max_width});
    add_count(command, "--classes", options.classes, "How many classes there are (planted: 8; rmat: none)",
              {1, max_width});
    add_count(command, "--seed", options.seed, "Draw random numbers from this seed: the same seed, the same graph",
              {0});
    command.add_flag("--no-relabel", options.no_relabel, "Do not number the vertices at random");
    command.add_flag("--directed", options.directed, "Do not add the reverse of every edge");
    command.add_flag("--keep-duplicates", options.keep_duplicates, "Keep duplicate edges and self loops");
    command.add_option("-o,--output", options.output, "A new folder (OGB form), or a file ending in .npz")
        ->required()
        ->type_name("DIR|FILE.npz");
    command.add_flag("--json", options.json, "Print one JSON object");
}

}  // namespace

void add_generate(CLI::App& graph, Context& context) {
    CLI::App& command = add_command(
        graph, "generate", "Write a synthetic graph",
        "gnnplan graph generate planted --vertices 20000 --nonzeros 400000 --features 64 --classes 8 -o graph\n"
        "gnnplan graph generate rmat --vertices 65536 --nonzeros 1000000 -o rmat.npz");
    help_when_alone(command, context);
    expand_help(command);
    const auto rmat_options = std::make_shared<GenerateOptions>();
    CLI::App& rmat_command = add_command(
        command, "rmat", "Power-law degrees: recursive matrix (Chakrabarti et al. 2004)",
        "gnnplan graph generate rmat --vertices 65536 --nonzeros 1000000 -o rmat.npz\n"
        "gnnplan graph generate rmat --vertices 65536 --nonzeros 1000000 --features 64 --classes 8 --seed 7 -o rmat");
    add_generate_flags(rmat_command, *rmat_options);
    rmat_command.add_option("--abcd", rmat_options->abcd, "How likely an edge falls into each quarter of the matrix")
        ->type_name("A,B,C,D")
        ->capture_default_str();
    on_command(rmat_command, context, rmat_options,
               [](const Context&, const GenerateOptions& options) { return generate(options, rmat); });

    const auto planted_options = std::make_shared<GenerateOptions>();
    CLI::App& planted_command = add_command(
        command, "planted", "Communities that are the classes: planted partition",
        "gnnplan graph generate planted --vertices 20000 --nonzeros 400000 --features 64 --classes 8 -o graph\n"
        "gnnplan graph generate planted --vertices 1000 --nonzeros 9000 --features 8 --classes 2 --homophily 0.9 -o "
        "g.npz");
    add_generate_flags(planted_command, *planted_options);
    planted_command.add_option("--homophily", planted_options->homophily, "How likely an edge stays in its class")
        ->check(CLI::Range(0.0, 1.0))
        ->type_name("P")
        ->capture_default_str();
    on_command(planted_command, context, planted_options,
               [](const Context&, const GenerateOptions& options) { return generate(options, planted); });
}

}  // namespace gnnplan::tools
