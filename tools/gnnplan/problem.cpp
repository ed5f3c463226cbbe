#include "tools/gnnplan/problem.hpp"

#include "planner/catalog/cards.hpp"
#include "planner/catalog/machines.hpp"
#include "planner/catalog/suggest.hpp"
#include "planner/io/files.hpp"
#include "planner/io/machine.hpp"
#include "planner/io/parse.hpp"
#include "runtime/blocks/graph_counts.hpp"
#include "tools/common/format.hpp"
#include "tools/common/options.hpp"
#include "tools/common/streams.hpp"
#include "tools/gnnplan/calibration.hpp"

#include <gnnplan/base/checked.hpp>
#include <gnnplan/models.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

namespace gnnplan::tools {
namespace {

constexpr std::int64_t max_vertices = (std::int64_t{1} << 31) - 1;

Normalisation parse_normalisation(const std::string& name) {
    if (name == "row_mean") return Normalisation::row_mean;
    return name == "none" ? Normalisation::none : Normalisation::symmetric;
}

std::unique_ptr<data::Dataset> read_dataset(const ShapeFlags& shape, const PreparationFlags& preparation) {
    if (!std::filesystem::exists(shape.graph)) {
        throw Error(ErrorCode::missing_input, "there is no such file or folder, and no such data set card", shape.graph,
                    catalog::name_hint(shape.graph, catalog::card_names()));
    }
    data::DatasetOptions options;
    options.index_base = parse_index_base(preparation.index_base);
    options.preparation.symmetrise = preparation.symmetrise;
    options.split = preparation.split;
    options.seed = static_cast<std::uint64_t>(preparation.seed);
    options.generate_features = shape.widths.empty() ? shape.features.value_or(0) : shape.widths.front();
    options.generate_classes = shape.widths.empty() ? shape.classes.value_or(0) : shape.widths.back();
    auto dataset = std::make_unique<data::Dataset>(data::open_dataset(shape.graph, options));
    say("{}: {}\n", shape.graph, dataset->report().describe());
    say_notes(dataset->report().hints);
    return dataset;
}

void load_from_path(LoadedProblem& loaded, const ShapeFlags& shape, const PreparationFlags& preparation) {
    if (shape.vertices || shape.nonzeros) {
        throw Error(ErrorCode::usage, "--vertices and --nonzeros are counted when --graph is a path");
    }
    if (shape.train_fraction) {
        throw Error(ErrorCode::usage, "the data says which vertices train when --graph is a path", "--train-fraction");
    }
    loaded.dataset = read_dataset(shape, preparation);
    const data::Dataset& dataset = *loaded.dataset;
    if (!dataset.subset().empty()) data::check_training_set(dataset);
    GraphRecord& record = loaded.problem.record.graph;
    record.name = io::printable(shape.graph);
    record.source = "file: " + dataset.report().format;
    record.vertices = dataset.vertices();
    record.nonzeros = dataset.nonzeros();
    record.exact = true;
    record.normalisation = parse_normalisation(preparation.normalisation);
    record.symmetric = dataset.graph().symmetric;
    record.index_base = preparation.index_base.empty() ? 0 : dataset.report().index_base;
    record.symmetrised = preparation.symmetrise;
    record.split = preparation.split;
    record.generated_features = dataset.report().features_generated ? dataset.features() : 0;
    record.generated_classes = dataset.report().labels_generated ? dataset.classes() : 0;
    record.seed = static_cast<std::uint64_t>(preparation.seed);
    loaded.graph = std::make_unique<data::GraphCounts>(dataset.graph(), dataset.subset());
    loaded.features = dataset.features();
    loaded.classes = dataset.classes();
}

void load_from_sizes(LoadedProblem& loaded, const ShapeFlags& shape, const PreparationFlags& preparation) {
    if (!preparation.index_base.empty()) {
        throw Error(ErrorCode::usage, "there is no edge list to read", "--index-base", "give --graph PATH");
    }
    const GraphSizes sizes = graph_sizes(shape);
    GraphRecord& record = loaded.problem.record.graph;
    record.name = sizes.name;
    record.source = sizes.source;
    record.vertices = sizes.vertices;
    record.nonzeros = sizes.nonzeros;
    record.normalisation = parse_normalisation(preparation.normalisation);
    record.symmetric = sizes.symmetric || preparation.symmetrise;
    record.symmetrised = preparation.symmetrise;
    record.split = preparation.split;
    record.seed = static_cast<std::uint64_t>(preparation.seed);
    loaded.graph = std::make_unique<UniformStats>(record.vertices, record.nonzeros, record.symmetric,
                                                  shape.train_fraction.value_or(1));
    loaded.features = sizes.features;
    loaded.classes = sizes.classes;
}

double parse_fraction(const std::string& text) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || !(value > 0 && value <= 1)) {
        throw CLI::ValidationError("--train-fraction", "'" + text + "' is not a fraction above 0, up to 1");
    }
    return value;
}

}  // namespace

