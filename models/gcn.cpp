#include <gnnplan/models.hpp>

#include <utility>

namespace gnnplan::models {

OpGraph gcn(const std::vector<std::int64_t>& widths, bool bias) {
    OpGraph graph;
    graph.model = "gcn";
    const auto add = [&](OpKind kind, std::int64_t width, int layer, int parameter = -1) {
        const int previous = static_cast<int>(graph.ops.size()) - 1;
        graph.ops.push_back(
            {kind, previous < 0 ? std::vector<int>{} : std::vector<int>{previous}, width, layer, parameter});
    };
    const auto parameter = [&](Parameter p) {
        graph.parameters.push_back(std::move(p));
        return static_cast<int>(graph.parameters.size()) - 1;
    };
    const int layers = static_cast<int>(widths.size()) - 1;
    add(OpKind::input, widths[0], 0);
    for (int l = 1; l <= layers; ++l) {
        const std::int64_t in = widths[static_cast<std::size_t>(l) - 1];
        const std::int64_t out = widths[static_cast<std::size_t>(l)];
        const std::string number = std::to_string(l);
        add(OpKind::dropout, in, l);
        add(OpKind::aggregate, in, l);
        // Kipf & Welling decay the first layer's weights only.
        add(OpKind::linear, out, l,
            parameter({"layers." + number + ".weight", "W" + number, {in, out}, Init::glorot, l == 1}));
        if (bias) {
            add(OpKind::bias, out, l,
                parameter({"layers." + number + ".bias", "b" + number, {out}, Init::zeros, false}));
        }
        if (l < layers) add(OpKind::relu, out, l);
    }
    add(OpKind::softmax_cross_entropy, widths.back(), layers);
    return graph;
}

}  // namespace gnnplan::models
