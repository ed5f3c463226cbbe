// How a plan is run: what is computed, what is read and written, and what keeps the run safe.
#pragma once

#include "runtime/data/dataset.hpp"
#include "runtime/train/options.hpp"

#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace gnnplan::run {

// Goes on from the newest checkpoint, or the layers, of the folder where they would be saved, if there are any.
inline constexpr const char* resume_if_there = "auto";

struct Settings {
    // Whoever runs sets what the data, the backend and a checkpoint decide: weights, start, device, communicator and
    // load_seconds. An inference is asked what deploy::RunOptions has.
    train::TrainOptions training;

    // Read.
    std::string plan;  // the file that it was read from
    std::string data;
    std::string split;  // of the data, where it has several; empty: the plan's
    FeatureNorm feature_norm = FeatureNorm::none;
    std::optional<Loading> loading;           // instead of the plan's
    std::optional<std::string> load_weights;  // a file
    std::optional<std::string> resume;        // a checkpoint, a folder of them or of layers, or resume_if_there

    // Written.
    std::optional<std::string> checkpoint;  // the folder; unset: checkpoint_folder() says where
    std::optional<std::int64_t> checkpoint_every_epochs;
    std::optional<std::string> save_weights, report, metrics, trace;  // files
    std::optional<std::string> save_logits;                           // a file, or a folder: see is_folder()
    std::optional<std::string> save_layers;                           // the folder, in an inference
    std::string tool_version, command_line;                           // named in reports, traces and checkpoints
    std::string model;                                                // in words, for checkpoints and files of weights

    // Where and how long.
    std::string backend = "cpu";
    std::string device_exchange = "auto";  // of comm::device_exchanges(), where tensors are in devices' memories
    bool binds_threads = true;
    std::optional<std::int64_t> time_limit_seconds;  // the run ends before, with a checkpoint
    double seconds_before = 0;                       // of the time limit, used up before the Run is made
    std::int64_t timeout_seconds = 0;                // see Watchdog; 0: none
    bool dry_run = false;                            // checks all, and computes nothing
};

// Where checkpoints are: in settings.checkpoint, else where settings.resume says, else beside the plan.
std::string checkpoint_folder(const Settings& settings);
// Whether checkpoints are saved while a run goes on, not only when it is interrupted.
bool saves_regularly(const Settings& settings);

// "none" or "row", as files and flags name it.
std::string name_of(FeatureNorm norm);

// How the data is read for this plan. Throws Error{mismatch} when settings.split is not the plan's split.
data::DatasetOptions dataset_options(const Settings& settings, const Plan& plan);

// The plan with all candidates loading the graph as the first one does, because the data is opened once: as the
// settings say, else as the plan does. Throws Error{usage} where the plan does not allow it.
Plan with_loading(const Settings& settings, Plan plan);

// The settings of a training as the report has them.
RunSettings recorded(const Settings& settings, const Plan& plan, const train::TrainOptions& options);

}  // namespace gnnplan::run
