#include "runtime/run/settings.hpp"

#include "planner/io/enum_names.hpp"
#include "runtime/deploy/match.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/option.hpp>

#include <filesystem>
#include <system_error>

namespace gnnplan::run {

std::string checkpoint_folder(const Settings& settings) {
    namespace fs = std::filesystem;
    if (settings.checkpoint) return *settings.checkpoint;
    if (settings.resume && settings.resume != resume_if_there) {
        std::error_code none;
        if (fs::is_directory(*settings.resume, none)) return *settings.resume;
        const fs::path folder = fs::path(*settings.resume).parent_path();
        return folder.empty() ? "." : folder.string();
    }
    return fs::path(settings.plan).replace_extension("checkpoints").string();
}

bool saves_regularly(const Settings& settings) {
    return settings.checkpoint || settings.checkpoint_every_epochs || settings.resume;
}

std::string name_of(FeatureNorm norm) { return std::string(io::name_of(norm)); }

data::DatasetOptions dataset_options(const Settings& settings, const Plan& plan) {
    data::DatasetOptions options = deploy::dataset_options(plan, settings.feature_norm);
    if (!settings.split.empty()) {
        if (!options.split.empty() && options.split != settings.split) {
            throw Error(ErrorCode::mismatch, "the plan was made for split " + options.split,
                        option_text("split", settings.split));
        }
        options.split = settings.split;
    }
    if (settings.dry_run) options.in_shares = 0;  // what would be loaded is counted on the whole graph
    return options;
}

Plan with_loading(const Settings& settings, Plan plan) {
    if (settings.loading) plan.problem.loading = *settings.loading;
    const Loading loading = loading_for(plan.candidates.front().schedule.numbering, plan.problem.loading);
    if (settings.loading && loading != plan.problem.loading) {
        if (plan.problem.batches)
            throw Error(ErrorCode::usage, "updates draw from the whole graph", "`load sharded`", "use `load whole`");
        throw Error(
            ErrorCode::usage, "the whole graph decides how this plan numbers vertices", "`load sharded`",
            "use `load whole`, or plan again without `partition`, a cut or `inexact`, and with `loss-rows off`");
    }
    if (relays_rows(plan.candidates.front().schedule) && loading == Loading::sharded) {
        throw Error(ErrorCode::usage, "which rows the ranks of a node pass on is found from the whole graph",
                    "`load sharded`", "use `load whole`, or plan again with `exchange rows`");
    }
    plan.problem.loading = loading;
    for (Candidate& candidate : plan.candidates) {
        const Loading planned = candidate.schedule.loading;
        candidate.schedule.loading = loading_for(candidate.schedule.numbering, loading);
        if (candidate.schedule.loading != planned) candidate.predicted.loading = {};  // is of another way
        if (loading != Loading::whole) continue;
        candidate.predicted.dealt_bytes.clear();
        candidate.predicted.feature_bytes.clear();
    }
    return plan;
}

RunSettings recorded(const Settings& settings, const Plan& plan, const train::TrainOptions& options) {
    return {.epochs = options.epochs,
            .learning_rate = options.learning_rate,
            .lr_schedule = text_of(options.schedule),
            .weight_decay = options.weight_decay,
            .decay_all =
                options.decay.which == exec::Decay::Which::weights || options.decay.which == exec::Decay::Which::all,
            .decay = text_of(options.decay),
            .optimiser = plan.problem.run.optimiser,
            .momentum = options.momentum,
            .dropout = options.dropout,
            .input_dropout = options.features_dropout(),
            .attention_dropout = options.attention_dropout,
            .feature_norm = name_of(settings.feature_norm),
            .keep_best = options.keep_best,
            .best_by = options.best_by,
            .patience = options.patience,
            .first_weights = settings.load_weights};
}

}  // namespace gnnplan::run
