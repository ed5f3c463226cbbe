#include "tools/gnnplan/problem_words.hpp"

#include "tools/advise/switch_words.hpp"
#include "tools/ask/machine.hpp"
#include "tools/common/run_question.hpp"
#include "tools/gnnplan/output.hpp"
#include "tools/gnnplan/probe_machine.hpp"
#include "tools/gnnplan/progress_line.hpp"
#include "tools/text/counts.hpp"
#include "tools/text/sampler.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/memory_text.hpp>
#include <gnnplan/base/words.hpp>
#include <gnnplan/models.hpp>

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace gnnplan::tools {
namespace {

std::optional<Normalisation> parse_normalisation(const std::string& name) {
    if (name == "symmetric") return Normalisation::symmetric;
    if (name == "row_mean") return Normalisation::row_mean;
    if (name == "none") return Normalisation::none;
    return std::nullopt;
}

std::optional<Activation> parse_activation(const std::string& name) {
    if (name == "relu") return Activation::relu;
    if (name == "elu") return Activation::elu;
    if (name == "leaky_relu") return Activation::leaky_relu;
    return std::nullopt;
}

std::optional<Loss> parse_loss(const std::string& name) {
    if (name == "softmax") return Loss::softmax;
    if (name == "sigmoid") return Loss::sigmoid;
    if (name == "masked-sigmoid") return Loss::masked_sigmoid;
    return std::nullopt;
}

void take_epsilon(ModelRecord& model, const std::string& text) {
    if (text.empty()) return;
    model.trains_epsilon = text == "train";
    if (!model.trains_epsilon) {
        const auto value = number_from<double>(text);
        if (!value || !std::isfinite(static_cast<float>(*value)))
            throw Error(ErrorCode::usage, "'" + text + "' is neither a finite number nor train", "--epsilon",
                        "e.g. --epsilon 0.1, or --epsilon train");
        model.epsilon = *value;
    }
    models::check_has_epsilon(model);
}

ModelRecord model_record(const ModelFlags& flags) {
    ModelRecord model;
    model.name = flags.name;
    model.aggregator = models::find(flags.name, flags.aggregator).name;
    model.bias = flags.bias;
    model.activation = parse_activation(flags.activation);
    model.pre = flags.pre;
    model.pre_activation = flags.pre_activation;
    model.post = flags.post;
    if (flags.residual == "input") model.residual = Residual::input;
    if (flags.residual == "linear") model.residual = Residual::linear;
    if (flags.residual == "sums") model.residual = Residual::sums;
    if (flags.norm == "layer") model.norm = Norm::layer;
    if (flags.norm == "batch") model.norm = Norm::batch;
    if (flags.norm_after == "activation") model.norm_after = NormAfter::activation;
    if (flags.norm_after == "dropout") model.norm_after = NormAfter::dropout;
    if (flags.jk == "concat") model.jk = JumpingKnowledge::concat;
    if (flags.jk == "last") model.jk = JumpingKnowledge::last;
    model.heads = static_cast<int>(flags.heads.value_or(0));
    model.output_heads = static_cast<int>(flags.output_heads.value_or(0));
    model.average_heads = flags.average_heads;
    model.slope = flags.slope;
    model.hops = static_cast<int>(flags.hops.value_or(0));
    model.teleport = flags.teleport;
    model.theta = flags.theta;
    model.rocauc = flags.rocauc;
    take_epsilon(model, flags.epsilon);
    return model;
}

// None for "full".
std::vector<std::int64_t> parse_fanout(const std::string& text) {
    if (text == "full") return {};
    std::vector<std::int64_t> fanout;
    for (const std::string& part : split(text, ",")) {
        const auto k = number_from<std::int32_t>(part);
        if (!k || *k < 1)
            throw Error(ErrorCode::usage, "'" + part + "' is no number of neighbours from 1 to 2^31 - 1", "--fanout",
                        "e.g. --fanout 10; --fanout 10,10,5 by layer of an inference; --fanout full for all of them");
        fanout.push_back(*k);
    }
    return fanout;
}

std::optional<Batches> batches_of(const ModelFlags& flags) {
    if (!flags.sampler) return std::nullopt;
    Batches batches{parse_sampler(*flags.sampler, "--sampler"), static_cast<int>(flags.batches_per_update)};
    batches.sampling.coverage = flags.coverage;
    batches.sampling.coefficients = flags.coefficients == "on";
    batches.sampling.training_graph = flags.sampled_graph == "train";
    return batches;
}

}  // namespace

data::IndexBase parse_index_base(const std::string& value) {
    if (value.empty()) return data::IndexBase::unsaid;
    if (value == "auto") return data::IndexBase::automatic;
    return value == "1" ? data::IndexBase::one : data::IndexBase::zero;
}

SearchSpace parse_space(const std::string& name) { return name == "paper" ? SearchSpace::paper : SearchSpace::full; }

std::optional<Loading> parse_loading(const std::string& name) {
    if (name.empty()) return std::nullopt;
    return name == "sharded" ? Loading::sharded : Loading::whole;
}

Task parse_task(const std::string& name) { return name == "infer" ? Task::infer : Task::train; }

GraphReading reading_of(const PreparationFlags& flags) {
    GraphReading reading;
    reading.index_base = parse_index_base(flags.index_base);
    reading.symmetrise = flags.symmetrise;
    reading.split = flags.split;
    reading.normalisation = parse_normalisation(flags.normalisation);
    reading.edge_weights = flags.edge_weights;
    reading.seed = static_cast<std::uint64_t>(flags.seed);
    reading.generate = flags.generate;
    return reading;
}

Network network_of(const ModelFlags& flags) {
    if (parse_task(flags.task) == Task::infer) {
        refuse_of_training(!flags.loss.empty(), "--loss");
        refuse_of_training(flags.rocauc, "--rocauc");
    }
    return {model_record(flags),        parse_task(flags.task), parse_loading(flags.load),
            parse_fanout(flags.fanout), batches_of(flags),      parse_loss(flags.loss)};
}

SelectOptions select_options(const SearchFlags& flags) {
    SelectOptions options;
    options.space = parse_space(flags.space);
    options.scheme = flags.scheme;
    if (flags.replication) options.replication = static_cast<int>(*flags.replication);
    if (flags.grid) options.grid = parse_grid(*flags.grid);
    if (flags.forward) options.forward = parse_orders(*flags.forward);
    if (flags.backward) options.backward = parse_orders(*flags.backward);
    options.extras = flags.extras == "on";
    for (const auto& [key, value] : flags.switches) pin_switch(options, key, value);
    options.memory_per_rank = flags.memory;
    options.buffer_bytes = flags.buffer;
    return options;
}

ChosenMachine chosen_machine(const ProblemFlags& flags, std::int64_t ranks) {
    const auto per_node = flags.ranks_per_node ? std::optional(static_cast<int>(*flags.ranks_per_node)) : std::nullopt;
    ChosenMachine chosen = load_machine(flags.machine, ranks, per_node);
    if (chosen.built_in) {
        if (std::optional<RescaledHere> probed = probed_machine(per_node.value_or(ranks))) {
            if (!probed->note.empty()) chosen.notes.push_back("note: " + probed->note);
            chosen.machine = std::move(probed->machine);
            if (per_node) chosen.machine.ranks_per_node = *per_node;
        }
    }
    if (flags.search.memory > chosen.machine.memory_per_rank) {
        chosen.notes.push_back(fmt::format("note: `memory` {} is more than the {} that a rank of {} has",
                                           limit_text(flags.search.memory), limit_text(chosen.machine.memory_per_rank),
                                           chosen.machine.name));
    }
    if (flags.model.rocauc && chosen.machine.accelerators) {
        chosen.notes.emplace_back(
            "note: gnnrun finds ROC-AUC on CPUs alone: with `backend cuda` it will refuse this plan");
    }
    return chosen;
}

Machine machine_and_say(const ProblemFlags& flags, std::int64_t ranks) {
    ChosenMachine chosen = chosen_machine(flags, ranks);
    say_lines(chosen.notes);
    return std::move(chosen.machine);
}

LoadedProblem load_and_say(const Shape& shape, const GraphReading& reading, const Network& network) {
    measure::SteadyClock clock;
    std::optional<WaitingLine> waiting;
    if (reads_graph(shape)) waiting.emplace("reading " + shape.graph, clock, is_quiet());
    ReadGraph graph = read_graph(shape, reading, network);
    waiting.reset();
    say_lines(graph.notes);
    return problem_on(std::move(graph), shape, reading);
}

namespace {

LoadedProblem asked_problem(const ProblemFlags& flags,
                            LoadedProblem (*load)(const Shape&, const GraphReading&, const Network&)) {
    check_partition(flags.search.switches.contains("parts"), flags.shape, parse_loading(flags.model.load));
    LoadedProblem loaded = load(flags.shape, reading_of(flags.preparation), network_of(flags.model));
    loaded.problem.record.space = flags.search.space;
    return loaded;
}

}  // namespace

LoadedProblem load_and_say(const ProblemFlags& flags) { return asked_problem(flags, load_and_say); }

LoadedProblem load_problem(const ProblemFlags& flags) { return asked_problem(flags, load_problem); }

}  // namespace gnnplan::tools
