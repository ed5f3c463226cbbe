#include "tools/gnnplan/problem_flags.hpp"

#include "tools/advise/switch_words.hpp"
#include "tools/common/main.hpp"
#include "tools/common/options.hpp"
#include "tools/text/format.hpp"

#include <gnnplan/base/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gnnplan::tools {
namespace {

double parse_fraction(const std::string& text) {
    const double value = number_from<double>(text).value_or(0);
    if (value > 0 && value <= 1) return value;
    throw CLI::ValidationError("--train-fraction", "'" + text + "' is not a fraction above 0, up to 1");
}

double parse_factor(const std::string& text) {
    const double value = number_from<double>(text).value_or(0);
    if (value >= 1 && value <= max_ranks) return value;
    throw CLI::ValidationError("--replication-factor",
                               fmt::format("'{}' is not a number from 1 to {}", text, format_count(max_ranks)));
}

// Checks --widths against the limit of --layers.
std::string few_widths(const std::string& text) {
    const auto layers = std::count(text.begin(), text.end(), ',');
    if (layers <= max_layers) return "";
    return fmt::format("{} widths are too many: a network has at most {} layers", layers + 1, max_layers);
}

void add_order_pins(CLI::App& command, SearchFlags& flags) {
    command
        .add_option(
            "--forward", flags.forward,
            "Pin the order of each layer's products, layers 1..L: S multiplies by the sparse adjacency matrix first "
            "(aggregate first), D by the dense weights first (transform first); e.g. SD")
        ->type_name("ORDERS");
    command
        .add_option("--backward", flags.backward,
                    "The same for the backward pass, layers L..1, e.g. SS; S- in the full space, where layer 1 needs "
                    "no gradient of its input")
        ->type_name("ORDERS");
}

void add_grid_pins(CLI::App& command, SearchFlags& flags) {
    add_count(command, "--replication", flags.replication,
              "Pin how many copies of the adjacency matrix there are: R_A of rdm, c of 1.5d", {1, max_ranks});
    command.add_option("--grid", flags.grid, "Pin how the ranks are arranged, e.g. 2x3 for 6 of them")
        ->type_name("XxY[xZ]");
}

void add_extras(CLI::App& command, SearchFlags& flags) {
    command
        .add_option("--extras", flags.extras,
                    "Whether plans may use what no published system does (products kept across epochs, values of "
                    "edges as factors, layers pruned to the rows that the loss needs)")
        ->check(CLI::IsMember({"on", "off"}))
        ->type_name("on|off")
        ->capture_default_str();
}

void add_switch_pin(CLI::App& command, const SwitchWords& row, SearchFlags& flags) {
    const std::string& key = row.key;
    if (row.pin.values.empty()) {
        command.add_flag_callback(
            row.pin.flag, [&flags, key] { flags.switches[key] = "on"; }, row.pin.help);
        return;
    }
    std::vector<std::string> values;
    for (const FlagValue& value : row.pin.values) values.push_back(value.spelling);
    const CLI::IsMember listed(values);
    const auto check = [&row, listed](const std::string& text) { return row.pin.takes(text) ? "" : listed(text); };
    command
        .add_option_function<std::string>(
            row.pin.flag, [&flags, key](const std::string& value) { flags.switches[key] = value; }, row.pin.help)
        ->check(check, listed.get_description())
        ->type_name(fmt::format("{}", fmt::join(values, "|")));
}

// Flags for figures that a graph would say if it were read.
void add_unread(CLI::App& command, Shape& flags) {
    command
        .add_option_function<std::string>(
            "--train-fraction", [&flags](const std::string& text) { flags.train_fraction = parse_fraction(text); },
            "The share of the vertices that training uses, where no graph is read to say; default: 1")
        ->type_name("F");
    command
        .add_option_function<std::string>(
            "--replication-factor",
            [&flags](const std::string& text) { flags.replication_factor = parse_factor(text); },
            "In how many parts of a vertex cut a vertex has an edge on average, at most in all of them, where no graph "
            "is read to be cut; cards of DistGNN's graphs know it")
        ->type_name("F");
}

}  // namespace

