#include "planner/lower/lower.hpp"

#include "planner/lower/builder.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::lower {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& where, const std::string& hint = "") {
    throw Error(ErrorCode::usage, what, where, hint);
}

void check_letters(const std::vector<ProductLayer>& layers, const Configuration& configuration) {
    const std::string letters = text(configuration.forward) + " " + text(configuration.backward);
    if (configuration.forward.size() != layers.size() || configuration.backward.size() != layers.size() ||
        configuration.operands.size() != layers.size()) {
        refuse("a network of " + std::to_string(layers.size()) + " layers needs as many letters a pass",
               "orders " + letters);
    }
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const bool last = i + 1 == layers.size();
        if (configuration.forward[i] == Order::none || (configuration.backward[i] == Order::none && !last)) {
            refuse("only layer 1's backward letter may be '-'", "orders " + letters);
        }
    }
}

// Choices that exclude each other.
void check_choices(const Configuration& configuration) {
    const bool first_is_sparse = configuration.forward.front() == Order::sparse_first;
    if (configuration.cached_aggregation &&
        (!configuration.constant_input || !first_is_sparse || configuration.operands.front() != Operand::product)) {
        refuse("the first aggregation can be cached only when the input is constant and layer 1 starts with it",
               "cached_aggregation");
    }
    const bool lean = !paper_semantics(configuration);
    if (configuration.replicated_input && (!lean || (first_is_sparse && !configuration.cached_aggregation))) {
        refuse("a replicated input needs a first product that can use it", "replicated_input");
    }
    if (configuration.sharing == Sharing::dealt && configuration.grid.y > 1 &&
        (configuration.grid.z > 1 || configuration.replicated_input || configuration.column_loss)) {
        refuse("CAGNET's 1.5D has no columns to split", "scheme 1.5d");
    }
}

void check(const std::vector<ProductLayer>& layers, const Configuration& configuration) {
    check_letters(layers, configuration);
    check_choices(configuration);
    for (std::size_t l = 0; l + 1 < layers.size(); ++l) {
        if (layers[l].relu) continue;
        refuse("hidden layers without ReLU are not lowered", "layer " + std::to_string(l + 1),
               "masks are taken from the sign of its output");
    }
}

}  // namespace

Schedule lower(const std::vector<ProductLayer>& layers, const Configuration& configuration, const GraphShape& graph) {
    check(layers, configuration);
    Builder builder(layers, configuration, graph);
    const std::optional<TensorId> cached = lower_setup(builder);
    builder.begin_phase(Phase::epoch);
    Forward forward = lower_forward(builder, true, cached);
    lower_backward(builder, forward);
    // Evaluation reads every vertex: what training caches serves it only when that is of every vertex too.
    const bool whole = builder.rows(1) == graph.vertices;
    builder.begin_phase(Phase::evaluation);
    builder.score(lower_forward(builder, false, whole ? cached : std::nullopt).logits);
    return builder.take();
}

}  // namespace gnnplan::lower
