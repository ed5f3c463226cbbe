#include <gnnplan/base/error.hpp>
#include <gnnplan/models.hpp>

namespace gnnplan::models {

const std::vector<Model>& registry() {
    static const std::vector<Model> models = {
        {"gcn", "graph convolutional network (Kipf & Welling 2017)", gcn},
    };
    return models;
}

OpGraph build(std::string_view name, const std::vector<std::int64_t>& widths, bool bias) {
    if (widths.size() < 2) {
        throw Error(ErrorCode::usage, "a model needs at least an input and an output width", "widths",
                    "give f_0,f_1,...,f_L");
    }
    for (const std::int64_t width : widths) {
        if (width < 1) throw Error(ErrorCode::usage, "width " + std::to_string(width) + " is not positive", "widths");
    }
    std::string names;
    for (const Model& model : registry()) {
        if (model.name == name) return model.build(widths, bias);
        names += (names.empty() ? "" : ", ") + std::string(model.name);
    }
    throw Error(ErrorCode::usage, "unknown model '" + std::string(name) + "'", "model", "known models: " + names);
}

}  // namespace gnnplan::models
