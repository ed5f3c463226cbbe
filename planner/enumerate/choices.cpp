#include "planner/enumerate/choices.hpp"

#include "planner/enumerate/letters.hpp"

namespace gnnplan::enumerate {
namespace {

using namespace letters;

bool made_anyway(const LayerChoice& choice) {
    return choice.operand == Operand::product ? choice.forward == S : choice.backward == S;
}
bool other_made_anyway(const LayerChoice& choice) {
    return choice.operand == Operand::product ? choice.backward == S : choice.forward == S;
}

std::vector<std::optional<Operand>> operands_of(const LayerRules& rules) {
    if (!rules.trains) return {std::nullopt};
    if (rules.only) return {rules.only->operand};
    if (rules.operand) return {*rules.operand};
    return {Operand::product, Operand::gradient};
}

// The input of layer 1, for one choice of orders and operand.
void add_inputs(const LayerRules& rules, const LayerChoice& choice, bool undominated_only,
                std::vector<LayerChoice>& choices) {
    for (const bool constant : {false, true}) {
        for (const bool cached : {false, true}) {
            for (const bool replicated : {false, true}) {
                LayerChoice input = choice;
                input.constant_input = constant;
                input.cached_aggregation = cached;
                input.replicated_input = replicated;
                const bool first_is_sparse = choice.forward == S;
                if (constant != rules.constant_input.value_or(constant)) continue;
                const bool kept_for_weights = !rules.maps || choice.operand == Operand::product;
                const bool fits = constant && first_is_sparse && kept_for_weights;
                if (cached && (!fits || !rules.cachable)) continue;
                if (replicated && (!rules.columns_split || !rules.maps || (first_is_sparse && !cached))) continue;
                if (undominated_only && constant && first_is_sparse && rules.cachable && !cached) continue;
                choices.push_back(input);
            }
        }
    }
}

}  // namespace

std::vector<LayerChoice> layer_choices(const LayerRules& rules, bool undominated_only) {
    std::vector<LayerChoice> choices;
    const bool first = rules.layer == 1;
    const bool last = rules.layer == rules.layers;
    for (const Order forward : {S, D}) {
        if (rules.forward && forward != *rules.forward) continue;
        if (rules.only && forward != rules.only->forward) continue;
        const bool goes_back = rules.trains && (!first || rules.orders_backward);
        for (const Order backward : goes_back ? std::vector{S, D} : std::vector{Order::none}) {
            if (goes_back && rules.backward && backward != *rules.backward) continue;
            if (rules.only && goes_back && backward != rules.only->backward) continue;
            for (const std::optional<Operand> operand : operands_of(rules)) {
                LayerChoice choice{forward, backward, operand};
                if (undominated_only && operand && !rules.only && !made_anyway(choice) && other_made_anyway(choice))
                    continue;
                for (const bool column_loss : {false, true}) {
                    choice.column_loss = column_loss;
                    const bool splits = rules.columns_split && rules.leaves_columns && (forward == D || !rules.maps);
                    if (column_loss && (!rules.trains || !last || !splits)) continue;
                    if (first) {
                        add_inputs(rules, choice, undominated_only, choices);
                    } else {
                        choices.push_back(choice);
                    }
                }
            }
        }
    }
    return choices;
}

void apply(const std::vector<LayerChoice>& choices, Configuration& configuration) {
    configuration.forward.clear(), configuration.backward.clear();
    configuration.operands.clear();
    for (const LayerChoice& choice : choices) {
        configuration.forward.push_back(choice.forward);
        if (!choice.operand) continue;
        configuration.backward.insert(configuration.backward.begin(), choice.backward);
        configuration.operands.push_back(*choice.operand);
    }
    configuration.constant_input = choices.front().constant_input;
    configuration.cached_aggregation = choices.front().cached_aggregation;
    configuration.replicated_input = choices.front().replicated_input;
    configuration.column_loss = choices.back().column_loss;
}

std::vector<LayerChoice> choices_of(const Configuration& configuration) {
    std::vector<LayerChoice> choices;
    const std::size_t layers = configuration.forward.size();
    for (std::size_t i = 0; i < layers; ++i) {
        LayerChoice& choice = choices.emplace_back(LayerChoice{configuration.forward[i], Order::none, std::nullopt});
        if (configuration.operands.empty()) continue;
        choice.backward = configuration.backward[layers - 1 - i];
        choice.operand = configuration.operands[i];
    }
    choices.front().constant_input = configuration.constant_input;
    choices.front().cached_aggregation = configuration.cached_aggregation;
    choices.front().replicated_input = configuration.replicated_input;
    choices.back().column_loss = configuration.column_loss;
    return choices;
}

}  // namespace gnnplan::enumerate
