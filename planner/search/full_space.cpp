#include "planner/search/full_space.hpp"

#include "planner/search/frame_search.hpp"

#include <algorithm>
#include <optional>
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
    rules.orders_backward = space.model.orders_backward(layer);
    rules.columns_split = on.splits_columns();
    const Site& product = space.model.product(layer);
    rules.only = product.only_orders();
    rules.leaves_columns = !product.heads.average && product.reduce != Reduce::cosine;
    rules.maps = product.maps();
    rules.cachable = rules.trains && space.model.aggregates_features();
    const bool must_vary = space.options.drops_features.value_or(false) || !space.options.extras || space.batches;
    if (must_vary) rules.constant_input = false;
    if (space.options.constant_input) rules.constant_input = true;
    if (space.options.forward) rules.forward = (*space.options.forward)[l - 1];
    if (space.options.backward) rules.backward = (*space.options.backward)[depth - l];
    // Late sums are of what a layer reads, and so are results; their gradients need what was summed.
    if (space.options.delay.value_or(0) > 0) {
        rules.forward = Order::sparse_first, rules.operand = Operand::product;
        rules.cachable = false;
    }
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

namespace {

std::vector<ConfigurationFrame> frames_on(const enumerate::Asked& question, const Distribution& on,
                                          const std::vector<bool>& factored) {
    std::vector<ConfigurationFrame> frames;
    for (const bool values : enumerate::factored_values(question, on, factored)) {
        for (const Switches& switches : enumerate::lowered_switches(question, on, values))
            frames.push_back({on, switches, question.model.trains()});
    }
    return frames;
}

// The fastest member of each grid on which other axes may be within nodes, the fastest grid first; `ends` are those of
// the frames of each grid.
std::vector<Member> fastest_of_grids(const enumerate::Asked& question, const Members& all,
                                     const std::vector<std::size_t>& ends) {
    std::vector<std::optional<Member>> fastest(ends.size());
    for (const Member& member : all.members) {
        const auto grid = std::upper_bound(ends.begin(), ends.end(), member.frame) - ends.begin();
        std::optional<Member>& of_grid = fastest[static_cast<std::size_t>(grid)];
        if (member.fits_buffer() && (!of_grid || member.seconds < of_grid->seconds)) of_grid = member;
    }
    std::vector<Member> found;
    for (const std::optional<Member>& of_grid : fastest) {
        if (!of_grid) continue;
        const ConfigurationFrame& frame = all.frames[of_grid->frame];
        if (!enumerate::on_other_node_axes(question, frame.on, frame.switches).empty()) found.push_back(*of_grid);
    }
    std::ranges::stable_sort(found, {}, &Member::seconds);
    return found;
}

// A grid, and the time of what is fastest there by the axis that is usually within nodes, or by another one.
struct PlacedGrid {
    double seconds = 0;
    ConfigurationFrame frame;
};

// The grids on which every axis is looked at, of those that are the fastest by the usual one. Which ranks request rows
// of which others is counted anew for each axis, so that of many ranks on a graph that is there nothing else tells
// grids apart.
std::vector<PlacedGrid> grids_to_place(const Space& space, const std::vector<std::size_t>& ends, FrameSearch& search,
                                       const Members& all) {
    constexpr std::size_t fastest = 6, placed = 2;
    constexpr int many_ranks = 128;
    const bool costly = space.graph->exact() && space.ranks > many_ranks;
    const enumerate::Asked question = asked(space);
    std::vector<PlacedGrid> grids;
    for (const Member& member : fastest_of_grids(question, all, ends)) {
        if (grids.size() == (costly ? placed : fastest)) break;
        PlacedGrid& grid = grids.emplace_back(PlacedGrid{member.seconds, all.frames[member.frame]});
        if (costly) continue;
        ConfigurationFrame other = grid.frame;
        for (const Switches& switches : enumerate::on_other_node_axes(question, other.on, grid.frame.switches)) {
            other.switches = switches;
            grid.seconds = std::min(grid.seconds, search.seconds_of_member(other, all.choices[member.choices]));
        }
    }
    std::ranges::stable_sort(grids, {}, &PlacedGrid::seconds);
    if (grids.size() > placed) grids.resize(placed);
    return grids;
}

}  // namespace

Members rank_members(const Space& space, const std::vector<Distribution>& grids, const Machine& machine,
                     NumberedGraphs& graphs, const std::vector<bool>& factored) {
    Members all;
    FrameSearch search(space, machine, graphs, all);
    const enumerate::Asked question = asked(space);
    std::vector<std::size_t> ends;  // of each grid's frames
    for (const Distribution& on : grids) {
        say_searching(space, on, ends.size() + 1, grids.size());
        for (const ConfigurationFrame& frame : frames_on(question, on, factored)) search.add(frame);
        ends.push_back(all.frames.size());
    }
    for (const PlacedGrid& grid : grids_to_place(space, ends, search, all)) {
        for (const ConfigurationFrame& frame : frames_on(question, grid.frame.on, factored)) {
            for (const Switches& placed : enumerate::on_other_node_axes(question, frame.on, frame.switches))
                search.add({frame.on, placed, frame.trains});
        }
    }
    // Equal times in the order of the lists, which is the same everywhere.
    std::stable_sort(all.members.begin(), all.members.end(),
                     [](const Member& a, const Member& b) { return a.seconds < b.seconds; });
    return all;
}

}  // namespace gnnplan::search
