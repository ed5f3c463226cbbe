#include "tools/advise/pytorch/pytorch.hpp"

#include "planner/io/document.hpp"
#include "planner/io/enum_names.hpp"
#include "tools/advise/certainty.hpp"
#include "tools/advise/configuration_text.hpp"
#include "tools/advise/plan_text.hpp"
#include "tools/advise/pytorch/pytorch_layout.hpp"
#include "tools/advise/pytorch/pytorch_model.hpp"
#include "tools/advise/pytorch/pytorch_source.hpp"
#include "tools/advise/pytorch/pytorch_words.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/model_text.hpp"
#include "tools/text/trust.hpp"

#include <gnnplan/models.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace gnnplan::tools {
namespace {

constexpr int most_layers = 12;  // whose products are spelled out

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
    const bool trains = plan.problem.task == Task::train;
    const Certainty certainty = certainty_of(plan);
    return fmt::format(
               "#!/usr/bin/env python3\n"
               "# A plan of gnnplan in PyTorch. class Model has the plan's products in the plan's order; copy it\n"
               "# with what follows, down to the script: that needs torch alone. The script {} on one\n"
               "# device (and needs numpy). See docs/pytorch.md.\n"
               "#     {}\n#\n",
               trains ? "trains it" : "applies it",
               trains ? "python3 THIS_FILE GRAPH                  --help lists options"
                      : "python3 THIS_FILE GRAPH --weights FILE   --help lists options") +
           comment("graph", graph_line(plan.problem)) + comment("plan", configuration_text(chosen.configuration)) +
           comment(time_name(plan.problem.task),
                   fmt::format("{} predicted on {} x {}, {} a rank. {} {}",
                               format_seconds(chosen.predicted.epoch_seconds, plan.machine), plan.problem.ranks,
                               plan.machine.name, format_memory(chosen.predicted.peak_bytes_per_rank),
                               range_text(certainty.seconds, certainty.factors, plan.machine, plan.problem.task),
                               certainty.evidence)) +
           "#\n"
           "# A is the adjacency matrix as the plan weighs it, row v for the in-neighbours of v; x is what a\n" +
           (trains ? "# layer reads, g the gradient of what its product returns.\n" : "# layer reads.\n");
}

std::string products(const Configuration& configuration, const SiteGraph& model) {
    std::string out;
    for (int layer = 1; layer <= model.depth; ++layer) {
        if (layer == most_layers && layer < model.depth) {
            out += comment("layers", fmt::format("{} to {}: as below", layer, model.depth));
            break;
        }
        const LayerWords words = layer_words(configuration, model, layer);
        out += comment(fmt::format("layer {}", layer), words.forward);
        if (words.backward.empty()) continue;
        const bool autograd = layer_orders(configuration, model, layer).autograd;
        out += comment("", "backward  " + words.backward +
                               (autograd ? "  (what autograd does)" : "  (not what autograd does: class Product)"));
    }
    return out;
}

std::string keep(const Configuration& configuration, const SiteGraph& model) {
    std::string out = "#\n";
    if (configuration.cached_aggregation)
        out += comment("once", kept_words(model.product(1)) +
                                   ", before the first epoch. It needs features that never "
                                   "change: no dropout on them.");
    if (configuration.loss_rows)
        out += comment("rows",
                       "Only the rows that the loss needs are computed: A's rows are the training vertices in "
                       "the last layer, their in-neighbours in the layer before, and so on.");
    if (!exact(configuration) && !configuration.trains_apart())
        out += comment("bf16", "The plan rounds operands of products, or messages, to bfloat16; this does not.");
    return out == "#\n" ? "" : out;
}