void add_shape_flags(CLI::App& command, Shape& flags, const char* graph_type, std::int64_t max_ranks) {
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
    add_unread(command, flags);
    under_heading(command, graph_heading);
    CLI::Option* features =
        add_count(command, "--features", flags.features, "How many features a vertex has", {1, max_width});
    CLI::Option* classes = add_count(command, "--classes", flags.classes, "How many classes there are", {1, max_width});
    CLI::Option* layers =
        add_count(command, "--layers", flags.layers,
                  "How many layers the network has, or linear maps of appnp and sign; default: 2, and 1 for sgc",
                  {1, max_layers});
    CLI::Option* hidden =
        add_count(command, "--hidden", flags.hidden, "How wide the hidden layers are", {1, max_width});
    add_counts(command, "--widths", flags.widths,
               "All widths from the features to the classes, in place of the four flags above", {1, max_width}, 2)
        ->check(few_widths)
        ->excludes(features)
        ->excludes(classes)
        ->excludes(layers)
        ->excludes(hidden);
    under_heading(command, model_heading);
    add_count(command, "--ranks", flags.ranks, "How many ranks share the work: processes, or GPUs", {1, max_ranks});
    under_heading(command, machine_heading);
}

void add_index_base(CLI::App& command, std::string& value) {
    command
        .add_option("--index-base", value,
                    "Where the vertex ids of an edge list start: 0, 1, or auto (at 1 if no id is 0); default: 0")
        ->check(CLI::IsMember({"0", "1", "auto"}))
        ->type_name("0|1|auto");
}

void add_preparation_flags(CLI::App& command, PreparationFlags& flags) {
    add_index_base(command, flags.index_base);
    command.add_flag("--symmetrise", flags.symmetrise, "Add the reverse of every edge");
    command.add_flag(
        "--edge-weights", flags.edge_weights,
        "Read a weight of every edge: the third column of an edge list, the values of a Matrix Market "
        "file, edge_weight of an .npz, or raw/edge-feat.csv of an OGB folder (gcn, gin, sgc, appnp, sign, and sage "
        "with mean, sum or gcn)");
    command
        .add_option("--split", flags.split,
                    "Take this split, where the data has several: a folder of split/, or a column of masks, from 0")
        ->type_name("NAME");
    command
        .add_option("--normalisation", flags.normalisation,
                    "How the value of an edge is computed: symmetric (from the degrees of both ends), row_mean (from "
                    "the degree of the receiving end), none (1, or the weight that it has); default: the model's own, "
                    "symmetric for gcn")
        ->check(CLI::IsMember({"symmetric", "row_mean", "none"}))
        ->type_name("KIND");
    add_count(command, "--seed", flags.seed,
              "Seed of the features and classes that are generated where the data lacks them, of drawn neighbours "
              "(--fanout) and of batches (--sampler)",
              {0});
    command.add_flag("--generate", flags.generate,
                     "Generate missing features, classes and split even where the data holds arrays or files of other "
                     "names that may be these (without this flag such data is refused)");
    under_heading(command, graph_heading);
}

void add_space_flags(CLI::App& command, std::string& space, std::optional<std::string>& scheme) {
    command
        .add_option("--space", space, "Which configurations are searched: full, or paper (RDM's, as its paper counts)")
        ->check(CLI::IsMember({"full", "paper"}))
        ->type_name("full|paper")
        ->capture_default_str();
    command
        .add_option("--scheme", scheme,
                    fmt::format("Keep to one way of cutting the matrices: {}", fmt::join(scheme_names(), ", ")))
        ->check(CLI::IsMember(scheme_names()))
        ->type_name("NAME");
    under_heading(command, pin_heading);
}