void add_shape_flags(CLI::App& command, ShapeFlags& flags, const char* graph_type, std::int64_t max_ranks) {
    CLI::Option* graph = command.add_option("--graph", flags.graph, "The graph; gnnplan datasets lists the cards")
                             ->type_name(graph_type);
    add_count(command, "--vertices", flags.vertices, "How many vertices the graph has, in place of --graph",
              {1, max_vertices})
        ->excludes(graph);
    add_count(command, "--nonzeros", flags.nonzeros,
              "How many entries its adjacency matrix stores, self loops included", {1, max_nonzeros})
        ->excludes(graph);
    command
        .add_flag("--symmetric", flags.symmetric,
                  "Every edge comes with its reverse; without this, two matrices are planned for")
        ->excludes(graph);
    command
        .add_option_function<std::string>(
            "--train-fraction", [&flags](const std::string& text) { flags.train_fraction = parse_fraction(text); },
            "The share of the vertices that training uses, where no graph is read to say; default: 1")
        ->type_name("F");
    under_heading(command, graph_heading);
    CLI::Option* features =
        add_count(command, "--features", flags.features, "How many features a vertex has", {1, max_width});
    CLI::Option* classes = add_count(command, "--classes", flags.classes, "How many classes there are", {1, max_width});
    CLI::Option* layers =
        add_count(command, "--layers", flags.layers, "How many layers the network has", {1, max_layers});
    CLI::Option* hidden =
        add_count(command, "--hidden", flags.hidden, "How wide the hidden layers are", {1, max_width});
    add_counts(command, "--widths", flags.widths,
               "All widths from the features to the classes, in place of the four flags above", {1, max_width}, 2)
        ->excludes(features)
        ->excludes(classes)
        ->excludes(layers)
        ->excludes(hidden);
    under_heading(command, model_heading);
    add_count(command, "--ranks", flags.ranks, "How many ranks (processes) share the work", {1, max_ranks});
    under_heading(command, machine_heading);
}

void add_index_base(CLI::App& command, std::string& value) {
    command
        .add_option("--index-base", value,
                    "Where the vertex ids of an edge list start: 0, 1, or auto (at 1 if no id is 0); default: 0")
        ->check(CLI::IsMember({"0", "1", "auto"}))
        ->type_name("0|1|auto");
}

data::IndexBase parse_index_base(const std::string& value) {
    if (value.empty()) return data::IndexBase::unsaid;
    if (value == "auto") return data::IndexBase::automatic;
    return value == "1" ? data::IndexBase::one : data::IndexBase::zero;
}