std::string distribution(const Plan& plan) {
    if (plan.problem.ranks == 1) return "\n# One rank: nothing is sharded and nothing is sent.\n";
    const Configuration& c = plan.candidates.front().configuration;
    std::string out =
        "\n# The plan's ranks.\n#\n" + comment("launch", launch_line(plan)) +
        comment("mesh", device_mesh(c.grid_of_ranks())) +
        "# Where each matrix lies, as DTensor's placements on that mesh. DTensor holds no sparse matrices:\n"
        "# each rank cuts its own block of A. Blocks of the plan differ by at most one row; torch.chunk's\n"
        "# may differ by more.\n" +
        comments(placed_matrices(plan));
    if (c.permutation) out += "# Vertices are shuffled first, so that all ranks get about as many nonzeros.\n";
    if (c.sharing == Sharing::cut) {
        out += "# Edges are dealt to the ranks along x by a vertex cut; vertices are numbered by their owners.\n";
    } else if (c.parts > 1) {
        out += "# Vertices are numbered by a partitioner first (METIS, for example), part by part.\n";
    }
    const bool trains = plan.problem.task == Task::train;
    return out +
           wrapped(
               "# ", "# ",
               fmt::format("The busiest rank sends this in {}, in this order; weights{} are the same on every rank.",
                           trains ? "an epoch" : "the pass", trains ? " and their updates" : "")) +
           comments(collectives(plan));
}

const char* flag(bool value) { return value ? "True" : "False"; }

// The facts about their training that gnnrun writes into files of weights, and compares.
std::string facts(const ProblemRecord& problem) {
    ModelRecord model = models::with_defaults(problem.model);
    model.bias = false;
    std::string weighing(io::name_of(problem.graph.normalisation));
    if (problem.graph.edge_weights) weighing += ", with the data's weights";
    if (models::matrix_of(model).self_loops && !problem.graph.self_loops) weighing += ", without the vertex itself";
    std::string out = "FACTS = {  # of weights in files\n";
    const std::vector<Line> facts = {{"the model", model_text(model)}, {"the weighing of edges", weighing}};
    for (const Line& fact : facts) out += fmt::format("    \"gnnplan: {}\":\n        \"{}\",\n", fact.name, fact.text);
    return out + "}\n";
}

// The constants that the class and its matrix need.
std::string constants(const Plan& plan, const SiteGraph& model) {
    const GraphRecord& graph = plan.problem.graph;
    const ModelNeeds needs = needs_of(plan, model);
    std::string out = std::string("\nimport array\n") + (needs.sums ? "import functools\n" : "") +
                      "import json\n\nimport torch\nimport torch.nn.functional as F\n\n";
    out += fmt::format("SYMMETRISE, SELF_LOOPS, NORMALISATION = {}, {}, \"{}\"\n", flag(graph.symmetrised),
                       flag(graph.self_loops), io::name_of(graph.normalisation));
    if (model.product(1).self != 0)
        out += fmt::format("ITSELF = {}  # how much of each vertex itself A has\n", model.product(1).self);
    if (needs.attention) out += fmt::format("SLOPE = {}  # of leaky\n", model.product(1).heads.slope);
    if (plan.candidates.front().configuration.loss_rows)
        out += fmt::format("PRODUCTS, WHOLE = {}, {}\n", model.hops(), model.hops_through(model.last_over_rows()));
    return out + facts(plan.problem) +
           fmt::format("FEATURE_NORM = \"{}\"  # of the plan: --feature-norm\n",
                       io::name_of(plan.problem.run.feature_norm));
}

// Below the class: its parameters, its matrix and the products with it.
std::string machinery(const Plan& plan, const SiteGraph& model) {
    const bool rows = plan.candidates.front().configuration.loss_rows;
    const ModelNeeds needs = needs_of(plan, model);
    const auto where = [](bool needed, const char* piece) { return needed ? piece : ""; };
    std::string out = pytorch_parameters;
    out += plan.problem.graph.edge_weights ? pytorch_weighed : pytorch_entries;
    out += pytorch_scaled;
    out += where(model.product(1).self != 0, pytorch_itself);
    out += pytorch_adjacency;
    out += where(needs.sums, pytorch_sum_methods);
    out += where(needs.maxima, pytorch_max_methods);
    out += where(needs.edges, pytorch_edge_methods);
    out += where(needs.attention, pytorch_attention);
    out += where(needs.cosines, pytorch_cosines);
    out += where(rows, pytorch_own_rows);
    out += where(needs.maxima || needs.edges, pytorch_rows_at);
    out += where(needs.sums, pytorch_propagate);
    out += where(needs.hops, pytorch_hops);
    out += where(needs.mixed, pytorch_mixed);
    out += where(needs.backward, pytorch_product);
    out += where(needs.edges, pytorch_edge_sums);
    return out + where(needs.cosines, pytorch_edge_products);
}

