#include "planner/catalog/cards.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/catalog.hpp>

#include <algorithm>

#include "planner/catalog/card_table.hpp"
#include "planner/catalog/suggest.hpp"

namespace gnnplan::catalog {
namespace {

std::vector<std::string> variant_names(std::span<const Card> variants) {
    std::vector<std::string> names;
    for (const Card& card : variants) names.push_back(selector_of(card));
    return names;
}

[[noreturn]] void refuse(std::string_view selector, const std::string& hint) {
    throw Error(ErrorCode::missing_input, "no such data set card", std::string(selector), hint);
}

}  // namespace

std::span<const Card> cards() {
    static const std::vector<Card> table = make_card_table();
    return table;
}

std::vector<std::string> card_names() {
    std::vector<std::string> names;
    for (const Card& card : cards()) {
        if (names.empty() || names.back() != card.name) names.push_back(card.name);
    }
    return names;
}

std::span<const Card> variants_of(std::string_view name) {
    const std::span<const Card> all = cards();
    const auto named = [&](const Card& card) { return card.name == name; };
    const auto first = std::find_if(all.begin(), all.end(), named);
    const auto last = std::find_if_not(first, all.end(), named);
    return {first, last};
}

const Card& find_card(std::string_view selector) {
    const std::size_t colon = selector.find(':');
    const std::string_view name = selector.substr(0, colon);
    const std::span<const Card> variants = variants_of(name);
    if (variants.empty()) refuse(selector, name_hint(name, card_names()));
    if (colon == std::string_view::npos) return variants.front();
    for (const Card& card : variants) {
        if (card.variant == selector.substr(colon + 1)) return card;
    }
    refuse(selector, name_hint(selector, variant_names(variants)));
}

std::string selector_of(const Card& card) {
    const bool is_default = card.variant == variants_of(card.name).front().variant;
    return is_default ? card.name : card.name + ":" + card.variant;
}

}  // namespace gnnplan::catalog

namespace gnnplan {

GraphSizes card(std::string_view selector) {
    const catalog::Card& found = catalog::find_card(selector);
    GraphSizes sizes{found.vertices, found.nonzeros, found.symmetric};
    sizes.counts_self_loops = true;
    sizes.replication = found.replication;
    sizes.features = found.features;
    sizes.classes = found.classes;
    sizes.several_labels = found.several_labels;
    sizes.name = catalog::selector_of(found);
    sizes.source = "card: " + found.source;
    return sizes;
}

}  // namespace gnnplan
