#include <gnnplan/ir/choice.hpp>

#include <algorithm>

namespace gnnplan {
namespace {

std::string with_blanks(std::string name) {
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

std::string range_text(const LayerRange& layers) {
    return std::to_string(layers.first) + (layers.last > layers.first ? ".." + std::to_string(layers.last) : "");
}

}  // namespace

std::string text(const Choice& choice) {
    if (choice.key == "parts") return "partition off";
    if (choice.key == "cached_aggregation") return "input aggregated every epoch";
    if (choice.key == "kept") return "nothing kept";
    if (choice.key == "baseline") return choice.value == "pyg" ? "baseline" : "baseline DGL";
    std::string text = with_blanks(choice.key);
    if (choice.layers) text += " " + range_text(*choice.layers);
    if (choice.key == "scores") text += " by";
    if (!choice.value.empty()) text += " " + with_blanks(choice.value);
    return text;
}

}  // namespace gnnplan
