// Files a run leaves behind: complete, or not there at all, but for metrics, which grow while it runs.
#pragma once

#include "planner/io/trace.hpp"
#include "tools/gnnrun/checkpoints.hpp"
#include "tools/gnnrun/flags.hpp"
#include "tools/gnnrun/folder_lock.hpp"
#include "tools/gnnrun/layers.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/measurement.hpp>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::tools {

// Finds out before the work that a file cannot be written, or that there is no room for it, and takes the lock of the
// folder of checkpoints or layers if there will be any. Throws Error{cannot_create}, also when another run holds the
// lock, or Error{usage} when a file is an input, or when the folder holds files of another run.
void check_artifacts(const RunFlags& flags, const Plan& plan, const std::optional<LayerFolder>& layers,
                     FolderLock& lock, FolderLock& lock_of_embeddings);

// Whether --save-embeddings means a folder: it ends with a slash, or is one.
bool is_folder(const std::string& path);

// --metrics: a line as soon as an epoch is done, so that others can follow a run and nothing is lost with it.
class Metrics {
public:
    // Without a path nothing is written.
    explicit Metrics(std::optional<std::string> path) : path_(std::move(path)) {}
    // Never throws: a run goes on without its metrics.
    void add(const EpochRecord& epoch);
    // The lines of the epochs that a checkpoint says are done: the file is that of the whole run.
    void repeat(const std::vector<EpochRecord>& epochs);
    // Throws Error{io} when a line could not be written.
    void check() const;

private:
    std::optional<std::string> path_;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};
    bool failed_ = false;
};

// Whether checkpoints are saved while a run goes on, not only when it is interrupted.
bool saves_regularly(const RunFlags& flags);

struct Artifacts {
    const RunReport& report;
    const std::optional<io::Trace>& trace;    // there when --trace is, if anything was trained
    const std::vector<NamedTensor>& weights;  // none after a run that diverged
    const io::WeightFacts& weight_facts;
    const Metrics& metrics;
    const Checkpoints& checkpoints;
    const std::optional<Error>& embeddings_failure;  // why --save-embeddings has failed, if it has
};

// Writes the report, the trace and the weights. A file that cannot be written, or could not, is said on stderr and
// costs itself alone: then the answer is false.
bool write_artifacts(const RunFlags& flags, const Artifacts& artifacts);

}  // namespace gnnplan::tools
