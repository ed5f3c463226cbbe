#include "planner/search/deep_network.hpp"

#include "planner/search/layer_terms.hpp"

#include <algorithm>

namespace gnnplan::search {
namespace {

using enumerate::LayerChoice;
using lower::Place;

// One of the fastest ways to reach a state: where it came from in the table of the layer before.
struct Partial {
    double seconds = 0;
    std::size_t state = 0;
    std::size_t rank = 0;
};

struct State {
    Place before = Place::r;
    LayerChoice choice;
    std::vector<Partial> ways;  // fastest first
};

// Adds the ways of a state of the layer before, fastest first, to those that are kept, of which equal ones stay in the
// order in which they came.
void add_fastest(std::vector<Partial>& kept, const std::vector<Partial>& ways, double term, std::size_t state) {
    for (std::size_t way = 0; way < ways.size(); ++way) {
        const double seconds = ways[way].seconds + term;
        const bool full = kept.size() == deep_members;
        if (full && seconds >= kept.back().seconds) return;
        if (full) kept.pop_back();
        const auto slower = std::upper_bound(kept.begin(), kept.end(), seconds,
                                             [](double s, const Partial& other) { return s < other.seconds; });
        kept.insert(slower, {seconds, state, way});
    }
}

// States of layer l + 1, reached from those of layer l.
std::vector<State> next_layer(const std::vector<State>& states, int l, const std::vector<LayerChoice>& choices,
                              std::size_t switches, LayerTerms& terms) {
    std::vector<State> reached;
    for (std::size_t s = 0; s < states.size(); ++s) {
        for (const LayerChoice& choice : choices) {
            const Place produced_in = terms.produced_in(l, states[s].choice, choice);
            auto target = std::find_if(reached.begin(), reached.end(), [&](const State& state) {
                return state.before == produced_in && state.choice == choice;
            });
            if (target == reached.end()) target = reached.insert(reached.end(), State{produced_in, choice, {}});
            const double term = terms.seconds(l, states[s].before, states[s].choice, &choice)[switches];
            add_fastest(target->ways, states[s].ways, term, s);
        }
    }
    return reached;
}

Choices trace(const std::vector<std::vector<State>>& table, std::size_t state, std::size_t way) {
    Choices choices;
    for (std::size_t l = table.size(); l > 0; --l) {
        const State& at = table[l - 1][state];
        choices.insert(choices.begin(), at.choice);
        const Partial& partial = at.ways[way];
        state = partial.state;
        way = partial.rank;
    }
    return choices;
}

// The fastest members under one of the switches whose input does as it is told: varies, or may do either.
std::vector<DeepMember> fastest_under(const Space& space, const ConfigurationFrame& frame, std::size_t switches,
                                      bool varying, LayerTerms& terms) {
    const int depth = space.model.depth;
    std::vector<std::vector<State>> table(1);
    for (const LayerChoice& choice : choices_of_layer(space, frame.on, 1, true)) {
        if (!varying || !choice.constant_input) table[0].push_back({Place::r, choice, {{0, 0, 0}}});
    }
    for (int l = 1; l < depth; ++l) {
        table.push_back(next_layer(table.back(), l, choices_of_layer(space, frame.on, l + 1, true), switches, terms));
    }
    std::vector<Partial> ends;
    for (std::size_t s = 0; s < table.back().size(); ++s) {
        const State& state = table.back()[s];
        const double term = terms.seconds(depth, state.before, state.choice, nullptr)[switches];
        add_fastest(ends, state.ways, term, s);
    }
    std::vector<DeepMember> members;
    members.reserve(ends.size());
    for (const Partial& end : ends) members.push_back({end.seconds, trace(table, end.state, end.rank)});
    return members;
}

}  // namespace

std::vector<std::vector<DeepMember>> fastest_of_deep(const Space& space, const ConfigurationFrame& frame,
                                                     const std::vector<Switches>& switches, const Machine& machine,
                                                     NumberedGraphs& graphs) {
    LayerTerms terms(space, frame, switches, machine, graphs);
    std::vector<std::vector<DeepMember>> members;
    for (std::size_t i = 0; i < switches.size(); ++i) {
        members.push_back(fastest_under(space, frame, i, false, terms));
        const bool some_vary = std::any_of(members.back().begin(), members.back().end(), [](const DeepMember& member) {
            return !member.choices.front().constant_input;
        });
        if (some_vary || space.options.constant_input) continue;
        for (DeepMember& member : fastest_under(space, frame, i, true, terms))
            members.back().push_back(std::move(member));
    }
    return members;
}

}  // namespace gnnplan::search
