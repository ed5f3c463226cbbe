// Reading guide: load_problem() turns a question into a Problem. read_graph() checks the network and reads the graph,
// where there is one to read (read_dataset); problem_on() writes down how it was read and gives the graph to
// make_problem() (take_dataset, or take_sizes of a card); with_shape() gives a problem that is loaded other widths and
// ranks, for sweeps.
#include "tools/ask/problem.hpp"

#include "planner/catalog/cards.hpp"
#include "planner/catalog/suggest.hpp"
#include "planner/io/files.hpp"
#include "planner/io/parse.hpp"
#include "planner/question/sizes.hpp"
#include "planner/search/draws.hpp"
#include "runtime/blocks/block.hpp"
#include "runtime/blocks/graph_counts.hpp"
#include "runtime/data/loan.hpp"
#include "tools/ask/threads.hpp"

#include <gnnplan/ir/sites.hpp>
#include <gnnplan/models.hpp>

#include <algorithm>
#include <string_view>

namespace gnnplan::tools {
namespace {

// The model with stand-ins for its widths, which are known when the graph is read.
OpGraph ops_before_widths(ModelRecord model) {
    const std::int64_t as_before = model.pre.empty() ? 1 : model.pre.back();
    model = models::with_widths(model, {1, model.heads > 0 ? model.heads : as_before, 1});
    model.rocauc = false;  // which the loss decides
    return models::build(model);
}

// Labels are generated for training where there are none.
std::unique_ptr<data::Dataset> read_dataset(const Shape& shape, const GraphReading& reading,
                                            const ProblemRecord& record, bool self_loops, std::optional<Loss> loss) {
    const bool labelled = record.task == Task::train;
    const bool weighs_draws = question::reads_values(ops_before_widths(record.model));
    if (!data::is_lent(shape.graph) && !io::is_there(shape.graph)) {
        throw Error(ErrorCode::missing_input, "there is no such file or folder, and no such data set card", shape.graph,
                    catalog::name_hint(shape.graph, catalog::card_names()));
    }
    data::DatasetOptions options;
    options.index_base = reading.index_base;
    options.preparation.symmetrise = reading.symmetrise;
    options.preparation.add_self_loops = self_loops;
    options.preparation.edge_weights = reading.edge_weights;
    options.split = reading.split;
    options.fanout = record.fanout;
    options.drawn_weighted = weighs_draws;
    options.seed = reading.seed;
    options.generate_features = shape.widths.empty() ? shape.features.value_or(0) : shape.widths.front();
    options.generate_several = several_labels(loss.value_or(Loss::softmax));
    if (!labelled) options.supervised = data::Supervised::classes;
    if (labelled) options.generate_classes = shape.widths.empty() ? shape.classes.value_or(0) : shape.widths.back();
    use_available_threads();
    auto dataset = std::make_unique<data::Dataset>(data::open_dataset(shape.graph, options));
    if (!reading.generate) data::check_generated(dataset->report());
    return dataset;
}

// The findings of the reader, for the user.
std::vector<std::string> notes_on(const std::string& path, const data::LoadReport& report) {
    std::vector<std::string> notes{path + ": " + report.describe()};
    for (const std::string& remark : report.remarks) notes.push_back("note: " + remark);
    for (const std::string& hint : report.hints) notes.push_back("note: " + hint);
    return notes;
}

// The card of the undirected graph in place of one of a directed graph that is to be symmetrised, where there is one.
Shape symmetrised(Shape shape, const GraphReading& reading) {
    if (!reading.symmetrise || shape.graph.empty() || catalog::find_card(shape.graph).symmetric) return shape;
    const auto variants = catalog::variants_of(shape.graph);
    const bool has = std::ranges::find(variants, "undirected", &catalog::Card::variant) != variants.end();
    if (has) shape.graph += ":undirected";
    return shape;
}

// Where the network is asked for other widths than the data of the card has, or for another graph.
std::vector<std::string> notes_on_card(const Shape& directed, const GraphReading& reading) {
    if (directed.graph.empty()) return {};
    const Shape shape = symmetrised(directed, reading);
    const catalog::Card& card = catalog::find_card(shape.graph);
    std::vector<std::string> notes;
    if (shape.graph != directed.graph) {
        notes.push_back("note: with `symmetrise`, " + directed.graph + " is the graph of the card " + shape.graph);
    } else if (reading.symmetrise && !card.symmetric) {
        notes.push_back("note: `symmetrise` doubles the edges of " + shape.graph +
                        " at most: the card does not say how many come with their reverse");
    }
    const auto compare = [&](const char* what, std::int64_t has, std::int64_t asked) {
        if (has == 0 || asked == has) return;
        notes.push_back("note: the data of the card " + shape.graph + " has " + std::to_string(has) + " " + what +
                        ", and the network takes " + std::to_string(asked));
    };
    const bool listed = !shape.widths.empty();
    compare("features", card.features, listed ? shape.widths.front() : shape.features.value_or(card.features));
    compare("classes", card.classes, listed ? shape.widths.back() : shape.classes.value_or(card.classes));
    return notes;
}

std::int64_t layers_of(const Shape& shape, const std::string& model) {
    return shape.layers.value_or(models::usual_layers(model));
}

// One number for each layer.
std::vector<std::int64_t> fanout_of(const Network& network, const Shape& shape) {
    std::vector<std::int64_t> fanout = network.fanout;
    const std::int64_t layers = layers_of(shape, network.model.name);
    if (fanout.size() == 1)
        fanout.resize(shape.widths.empty() ? static_cast<std::size_t>(layers) : shape.widths.size() - 1,
                      fanout.front());
    return fanout;
}

// Refuses sizes that may be given only where no graph is read.
void check_counted(const Shape& shape) {
    if (shape.vertices || shape.nonzeros) {
        throw Error(ErrorCode::usage, "`vertices` and `nonzeros` are counted when `graph` is a path");
    }
    if (shape.replication_factor) {
        throw Error(ErrorCode::usage, "a cut of the data is counted when `graph` is a path", "`replication-factor`");
    }
    if (shape.train_fraction) {
        throw Error(ErrorCode::usage, "the data says which vertices train when `graph` is a path", "`train-fraction`");
    }
}

// The loss that fits the labels of the data, if there are any, or else the one asked for.
Loss loss_for(const data::Dataset& dataset, Task task, std::optional<Loss> asked) {
    if (task != Task::train || !dataset.has_labels()) return asked.value_or(Loss::softmax);
    const Loss found = dataset.loss();
    const auto masks = [](Loss loss) { return loss == Loss::masked_sigmoid; };
    if (!asked || asked == found || (masks(*asked) && found == Loss::sigmoid)) return asked.value_or(found);
    const std::string has = found == Loss::softmax ? "one class for each vertex"
                            : masks(found)         ? "several labels for each vertex, not all of which are known"
                                                   : "several labels for each vertex";
    throw Error(ErrorCode::usage, "the data has " + has, "`loss`",
                found == Loss::softmax ? "save a column of 0 and 1 for each class, or leave `loss` out"
                                       : "leave it out: the data says which loss fits");
}

// How the graph is read.
void take_reading(GraphRecord& record, const GraphReading& reading) {
    record.edge_weights = reading.edge_weights;
    record.symmetrised = reading.symmetrise;
    record.split = reading.split;
    record.generate = reading.generate;
    record.seed = reading.seed;
}

void take_shape(ProblemRecord& record, const LoadedProblem& loaded, const Shape& shape) {
    const data::Leftovers leftovers = loaded.dataset ? loaded.dataset->report().leftovers : data::Leftovers();
    record.model.pre = loaded.pre, record.model.post = loaded.post;
    record.model = models::with_widths(record.model,
                                       widths_of(shape, record.model.name, loaded.features, loaded.classes, leftovers));
    record.ranks = static_cast<int>(shape.ranks);
}

void take_dataset(LoadedProblem& loaded, ProblemRecord record, const Shape& shape, const GraphReading& reading,
                  const models::MatrixForm& form, std::optional<Loss> loss) {
    const data::Dataset& dataset = *loaded.dataset;
    const data::LoadReport& report = dataset.report();
    if (record.task == Task::train && !dataset.subset().empty()) data::check_training_set(dataset);
    data::check_degrees(dataset.graph(), form.normalisation, report.path);
    record.graph.name = io::printable(shape.graph);
    record.graph.source = "file: " + report.format;
    record.graph.index_base = reading.index_base == data::IndexBase::unsaid ? 0 : report.index_base;
    record.graph.generated_features = report.features_generated ? dataset.features() : 0;
    record.graph.generated_classes = report.labels_generated ? dataset.classes() : 0;
    record.model.loss = loss_for(dataset, record.task, loss);
    loaded.features = dataset.features();
    loaded.classes = dataset.classes();
    take_shape(record, loaded, shape);
    auto counts = std::make_shared<data::GraphCounts>(dataset.graph(), dataset.subset());
    counts->keep_numbered();  // a plan's table asks for what the search asked for
    loaded.problem = make_problem(std::move(record), std::move(counts), reading.normalisation);
    loaded.problem.listing = {report.edges_read, report.text, report.divisible};
    if (const data::FeatureFiles* files = dataset.feature_files())
        loaded.problem.listing.features = {dataset.features(), files->text(), files->most_readers()};
}

void take_sizes(LoadedProblem& loaded, ProblemRecord record, const Shape& shape, const GraphReading& reading,
                std::optional<Loss> loss) {
    if (reading.index_base != data::IndexBase::unsaid) {
        throw Error(ErrorCode::usage, "there is no edge list to read", "`index-base`", "give `graph PATH`");
    }
    if (reading.symmetrise && shape.graph.empty()) {
        throw Error(ErrorCode::usage, "there is no graph to add reverses to", "`symmetrise`",
                    "count them in `nonzeros`, and add `symmetric`");
    }
    const GraphSizes sizes = graph_sizes(symmetrised(shape, reading));
    const bool several = record.task == Task::train && sizes.several_labels;
    record.model.loss = loss.value_or(several ? Loss::sigmoid : Loss::softmax);
    loaded.features = sizes.features;
    loaded.classes = sizes.classes;
    take_shape(record, loaded, shape);
    loaded.problem = make_problem(std::move(record), sizes, reading.normalisation);
}

}  // namespace

bool is_card(const std::string& selector) {
    if (data::is_lent(selector)) return false;  // who lends arrays means these
    return !catalog::variants_of(std::string_view(selector).substr(0, selector.find(':'))).empty();
}

bool reads_graph(const Shape& shape) { return !shape.graph.empty() && !is_card(shape.graph); }

GraphSizes graph_sizes(const Shape& shape) {
    if (shape.graph.empty() && (!shape.vertices || !shape.nonzeros)) {
        throw Error(ErrorCode::usage, "no graph given", {}, "use `graph`, or `vertices` and `nonzeros`");
    }
    GraphSizes sizes =
        shape.graph.empty() ? GraphSizes{*shape.vertices, *shape.nonzeros, shape.symmetric} : card(shape.graph);
    sizes.train_fraction = shape.train_fraction.value_or(1);
    constexpr std::size_t most_parts = 14;  // 2^14 ranks
    if (shape.replication_factor) sizes.replication.assign(most_parts, *shape.replication_factor);
    question::check_sizes(sizes);
    return sizes;
}

namespace {

[[noreturn]] void refuse_unknown(const std::string& what, const std::string& option, const std::string& unread,
                                 const std::string& name) {
    throw Error(ErrorCode::usage, "the number of " + what + " is not known", {},
                unread.empty() ? "give " + option + " or `widths`: what the data lacks is then generated"
                               : what + " may be among what is not read of the data: " + unread +
                                     (name.empty() ? "" : "; save them as " + name) + "; or give " + option +
                                     " or `widths`, and `generate` to have random ones");
}

}  // namespace

std::vector<std::int64_t> widths_of(const Shape& shape, const std::string& model, std::int64_t features,
                                    std::int64_t classes, const data::Leftovers& leftovers) {
    if (!shape.widths.empty()) return shape.widths;
    const std::int64_t first = shape.features.value_or(features);
    const std::int64_t last = shape.classes.value_or(classes);
    if (first == 0 && last == 0 && leftovers.unread.empty()) {
        throw Error(ErrorCode::usage, "the numbers of features and classes are not known", {},
                    "give `features` and `classes`, or `widths`: what the data lacks is then generated; and "
                    "`symmetrise` if edges are listed once");
    }
    if (first == 0)
        refuse_unknown("features", "`features`", leftovers.names({&data::Unread::features}), leftovers.features);
    if (last == 0) refuse_unknown("classes", "`classes`", leftovers.names({&data::Unread::labels}), leftovers.labels);
    std::vector<std::int64_t> widths(static_cast<std::size_t>(layers_of(shape, model) + 1), shape.hidden);
    widths.front() = first;
    widths.back() = last;
    return widths;
}

ReadGraph read_graph(const Shape& shape, const GraphReading& reading, const Network& network) {
    ReadGraph graph;
    ProblemRecord& record = graph.record;
    record.task = network.task;
    record.model = network.model;
    graph.loss = network.loss;
    record.model.aggregator = models::find(record.model.name, record.model.aggregator).name;
    record.fanout = fanout_of(network, shape);
    record.batches = network.batches;
    if (record.task == Task::train && !record.fanout.empty()) {
        record.batches = search::drawn_updates(record.fanout, record.batches);
        record.fanout.clear();
    }
    if (record.batches) record.batches->sampling.seed = reading.seed;
    record.loading = network.loading.value_or(record.task == Task::infer ? Loading::sharded : Loading::whole);
    graph.form = models::matrix_of(record.model, reading.normalisation);
    if (reading.edge_weights) check_reads_weights(sites_of(ops_before_widths(record.model)));
    if (!reads_graph(shape)) {
        graph.notes = notes_on_card(shape, reading);
        return graph;
    }
    check_counted(shape);
    graph.dataset = read_dataset(shape, reading, record, graph.form.self_loops, network.loss);
    graph.notes = notes_on(shape.graph, graph.dataset->report());
    return graph;
}

LoadedProblem problem_on(ReadGraph graph, const Shape& shape, const GraphReading& reading) {
    LoadedProblem loaded;
    loaded.dataset = std::move(graph.dataset);
    loaded.notes = std::move(graph.notes);
    loaded.pre = graph.record.model.pre, loaded.post = graph.record.model.post;
    take_reading(graph.record.graph, reading);
    if (loaded.dataset) {
        take_dataset(loaded, std::move(graph.record), shape, reading, graph.form, graph.loss);
    } else {
        take_sizes(loaded, std::move(graph.record), shape, reading, graph.loss);
    }
    return loaded;
}

LoadedProblem load_problem(const Shape& shape, const GraphReading& reading, const Network& network) {
    return problem_on(read_graph(shape, reading, network), shape, reading);
}

Problem with_shape(const LoadedProblem& loaded, const Shape& shape) {
    Problem problem = loaded.problem;
    take_shape(problem.record, loaded, shape);
    problem.ops = models::build(problem.record);
    return problem;
}

void check_partition(bool partition, const Shape& shape, std::optional<Loading> loading) {
    if (!partition) return;
    if (!reads_graph(shape)) {
        throw Error(ErrorCode::usage, "there is no graph to partition", "`partition`", "give `graph PATH`");
    }
    if (loading == Loading::sharded) {
        throw Error(ErrorCode::usage, "parts are made of the whole graph, of which `load sharded` gives ranks shares",
                    "`partition`", "use `load whole`, or leave `partition` out");
    }
}

}  // namespace gnnplan::tools
