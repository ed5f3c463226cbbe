// One epoch after the other, on the candidate that is built: its pass, whether the run goes on, and its evaluation.
#pragma once

#include "runtime/deploy/deployment.hpp"
#include "runtime/train/course.hpp"
#include "runtime/train/train.hpp"

#include <gnnplan/ir/measurement.hpp>

#include <cstdint>

namespace gnnplan::train {

class Epochs {
public:
    // Everything outlives the object. How long epochs and evaluations take is added to `wall`.
    Epochs(comm::Communicator& comm, const Plan& plan, const data::Dataset& dataset, const TrainOptions& options,
           const TrainHooks& hooks, measure::Clock& clock, deploy::Deployment& deployment, Course& course,
           WallTimes& wall);

    // Another candidate has been built.
    void restart() { since_build_ = 0; }
    // Collective, both, for each epoch in turn. finish() evaluates where that is due, every `eval_every` epochs and at
    // the end, and tells the course and the hooks of the epoch.
    EpochRecord train(std::int64_t epoch);
    void finish(EpochRecord record, std::int64_t eval_every, const TuningLog& log);

private:
    void check_weights();
    bool evaluation_due(std::int64_t epoch, std::int64_t eval_every) const;
    void evaluate(EpochRecord& record);

    comm::Communicator& comm_;
    const Plan& plan_;
    const data::Dataset& dataset_;
    const TrainOptions& options_;
    const TrainHooks& hooks_;
    measure::Clock& clock_;
    deploy::Deployment& deployment_;
    Course& course_;
    WallTimes& wall_;
    std::int64_t since_build_ = 0;  // epochs
};

}  // namespace gnnplan::train
