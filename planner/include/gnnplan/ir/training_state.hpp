// The state that training carries from one epoch to the next. It knows of no plan, grid or number of ranks: any plan of
// the same model goes on from it.
#pragma once

#include <gnnplan/ir/measurement.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan {

// Floats in row-major order under the name that they have in files: "layers.1.weight", of shape [in, out], or
// "layers.1.bias", of shape [out].
struct NamedTensor {
    std::string name;
    std::vector<std::int64_t> shape;
    std::vector<float> values;
};

// The findings of tuning: the same candidates of the same plan, told the same times, are decided about alike.
struct TuningLog {
    // A candidate was set up before this epoch.
    struct Built {
        std::int64_t epoch = 0;
        double seconds = 0;
        double cut_seconds = 0;  // of these, for the sparse blocks
    };
    std::string plan;                   // fingerprint of its content
    int run = 0;                        // of several, from 0: that in which tuning began
    std::vector<int> candidates;        // that could be tried, as indices in the plan
    std::int64_t epochs = 0;            // that the run was to take when tuning began
    std::int64_t first = 1;             // epoch of this tuning
    std::optional<std::int64_t> asked;  // of TrainOptions::autotune
    std::vector<Built> built;
};

struct TrainingState {
    std::int64_t epoch = 0;  // the last one that is done
    // Weights and biases; Adam's moments, "adam.layers.1.weight.exp_avg" and ".exp_avg_sq"; and where the best weights
    // are kept, "best.layers.1.weight".
    std::vector<NamedTensor> tensors;
    std::vector<EpochRecord> epochs;  // 1 to `epoch`
    TuningLog tuning;
    BestBy best_by = BestBy::accuracy;  // the best weights are
    // The epochs of the runs of other seeds that were trained before this one, in their order.
    std::vector<std::vector<EpochRecord>> runs_before = {};

    // The epochs of one of these runs, from 0, the one under way included.
    const std::vector<EpochRecord>& epochs_of(int run) const {
        const auto i = static_cast<std::size_t>(run);
        return i < runs_before.size() ? runs_before[i] : epochs;
    }
    std::int64_t epochs_of_all_runs() const {
        std::int64_t all = epoch;
        for (const auto& run : runs_before) all += std::ssize(run);
        return all;
    }
};

}  // namespace gnnplan