namespace {

void add_task_flags(CLI::App& command, ModelFlags& model) {
    command
        .add_option(
            "--task", model.task,
            "The task to plan: train, or infer (one pass with trained weights, which computes the outputs of all "
            "vertices)")
        ->check(CLI::IsMember({"train", "infer"}))
        ->type_name("train|infer")
        ->capture_default_str();
    command
        .add_option("--load", model.load,
                    "How ranks load the graph: each rank reads all of it (whole), or each reads a part of the file and "
                    "sends the edges to the ranks that need them (sharded); default: sharded for inference")
        ->check(CLI::IsMember({"whole", "sharded"}))
        ->type_name("whole|sharded");
    command
        .add_option("--fanout", model.fanout,
                    "How many in-neighbours of each vertex are drawn: by an inference one number per layer (the first "
                    "layer's first) or one for all layers, by a training one number for each update; or full (all "
                    "neighbours are read)")
        ->type_name("K,K,...|full")
        ->capture_default_str();
}

void add_batch_flags(CLI::App& command, ModelFlags& model) {
    CLI::Option* const sampler =
        command
            .add_option("--sampler", model.sampler,
                        "Train on batches of vertices and the edges among them: node:B (B vertices by their edges), "
                        "edge:B (the ends of B edges), walk:R:H (walks of H steps from R roots), cluster:Q:M (Q of "
                        "METIS's M parts)")
            ->type_name("NAME:N[:N]");
    add_count(command, "--batches-per-update", model.batches_per_update,
              "How many batches an update of the weights is of, which groups of ranks share", {1, max_ranks})
        ->needs(sampler);
    add_count(command, "--coverage", model.coverage,
              "How often the pool of batches has each vertex, on average; its batches and the coefficients are drawn "
              "and counted before training",
              {1, 1'000'000})
        ->needs(sampler);
    command
        .add_option("--coefficients", model.coefficients,
                    "Weigh edges and losses of batches by how many batches of the pool have them, so that sums are "
                    "those of the graph: on, or off")
        ->check(CLI::IsMember({"on", "off"}))
        ->type_name("on|off")
        ->capture_default_str()
        ->needs(sampler);
    command
        .add_option("--sampled-graph", model.sampled_graph,
                    "Whether batches are of all vertices, or of those that train and the edges among them")
        ->check(CLI::IsMember({"all", "train"}))
        ->type_name("all|train")
        ->capture_default_str()
        ->needs(sampler);
}

void add_model_flags(CLI::App& command, ModelFlags& model) {
    command
        .add_option("--model", model.name,
                    "The network: gcn, sage (GraphSAGE), gin, gat, agnn, sgc, appnp, sign, gcnii")
        ->type_name("NAME")
        ->capture_default_str();
    command
        .add_option("--aggregator", model.aggregator,
                    "How sage aggregates the neighbours: mean, sum, max, pool (the maximum after a linear map and the "
                    "activation), or gcn (the mean over the neighbours and the vertex itself, which has no weight of "
                    "its own); default: mean")
        ->type_name("NAME");
    command
        .add_option("--epsilon", model.epsilon,
                    "Epsilon of gin: a number, which may be negative, or train to learn it, starting at 0; default: 0")
        ->type_name("X|train");
    add_count(command, "--hops", model.hops,
              "How often a layer of sgc or appnp aggregates, with no weights between, or sign does; default: 2, and 10 "
              "for appnp",
              {1, max_hops});
    add_number(
        command, "--teleport", model.teleport, [](double x) { return x >= 0 && x <= 1; }, "0 to 1",
        "The share of its own prediction that each hop of appnp adds to a vertex, or of the first map's result that "
        "each layer of gcnii does, 0 to 1; default: 0.1");
    add_number(
        command, "--theta", model.theta, [](double x) { return x > 0 && std::isfinite(x); }, "a positive number",
        "The weight of layer l of gcnii counts log(X / l + 1), and the identity the rest; default: 0.5");
    command
        .add_option("--activation", model.activation,
                    "The activation after every layer but the last; default: relu, and elu for gat")
        ->check(CLI::IsMember({"relu", "elu", "leaky_relu"}))
        ->type_name("relu|elu|leaky_relu");
}

void add_attention_flags(CLI::App& command, ModelFlags& model) {
    const Bounds heads{1, max_heads};
    add_count(
        command, "--heads", model.heads,
        "Heads of attention of gat's hidden layers, whose width must be a multiple of them unless they are averaged; "
        "default: 1",
        heads);
    add_count(command, "--output-heads", model.output_heads,
              "Heads of gat's last layer, which are averaged; default: 1", heads);
    command.add_flag("--average-heads", model.average_heads,
                     "Average the heads of hidden layers too, in place of setting them side by side");
    add_number(
        command, "--slope", model.slope, [](double x) { return x >= 0 && x <= 1; }, "0 to 1",
        "The factor of negative attention scores of gat (its leaky ReLU), 0 to 1; default: 0.2");
}

void add_layer_flags(CLI::App& command, ModelFlags& model) {
    add_counts(
        command, "--pre", model.pre,
        "Put linear maps to so many columns each, e.g. 128 or 256,128, between the features and layer 1, with the "
        "activation between them; no product of the graph and the features is kept over epochs then",
        {1, max_width}, 1);
    command.add_flag("--pre-activation", model.pre_activation, "Put the activation behind the last map of --pre, too");
    CLI::Option* post =
        add_counts(command, "--post", model.post,
                   "Put linear maps behind the last layer, to so many columns each and then to the classes, with the "
                   "activation between them; the last layer has one then, and is as wide as the one before",
                   {1, max_width}, 1);
    command
        .add_option("--residual", model.residual,
                    "Add to each layer's output its input, mapped by a weight where the widths differ (input, or no "
                    "word), or mapped everywhere (linear), or to its sum that of the layer before it, which has no "
                    "norm, activation and dropout yet (sums)")
        ->expected(0, 1)
        ->default_str("input")
        ->check(CLI::IsMember({"input", "linear", "sums"}))
        ->type_name("[input|linear|sums]");
    command
        .add_option("--jk", model.jk,
                    "Jumping knowledge: the logits are a linear map of the outputs of all layers (concat) or of the "
                    "last one (last); the last layer has an activation then, and is as wide as the one before")
        ->check(CLI::IsMember({"concat", "last"}))
        ->excludes(post)
        ->type_name("concat|last");
    command
        .add_option(
            "--norm", model.norm,
            "Normalise what hidden layers make, with a weight and a bias, and the last layer's, too, before --post "
            "or --jk: each row (layer), or each column over all vertices (batch)")
        ->check(CLI::IsMember({"layer", "batch"}))
        ->type_name("layer|batch");
    command.add_option("--norm-after", model.norm_after, "Behind which operation of a layer the norm stands")
        ->check(CLI::IsMember({"sum", "activation", "dropout"}))
        ->type_name("sum|activation|dropout")
        ->capture_default_str();
    command.add_flag("--bias", model.bias, "Give every layer a bias");
}

void add_loss_flags(CLI::App& command, ModelFlags& model) {
    command
        .add_option(
            "--loss", model.loss,
            "The cross-entropy that training makes smaller: of one class for each vertex (softmax), of several labels "
            "(sigmoid), or of those of them that are known (masked-sigmoid); default: what the data has, for "
            "sizes softmax")
        ->check(CLI::IsMember({"softmax", "sigmoid", "masked-sigmoid"}))
        ->type_name("softmax|sigmoid|masked-sigmoid");
    command.add_flag("--rocauc", model.rocauc,
                     "In training, evaluate several labels, or two classes, by the area under the ROC curve, too, "
                     "exactly and with ties: the mean "
                     "over the labels that some vertices have and others have not");
}

void add_machine_flags(CLI::App& command, ProblemFlags& flags) {
    command
        .add_option("--machine", flags.machine,
                    "The machine to plan for: a preset (gnnplan machines list) or the file of a profile; default: this "
                    "machine as gnnplan calibrate measured it, else as a probe of a second or two finds it")
        ->type_name("NAME|FILE");
    add_count(command, "--ranks-per-node", flags.ranks_per_node,
              "How many ranks share a node, each with the memory and the rates that the profile gives a rank; default: "
              "as many as in the profile",
              {1, max_ranks});
    add_size(command, "--memory", flags.search.memory,
             "How much memory a rank may use, e.g. 16GiB; default: the memory of the machine");
    add_size(
        command, "--buffer", flags.search.buffer,
        "How much memory a rank may use in a sparse product for rows that other ranks send, e.g. 64MiB: blocks are "
        "then sent in pieces that fit; default: whole blocks");
}

}  // namespace

void add_problem_flags(CLI::App& command, ProblemFlags& flags) {
    add_shape_flags(command, flags.shape, "CARD|PATH", max_ranks);
    add_preparation_flags(command, flags.preparation);
    add_task_flags(command, flags.model);
    add_batch_flags(command, flags.model);
    under_heading(command, task_heading);
    add_model_flags(command, flags.model);
    add_attention_flags(command, flags.model);
    add_layer_flags(command, flags.model);
    add_loss_flags(command, flags.model);
    under_heading(command, model_heading);
    add_machine_flags(command, flags);
    under_heading(command, machine_heading);
    add_space_flags(command, flags.search.space, flags.search.scheme);
    add_order_pins(command, flags.search);
    add_grid_pins(command, flags.search);
    add_extras(command, flags.search);
    for (const SwitchWords* row : pinnable_switches()) add_switch_pin(command, *row, flags.search);
    under_heading(command, pin_heading);
    leave_to_help_all(command, pin_heading);
}

std::vector<io::NamedFile> files_read(const ProblemFlags& flags) {
    return {{"--graph", flags.shape.graph}, {"--machine", flags.machine}};
}

}  // namespace gnnplan::tools
