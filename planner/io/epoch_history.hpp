// The epochs of a run as the tensors of a checkpoint that hold them.
#pragma once

#include "planner/io/safetensors.hpp"

#include <gnnplan/ir/training_state.hpp>

#include <array>
#include <string>
#include <vector>

namespace gnnplan::io {

class EpochHistory {
public:
    EpochHistory() = default;
    // Holds the epochs of all runs, one after the other.
    explicit EpochHistory(const TrainingState& state);

    // Refer to this object.
    std::vector<StoredTensor> tensors() const;

    // Whether the tensor is one of them; then it is taken. Throws Error{data} when it is of another type than F64.
    bool take(const StoredTensor& tensor, const std::string& where);
    // Gives each run its epochs, state.epoch of them to the last one. Throws Error{data} when a series is of another
    // length, or holds what no run measures, which it names: a loss or time that is no number, a score beyond 0..1.
    void give_to(TrainingState& state, const std::string& where);

private:
    // A score or a loss of validation that was not taken is a NaN. The scores of each metric are those of training,
    // validation and test vertices; the files of accuracies alone have no others.
    enum Series { loss, seconds, valid_loss, judged };
    static constexpr std::array<const char*, 12> names{
        "history.loss",           "history.seconds",       "history.valid_loss",   "history.train_accuracy",
        "history.valid_accuracy", "history.test_accuracy", "history.train_f1",     "history.valid_f1",
        "history.test_f1",        "history.train_rocauc",  "history.valid_rocauc", "history.test_rocauc"};
    static constexpr std::size_t of_accuracy = judged + 3;  // the series before those of other metrics

    static constexpr const char* lengths_name = "history.epochs_of_runs";

    std::array<std::vector<double>, names.size()> series_;
    std::vector<double> lengths_;  // of the runs, in epochs; empty: of one

    void add(const std::vector<EpochRecord>& epochs);
    bool are_lengths(std::int64_t last) const;
    std::vector<EpochRecord> epochs(std::size_t first, std::size_t count, const std::string& where) const;
    double checked(std::size_t which, std::size_t epoch, const std::string& where) const;
};

}  // namespace gnnplan::io
