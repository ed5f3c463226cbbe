// Files that a run leaves behind when it ends: complete, or not there at all.
#pragma once

#include "planner/io/trace.hpp"
#include "runtime/run/folder_lock.hpp"
#include "runtime/run/layers.hpp"
#include "runtime/run/observer.hpp"
#include "runtime/run/settings.hpp"
#include "runtime/run/training_files.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/measurement.hpp>

#include <optional>
#include <string>
#include <vector>

namespace gnnplan::run {

// Finds out before the work that a file cannot be written, or that there is no room for it, and takes the lock of the
// folder of checkpoints or layers if there will be any. Throws Error{cannot_create}, also when another run holds the
// lock, or Error{usage} when a file is an input, or the folder holds those of another run.
void check_artifacts(const Settings& settings, const Plan& plan, const std::optional<LayerFolder>& layers,
                     FolderLock& lock, FolderLock& lock_of_logits, Observer& observer);

// Whether settings.save_logits means a folder: it ends with a slash, or is one.
bool is_folder(const std::string& path);

struct Artifacts {
    const RunReport& report;
    const std::optional<io::Trace>& trace;    // there when settings.trace is, if anything was trained
    const std::vector<NamedTensor>& weights;  // none after a run that diverged
    const io::WeightFacts& weight_facts;
    const TrainingFiles& files;
    const std::optional<Error>& logits_failure;  // why the logits could not be written, if so
};

// Writes the report, the trace and the weights. A file that cannot be written, or could not, costs itself alone; the
// answer is why, for each of them.
std::vector<Error> write_artifacts(const Settings& settings, const Artifacts& artifacts);

}  // namespace gnnplan::run
