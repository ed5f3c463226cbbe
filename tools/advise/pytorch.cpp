#include "tools/advise/pytorch.hpp"

#include "planner/io/document.hpp"
#include "tools/advise/configuration_text.hpp"
#include "tools/advise/plan_text.hpp"
#include "tools/advise/pytorch_layout.hpp"
#include "tools/advise/pytorch_source.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/model_text.hpp"
#include "tools/text/trust.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gnnplan::tools {
namespace {

constexpr auto S = Order::sparse_first;
constexpr auto D = Order::dense_first;
constexpr int most_layers = 12;  // whose products are spelled out

int depth(const Configuration& configuration) { return static_cast<int>(configuration.forward.size()); }
Order forward(const Configuration& c, int layer) { return c.forward[static_cast<std::size_t>(layer - 1)]; }
Order backward(const Configuration& c, int layer) { return c.backward[static_cast<std::size_t>(depth(c) - layer)]; }
Operand operand(const Configuration& c, int layer) { return c.operands[static_cast<std::size_t>(layer - 1)]; }
bool cached(const Configuration& c, int layer) { return layer == 1 && c.cached_aggregation; }

// "# title  text", broken at blanks; further lines are indented as the text.
std::string comment(const std::string& title, const std::string& text, std::size_t indent = 11) {
    return wrapped(fmt::format("# {:<{}}", title, indent - 2), "#" + std::string(indent - 1, ' '), text);
}

std::string comments(const std::vector<Line>& lines) {
    std::size_t widest = 0;
    for (const Line& line : lines) widest = std::max(widest, line.name.size());
    std::string out;
    for (const Line& line : lines) out += comment("  " + line.name, line.text, widest + 6);
    return out;
}

std::string head(const Plan& plan) {
    const Candidate& chosen = plan.candidates.front();
    const std::string trust = trust_sentence(plan.machine);
    return "#!/usr/bin/env python3\n"
           "# A plan of gnnplan in PyTorch. One process trains with the plan's products in the plan's order:\n"
           "#     python3 THIS_FILE GRAPH [EPOCHS]        GRAPH: an .npz file or an OGB folder, as gnnrun reads\n"
           "# What each of several ranks would hold and send is in the comments. See docs/pytorch.md.\n"
           "#\n" +
           comment("graph", graph_line(plan.problem)) + comment("plan", configuration_text(chosen.configuration)) +
           comment("epoch",
                   fmt::format("{} predicted on {} x {}, {} a rank. {}",
                               format_seconds(chosen.predicted.epoch_seconds, plan.machine), plan.problem.ranks,
                               plan.machine.name, format_memory(chosen.predicted.peak_bytes_per_rank), trust)) +
           "#\n"
           "# A is the normalised adjacency matrix, row v for the in-neighbours of v; x is what a layer reads,\n"
           "# g the gradient of what it returns before the activation.\n";
}

std::string products(const Configuration& configuration) {
    std::string out;
    for (int layer = 1; layer <= depth(configuration); ++layer) {
        if (layer == most_layers && layer < depth(configuration)) {
            out += comment("layers", fmt::format("{} to {}: as below", layer, depth(configuration)));
            break;
        }
        const LayerWords words = layer_words(configuration, layer);
        out += comment(fmt::format("layer {}", layer), words.forward);
        out += comment("",
                       "backward  " + words.backward +
                           (words.autograd ? "  (what autograd does)" : "  (not what autograd does: class Product)"),
                       11);
    }
    return out;
}

std::string keep(const Configuration& configuration) {
    std::string out = "#\n";
    if (configuration.cached_aggregation) {
        out +=
            comment("once", "A @ X, before the first epoch. It needs features that never change: no dropout on them.");
    }
    if (configuration.loss_rows) {
        out += comment("rows",
                       "Only the rows that the loss needs are computed: A's rows are the training vertices in "
                       "the last layer, their in-neighbours in the layer before, and so on.");
    }
    if (configuration.bf16)
        out += comment("bf16", "The plan rounds products' dense operands to bfloat16; this does not.");
    return out == "#\n" ? "" : out;
}

std::string distribution(const Plan& plan) {
    if (plan.problem.ranks == 1) return "#\n# One rank: nothing is sharded and nothing is sent.\n";
    const Configuration& c = plan.candidates.front().configuration;
    std::string out =
        "#\n" + comment("launch", launch_line(plan)) + comment("mesh", device_mesh(c.grid)) +
        "# What lies where, as DTensor's placements on that mesh. DTensor holds no sparse matrices: of A\n"
        "# each rank cuts its own block. Blocks of the plan differ by at most one row; torch.chunk's do not.\n" +
        comments(placed_matrices(plan));
    if (c.permutation) out += "# Vertices are shuffled first, so that all ranks get about as many nonzeros.\n";
    if (c.parts > 1) out += "# Vertices are numbered by a partitioner first (METIS, for example), part by part.\n";
    return out + "# What an epoch sends, in this order; weights and their updates are the same on every rank.\n" +
           comments(collectives(plan));
}

// The lines of network(): "    x = torch.relu(propagate(2, x @ W[2]) + b[2])".
std::string network(const Plan& plan) {
    const Configuration& c = plan.candidates.front().configuration;
    std::string out = "def network(x, W, b):\n";
    for (int layer = 1; layer <= depth(c); ++layer) {
        if (layer > 1) out += "    x = F.dropout(x, DROPOUT)\n";
        if (layer == 1 && !c.constant_input) out += "    x = F.dropout(x, INPUT_DROPOUT)\n";
        std::string product;
        if (cached(c, layer)) {
            product = "x @ W[1]";
        } else if (!layer_words(c, layer).autograd) {
            product = fmt::format("Product.apply({0}, x, W[{0}], \"{1}\", \"{2}\", \"{3}\")", layer,
                                  static_cast<char>(forward(c, layer)),
                                  backward(c, layer) == Order::none ? '-' : static_cast<char>(backward(c, layer)),
                                  static_cast<char>(operand(c, layer)));
        } else {
            product = forward(c, layer) == S ? fmt::format("propagate({0}, x) @ W[{0}]", layer)
                                             : fmt::format("propagate({0}, x @ W[{0}])", layer);
        }
        if (plan.problem.model.bias) product += fmt::format(" + b[{}]", layer);
        const std::string note = cached(c, layer) ? "  # x is A @ X" : "  # " + layer_words(c, layer).forward;
        out += fmt::format("    {}{}{}{}\n", layer < depth(c) ? "x = torch.relu(" : "return ", product,
                           layer < depth(c) ? ")" : "", note);
    }
    return out;
}

std::string settings(const Plan& plan) {
    const GraphRecord& graph = plan.problem.graph;
    const Configuration& c = plan.candidates.front().configuration;
    const RunRecord& run = plan.problem.run;
    const auto flag = [](bool value) { return value ? "True" : "False"; };
    const char* normalisation = graph.normalisation == Normalisation::symmetric  ? "symmetric"
                                : graph.normalisation == Normalisation::row_mean ? "row_mean"
                                                                                 : "none";
    return fmt::format(
        "WIDTHS = [{}]\nBIAS = {}\nSYMMETRISE = {}\nSELF_LOOPS = {}\nNORMALISATION = \"{}\"\nLOSS_ROWS = {}\n"
        "CACHE_AX = {}\nSPLIT = {}  # of several, in an OGB folder or columns of masks\nEPOCHS = {}\n"
        "DROPOUT = {}  # of every layer's input but the features\n{}LEARNING_RATE, WEIGHT_DECAY = 0.01, 5e-4\n"
        "OPTIMIZER = lambda groups: {}\n",
        fmt::join(plan.problem.model.widths, ", "), flag(plan.problem.model.bias), flag(graph.symmetrised),
        flag(graph.self_loops), normalisation, flag(c.loss_rows), flag(c.cached_aggregation),
        io::dump(io::Document(graph.split)), run.epochs, run.dropout.value_or(0),
        c.constant_input ? ""
                         : fmt::format("INPUT_DROPOUT = {}\n", run.input_dropout.value_or(run.dropout.value_or(0))),
        run.optimiser == Optimiser::adam
            ? "torch.optim.Adam(groups, lr=LEARNING_RATE)"
            : fmt::format("torch.optim.SGD(groups, lr=LEARNING_RATE, momentum={})", run.momentum));
}

bool needs_product(const Configuration& configuration) {
    for (int layer = 1; layer <= depth(configuration); ++layer) {
        if (!layer_words(configuration, layer).autograd) return true;
    }
    return false;
}

}  // namespace