// "" of one that PyTorch has under no name known here.
std::string optimizer_of(const RunRecord& run) {
    const std::string_view name = rule_of(run.optimiser).torch;
    const std::string momentum = run.momentum > 0 ? fmt::format(", momentum={}", run.momentum) : "";
    return name.empty() ? "" : fmt::format("torch.optim.{}(groups, lr=lr{})", name, momentum);
}

std::string training_constants(const Plan& plan, const SiteGraph& model) {
    const RunRecord& run = plan.problem.run;
    constexpr int eval_every = 10;
    std::vector<std::string> decays;
    for (const Parameter& parameter : model.parameters) {
        if (parameter.decays) decays.push_back("\"" + parameter.name + "\"");
    }
    return fmt::format(
        "EPOCHS, EVAL_EVERY = {}, {}\nDECAYS = [{}]\nOPTIMIZER = lambda groups, lr: {}\n"
        "LOGITS = lambda model, data, rows: model(data.x, *data.edges{}\n",
        run.epochs, run.eval_every.value_or(eval_every), fmt::join(decays, ",\n          "), optimizer_of(run),
        plan.candidates.front().configuration.loss_rows ? ", rows)" : ")[rows]");
}

std::string script(const Plan& plan, const SiteGraph& model) {
    const GraphRecord& graph = plan.problem.graph;
    const ModelRecord& network = plan.problem.model;
    std::string out =
        "\n\n# The script: from here on, nothing is needed to use Model elsewhere.\n\n"
        "import argparse\nimport gzip\nimport itertools\nimport pathlib\nimport re\nimport sys\nimport types\nimport "
        "warnings\n\n"
        "import numpy\n\n";
    out += fmt::format(
        "VERTICES, FEATURES, CLASSES = {}, {}, {}\nWEIGHTED, INDEX_BASE = {}, {}\nSEVERAL_LABELS, ROCAUC = {}, {}\n"
        "SPLIT = {}  # of several, in an OGB folder or columns of masks\n",
        graph.vertices, network.widths.front(), network.widths.back(), flag(graph.edge_weights), graph.index_base,
        flag(several_labels(network.loss)), flag(network.rocauc), io::dump(io::Document(graph.split)));
    if (model.trains()) out += training_constants(plan, model);
    return out + pytorch_reading + pytorch_edge_lists + (model.trains() ? pytorch_training : pytorch_inference);
}

}  // namespace

bool has_pytorch_program(const Plan& plan) {
    const bool whole = !plan.candidates.front().configuration.grid.grouped();
    return whole && plan.problem.fanout.empty() &&
           (plan.problem.task == Task::infer || !optimizer_of(plan.problem.run).empty());
}

std::string pytorch_program(const Plan& plan) {
    if (!plan.problem.fanout.empty() || (plan.problem.batches && !plan.problem.batches->sampling.has_pool())) {
        throw Error(ErrorCode::usage, "plans that draw neighbours are not written as PyTorch programs", "--pytorch",
                    "what gnnrun draws depends on its own random numbers; plan without --fanout");
    }
    if (plan.problem.batches) {
        throw Error(ErrorCode::usage, "plans whose updates are of batches are not written as PyTorch programs",
                    "--pytorch", "the batches follow from gnnplan's random numbers; plan without --sampler");
    }
    if (plan.candidates.front().configuration.grid.grouped()) {
        throw Error(ErrorCode::usage, "plans of groups that train on clones are not written as PyTorch programs",
                    "--pytorch", "their clones follow from gnnplan's vertex cut; plan without --inexact");
    }
    if (!has_pytorch_program(plan)) {
        throw Error(ErrorCode::usage, "PyTorch has no such optimiser", "--pytorch",
                    fmt::format("plan without --optimizer {}", io::name_of(plan.problem.run.optimiser)));
    }
    const SiteGraph model = sites_of(models::build(plan.problem));
    const Configuration& configuration = plan.candidates.front().configuration;
    return head(plan) + products(configuration, model) + keep(configuration, model) + constants(plan, model) + "\n\n" +
           model_class(plan, model) + machinery(plan, model) + script(plan, model) + distribution(plan);
}

}  // namespace gnnplan::tools
