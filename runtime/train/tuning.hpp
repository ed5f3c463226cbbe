// How the tuning of a run begins: anew, or where a checkpoint of the same plan left it.
#pragma once

#include "runtime/data/dataset.hpp"
#include "runtime/deploy/device_room.hpp"
#include "runtime/exec/graph_counts.hpp"
#include "runtime/train/autotune.hpp"
#include "runtime/train/options.hpp"

#include <gnnplan/ir/plan.hpp>
#include <gnnplan/ir/training_state.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::train {

struct Tuning {
    Autotuner tuner;
    TuningLog log;                   // to which the trainer adds what is built
    std::int64_t feature_bytes = 0;  // of all features, where they are to be kept between trials
    std::int64_t eval_every = 1;
    std::vector<std::string> notes;  // for the user
};

// `graph` answers about the data's graph, unless it is loaded in shares. `keeps_features`, `memory` and `room` are as
// in trials.hpp. Throws ErrorCode::mismatch or infeasible when no candidate can train.
Tuning begin_tuning(const Plan& plan, const TrainOptions& options, const data::Dataset& dataset,
                    const std::optional<exec::GraphCounts>& graph, bool keeps_features, const TensorMemory& memory,
                    const std::optional<deploy::DeviceRoom>& room);

}  // namespace gnnplan::train