LayerWords layer_words(const Configuration& configuration, int layer) {
    const std::string w = fmt::format("W{}", layer);
    const std::string x = layer == 1 ? "X" : "x";
    if (cached(configuration, layer)) {
        return {"(A @ X) @ W1, of which A @ X is made once", "W1.grad = (A @ X).T @ g", true};
    }
    const Order first = forward(configuration, layer);
    const Order then = backward(configuration, layer);
    const bool product = operand(configuration, layer) == Operand::product;
    LayerWords words;
    words.forward = first == S ? fmt::format("(A @ {}) @ {}", x, w) : fmt::format("A @ ({} @ {})", x, w);
    const std::string ag = "(A.T @ g)";
    if (then == S) words.backward = fmt::format("{}.grad = {} @ {}.T; ", x, ag, w);
    if (then == D) words.backward = fmt::format("{}.grad = A.T @ (g @ {}.T); ", x, w);
    words.backward +=
        product ? fmt::format("{}.grad = (A @ {}).T @ g", w, x) : fmt::format("{}.grad = {}.T @ {}", w, x, ag);
    // Autograd takes the transpose of each forward product, the last one first.
    const Order natural = first == S ? D : S;
    words.autograd = product == (first == S) && (then == natural || then == Order::none);
    return words;
}

namespace {

bool is_plain_gcn(const ModelRecord& model) {
    return model.name == "gcn" && !model.activation && !model.residual && !model.jk_concat;
}

}  // namespace

bool has_pytorch_program(const Plan& plan) {
    return is_plain_gcn(plan.problem.model) && !plan.problem.graph.edge_weights && plan.problem.task == Task::train;
}

std::string pytorch_program(const Plan& plan) {
    const ModelRecord& model = plan.problem.model;
    if (plan.problem.task != Task::train)
        throw Error(ErrorCode::usage, "only plans of training are written as PyTorch programs", "--pytorch",
                    "this plan is of an inference");
    if (!is_plain_gcn(model)) {
        throw Error(ErrorCode::usage, "only plans of plain gcn are written as PyTorch programs", "--pytorch",
                    "this plan is of " + model_text(model));
    }
    if (plan.problem.graph.edge_weights) {
        throw Error(ErrorCode::usage, "plans that use the weights of edges are not written as PyTorch programs",
                    "--pytorch", "plan without --edge-weights");
    }
    const Configuration& configuration = plan.candidates.front().configuration;
    return head(plan) + products(configuration) + keep(configuration) + distribution(plan) + pytorch_imports +
           settings(plan) + pytorch_matrices + (needs_product(configuration) ? pytorch_product : "") + "\n\n" +
           network(plan) + pytorch_training;
}

}  // namespace gnnplan::tools
