#include "planner/io/epoch_history.hpp"

#include "planner/io/float_values.hpp"
#include "planner/io/parse.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace gnnplan::io {

EpochHistory::EpochHistory(const TrainingState& state) {
    for (const std::vector<EpochRecord>& run : state.runs_before) add(run);
    add(state.epochs);
    if (state.runs_before.empty()) lengths_.clear();
}

void EpochHistory::add(const std::vector<EpochRecord>& epochs) {
    lengths_.push_back(static_cast<double>(epochs.size()));
    const auto value_of = [](const std::optional<double>& taken) {
        return taken.value_or(std::numeric_limits<double>::quiet_NaN());
    };
    for (const EpochRecord& e : epochs) {
        series_[loss].push_back(e.loss);
        series_[seconds].push_back(e.seconds);
        series_[valid_loss].push_back(value_of(e.valid_loss));
        std::size_t next = judged;
        for (const Metric& metric : metrics) {
            const SetScores& of = e.judgement.*metric.sets;
            for (const std::optional<double>& score : {of.train, of.valid, of.test})
                series_[next++].push_back(value_of(score));
        }
    }
}

std::vector<StoredTensor> EpochHistory::tensors() const {
    std::vector<StoredTensor> tensors;
    const auto add = [&](const char* name, const std::vector<double>& values) {
        tensors.push_back({name,
                           "F64",
                           {static_cast<std::int64_t>(values.size())},
                           {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)}});
    };
    const auto taken = [](double value) { return !std::isnan(value); };
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i < of_accuracy || std::ranges::any_of(series_[i], taken)) add(names[i], series_[i]);
    }
    if (!lengths_.empty()) add(lengths_name, lengths_);
    return tensors;
}

bool EpochHistory::take(const StoredTensor& tensor, const std::string& where) {
    const auto* const known = std::find(names.begin(), names.end(), tensor.name);
    if (known == names.end() && tensor.name != lengths_name) return false;
    if (tensor.type != "F64") {
        throw Error(ErrorCode::data, "tensor " + in_quotes(tensor.name) + " is of type " + tensor.type + ", not F64",
                    where);
    }
    std::vector<double>& values =
        known == names.end() ? lengths_ : series_[static_cast<std::size_t>(known - names.begin())];
    values.resize(tensor.bytes.size() / sizeof(double));
    if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(double));
    return true;
}

double EpochHistory::checked(std::size_t which, std::size_t epoch, const std::string& where) const {
    constexpr double rounding = 1e-3;  // a mean cross-entropy is not below 0 but for it
    const double value = series_[which][epoch];
    const bool score = which >= judged;
    const double least = which == loss || which == valid_loss ? -rounding : 0;
    const double most = score ? 1 : std::numeric_limits<double>::max();
    if ((which >= valid_loss && std::isnan(value)) || (value >= least && value <= most)) return value;
    throw Error(ErrorCode::data,
                std::string(names[which]) + " of epoch " + std::to_string(epoch + 1) + " is " + value_text(value) +
                    (score ? ", and scores are from 0 to 1" : ", which no run measures"),
                where);
}

// Whether the runs have the epochs of all series together, and the last one so many.
bool EpochHistory::are_lengths(std::int64_t last) const {
    double sum = 0;
    for (const double length : lengths_) {
        if (!(length >= 1) || std::floor(length) != length) return false;
        sum += length;
    }
    const double all = lengths_.empty() ? static_cast<double>(last) : sum;
    return (lengths_.empty() || lengths_.back() == static_cast<double>(last)) &&
           std::ranges::all_of(series_, [&](const auto& values) { return static_cast<double>(values.size()) == all; });
}

void EpochHistory::give_to(TrainingState& state, const std::string& where) {
    const auto leave_out = [&](std::size_t which) {
        if (series_[which].empty())
            series_[which].assign(series_[loss].size(), std::numeric_limits<double>::quiet_NaN());
    };
    leave_out(valid_loss);  // by an earlier version
    for (std::size_t i = of_accuracy; i < names.size(); ++i) leave_out(i);
    if (!are_lengths(state.epoch))
        throw Error(ErrorCode::data, "the history does not have the epochs that the checkpoint says", where);
    std::size_t first = 0;
    for (std::size_t i = 0; i + 1 < lengths_.size(); ++i) {
        const auto count = static_cast<std::size_t>(lengths_[i]);
        state.runs_before.push_back(epochs(first, count, where));
        first += count;
    }
    state.epochs = epochs(first, static_cast<std::size_t>(state.epoch), where);
}

std::vector<EpochRecord> EpochHistory::epochs(std::size_t first, std::size_t count, const std::string& where) const {
    std::vector<EpochRecord> epochs;
    for (std::size_t i = first; i < first + count; ++i) {
        const auto taken = [&](std::size_t which) {
            const double value = checked(which, i, where);
            return std::isnan(value) ? std::nullopt : std::optional(value);
        };
        EpochRecord record{static_cast<std::int64_t>(i - first) + 1, checked(loss, i, where)};
        std::size_t next = judged;
        for (const Metric& metric : metrics) {
            SetScores& of = record.judgement.*metric.sets;
            for (std::optional<double>* score : {&of.train, &of.valid, &of.test}) *score = taken(next++);
        }
        record.seconds = checked(seconds, i, where), record.valid_loss = taken(valid_loss);
        epochs.push_back(record);
    }
    return epochs;
}

}  // namespace gnnplan::io
