#include "runtime/train/schedule.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/words.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace gnnplan::train {
namespace {

using Kind = RateSchedule::Kind;

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
    throw Error(
        ErrorCode::usage, "'" + text + "' " + why, "`lr-schedule`",
        "warmup:K, step:S:G, cosine:T or plateau:F:P, as warmup:50, step:100:0.5, cosine:200 or plateau:0.5:20");
}

template <class T>
T number(const std::string& text, const std::string& part) {
    const auto value = number_from<T>(part);
    if (!value) refuse(text, "has '" + part + "' where a number should be");
    return *value;
}

std::int64_t epochs_of(const std::string& text, const std::string& part, std::int64_t least) {
    const auto epochs = number<std::int64_t>(text, part);
    if (epochs < least) refuse(text, "has fewer than " + std::to_string(least) + " epochs");
    return epochs;
}

double factor_of(const std::string& text, const std::string& part) {
    const auto factor = number<double>(text, part);
    if (!(factor > 0 && factor < 1)) refuse(text, "has a factor that is not above 0 and below 1");
    return factor;
}

}  // namespace

RateSchedule read_schedule(const std::string& text) {
    if (text.empty()) return {};
    const std::vector<std::string> parts = split(text, ":");
    const auto is = [&](std::string_view name, std::size_t numbers) {
        if (parts.front() != name) return false;
        if (parts.size() != numbers + 1) refuse(text, "has too few or too many numbers");
        return true;
    };
    if (is("warmup", 1)) return {Kind::warmup, epochs_of(text, parts[1], 1), 1};
    if (is("step", 2)) return {Kind::step, epochs_of(text, parts[1], 1), factor_of(text, parts[2])};
    if (is("cosine", 1)) return {Kind::cosine, epochs_of(text, parts[1], 1), 1};
    if (is("plateau", 2)) return {Kind::plateau, epochs_of(text, parts[2], 0), factor_of(text, parts[1])};
    refuse(text, "is no schedule of learning rates");
}

std::string text_of(const RateSchedule& schedule) {
    const std::string epochs = std::to_string(schedule.epochs);
    switch (schedule.kind) {
        case Kind::constant: break;
        case Kind::warmup: return "warmup:" + epochs;
        case Kind::step: return "step:" + epochs + ":" + shortest_text(schedule.factor);
        case Kind::cosine: return "cosine:" + epochs;
        case Kind::plateau: return "plateau:" + shortest_text(schedule.factor) + ":" + epochs;
    }
    return "";
}

double RateCourse::factor() const {
    const auto of = static_cast<double>(schedule_.epochs);
    switch (schedule_.kind) {
        case Kind::constant: break;
        case Kind::warmup: return std::min(1.0, static_cast<double>(done_ + 1) / of);
        case Kind::step: return std::pow(schedule_.factor, done_ / schedule_.epochs);
        case Kind::cosine: return (1 + std::cos(std::numbers::pi * static_cast<double>(done_) / of)) / 2;
        case Kind::plateau: return reduced_;
    }
    return 1;
}

// A loss is lower when it is so by a ten-thousandth, and rates are reduced until that is by less than 1e-8: the
// defaults of ReduceLROnPlateau.
void RateCourse::add(double loss) {
    constexpr double threshold = 1e-4, least = 1e-8;
    ++done_;
    if (!any_ || loss < best_ * (1 - threshold)) {
        any_ = true, best_ = loss, worse_ = 0;
        return;
    }
    if (++worse_ <= schedule_.epochs) return;
    worse_ = 0;
    if (schedule_.kind == Kind::plateau && rate_ * reduced_ * (1 - schedule_.factor) > least)
        reduced_ *= schedule_.factor;
}

}  // namespace gnnplan::train
