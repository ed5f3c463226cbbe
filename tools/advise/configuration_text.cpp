#include "tools/advise/configuration_text.hpp"

#include "tools/text/format.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

namespace gnnplan::tools {
namespace {

// "T1 across epochs" -> "ÂX across epochs"; other names stay as they are.
std::string product_text(const std::string& name) {
    const std::size_t end = name.find_first_not_of("0123456789", 1);
    const std::string digits = name.substr(1, end == std::string::npos ? end : end - 1);
    if (!name.starts_with('T') || digits.empty() || digits.size() > 6) return name;
    const std::string rest = end == std::string::npos ? "" : name.substr(end);
    return (digits == "1" ? "ÂX" : fmt::format("ÂH{}", std::stoi(digits) - 1)) + rest;
}

// Three and more products of neighbouring layers as a range.
std::vector<std::string> in_ranges(const std::vector<std::string>& names) {
    const auto follows = [&](std::size_t i) {  // "T4" after "T3"
        return i < names.size() && names[i - 1].starts_with('T') &&
               names[i] == "T" + std::to_string(std::atoll(names[i - 1].c_str() + 1) + 1) &&
               names[i - 1].find(' ') == std::string::npos;
    };
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < names.size();) {
        std::size_t last = i;
        while (follows(last + 1)) ++last;
        if (last < i + 2) last = i;
        texts.push_back(product_text(names[i]) + (last > i ? ".." + product_text(names[last]) : ""));
        i = last + 1;
    }
    return texts;
}

}  // namespace

std::string kept_text(const std::vector<std::string>& products) {
    return products.empty() ? "-" : fmt::format("{}", fmt::join(in_ranges(products), ","));
}

std::string choices_text(const Configuration& configuration) {
    std::vector<std::string> choices;
    if (configuration.exchange == Exchange::panels) choices.emplace_back("panels");
    if (configuration.exchange == Exchange::rows) choices.emplace_back("rows");
    if (configuration.overlap) choices.emplace_back("overlap");
    if (configuration.permutation) choices.emplace_back("permuted");
    if (configuration.parts > 1) choices.push_back(fmt::format("{} parts", configuration.parts));
    if (configuration.replicated_input) choices.emplace_back("X replicated");
    const bool infers = configuration.backward.empty();  // then the features are read once
    if (configuration.constant_input && !configuration.cached_aggregation && !infers)
        choices.emplace_back("X constant");
    if (configuration.column_loss) choices.emplace_back("loss by columns");
    if (configuration.loss_rows) choices.emplace_back("pruned");
    if (configuration.factored_values) choices.emplace_back("factored");
    if (configuration.scores == Scores::whole_rows) choices.emplace_back("whole-row scores");
    if (configuration.scores == Scores::dealt_rows) choices.emplace_back("dealt-row scores");
    if (configuration.attention == AttentionScores::stored) choices.emplace_back("stored attention");
    if (configuration.ring) choices.emplace_back("ring");
    if (configuration.bf16) choices.emplace_back("bf16");
    if (!exact(configuration)) choices.emplace_back("inexact");
    return choices.empty() ? "-" : fmt::format("{}", fmt::join(choices, ", "));
}

std::string configuration_text(const Configuration& configuration) {
    std::string line = fmt::format("{} {} {}", scheme_of(configuration), configuration.grid.text(),
                                   format_orders(text(configuration.forward)));
    if (!configuration.backward.empty()) line += " " + format_orders(text(configuration.backward));
    const std::vector<std::string> kept = kept_products(configuration);
    if (!kept.empty()) line += ", kept " + kept_text(kept);
    const std::string choices = choices_text(configuration);
    return choices == "-" ? line : line + ", " + choices;
}

}  // namespace gnnplan::tools
