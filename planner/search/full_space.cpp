#include "planner/search/full_space.hpp"

#include "planner/search/frame_search.hpp"

#include <algorithm>
#include <utility>

namespace gnnplan::search {

std::vector<enumerate::LayerChoice> choices_of_layer(const Space& space, const Distribution& on, int layer,
                                                     bool undominated_only) {
    const auto l = static_cast<std::size_t>(layer);
    const std::size_t depth = space.depth();
    enumerate::LayerRules rules;
    rules.layer = layer;
    rules.layers = static_cast<int>(depth);
    rules.trains = space.model.trains();
    rules.columns_split = on.splits_columns();
    const Site& product = space.model.product(layer);
    rules.only = product.only_orders();
    rules.leaves_columns = !product.heads.average;
    rules.cachable = rules.trains && space.model.aggregates_features();
    const bool must_vary = space.options.drops_features.value_or(false) || !space.options.extras;
    if (must_vary) rules.constant_input = false;
    if (space.options.constant_input) rules.constant_input = true;
    if (space.options.forward) rules.forward = (*space.options.forward)[l - 1];
    if (space.options.backward) rules.backward = (*space.options.backward)[depth - l];
    return enumerate::layer_choices(rules, undominated_only);
}

std::vector<Choices> all_choices(const Space& space, const Distribution& on, bool undominated_only) {
    std::vector<Choices> sequences{{}};
    for (std::size_t l = 1; l <= space.depth(); ++l) {
        const auto choices = choices_of_layer(space, on, static_cast<int>(l), undominated_only);
        std::vector<Choices> longer;
        for (const Choices& sequence : sequences) {
            for (const enumerate::LayerChoice& choice : choices) {
                longer.push_back(sequence);
                longer.back().push_back(choice);
            }
        }
        sequences = std::move(longer);
    }
    return sequences;
}

std::vector<Choices> regular_choices(const Space& space, const Distribution& on) {
    constexpr auto S = Order::sparse_first, D = Order::dense_first;
    std::vector<Choices> sequences;
    for (const auto& [odd, even] : {std::pair(S, S), std::pair(D, D), std::pair(S, D), std::pair(D, S)}) {
        Choices& sequence = sequences.emplace_back();
        for (int l = 1; l <= space.model.depth; ++l) {
            const Order wanted = l % 2 == 1 ? odd : even;
            const auto choices = choices_of_layer(space, on, l, true);
            const auto found = std::find_if(choices.begin(), choices.end(),
                                            [&](const enumerate::LayerChoice& c) { return c.forward == wanted; });
            sequence.push_back(found == choices.end() ? choices.front() : *found);
        }
    }
    return sequences;
}

Configuration configuration_of(const ConfigurationFrame& frame, const Choices& choices) {
    Configuration configuration;
    configuration.sharing = frame.on.sharing;
    configuration.grid = frame.on.grid;
    configuration.switches() = frame.switches.rounded_where_packed();
    enumerate::apply(choices, configuration);
    if (!frame.trains) configuration.backward.clear(), configuration.operands.clear();
    return configuration;
}

Members rank_members(const Space& space, const std::vector<Distribution>& grids, const Machine& machine,
                     NumberedGraphs& graphs, const std::vector<bool>& factored) {
    Members all;
    FrameSearch search(space, machine, graphs, all);
    const enumerate::Asked question = asked(space);
    std::size_t searched = 0;
    for (const Distribution& on : grids) {
        say_searching(space, on, ++searched, grids.size());
        for (const bool values : enumerate::factored_values(question, on, factored)) {
            for (const Switches& switches : enumerate::lowered_switches(question, on, values))
                search.add({on, switches, space.model.trains()});
        }
    }
    // Equal times in the order of the lists, which is the same everywhere.
    std::stable_sort(all.members.begin(), all.members.end(),
                     [](const Member& a, const Member& b) { return a.seconds < b.seconds; });
    return all;
}

}  // namespace gnnplan::search
