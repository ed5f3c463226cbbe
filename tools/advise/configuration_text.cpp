#include "tools/advise/configuration_text.hpp"

#include "tools/advise/switch_words.hpp"
#include "tools/text/format.hpp"

#include <fmt/format.h>

namespace gnnplan::tools {
namespace {

// "ÂX" is T1 = A^T H^0, "ÂH1" is T2.
std::string product_text(const KeptProduct& product) {
    const std::string name = product.layer == 1 ? "ÂX" : fmt::format("ÂH{}", product.layer - 1);
    return name + (product.across_epochs ? " once" : "");
}

// Three and more products of neighbouring layers as a range. One that is kept across epochs stands alone.
std::vector<std::string> in_ranges(const std::vector<KeptProduct>& products) {
    const auto follows = [&](std::size_t i) {
        return i < products.size() && !products[i - 1].across_epochs && products[i].layer == products[i - 1].layer + 1;
    };
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < products.size();) {
        std::size_t last = i;
        while (follows(last + 1)) ++last;
        if (last < i + 2) last = i;
        texts.push_back(product_text(products[i]) + (last > i ? ".." + product_text(products[last]) : ""));
        i = last + 1;
    }
    return texts;
}

}  // namespace

std::string kept_text(const std::vector<KeptProduct>& products, std::string_view separator) {
    return products.empty() ? "-" : fmt::format("{}", fmt::join(in_ranges(products), separator));
}

std::string choices_text(const Configuration& configuration) {
    std::vector<std::string> choices;
    for (const SwitchWords& row : switch_words()) {
        std::string word = row.cell_of(configuration);
        if (!word.empty()) choices.push_back(std::move(word));
    }
    return choices.empty() ? "-" : fmt::format("{}", fmt::join(choices, ", "));
}

std::string orders_text(const Configuration& configuration) {
    const std::string backward = format_orders_cell(text(configuration.backward));
    return format_orders_cell(text(configuration.forward)) + (backward.empty() ? "" : " " + backward);
}

std::string configuration_text(const Configuration& configuration) {
    std::string line = fmt::format("{} {} {}", scheme_of(configuration), configuration.grid.text(),
                                   format_orders(text(configuration.forward)));
    if (!configuration.backward.empty()) line += " " + format_orders(text(configuration.backward));
    const std::vector<KeptProduct> kept = products_kept(configuration);
    if (!kept.empty()) line += ", kept " + kept_text(kept, " and ");
    const std::string choices = choices_text(configuration);
    return choices == "-" ? line : line + ", " + choices;
}

}  // namespace gnnplan::tools
