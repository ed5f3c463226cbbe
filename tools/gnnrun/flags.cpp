#include "tools/gnnrun/flags.hpp"

#include "kernels/backend.hpp"
#include "runtime/comm/device_exchange.hpp"
#include "runtime/run/trace.hpp"
#include "tools/common/options.hpp"
#include "tools/gnnrun/process_age.hpp"
#include "tools/text/model_text.hpp"
#include "tools/text/shell.hpp"
#include "tools/text/version.hpp"

#include <gnnplan/models.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace gnnplan::tools {
namespace {

void add_data(CLI::App& app, RunFlags& flags) {
    app.add_option("--data", flags.data, "The graph, with features, labels and split")->required()->type_name("PATH");
    app.add_option("--split", flags.split,
                   "Take this split, where the data has several: a folder of split/, or a column of masks, from 0")
        ->type_name("NAME");
    under_heading(app, "Data");
}

void add_training(CLI::App& app, RunFlags& flags) {
    add_run_question(app, flags.question, true);
    add_count(app, "--seed", flags.seed,
              "Draw initial weights and dropout from this number; with --autotune 0 the same number gives the same "
              "bits, without it timing decides which candidate trains",
              {0});
    add_count(app, "--runs", flags.runs,
              "Train so many times, from --seed, --seed + 1 and so on, and report the mean and the standard deviation "
              "of the scores at the best validation epochs; data is loaded once",
              {1, 10'000});
    add_number(
        app, "--lr", flags.learning_rate, [](double x) { return x > 0; }, "above 0", "Learning rate")
        ->default_str("0.01");
    app.add_option("--lr-schedule", flags.lr_schedule,
                   "Change the learning rate from epoch to epoch: warmup:K (it rises for K epochs), step:S:G (times G "
                   "after every S), cosine:T (to 0 over T), plateau:F:P (times F when the training loss has not "
                   "fallen for P)")
        ->type_name("KIND:N[:N]");
    add_number(
        app, "--weight-decay", flags.weight_decay, [](double x) { return x >= 0; }, "at least 0",
        "How strongly weights decay (L2)")
        ->default_str("5e-4");
    app.add_option("--decay", flags.decay,
                   "Which parameters decay: first (the first layer's weights), weights (of all layers), all (biases "
                   "too, as PyTorch's optimisers do), or those whose names end so, with a strength each: END=X,END=X")
        ->type_name("first|weights|all|END=X,...")
        ->default_str("first");
    app.add_flag("--decay-all", flags.decay_all, "The same as --decay weights")->excludes("--decay");
    under_heading(app, "Training");
}

void add_tuning(CLI::App& app, RunFlags& flags) {
    add_count(app, "--autotune", flags.autotune,
              "Try each candidate of the plan for this many epochs, then train on with the fastest; 0: train with the "
              "first; default: try those that could still win, for at most 5 % of the run, and none below 20 epochs",
              {0});
    under_heading(app, "Tuning");
}

void add_checkpoints(CLI::App& app, RunFlags& flags) {
    add_path(
        app, "--checkpoint", flags.checkpoint, "DIR",
        "Save checkpoints in this folder, about once a minute; the last two are kept. An interrupted run saves one "
        "in any case, in PLAN.checkpoints");
    add_count(app, "--checkpoint-every", flags.checkpoint_every, "Save one after every N epochs instead");
    add_path(app, "--resume", flags.resume, "PATH",
             "Go on from this checkpoint, or from the newest one in this folder; auto: from the newest one in the "
             "checkpoint folder, or from the first epoch where there is none. An inference goes on from the layers in "
             "this folder, or with auto in that of --save-layers");
    add_path(app, "--load-weights", flags.load_weights, "FILE",
             "Begin with these weights, or infer with them (safetensors)");
    add_path(app, "--save-weights", flags.save_weights, "FILE", "Write the weights at the end (safetensors)");
    add_path(app, "--save-logits,--save-embeddings", flags.save_logits, "FILE|DIR/",
             "Write the logits of every vertex, which the last layer makes, after training or by inference, float32 in "
             "the data's numbering (.npy); into a folder: a file for each rank, and an index. Hidden layers: "
             "--save-layers");
    add_path(app, "--save-layers", flags.save_layers, "DIR",
             "Inference: write each layer's output of every vertex into this folder, for --resume");
    app.add_flag("--keep-best", flags.keep_best,
                 "Keep the weights of the best validation; --save-weights writes these");
    app.add_option("--best-by", flags.best_by,
                   "The validation that is the best has the lowest loss, or the highest of another score (for "
                   "--keep-best, --patience and --runs); default: rocauc where the plan has --rocauc, f1 of several "
                   "labels, and else accuracy")
        ->check(CLI::IsMember(std::vector<std::string>(best_by_names.begin(), best_by_names.end())))
        ->type_name("accuracy|loss|f1|rocauc");
    add_count(app, "--patience", flags.patience, "End the run after N evaluations without a better validation");
    add_duration(
        app, "--time-limit", flags.time_limit,
        "End the run before this much time has passed since the process was started, with a checkpoint and the "
        "command that resumes");
    add_duration(
        app, "--timeout", flags.timeout,
        "End the run when nothing has moved for so long, while MPI starts, data is loaded, or steps are done, because "
        "a rank has stopped or cannot be reached; 0: wait forever");
    under_heading(app, "Checkpoints and weights");
}

void add_placement(CLI::App& app, RunFlags& flags) {
    app.add_flag("--in-process", flags.in_process, "Run the ranks as threads of this process, without mpirun");
    add_count(
        app, "--threads", flags.threads,
        "How many threads each rank has; default: the processing units that the process may run on, at most what its "
        "cgroup's quota of CPU time is worth, shared out among the ranks of a node",
        {1, 4096});
    add_bind(app, flags.bind);
    app.add_option("--backend", flags.backend,
                   "The kernels that compute: cpu, reference (plain loops, slow), or cuda (NVIDIA GPUs)")
        ->check(CLI::IsMember(kernels::backend_names()))
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option(
           "--spmm", flags.spmm,
           "With --backend cuda, the kernel of sparse products: sliced or whole (gnnplan's kernels), or cusparse; "
           "default: the fastest one, timed before training, so two runs may round differently")
        ->check(CLI::IsMember(product_kernel_names))
        ->type_name("NAME");
    app.add_option("--exchange", flags.device_exchange,
                   "With --backend cuda, how GPUs exchange: by NCCL (nccl), by copies from each other's memory with "
                   "--in-process (peers), or through the memory of their hosts (staged); auto: the first of these that "
                   "is possible")
        ->check(CLI::IsMember(comm::device_exchanges()))
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--load", flags.load,
                   "How ranks load the graph: each rank reads all of it (whole), or each reads a part of the file and "
                   "sends the edges to the ranks that need them (sharded); default: as the plan says")
        ->check(CLI::IsMember({"whole", "sharded"}))
        ->type_name("whole|sharded");
    under_heading(app, "Placement");
}

void add_output(CLI::App& app, RunFlags& flags) {
    add_path(app, "--report", flags.report, "FILE", "Write the run report (gnnplan.run/1)");
    add_path(app, "--metrics", flags.metrics, "FILE", "Write one line of JSON per epoch, as soon as it is done");
    add_path(app, "--trace", flags.trace, "FILE",
             fmt::format("Write when each step of the last epochs, at most {}, ran on each rank, and the prediction "
                         "beside it, for ui.perfetto.dev or about:tracing",
                         run::traced_epochs));
    app.add_flag("--dry-run", flags.dry_run, "Check plan, launch and data, show memory and steps, train nothing");
    app.add_flag("--json", flags.json, "Print the report instead of the summary");
    CLI::Option* quiet = app.add_flag("-q,--quiet", flags.quiet, "Say nothing but errors and the result");
    app.add_flag("-v,--verbose", flags.verbose, "Say more: which candidate is tried, and on which host each rank runs")
        ->excludes(quiet);
    under_heading(app, "Output");
}

}  // namespace

void add_flags(CLI::App& app, RunFlags& flags) {
    app.add_option("PLAN", flags.plan, "The plan that gnnplan plan -o wrote")->required()->type_name("PLAN");
    add_data(app, flags);
    add_training(app, flags);
    add_tuning(app, flags);
    add_checkpoints(app, flags);
    add_placement(app, flags);
    add_output(app, flags);
}

namespace {

// Options of training are refused, rather than read and not obeyed: logits by weights that nobody trained would
// look like any others.
void check_inference_flags(const RunFlags& flags) {
    refuse_training_questions(flags.question);
    const std::pair<bool, const char*> of_training[] = {{flags.runs > 1, "--runs"},
                                                        {flags.learning_rate.has_value(), "--lr"},
                                                        {!flags.lr_schedule.empty(), "--lr-schedule"},
                                                        {flags.weight_decay.has_value(), "--weight-decay"},
                                                        {flags.decay.has_value(), "--decay"},
                                                        {flags.decay_all, "--decay-all"},
                                                        {flags.autotune.has_value(), "--autotune"},
                                                        {flags.checkpoint.has_value(), "--checkpoint"},
                                                        {flags.checkpoint_every.has_value(), "--checkpoint-every"},
                                                        {flags.save_weights.has_value(), "--save-weights"},
                                                        {flags.keep_best, "--keep-best"},
                                                        {flags.best_by.has_value(), "--best-by"},
                                                        {flags.patience.has_value(), "--patience"},
                                                        {flags.time_limit.has_value(), "--time-limit"},
                                                        {flags.metrics.has_value(), "--metrics"}};
    for (const auto& [given, name] : of_training) refuse_of_training(given, name);
    const bool saves = flags.save_logits || flags.save_layers || flags.resume;
    if (saves && !flags.load_weights && !flags.dry_run) {
        throw Error(ErrorCode::usage, "logits and layers need trained weights",
                    flags.save_logits   ? "--save-logits"
                    : flags.save_layers ? "--save-layers"
                                        : "--resume",
                    "name them with --load-weights; gnnrun --save-weights writes them after training");
    }
}

void check_training_flags(const RunFlags& flags) {
    if (flags.resume && flags.load_weights) {
        throw Error(ErrorCode::usage, "a checkpoint has weights of its own", "--load-weights",
                    "leave out --resume, or --load-weights");
    }
    const std::pair<bool, const char*> of_one_run[] = {{flags.save_weights.has_value(), "--save-weights"},
                                                       {flags.save_logits.has_value(), "--save-logits"},
                                                       {flags.trace.has_value(), "--trace"}};
    for (const auto& [given, name] : of_one_run) {
        if (given && flags.runs > 1)
            throw Error(ErrorCode::usage, "is of one run, and these are several", name,
                        "train the seed that is wanted alone, with --seed: it gives the same bits");
    }
    if (flags.save_layers)
        throw Error(ErrorCode::usage, "is of inference, and this is training", "--save-layers", "leave it out");
}

// Whether a schedule has products that may drop weights of attention.
bool drops_attention(const Schedule& schedule) {
    return std::ranges::any_of(schedule.steps, [](const Step& step) {
        const auto* product = std::get_if<SpmmStep>(&step.operation);
        return product != nullptr && product->attending.dropout;
    });
}

void check_optimiser(const RunFlags& flags, const RunRecord& run, const RunRecord& planned) {
    if (run.optimiser == planned.optimiser) return;
    throw Error(
        ErrorCode::mismatch,
        "the plan was made for " + std::string(rule_of(planned.optimiser).name) + ", whose steps and moments are in it",
        flags.question.optimizer ? "--optimizer" : "--momentum", "plan again with --optimizer and --momentum as here");
}

// Whether evaluations add up the loss of the validation vertices, as plans of earlier versions do not.
bool evaluates_loss(const Schedule& schedule) {
    return std::ranges::any_of(schedule.steps, [&](const Step& step) {
        const auto* score = std::get_if<ScoreStep>(&step.operation);
        return score != nullptr && score->adds_loss(schedule);
    });
}

// The score by which evaluations of this network are judged unless a run says otherwise.
BestBy usual_score(const ModelRecord& model) {
    return model.rocauc ? BestBy::rocauc : several_labels(model.loss) ? BestBy::f1 : BestBy::accuracy;
}

BestBy best_by_of(const RunFlags& flags, const ModelRecord& model) {
    if (!flags.best_by) return usual_score(model);
    const auto by = static_cast<BestBy>(std::ranges::find(best_by_names, *flags.best_by) - best_by_names.begin());
    const bool several = several_labels(model.loss);
    const char* const hint = by == BestBy::rocauc ? "plan with --rocauc"
                             : several            ? "several labels have f1"
                                                  : "one class for each vertex has accuracy";
    const bool judged = by == BestBy::loss || (by == BestBy::rocauc ? model.rocauc : (by == BestBy::f1) == several);
    if (!judged)
        throw Error(ErrorCode::mismatch, "evaluations of this plan find no " + *flags.best_by, "--best-by", hint);
    return by;
}

void check_best_by(const RunFlags& flags, const Schedule& schedule) {
    if (!flags.best_by) return;
    if (!flags.keep_best && !flags.patience && flags.runs == 1)
        throw Error(ErrorCode::usage, "nothing asks which validation is the best", "--best-by",
                    "add --keep-best, --patience or --runs, or leave it out");
    if (flags.best_by == "loss" && !evaluates_loss(schedule))
        throw Error(ErrorCode::mismatch, "evaluations of this plan add up no losses, as it is of an earlier version",
                    "--best-by loss", "plan again");
}

// Flags that have no use without others.
void check_together(const RunFlags& flags, const RunRecord& run) {
    if ((flags.keep_best || flags.patience) && run.eval_every == 0) {
        throw Error(ErrorCode::usage, "needs evaluations, and --eval-every 0 makes none",
                    flags.keep_best ? "--keep-best" : "--patience");
    }
    if (flags.device_exchange != "auto" && flags.backend != "cuda")
        throw Error(ErrorCode::usage, "chooses how GPUs exchange, and this is --backend " + flags.backend,
                    "--exchange");
    if (flags.spmm.empty() || flags.backend == "cuda") return;
    throw Error(ErrorCode::usage, "chooses among the kernels of --backend cuda, and this is --backend " + flags.backend,
                "--spmm");
}

exec::Decay decay_of(const RunFlags& flags, const std::vector<Parameter>& parameters) {
    exec::Decay decay = exec::read_decay(flags.decay.value_or(flags.decay_all ? "weights" : "first"));
    exec::check_decay(decay, parameters);
    if (decay.which == exec::Decay::Which::named && flags.weight_decay)
        throw Error(ErrorCode::usage, "each name of --decay has its strength", "--weight-decay", "leave it out");
    return decay;
}

// The options of a run of this plan, which gives those that the flags do not.
train::TrainOptions train_options(const RunFlags& flags, const Plan& plan, int threads) {
    plan.problem.task == Task::infer ? check_inference_flags(flags) : check_training_flags(flags);
    const RunRecord run = run_record(flags.question, plan.problem.run);
    check_optimiser(flags, run, plan.problem.run);
    train::TrainOptions options;
    options.epochs = run.epochs;
    options.runs = static_cast<int>(flags.runs);
    if (flags.seed > std::numeric_limits<std::int64_t>::max() - (flags.runs - 1))
        throw Error(ErrorCode::usage, "the last of so many seeds is above the largest", "--runs",
                    "begin with a lower --seed");
    options.momentum = run.momentum;
    options.seed = static_cast<std::uint64_t>(flags.seed);
    options.learning_rate = flags.learning_rate.value_or(options.learning_rate);
    options.schedule = train::read_schedule(flags.lr_schedule);
    options.weight_decay = flags.weight_decay.value_or(options.weight_decay);
    options.decay = decay_of(flags, plan.candidates.front().schedule.parameters);
    options.dropout = run.dropout.value_or(0);
    options.input_dropout = run.input_dropout;
    options.attention_dropout = run.attention_dropout;
    if (options.attention_dropout > 0 && !drops_attention(plan.candidates.front().schedule)) {
        throw Error(ErrorCode::usage, plan.problem.model.name + " has no weights of attention to drop",
                    "--attention-dropout", "only gat has");
    }
    options.eval_every = run.eval_every;
    options.autotune = flags.autotune;
    options.keep_best = flags.keep_best;
    check_best_by(flags, plan.candidates.front().schedule);
    options.best_by = best_by_of(flags, plan.problem.model);
    options.patience = flags.patience;
    check_together(flags, run);
    if (plan.problem.model.rocauc && flags.backend == "cuda")
        throw Error(ErrorCode::usage, "finds no area under the ROC curve, which evaluations of this plan do",
                    "--backend cuda", "use --backend cpu, or plan without --rocauc");
    options.product_kernel = flags.spmm;
    options.threads = static_cast<int>(flags.threads.value_or(threads));
    return options;
}

}  // namespace

run::Settings settings_of(const RunFlags& flags, const Plan& plan, int threads) {
    ModelRecord model = models::with_defaults(plan.problem.model);
    model.bias = false;
    std::optional<Loading> loading;
    if (flags.load) loading = *flags.load == "sharded" ? Loading::sharded : Loading::whole;
    return {.training = train_options(flags, plan, threads),
            .plan = flags.plan,
            .data = flags.data,
            .split = flags.split,
            .feature_norm = run_record(flags.question, plan.problem.run).feature_norm,
            .loading = loading,
            .load_weights = flags.load_weights,
            .resume = flags.resume,
            .checkpoint = flags.checkpoint,
            .checkpoint_every_epochs = flags.checkpoint_every,
            .save_weights = flags.save_weights,
            .report = flags.report,
            .metrics = flags.metrics,
            .trace = flags.trace,
            .save_logits = flags.save_logits,
            .save_layers = flags.save_layers,
            .tool_version = version(),
            .command_line = command_line(flags.arguments),
            .model = model_text(model),
            .backend = flags.backend,
            .device_exchange = flags.device_exchange,
            .binds_threads = flags.bind == "on",
            .time_limit_seconds = flags.time_limit,
            .seconds_before = process_age(),
            .timeout_seconds = flags.timeout,
            .dry_run = flags.dry_run};
}

}  // namespace gnnplan::tools
