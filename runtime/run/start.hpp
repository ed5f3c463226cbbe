// The start of training: Glorot weights, weights of a file, or a checkpoint.
#pragma once

#include "planner/io/checkpoint.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/run/agreement.hpp"
#include "runtime/run/checkpoints.hpp"
#include "runtime/run/observer.hpp"
#include "runtime/run/settings.hpp"

#include <gnnplan/ir/plan.hpp>
#include <gnnplan/ir/training_state.hpp>

#include <optional>
#include <string>
#include <vector>

namespace gnnplan::run {

class Start {
public:
    // Reads the file that settings.resume or .load_weights names, which one rank does for all: what is kept there need
    // not be on every machine.
    void read(const Settings& settings, Observer& observer);
    // Collective: every rank gets what rank 0 has read.
    void share(comm::Communicator& comm);

    // Takes what was read, checked against the model of the plan, which outlives this; nothing if neither is named.
    // Throws Error{data} when the file is damaged, Error{mismatch} when it is of another model.
    void take(const Plan& plan);
    const io::Checkpoint* checkpoint() const { return checkpoint_ ? &*checkpoint_ : nullptr; }
    const std::vector<NamedTensor>* weights() const { return weights_ ? &*weights_ : nullptr; }
    const std::string& path() const { return path_; }

    // Compares what the checkpoint's run was asked, and its data, with this run: returns the options that differ, as
    // sentences. Throws Error{mismatch} where it could not be the same run, which says how to go on, and whether an
    // earlier checkpoint of the folder is of this run. Weights that were trained for another model are said to be, and
    // refused where they are applied.
    std::vector<std::string> compare(const std::vector<Fact>& facts) const;
    // The checkpoints of its run up to it, if it lies in this folder; those of another folder stay.
    std::vector<KeptCheckpoint> earlier_in(const std::string& folder) const;

private:
    std::vector<std::string> compare_weights(const std::vector<Fact>& facts) const;
    std::optional<std::string> earlier_that_fits(const std::vector<Fact>& facts) const;
    // The hint, and how else to go on.
    std::string ways_on(const std::string& hint) const;

    bool resumes_ = false;
    std::string afresh_;  // how to start a new run instead, in words; of the process that reads
    const Plan* plan_ = nullptr;
    std::string path_;
    std::string bytes_;
    std::optional<io::Checkpoint> checkpoint_;
    std::optional<std::vector<NamedTensor>> weights_;
    io::WeightFacts weight_facts_;
};

}  // namespace gnnplan::run
