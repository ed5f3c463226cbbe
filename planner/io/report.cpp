#include "planner/io/report.hpp"

#include "planner/io/parse.hpp"
#include "planner/io/plan_keys.hpp"
#include "planner/io/schema.hpp"

namespace gnnplan::io {

template <class Archive>
void describe(Archive& archive, Subject<Archive, EpochRecord>& epoch) {
    archive.field("epoch", epoch.epoch);
    archive.finite_or_null("loss", epoch.loss);
    Subject<Archive, Judgement>& of = epoch.judgement;
    archive.field("train_accuracy", of.accuracy.train);
    archive.field("valid_accuracy", of.accuracy.valid);
    archive.field("test_accuracy", of.accuracy.test);
    archive.field("seconds", epoch.seconds);
    archive.optional("valid_loss", epoch.valid_loss);
    archive.optional("train_f1", of.f1.train);
    archive.optional("valid_f1", of.f1.valid);
    archive.optional("test_f1", of.f1.test);
    archive.optional("train_rocauc", of.rocauc.train);
    archive.optional("valid_rocauc", of.rocauc.valid);
    archive.optional("test_rocauc", of.rocauc.test);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, ProductKernel>& kernel) {
    archive.field("name", kernel.name);
    archive.optional("seconds", kernel.seconds);
    archive.optional("why_not", kernel.why_not);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, StepRecord>& step) {
    archive.field("name", step.name);
    archive.field("kind", step.kind);
    archive.optional("origin", step.origin);
    archive.extent("rows", step.rows);
    archive.extent("columns", step.columns);
    archive.positive("group", step.group);
    archive.field("predicted_bytes", step.predicted_bytes);
    archive.field("counted_bytes", step.counted_bytes);
    archive.field("predicted_bytes_by_rank", step.predicted_bytes_by_rank);
    archive.field("counted_bytes_by_rank", step.counted_bytes_by_rank);
    archive.field("predicted_seconds", step.predicted_seconds);
    archive.field("measured_seconds", step.measured_seconds);
    archive.optional("advance_seconds", step.advance_seconds);
    archive.optional("part", step.part);
    archive.optional("kernels", step.kernels);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, TriedCandidate>& tried) {
    archive.field("candidate", tried.candidate);
    archive.field("epochs", tried.epochs);
    archive.field("median_seconds", tried.median_seconds);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, TuningPeak>& peak) {
    archive.field("predicted_bytes", peak.predicted_bytes);
    archive.field("measured_bytes", peak.measured_bytes);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, BatchTotals>& batches) {
    archive.positive("per_update", batches.per_update);
    archive.field("pool", batches.pool);
    archive.field("uncovered_nonzeros", batches.uncovered_nonzeros);
    archive.optional("uncovered_training", batches.uncovered_training);
    archive.optional("sampling", batches.sampling);
    archive.field("vertices", batches.vertices);
    archive.field("nonzeros", batches.nonzeros);
    archive.field("draw_seconds", batches.draw_seconds);
    archive.field("cut_seconds", batches.cut_seconds);
    archive.field("predicted_seconds", batches.predicted_seconds);
    archive.field("drawn_ahead", batches.drawn_ahead);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, WallTimes>& wall) {
    archive.field("load_seconds", wall.load_seconds);
    archive.field("setup_seconds", wall.setup_seconds);
    archive.field("training_seconds", wall.training_seconds);
    archive.optional("pass_seconds", wall.pass_seconds);
    archive.field("evaluation_seconds", wall.evaluation_seconds);
    archive.field("evaluations", wall.evaluations);
    archive.field("total_seconds", wall.total_seconds);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, MeasuredTotals>& measured) {
    archive.field("epoch_seconds", measured.epoch_seconds);
    archive.field("total_bytes", measured.total_bytes);
    archive.field("max_rank_bytes", measured.max_rank_bytes);
    archive.field("peak_bytes_per_rank", measured.peak_bytes_per_rank);
    archive.optional("host_peak_bytes_per_rank", measured.host_peak_bytes);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, CheckpointTotals>& checkpoints) {
    archive.field("written", checkpoints.written);
    archive.field("failed", checkpoints.failed);
    archive.field("seconds", checkpoints.seconds);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, WrittenFile>& file) {
    archive.field("path", file.path);
    archive.field("bytes", file.bytes);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, NotFinite>& found) {
    archive.positive("layer", found.layer);
    archive.positive("values", found.values);
    archive.positive("vertices", found.vertices);
    archive.field("first_vertex", found.first_vertex);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, SetScores>& scores) {
    archive.field("train", scores.train);
    archive.field("valid", scores.valid);
    archive.field("test", scores.test);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, SeedRun>& run) {
    archive.field("seed", run.seed);
    archive.positive("epochs", run.epochs);
    archive.finite_or_null("loss", run.loss);
    archive.optional("best", run.best);
    archive.field("accuracies", run.judgement.accuracy);
    archive.optional("f1", run.judgement.f1);
    archive.optional("rocauc", run.judgement.rocauc);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, Spread>& spread) {
    archive.field("mean", spread.mean);
    archive.field("deviation", spread.deviation);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, Spreads>& spreads) {
    archive.field("train", spreads.train);
    archive.field("valid", spreads.valid);
    archive.field("test", spreads.test);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, RunSettings>& settings) {
    archive.positive("epochs", settings.epochs);
    archive.field("learning_rate", settings.learning_rate);
    archive.optional("lr_schedule", settings.lr_schedule);
    archive.field("weight_decay", settings.weight_decay);
    archive.field("decay_all", settings.decay_all);
    archive.optional("decay", settings.decay);
    archive.optional("optimiser", settings.optimiser);
    archive.optional("momentum", settings.momentum);
    archive.field("dropout", settings.dropout);
    archive.field("input_dropout", settings.input_dropout);
    archive.optional("attention_dropout", settings.attention_dropout);
    archive.field("feature_norm", settings.feature_norm);
    archive.field("keep_best", settings.keep_best);
    archive.optional("best_by", settings.best_by);
    archive.optional("patience", settings.patience);
    archive.optional("first_weights", settings.first_weights);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, RunReport>& report) {
    archive.field("tool_version", report.tool_version);
    archive.field("command_line", report.command_line);
    archive.optional("task", report.task);
    archive.optional("fanout", report.fanout);
    archive.field("seed", report.seed);
    archive.optional("settings", report.settings);
    archive.positive("ranks", report.ranks);
    archive.positive("threads", report.threads);
    archive.field("backend", report.backend);
    archive.field("communicator", report.communicator);
    archive.optional("device_exchange", report.device_exchange);
    archive.optional("oversubscribed", report.oversubscribed);
    archive.optional("placement", report.placement);
    archive.optional("probe", report.probe);
    archive.field("configuration", report.configuration);
    archive.optional("runs", report.runs);
    static_assert(metrics[0].name == "accuracy" && metrics[1].name == "f1" && metrics[2].name == "rocauc");
    archive.optional("accuracies_of_runs", report.spreads[0]);
    archive.optional("f1_of_runs", report.spreads[1]);
    archive.optional("rocauc_of_runs", report.spreads[2]);
    archive.field("epochs", report.epochs);
    archive.field("steps", report.steps);
    archive.field("setup", report.setup);
    archive.field("evaluation", report.evaluation);
    archive.field("predicted", report.predicted);
    archive.field("measured", report.measured);
    archive.group("autotune", [&](auto& inner) {
        inner.field("tried", report.tried);
        inner.field("chosen", report.chosen);
        inner.optional("peak_per_rank", report.tuning_peak);
    });
    archive.optional("batches", report.batches);
    archive.optional("eval_every", report.eval_every);
    archive.optional("wall", report.wall);
    archive.optional("ending", report.ending);
    archive.optional("ended", report.ended);
    archive.optional("best_epoch", report.best_epoch);
    archive.optional("resumed_after", report.resumed_after);
    archive.optional("checkpoints", report.checkpoints);
    archive.optional("written", report.written);
    archive.optional("not_finite", report.not_finite);
    archive.optional("accuracies", report.judgement.accuracy);
    archive.optional("f1", report.judgement.f1);
    archive.group("fingerprints", [&](auto& inner) {
        inner.field("graph", report.fingerprints.graph);
        inner.field("machine", report.fingerprints.machine);
        inner.field("plan", report.fingerprints.content);
    });
}

std::string write_report(const RunReport& report) {
    Writer writer;
    writer.field("schema", report_schema);
    describe(writer, report);
    return dump(writer.take(), 1) + "\n";
}

RunReport read_report(std::string_view text, const std::string& where) {
    const Document document = parse(text, where);
    const Cursor root(document, where);
    expect_schema(root, report_schema);
    Reader reader(root);
    reader.member("schema");
    RunReport report;
    describe(reader, report);
    reader.finish();
    return report;
}

std::string metrics_line(const EpochRecord& epoch, std::optional<std::uint64_t> seed) {
    Document line = encode(epoch);
    if (seed) line.set("seed", *seed);
    return dump(line) + "\n";
}

}  // namespace gnnplan::io
