// Files that grow while a run trains: metrics and checkpoints, and the weights to be saved. Rank 0 alone has them.
#pragma once

#include "runtime/run/checkpoints.hpp"
#include "runtime/run/settings.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/training_state.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::run {

// A line as soon as an epoch is done, so that others can follow a run and nothing is lost with it.
class Metrics {
public:
    // Without a path nothing is written.
    explicit Metrics(std::optional<std::string> path) : path_(std::move(path)) {}
    // Never throws: a run goes on without its metrics. `seed`: where runs of several write into the file.
    void add(const EpochRecord& epoch, std::optional<std::uint64_t> seed);
    // Throws Error{io} when a line could not be written.
    void check() const;

private:
    std::optional<std::string> path_;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};
    bool failed_ = false;
};

struct TrainingFiles {
    // Begins with the metrics of the epochs that `start` has done, if there is one: the file is that of the whole run.
    TrainingFiles(const Settings& settings, Checkpoints saved, const TrainingState* start);

    // The epochs that follow are of this seed, which their metrics name where there are several runs.
    void begin_run(std::uint64_t seed);
    // An epoch is over.
    void add(const EpochRecord& epoch);
    void add(const train::EpochEnd& end);
    // Keeps what settings.save_weights writes: the last weights of the state, or the best ones where these are kept.
    void keep_weights(const TrainingState& state);

    const Settings& settings;
    Metrics metrics;
    Checkpoints checkpoints;
    std::vector<NamedTensor> weights;  // none after a run that diverged

private:
    std::uint64_t seed_;  // of the run under way
};

}  // namespace gnnplan::run
