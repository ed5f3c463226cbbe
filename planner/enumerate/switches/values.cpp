// Values of nonzeros, which may be stored or be products of two scales. Weights of edges have to be stored.
#include "planner/enumerate/switches/rows.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::enumerate {
namespace {

// Coefficients of batches are weights where sums are made of them.
bool are_weights(const Asked& asked) {
    return asked.edge_weights || asked.drawn_weighted || (asked.batch_weights && asked.model.reduces_by(Reduce::sum));
}

// The search has decided before.
std::vector<Switches> decided(const Asked&, const Distribution&, const Switches& so_far) { return {so_far}; }

std::vector<OtherValue> stored(const Asked& asked, const Configuration& chosen) {
    if (!chosen.factored_values || !asked.model.reduces_by(Reduce::sum)) return {};
    return {turned(chosen, &Switches::factored_values)};
}

void check_values(const Asked& asked) {
    if (!asked.pins.factored_values.value_or(false)) return;
    if (asked.edge_weights)
        throw Error(ErrorCode::usage, "with weights of edges, values are no products of two scales", "`values`",
                    "use `values stored`, or leave out `edge-weights`");
    if (asked.drawn_weighted)
        throw Error(ErrorCode::usage,
                    "an edge that was drawn stands for several, so values are no products of two scales", "`values`",
                    "use `values stored`, or `fanout full`");
    if (are_weights(asked))
        throw Error(ErrorCode::usage, "edges that are drawn have weights, so values are no products of two scales",
                    "`values`", "use `values stored`");
}

std::optional<LeftOut> without_factored(const Asked& asked, const std::vector<Distribution>&) {
    if (asked.edge_weights)
        return LeftOut{"factored values", "with weights of edges, values are no products of two scales"};
    if (!are_weights(asked) || asked.drawn_weighted) return std::nullopt;
    return LeftOut{"factored values", "edges that are drawn have weights, so values are no products of two scales"};
}

}  // namespace

extern const SwitchRow values_row;
const SwitchRow values_row = {"factored_values", [](const Pins& pins) { return pins.factored_values.has_value(); },
                              decided,           stored,
                              check_values,      without_factored};

std::optional<bool> only_values(const Asked& asked) {
    if (asked.pins.factored_values) return asked.pins.factored_values;
    if (are_weights(asked)) return false;
    if (!asked.model.reduces_by(Reduce::sum)) return true;  // what nobody reads is not stored
    return std::nullopt;
}

std::vector<bool> factored_values(const Asked& asked, const Distribution& on, const std::vector<bool>& unless_sent) {
    const bool either = !asked.pins.factored_values && !are_weights(asked);
    return on.sends_nonzeros() && either ? std::vector{false, true} : unless_sent;
}

}  // namespace gnnplan::enumerate
