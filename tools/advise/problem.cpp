// Reading guide: load_problem() turns flags into a Problem. It reads the graph or the card (read_dataset, graph_sizes),
// then the model and its matrix (model_record, matrix_form), and checks them against each other; with_shape() gives a
// problem that is loaded other widths and ranks, for sweeps.
#include "tools/advise/problem.hpp"

#include "planner/catalog/cards.hpp"
#include "planner/catalog/machines.hpp"
#include "planner/catalog/suggest.hpp"
#include "planner/io/files.hpp"
#include "planner/io/machine.hpp"
#include "planner/io/parse.hpp"
#include "runtime/blocks/block.hpp"
#include "runtime/blocks/graph_counts.hpp"
#include "tools/advise/calibration.hpp"
#include "tools/advise/threads.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/streams.hpp"

#include <gnnplan/base/checked.hpp>
#include <gnnplan/ir/sites.hpp>
#include <gnnplan/models.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

namespace gnnplan::tools {
namespace {

// What the flags say of the network, apart from its widths.
ModelRecord model_record(const ModelFlags& flags) {
    ModelRecord model;
    model.name = flags.name;
    model.aggregator = models::find(flags.name, flags.aggregator).name;
    model.bias = flags.bias;
    if (flags.activation == "relu") model.activation = Activation::relu;
    if (flags.activation == "elu") model.activation = Activation::elu;
    if (flags.activation == "leaky_relu") model.activation = Activation::leaky_relu;
    model.residual = flags.residual;
    model.jk_concat = flags.jk == "concat";
    model.heads = static_cast<int>(flags.heads.value_or(0));
    model.output_heads = static_cast<int>(flags.output_heads.value_or(0));
    model.average_heads = flags.average_heads;
    model.slope = flags.slope;
    model.trains_epsilon = flags.epsilon == "train";
    if (!flags.epsilon.empty() && !model.trains_epsilon) {
        const char* end = flags.epsilon.data() + flags.epsilon.size();
        const auto [stop, error] = std::from_chars(flags.epsilon.data(), end, model.epsilon);
        if (error != std::errc() || stop != end || !std::isfinite(static_cast<float>(model.epsilon))) {
            throw Error(ErrorCode::usage, "'" + flags.epsilon + "' is neither a finite number nor train", "--epsilon",
                        "e.g. --epsilon 0.1, or --epsilon train");
        }
    }
    if (!flags.epsilon.empty() && flags.name != "gin") {
        throw Error(ErrorCode::usage, "the model '" + flags.name + "' has no epsilon", "--epsilon",
                    "only gin has one: it adds 1 + epsilon times the vertex's own features");
    }
    return model;
}

// The model's matrix, weighed as the flags say if they do.
models::MatrixForm matrix_form(const PreparationFlags& preparation, const ModelRecord& model) {
    std::optional<Normalisation> asked;
    if (preparation.normalisation == "symmetric") asked = Normalisation::symmetric;
    if (preparation.normalisation == "row_mean") asked = Normalisation::row_mean;
    if (preparation.normalisation == "none") asked = Normalisation::none;
    return models::matrix_of(model, asked);
}

// The model with stand-ins for its widths, which are known when the graph is read.
SiteGraph sites_before_widths(ModelRecord model) {
    model.widths = {1, std::max(1, model.heads), 1};
    return sites_of(models::build(model));
}

// Labels are generated for training where there are none. `reads_values`: whether the model reads the matrix's values.
std::unique_ptr<data::Dataset> read_dataset(const ShapeFlags& shape, const PreparationFlags& preparation,
                                            const ProblemRecord& record, bool self_loops, bool reads_values) {
    const bool labelled = record.task == Task::train;
    if (!io::is_there(shape.graph)) {
        throw Error(ErrorCode::missing_input, "there is no such file or folder, and no such data set card", shape.graph,
                    catalog::name_hint(shape.graph, catalog::card_names()));
    }
    data::DatasetOptions options;
    options.index_base = parse_index_base(preparation.index_base);
    options.preparation.symmetrise = preparation.symmetrise;
    options.preparation.add_self_loops = self_loops;
    options.preparation.edge_weights = preparation.edge_weights;
    options.split = preparation.split;
    options.fanout = record.fanout;
    options.drawn_weighted = reads_values;
    options.seed = static_cast<std::uint64_t>(preparation.seed);
    options.generate_features = shape.widths.empty() ? shape.features.value_or(0) : shape.widths.front();
    if (labelled) options.generate_classes = shape.widths.empty() ? shape.classes.value_or(0) : shape.widths.back();
    use_available_threads();
    auto dataset = std::make_unique<data::Dataset>(data::open_dataset(shape.graph, options));
    if (!preparation.generate) data::check_generated(dataset->report());
    say("{}: {}\n", shape.graph, dataset->report().describe());
    say_notes(dataset->report().remarks);
    say_notes(dataset->report().hints);
    return dataset;
}

// What --fanout says; none for "full".
std::vector<std::int64_t> fanout_of(const ModelFlags& model, const ShapeFlags& shape) {
    if (model.fanout == "full") return {};
    std::vector<std::int64_t> fanout;
    for (const std::string& part : split(model.fanout, ",")) {
        std::int64_t k = 0;
        const char* end = part.data() + part.size();
        const auto [stop, error] = std::from_chars(part.data(), end, k);
        if (error != std::errc() || stop != end || k < 1 || k > std::numeric_limits<std::int32_t>::max())
            throw Error(ErrorCode::usage, "'" + part + "' is no number of neighbours from 1 to 2^31 - 1", "--fanout",
                        "e.g. --fanout 10,10,5, or --fanout full for all layers");
        fanout.push_back(k);
    }
    const std::size_t layers = shape.widths.empty() ? static_cast<std::size_t>(shape.layers) : shape.widths.size() - 1;
    if (fanout.size() == 1) fanout.resize(layers, fanout.front());
    return fanout;
}

// Whether a model's sums read the values of the matrix.
bool reads_values(const ModelRecord& model) {
    const SiteGraph graph = sites_before_widths(model);
    return std::ranges::any_of(graph.products, [&](int id) { return graph.at(id).reduce == Reduce::sum; });
}

void load_from_path(LoadedProblem& loaded, const ShapeFlags& shape, const PreparationFlags& preparation,
                    const models::MatrixForm& form) {
    if (shape.vertices || shape.nonzeros) {
        throw Error(ErrorCode::usage, "--vertices and --nonzeros are counted when --graph is a path");
    }
    if (shape.train_fraction) {
        throw Error(ErrorCode::usage, "the data says which vertices train when --graph is a path", "--train-fraction");
    }
    const bool trains = loaded.problem.record.task == Task::train;
    loaded.dataset = read_dataset(shape, preparation, loaded.problem.record, form.self_loops,
                                  reads_values(loaded.problem.record.model));
    const data::Dataset& dataset = *loaded.dataset;
    if (trains && !dataset.subset().empty()) data::check_training_set(dataset);
    data::check_degrees(dataset.graph(), form.normalisation, dataset.report().path);
    GraphRecord& record = loaded.problem.record.graph;
    record.name = io::printable(shape.graph);
    record.source = "file: " + dataset.report().format;
    record.vertices = dataset.vertices();
    record.nonzeros = dataset.nonzeros();
    record.exact = true;
    record.self_loops = form.self_loops;
    record.normalisation = form.normalisation;
    record.edge_weights = preparation.edge_weights;
    record.symmetric = dataset.graph().symmetric;
    record.index_base = preparation.index_base.empty() ? 0 : dataset.report().index_base;
    record.symmetrised = preparation.symmetrise;
    record.split = preparation.split;
    record.generated_features = dataset.report().features_generated ? dataset.features() : 0;
    record.generated_classes = dataset.report().labels_generated ? dataset.classes() : 0;
    record.generate = preparation.generate;
    record.seed = static_cast<std::uint64_t>(preparation.seed);
    loaded.problem.listing = {dataset.report().edges_read, dataset.report().text, dataset.report().divisible};
    auto counts = std::make_unique<data::GraphCounts>(dataset.graph(), dataset.subset());
    counts->keep_numbered();  // a plan's table asks for what the search asked for
    loaded.graph = std::move(counts);
    loaded.features = dataset.features();
    loaded.classes = dataset.classes();
}

// A card counts a self loop for every vertex; --nonzeros says what there is.
void load_from_sizes(LoadedProblem& loaded, const ShapeFlags& shape, const PreparationFlags& preparation,
                     const models::MatrixForm& form) {
    if (!preparation.index_base.empty()) {
        throw Error(ErrorCode::usage, "there is no edge list to read", "--index-base", "give --graph PATH");
    }
    const GraphSizes sizes = graph_sizes(shape);
    if (form.self_loops && shape.graph.empty() && sizes.nonzeros < sizes.vertices) {
        throw Error(ErrorCode::usage,
                    fmt::format("{} nonzeros are fewer than the self loops of {} vertices, which they include",
                                format_count(sizes.nonzeros), format_count(sizes.vertices)),
                    "--nonzeros", "give the number of edges plus that of vertices");
    }
    GraphRecord& record = loaded.problem.record.graph;
    record.name = sizes.name;
    record.source = sizes.source;
    record.vertices = sizes.vertices;
    record.nonzeros = sizes.nonzeros;
    if (!form.self_loops && !shape.graph.empty()) record.nonzeros -= std::min(sizes.vertices, sizes.nonzeros);
    record.self_loops = form.self_loops;
    record.normalisation = form.normalisation;
    record.edge_weights = preparation.edge_weights;
    record.symmetric = sizes.symmetric || preparation.symmetrise;
    record.symmetrised = preparation.symmetrise;
    record.split = preparation.split;
    record.generate = preparation.generate;
    record.seed = static_cast<std::uint64_t>(preparation.seed);
    const UniformStats graph(record.vertices, record.nonzeros, record.symmetric, shape.train_fraction.value_or(1),
                             record.edge_weights);
    const ProblemRecord& problem = loaded.problem.record;
    loaded.graph =
        std::make_unique<UniformStats>(graph.drawn(problem.fanout, record.self_loops, reads_values(problem.model)));
    loaded.features = sizes.features;
    loaded.classes = sizes.classes;
}

}  // namespace

data::IndexBase parse_index_base(const std::string& value) {
    if (value.empty()) return data::IndexBase::unsaid;
    if (value == "auto") return data::IndexBase::automatic;
    return value == "1" ? data::IndexBase::one : data::IndexBase::zero;
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

namespace {

[[noreturn]] void refuse_unknown(const std::string& what, const std::string& flag, const std::string& unread,
                                 const std::string& name) {
    throw Error(ErrorCode::usage, "the number of " + what + " is not known", {},
                unread.empty() ? "give " + flag + " or --widths"
                               : what + " may be among what is not read of the data: " + unread +
                                     (name.empty() ? "" : "; save them as " + name) + "; or give " + flag +
                                     " or --widths, and --generate to have random ones");
}

}  // namespace

std::vector<std::int64_t> widths_of(const ShapeFlags& flags, std::int64_t features, std::int64_t classes,
                                    const data::Leftovers& leftovers) {
    if (!flags.widths.empty()) return flags.widths;
    const std::int64_t first = flags.features.value_or(features);
    const std::int64_t last = flags.classes.value_or(classes);
    if (first == 0)
        refuse_unknown("features", "--features", leftovers.names({&data::Unread::features}), leftovers.features);
    if (last == 0) refuse_unknown("classes", "--classes", leftovers.names({&data::Unread::labels}), leftovers.labels);
    std::vector<std::int64_t> widths(static_cast<std::size_t>(flags.layers + 1), flags.hidden);
    widths.front() = first;
    widths.back() = last;
    return widths;
}

LoadedProblem load_problem(const ShapeFlags& shape, const PreparationFlags& preparation, const ModelFlags& model) {
    LoadedProblem loaded;
    ProblemRecord& record = loaded.problem.record;
    record.task = model.task == "infer" ? Task::infer : Task::train;
    record.model = model_record(model);
    record.fanout = fanout_of(model, shape);
    if (!record.fanout.empty() && record.task == Task::train)
        throw Error(ErrorCode::usage, "only an inference draws neighbours layer by layer", "--fanout",
                    "add --task infer");
    const bool sharded = model.load.empty() ? record.task == Task::infer : model.load == "sharded";
    record.loading = sharded ? Loading::sharded : Loading::whole;
    const models::MatrixForm form = matrix_form(preparation, record.model);
    if (preparation.edge_weights) check_reads_weights(sites_before_widths(record.model));
    if (shape.graph.empty() || is_card(shape.graph)) {
        load_from_sizes(loaded, shape, preparation, form);
    } else {
        load_from_path(loaded, shape, preparation, form);
    }
    loaded.problem.graph = loaded.graph.get();
    loaded.problem = with_shape(loaded, shape);
    return loaded;
}

Problem with_shape(const LoadedProblem& loaded, const ShapeFlags& shape) {
    Problem problem = loaded.problem;
    ModelRecord& model = problem.record.model;
    model.widths = widths_of(shape, loaded.features, loaded.classes,
                             loaded.dataset ? loaded.dataset->report().leftovers : data::Leftovers());
    problem.record.ranks = static_cast<int>(shape.ranks);
    problem.ops = models::build(problem.record);
    return problem;
}

Machine load_machine(const std::string& name_or_file) {
    if (!io::is_there(name_or_file)) return catalog::find_machine(name_or_file);
    return io::read_machine(io::read_file(name_or_file), name_or_file);
}

Machine load_machine(const std::string& name_or_file, std::int64_t ranks) {
    return name_or_file.empty() ? default_machine(ranks) : load_machine(name_or_file);
}

}  // namespace gnnplan::tools
