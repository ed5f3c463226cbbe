#include <gnnplan/base/error.hpp>
#include <gnnplan/models.hpp>

namespace gnnplan::models {
namespace {

std::string list(const auto& named) {
    std::string names;
    for (const auto& each : named) names += (names.empty() ? "" : ", ") + std::string(each.name);
    return names;
}

}  // namespace

const std::vector<Model>& registry() {
    static const std::vector<Model> models = {
        {"gcn", "graph convolutional network (Kipf & Welling 2017)", {{"", {}, gcn}}},
        {"sage",
         "GraphSAGE (Hamilton et al. 2017)",
         {{"mean", {false, Normalisation::row_mean}, sage},
          {"sum", {false, Normalisation::none}, sage},
          {"gcn", {true, Normalisation::row_mean}, sage_gcn}}},
        {"gin", "graph isomorphism network (Xu et al. 2019), epsilon 0", {{"", {true, Normalisation::none}, gin}}},
    };
    return models;
}

const Aggregator& find(std::string_view name, std::string_view aggregator) {
    for (const Model& model : registry()) {
        if (model.name != name) continue;
        if (aggregator.empty()) return model.aggregators.front();
        for (const Aggregator& known : model.aggregators) {
            if (known.name == aggregator) return known;
        }
        const bool one = model.aggregators.size() == 1;
        throw Error(ErrorCode::usage, "unknown aggregator '" + std::string(aggregator) + "' of " + std::string(name),
                    "aggregator", one ? "this model takes none" : "known aggregators: " + list(model.aggregators));
    }
    throw Error(ErrorCode::usage, "unknown model '" + std::string(name) + "'", "model",
                "known models: " + list(registry()));
}

OpGraph build(std::string_view name, const std::vector<std::int64_t>& widths, bool bias, std::string_view aggregator) {
    if (widths.size() < 2) {
        throw Error(ErrorCode::usage, "a model needs at least an input and an output width", "widths",
                    "give f_0,f_1,...,f_L");
    }
    for (const std::int64_t width : widths) {
        if (width < 1) throw Error(ErrorCode::usage, "width " + std::to_string(width) + " is not positive", "widths");
    }
    return find(name, aggregator).build(widths, bias);
}

}  // namespace gnnplan::models
