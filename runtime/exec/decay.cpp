#include "runtime/exec/decay.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/words.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gnnplan::exec {
namespace {

using Which = Decay::Which;

constexpr std::pair<const char*, Which> words[] = {
    {"first", Which::first}, {"weights", Which::weights}, {"all", Which::all}};

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
    throw Error(ErrorCode::usage, "'" + text + "' " + why, "`decay`",
                "first, weights, all, or ends of names with a strength each, as 1.weight=5e-4,bias=0");
}

Decay::Named read_named(const std::string& text, const std::string& part) {
    const std::size_t equals = part.rfind('=');
    if (equals == std::string::npos || equals == 0) refuse(text, "does not say what decays");
    const auto strength = number_from<double>(part.substr(equals + 1));
    if (!strength || !std::isfinite(static_cast<float>(*strength)) || *strength < 0)
        refuse(text, "has a strength that is no number of at least 0");
    return {part.substr(0, equals), *strength};
}

}  // namespace

double Decay::strength(const Parameter& parameter, Role role, bool planned, double weight_decay) const {
    if (which != Which::named) {
        const bool decays = planned || which == Which::all || (which == Which::weights && role == Role::weight);
        return decays ? weight_decay : 0;
    }
    const Named* best = nullptr;
    for (const Named& one : named) {
        if (parameter.name.ends_with(one.end) && (best == nullptr || one.end.size() > best->end.size())) best = &one;
    }
    return best != nullptr ? best->strength : 0;
}

Decay read_decay(const std::string& text) {
    for (const auto& [word, which] : words) {
        if (text == word) return {which};
    }
    Decay decay{Which::named};
    for (const std::string& part : split(text, ",")) {
        decay.named.push_back(read_named(text, part));
        if (std::ranges::count(decay.named, decay.named.back().end, &Decay::Named::end) > 1)
            refuse(text, "says twice how " + decay.named.back().end + " decays");
    }
    return decay;
}

std::string text_of(const Decay& decay) {
    for (const auto& [word, which] : words) {
        if (decay.which == which) return word;
    }
    std::string text;
    for (const Decay::Named& one : decay.named)
        text += (text.empty() ? "" : ",") + one.end + "=" + shortest_text(one.strength);
    return text;
}

void check_decay(const Decay& decay, std::span<const Parameter> parameters) {
    for (const Decay::Named& one : decay.named) {
        const auto fits = [&](const Parameter& parameter) { return parameter.name.ends_with(one.end); };
        if (std::ranges::any_of(parameters, fits)) continue;
        std::string names;
        for (const Parameter& parameter : parameters) names += (names.empty() ? "" : ", ") + parameter.name;
        throw Error(ErrorCode::usage, "no parameter has a name that ends in '" + one.end + "'", "`decay`",
                    "the model has " + names);
    }
}

}  // namespace gnnplan::exec