void add_preparation_flags(CLI::App& command, PreparationFlags& flags) {
    add_index_base(command, flags.index_base);
    command.add_flag("--symmetrise", flags.symmetrise, "Add the reverse of every edge");
    command.add_option("--split", flags.split, "Take this split, where the data has several")->type_name("NAME");
    command
        .add_option("--normalisation", flags.normalisation,
                    "How an edge is weighed: symmetric (by the degrees of both ends), row_mean (by that of the "
                    "receiving end), none (by 1)")
        ->check(CLI::IsMember({"symmetric", "row_mean", "none"}))
        ->type_name("KIND")
        ->capture_default_str();
    add_count(command, "--seed", flags.seed, "Generate features and classes that the data lacks from this number", {0});
    under_heading(command, graph_heading);
}

bool is_card(const std::string& selector) {
    return !catalog::variants_of(std::string_view(selector).substr(0, selector.find(':'))).empty();
}

GraphSizes graph_sizes(const ShapeFlags& flags) {
    GraphSizes sizes{"sizes", "sizes", flags.vertices.value_or(0), flags.nonzeros.value_or(0), flags.symmetric, 0, 0};
    if (!flags.graph.empty()) {
        const catalog::Card& card = catalog::find_card(flags.graph);
        sizes = {catalog::selector_of(card),
                 "card: " + card.source,
                 card.vertices,
                 card.nonzeros,
                 card.symmetric,
                 card.features,
                 card.classes};
    } else if (!flags.vertices || !flags.nonzeros) {
        throw Error(ErrorCode::usage, "no graph given", {}, "use --graph, or --vertices and --nonzeros");
    }
    if (sizes.nonzeros / sizes.vertices > sizes.vertices ||
        (sizes.nonzeros / sizes.vertices == sizes.vertices && sizes.nonzeros % sizes.vertices > 0)) {
        throw Error(ErrorCode::usage, fmt::format("{} nonzeros do not fit a matrix of {} rows",
                                                  format_count(sizes.nonzeros), format_count(sizes.vertices)));
    }
    return sizes;
}

std::vector<std::int64_t> widths_of(const ShapeFlags& flags, std::int64_t features, std::int64_t classes) {
    if (!flags.widths.empty()) return flags.widths;
    const std::int64_t first = flags.features.value_or(features);
    const std::int64_t last = flags.classes.value_or(classes);
    if (first == 0)
        throw Error(ErrorCode::usage, "the number of features is not known", {}, "give --features or --widths");
    if (last == 0)
        throw Error(ErrorCode::usage, "the number of classes is not known", {}, "give --classes or --widths");
    std::vector<std::int64_t> widths(static_cast<std::size_t>(flags.layers + 1), flags.hidden);
    widths.front() = first;
    widths.back() = last;
    return widths;
}

LoadedProblem load_problem(const ShapeFlags& shape, const PreparationFlags& preparation, const std::string& model,
                           bool bias) {
    LoadedProblem loaded;
    ProblemRecord& record = loaded.problem.record;
    if (shape.graph.empty() || is_card(shape.graph)) {
        load_from_sizes(loaded, shape, preparation);
    } else {
        load_from_path(loaded, shape, preparation);
    }
    record.model.name = model;
    record.model.bias = bias;
    loaded.problem.graph = loaded.graph.get();
    loaded.problem = with_shape(loaded, shape);
    return loaded;
}

Problem with_shape(const LoadedProblem& loaded, const ShapeFlags& shape) {
    Problem problem = loaded.problem;
    ModelRecord& model = problem.record.model;
    model.widths = widths_of(shape, loaded.features, loaded.classes);
    problem.record.ranks = static_cast<int>(shape.ranks);
    problem.ops = models::build(model.name, model.widths, model.bias);
    return problem;
}

Machine load_machine(const std::string& name_or_file) {
    if (!std::filesystem::is_regular_file(name_or_file)) return catalog::find_machine(name_or_file);
    return io::read_machine(io::read_file(name_or_file), name_or_file);
}

Machine load_machine(const std::string& name_or_file, std::int64_t ranks) {
    return name_or_file.empty() ? default_machine(ranks) : load_machine(name_or_file);
}

}  // namespace gnnplan::tools
