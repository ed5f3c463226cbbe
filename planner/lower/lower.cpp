#include "planner/lower/lower.hpp"

#include "planner/lower/builder.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::lower {
namespace {

constexpr auto S = Order::sparse_first;
constexpr auto D = Order::dense_first;

// Whether H^l exists in `place` once layer l + 1 has what it wants.
bool activation_in(const Builder& builder, int l, Place place) {
    return !builder.places_differ() || result_place(builder.forward(l)) == place ||
           operand_place(builder.forward(l + 1)) == place || (place == Place::r && moves_input(builder, l + 1));
}

void check(const std::vector<ProductLayer>& layers, const Configuration& configuration) {
    if (configuration.forward.size() != layers.size() || configuration.backward.size() != layers.size()) {
        throw Error(ErrorCode::usage,
                    "a network of " + std::to_string(layers.size()) + " layers needs as many letters a pass",
                    "orders " + text(configuration.forward) + " " + text(configuration.backward));
    }
    for (std::size_t l = 0; l + 1 < layers.size(); ++l) {
        if (!layers[l].relu) {
            throw Error(ErrorCode::usage, "hidden layers without ReLU are not lowered",
                        "layer " + std::to_string(l + 1), "masks are taken from the sign of its output");
        }
    }
}

}  // namespace

MaskRule mask_rule(const Builder& builder, int l) {
    const Place born = result_place(builder.backward(l + 1));
    const Place wanted = operand_place(builder.backward(l));
    if (activation_in(builder, l, born)) return {born, false, {}};
    if (wanted != born) return {wanted, true, {}};  // H^l is in at least one of the two
    return {born, false, other(born)};
}

bool moves_input(const Builder& builder, int l) {
    if (l == 1 || l > builder.depth() || builder.keeps(l) || !builder.places_differ()) return false;
    return builder.forward(l - 1) == D && builder.forward(l) == S && builder.backward(l) == S;
}

Schedule lower(const std::vector<ProductLayer>& layers, const Configuration& configuration, const GraphShape& graph) {
    check(layers, configuration);
    Builder builder(layers, configuration, graph);
    builder.begin_phase(Phase::epoch);
    Forward forward = lower_forward(builder, true);
    lower_backward(builder, forward);
    builder.begin_phase(Phase::evaluation);
    builder.score(lower_forward(builder, false).logits);
    return builder.take();
}

}  // namespace gnnplan::lower
