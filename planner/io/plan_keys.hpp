// The keys of everything in a plan but its schedules.
#pragma once

#include "planner/io/archive.hpp"
#include "planner/io/machine_keys.hpp"
#include "planner/io/one_of.hpp"
#include "planner/io/parse.hpp"

#include <gnnplan/ir/plan.hpp>

#include <limits>

namespace gnnplan::io {

template <class Archive>
void describe(Archive& archive, Subject<Archive, GraphRecord>& graph) {
    archive.field("name", graph.name);
    archive.field("source", graph.source);
    archive.extent("vertices", graph.vertices);
    archive.extent("nonzeros", graph.nonzeros);
    archive.field("symmetric", graph.symmetric);
    archive.field("exact", graph.exact);
    archive.optional("index_base", graph.index_base);
    archive.field("symmetrised", graph.symmetrised);
    archive.field("self_loops", graph.self_loops);
    archive.optional("edge_weights", graph.edge_weights);
    archive.field("normalisation", graph.normalisation);
    archive.field("split", graph.split);
    archive.extent("generated_features", graph.generated_features);
    archive.extent("generated_classes", graph.generated_classes);
    archive.optional("generate", graph.generate);
    archive.field("seed", graph.seed);
    archive.optional("replication", graph.replication);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, ModelRecord>& model) {
    archive.field("name", model.name);
    archive.field("widths", model.widths);
    archive.field("bias", model.bias);
    archive.optional("aggregator", model.aggregator);
    archive.optional("activation", model.activation);
    archive.optional("pre", model.pre);
    archive.optional("pre_activation", model.pre_activation);
    archive.optional("post", model.post);
    one_of(archive, model.residual,
           {{"residual", Residual::input}, {"residual_linear", Residual::linear}, {"residual_sums", Residual::sums}});
    one_of(archive, model.jk, {{"jk_concat", JumpingKnowledge::concat}, {"jk_last", JumpingKnowledge::last}});
    archive.optional("norm", model.norm);
    archive.optional("norm_after", model.norm_after);
    archive.optional("loss", model.loss);
    archive.optional("rocauc", model.rocauc);
    archive.optional_any_number("epsilon", model.epsilon);
    archive.optional("trains_epsilon", model.trains_epsilon);
    archive.optional("heads", model.heads);
    archive.optional("output_heads", model.output_heads);
    archive.optional("average_heads", model.average_heads);
    archive.optional("slope", model.slope);
    archive.optional("hops", model.hops);
    archive.optional("teleport", model.teleport);
    archive.optional("theta", model.theta);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, RunRecord>& run) {
    archive.positive("epochs", run.epochs);
    archive.optional("dropout", run.dropout);
    archive.optional("input_dropout", run.input_dropout);
    archive.optional("attention_dropout", run.attention_dropout);
    archive.optional("eval_every", run.eval_every);
    archive.optional("optimiser", run.optimiser);
    archive.optional("momentum", run.momentum);
    archive.optional("feature_norm", run.feature_norm);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, Sampling>& sampling) {
    archive.field("sampler", sampling.sampler);
    archive.extent("budget", sampling.budget);
    archive.optional("walk_length", sampling.walk_length);
    archive.optional("clusters", sampling.clusters);
    archive.extent("coverage", sampling.coverage);
    archive.field("coefficients", sampling.coefficients);
    archive.optional("training_graph", sampling.training_graph);
    archive.field("seed", sampling.seed);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, Batches>& batches) {
    archive.field("sampling", batches.sampling);
    archive.positive("per_update", batches.per_update);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, ProblemRecord>& problem) {
    archive.optional("task", problem.task);
    archive.field("graph", problem.graph);
    archive.field("model", problem.model);
    archive.optional("fanout", problem.fanout);
    archive.optional("batches", problem.batches);
    archive.optional("load", problem.loading);
    archive.positive("ranks", problem.ranks);
    archive.field("space", problem.space);
    archive.optional("memory_per_rank_bytes", problem.memory_per_rank);
    archive.optional("buffer_bytes", problem.buffer_bytes);
    archive.optional("run", problem.run);
}

// A distribution is written as the name of its scheme, the grid and the replication; any of its names is read.
template <class Archive>
void describe_distribution(Archive& archive, Subject<Archive, Configuration>& configuration) {
    if constexpr (Archive::reading) {
        archive.field("grid", configuration.grid);
        archive.optional("groups", configuration.grid.groups);
        const Cursor name = archive.member("scheme");
        const std::optional<Distribution> on = distribution_of(name.string(), configuration.grid);
        if (!on)
            name.fail("there is no scheme " + in_quotes(name.string()) + " on a grid of " + configuration.grid.text());
        configuration.sharing = on->sharing;
        archive.derived("replication",
                        [&configuration, name] { return replication_of(name.string(), configuration.grid); });
    } else {
        archive.field("scheme", scheme_of(configuration));
        archive.field("grid", configuration.grid);
        archive.optional("groups", configuration.grid.groups);
        archive.field("replication", replication_of(configuration));
    }
}

// The keys of some rows of the switches, from `first` on.
template <class Archive>
struct SwitchKeys {
    Archive& archive;
    int first = 0;
    int last = std::numeric_limits<int>::max();
    int row = 0;

