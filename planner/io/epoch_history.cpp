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

EpochHistory::EpochHistory(const std::vector<EpochRecord>& epochs) {
    const auto value_of = [](const std::optional<double>& accuracy) {
        return accuracy.value_or(std::numeric_limits<double>::quiet_NaN());
    };
    for (const EpochRecord& e : epochs) {
        series_[loss].push_back(e.loss);
        series_[seconds].push_back(e.seconds);
        series_[train_accuracy].push_back(value_of(e.train_accuracy));
        series_[valid_accuracy].push_back(value_of(e.valid_accuracy));
        series_[test_accuracy].push_back(value_of(e.test_accuracy));
    }
}

std::vector<StoredTensor> EpochHistory::tensors() const {
    std::vector<StoredTensor> tensors;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto& values = series_[i];
        tensors.push_back({names[i],
                           "F64",
                           {static_cast<std::int64_t>(values.size())},
                           {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)}});
    }
    return tensors;
}

bool EpochHistory::take(const StoredTensor& tensor, const std::string& where) {
    const auto* const known = std::find(names.begin(), names.end(), tensor.name);
    if (known == names.end()) return false;
    if (tensor.type != "F64") {
        throw Error(ErrorCode::data, "tensor " + in_quotes(tensor.name) + " is of type " + tensor.type + ", not F64",
                    where);
    }
    std::vector<double>& values = series_[static_cast<std::size_t>(known - names.begin())];
    values.resize(tensor.bytes.size() / sizeof(double));
    if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(double));
    return true;
}

double EpochHistory::checked(Series which, std::size_t epoch, const std::string& where) const {
    constexpr double rounding = 1e-3;  // a mean cross-entropy is not below 0 but for it
    const double value = series_[which][epoch];
    const bool accuracy = which >= train_accuracy;
    const double least = which == loss ? -rounding : 0;
    const double most = accuracy ? 1 : std::numeric_limits<double>::max();
    if ((accuracy && std::isnan(value)) || (value >= least && value <= most)) return value;
    throw Error(ErrorCode::data,
                std::string(names[which]) + " of epoch " + std::to_string(epoch + 1) + " is " + value_text(value) +
                    (accuracy ? ", and accuracies are from 0 to 1" : ", which no run measures"),
                where);
}

std::vector<EpochRecord> EpochHistory::epochs(std::int64_t count, const std::string& where) const {
    for (const auto& values : series_) {
        if (std::ssize(values) == count) continue;
        throw Error(ErrorCode::data, "the history does not have the epochs that the checkpoint says", where);
    }
    std::vector<EpochRecord> epochs;
    for (std::size_t i = 0; i < series_[loss].size(); ++i) {
        const auto accuracy = [&](Series which) {
            const double value = checked(which, i, where);
            return std::isnan(value) ? std::nullopt : std::optional(value);
        };
        epochs.push_back({static_cast<std::int64_t>(i) + 1, checked(loss, i, where), accuracy(train_accuracy),
                          accuracy(valid_accuracy), accuracy(test_accuracy), checked(seconds, i, where)});
    }
    return epochs;
}

}  // namespace gnnplan::io
