// The checkpoints of a run: docs/checkpoints.md. Rank 0 alone writes them, while training goes on.
#pragma once

#include "planner/io/checkpoint.hpp"
#include "planner/io/checkpoint_folder.hpp"
#include "runtime/measure/clock.hpp"
#include "runtime/run/folder_lock.hpp"
#include "runtime/run/observer.hpp"
#include "runtime/train/options.hpp"

#include <gnnplan/ir/measurement.hpp>

#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::run {

using io::checkpoint_epoch;
using io::checkpoints_in;
using io::KeptCheckpoint;

// A file that training starts from, in words `path` and as it was read.
struct StartFile {
    std::string path;
    std::string bytes;
    std::vector<std::string> notes;  // for the user
};

// The checkpoint at `path`, a file or a folder; of a folder the newest one that is whole, with a note for each that is
// not. Throws Error{missing_input} when there is none, Error{data} when none is whole.
StartFile read_start(const std::string& path);

struct CheckpointSettings {
    std::string folder;
    bool regularly = false;             // else only when the run is interrupted
    std::optional<std::int64_t> every;  // epochs; unset: once a minute, or as seldom as keeps the cost below 1 %
};

class Checkpoints {
public:
    // `form` is a checkpoint without its state. `earlier`: those of the same run, which are removed like its own.
    // `lock` is taken before one is written, if it was not before. `observer` hears of the first that was not written.
    Checkpoints(CheckpointSettings settings, io::Checkpoint form, std::vector<KeptCheckpoint> earlier, FolderLock& lock,
                measure::Clock& clock, Observer& observer);

    // Saves what there is after an epoch, if it is time to. Never throws: a run goes on without its checkpoints.
    void offer(const train::EpochEnd& end);

    // Waits for the last one. Then: the newest checkpoint of this run, and what all of them took.
    void finish();
    const std::optional<KeptCheckpoint>& newest() const { return newest_; }
    const CheckpointTotals& totals() const { return totals_; }
    // Throws Error{io} or Error{cannot_create} when one could not be written.
    void check() const;

private:
    bool due(const train::EpochEnd& end) const;
    void start_writing(TrainingState state);
    void attempt(const std::function<void()>& work);
    void remove_old();

    CheckpointSettings settings_;
    io::Checkpoint form_;
    FolderLock& lock_;
    measure::Clock& clock_;
    Observer& observer_;
    double last_time_;
    double last_cost_ = 0;
    KeptCheckpoint written_now_;
    std::future<void> writing_;
    std::vector<KeptCheckpoint> kept_;
    std::optional<KeptCheckpoint> newest_;
    CheckpointTotals totals_;
    std::optional<Error> failure_;  // the first
};

}  // namespace gnnplan::run