    template <class T>
    void value(const char* key, T& member, const FeltBy&) {
        if (in_turn()) archive.field(key, member);
    }
    template <class T>
    void optional(const char* key, T& member, const FeltBy&) {
        if (in_turn()) archive.optional_count(key, member, remade_from_norms);
    }
    bool in_turn() { return ++row > first && row <= last; }
};

template <class Archive>
void describe(Archive& archive, Subject<Archive, Configuration>& configuration) {
    archive.field("id", configuration.id);
    describe_distribution(archive, configuration);
    archive.field("forward", configuration.forward);
    archive.field("backward", configuration.backward);
    archive.derived("kept", [&configuration] { return kept_products(configuration); });
    constexpr int leading = 3;  // rows that stand before the choices of layers, where scripts have found them
    SwitchKeys<Archive> before{archive, 0, leading}, after{archive, leading};
    Switches::fields(configuration, before);
    archive.derived("exact", [&configuration] { return exact(configuration); });
    archive.field("constant_input", configuration.constant_input);
    archive.field("operands", configuration.operands);
    archive.field("cached_aggregation", configuration.cached_aggregation);
    archive.field("replicated_input", configuration.replicated_input);
    archive.field("column_loss", configuration.column_loss);
    Switches::fields(configuration, after);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, Numbering>& numbering) {
    archive.field("loss_layers", numbering.loss_layers);
    archive.field("parts", numbering.parts);
    archive.field("permuted", numbering.permuted);
    archive.field("seed", numbering.seed);
    archive.optional("cut", numbering.cut);
    archive.optional("clones", numbering.clones);
    archive.optional("delay", numbering.delay);
    archive.optional("batches", numbering.batches);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, Origin>& origin) {
    archive.field("pass", origin.pass);
    archive.field("layer", origin.layer);
    archive.field("op", origin.op);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, LoadingSeconds>& loading) {
    archive.field("deal", loading.deal);
    archive.field("rows", loading.rows);
    archive.field("degrees", loading.degrees);
    archive.field("cut", loading.cut);
    archive.optional("features", loading.features);
    archive.derived("total", [&loading] { return loading.total(); });
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, PartSeconds>& part) {
    archive.field("part", part.part);
    archive.field("seconds", part.seconds);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, Prediction>& predicted) {
    archive.field("epoch_seconds", predicted.epoch_seconds);
    archive.optional("loading_seconds", predicted.loading);
    archive.optional("setup_seconds", predicted.setup_seconds);
    archive.optional("kept_seconds_per_epoch", predicted.kept_seconds);
    archive.optional("batch_seconds", predicted.batch_seconds);
    archive.field("total_bytes", predicted.total_bytes);
    archive.field("max_rank_bytes", predicted.max_rank_bytes);
    archive.field("peak_bytes_per_rank", predicted.peak_bytes_per_rank);
    archive.optional("host_peak_bytes_per_rank", predicted.host_peak_bytes);
    archive.field("estimate", predicted.estimate);
    archive.field("step_seconds", predicted.step_seconds);
    archive.optional("dealt_bytes_by_rank", predicted.dealt_bytes);
    archive.optional("feature_bytes_by_rank", predicted.feature_bytes);
    archive.optional("seconds_by_part", predicted.by_part);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, LayerRange>& layers) {
    archive.positive("first", layers.first);
    archive.positive("last", layers.last);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, Choice>& choice) {
    archive.field("key", choice.key);
    archive.optional("layers", choice.layers);
    archive.optional("value", choice.value);
}

// All of an alternative but its choice, which older plans wrote otherwise.
template <class Archive>
void describe_costed(Archive& archive, Subject<Archive, Alternative>& alternative) {
    archive.field("pinned", alternative.pinned);
    archive.field("configuration", alternative.configuration);
    archive.field("predicted", alternative.predicted);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, Alternative>& alternative) {
    archive.field("choice", alternative.choice);
    describe_costed(archive, alternative);
}

}  // namespace gnnplan::io
