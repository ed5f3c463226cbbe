#include "planner/search/deep_network.hpp"

#include "planner/lower/rules.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace gnnplan::search {
namespace {

using enumerate::LayerChoice;
using lower::Place;

// Choices as numbers, to look terms up by.
std::uint64_t code(const LayerChoice& c) {
    std::uint64_t bits = c.forward == Order::sparse_first ? 1 : 0;
    bits = 4 * bits + (c.backward == Order::sparse_first ? 1 : c.backward == Order::dense_first ? 2 : 3);
    for (const bool flag :
         {c.operand == Operand::product, c.constant_input, c.cached_aggregation, c.replicated_input, c.column_loss}) {
        bits = 2 * bits + (flag ? 1 : 0);
    }
    return bits;
}

// Terms of the sum: the time of layer l's steps, under each of the switches.
class Terms {
public:
    Terms(const Space& space, const Frame& frame, const std::vector<Switches>& switches, const Machine& machine,
          Views& views)
        : space_(space),
          frame_(frame),
          switches_(switches),
          machine_(machine),
          views_(views),
          depth_(space.model.depth) {
        std::map<std::vector<std::int64_t>, std::size_t> shapes;
        for (int l = 1; l <= depth_; ++l)
            shape_of_.push_back(shapes.try_emplace(shape(l), shapes.size()).first->second);
        known_.resize(shapes.size() * lower::places.size());
    }

    // Where choice `c` of layer `l` leaves H^l.
    Place born(int l, const LayerChoice& c) {
        const std::uint64_t key = 2 * code(c) + (l == 1 ? 1 : 0);
        const auto known = born_.find(key);
        if (known != born_.end()) return known->second;
        Choices choices(static_cast<std::size_t>(depth_), LayerChoice{});
        choices[static_cast<std::size_t>(l - 1)] = c;
        const Configuration configuration = configuration_of(frame_, choices);
        return born_[key] = lower::Rules(space_.model, configuration).activation_born(l);
    }

    // One time for each of the switches. H^(l-1) is born at `before`; `next` is layer l + 1's choice, null for the last
    // layer.
    const std::vector<double>& seconds(int l, Place before, const LayerChoice& c, const LayerChoice* next) {
        const std::size_t shape = shape_of_[static_cast<std::size_t>(l - 1)];
        auto& known = known_[shape * lower::places.size() + static_cast<std::size_t>(before)];
        const std::uint64_t key = (code(c) << 16U) + (next != nullptr ? code(*next) + 1 : 0);
        const auto found = known.find(key);
        if (found != known.end()) return found->second;
        return known.emplace(key, lowered(l, before, c, next)).first->second;
    }

private:
    int first(int l) const { return std::max(1, l - 1); }
    int last(int l) const { return std::min(depth_, l + 1); }

    // Layers of the same shape between layers of the same shapes have the same terms.
    std::vector<std::int64_t> shape(int l) const {
        std::vector<std::int64_t> shape{l == 1 ? 1 : 0, l == depth_ ? 1 : 0, last(l) == depth_ ? 1 : 0};
        for (const Site& site : window(space_.model, first(l), last(l)).sites) {
            shape.insert(shape.end(), {static_cast<std::int64_t>(site.kind), site.width, site.parameter < 0 ? 0 : 1,
                                       site.relu ? 1 : 0, site.dropout});
        }
        for (int i = first(l); frame_.loss_rows && i <= last(l); ++i)
            shape.push_back(space_.shape.loss_rows[static_cast<std::size_t>(i)]);
        return shape;
    }

    std::vector<double> lowered(int l, Place before, const LayerChoice& c, const LayerChoice* next) {
        const SiteGraph layers = window(space_.model, first(l), last(l));
        Choices choices;
        if (l > 1) {
            // Any choice that leaves H^(l-1) where it is said to be.
            LayerChoice previous;
            previous.forward = before == Place::r ? Order::sparse_first : Order::dense_first;
            choices.push_back(previous);
        }
        choices.push_back(c);
        if (next != nullptr) choices.push_back(*next);
        lower::GraphShape shape = space_.shape;
        if (frame_.loss_rows) {
            const auto rows = space_.shape.loss_rows.begin() + (first(l) - 1);
            shape.loss_rows.assign(rows, space_.shape.loss_rows.begin() + last(l) + 1);
        }
        Schedule schedule = lower::lower(layers, configuration_of(frame_, choices), shape);
        schedule.numbering.loss_layers = frame_.loss_rows ? depth_ : 0;
        if (!costs_) costs_.emplace(sample(), views_.numbered(schedule.numbering), machine_);
        const int position = l - first(l) + 1;
        std::vector<double> seconds(switches_.size(), 0);
        for (const Step& step : schedule.steps) {
            if (step.phase != Phase::epoch || step.origin.layer != position) continue;
            for (std::size_t i = 0; i < switches_.size(); ++i) {
                seconds[i] += costs_->seconds(schedule, step.operation, switches_[i]);
            }
        }
        return seconds;
    }

    // A schedule with every width and row count of the network.
    Schedule sample() const {
        Choices choices(static_cast<std::size_t>(depth_), LayerChoice{});
        for (std::size_t l = 1; l < choices.size(); ++l) choices[l].backward = Order::sparse_first;
        return lower::lower(space_.model, configuration_of(frame_, choices), space_.shape);
    }

    const Space& space_;
    const Frame& frame_;
    const std::vector<Switches>& switches_;
    const Machine& machine_;
    Views& views_;
    int depth_;
    std::vector<std::size_t> shape_of_;                                          // per layer
    std::vector<std::unordered_map<std::uint64_t, std::vector<double>>> known_;  // per shape and place
    std::unordered_map<std::uint64_t, Place> born_;
    std::optional<StepCosts> costs_;
};

// One of the fastest ways to reach a state: where it came from in the table of the layer before.
struct Partial {
    double seconds = 0;
    std::size_t state = 0;
    std::size_t rank = 0;
};

struct State {
    Place before = Place::r;
    LayerChoice choice;
    std::vector<Partial> ways;  // fastest first once the layer is complete
};

void keep_fastest(std::vector<Partial>& ways) {
    std::stable_sort(ways.begin(), ways.end(),
                     [](const Partial& a, const Partial& b) { return a.seconds < b.seconds; });
    if (ways.size() > deep_members) ways.resize(deep_members);
}

// States of layer l + 1, reached from those of layer l.
std::vector<State> next_layer(const std::vector<State>& states, int l, const std::vector<LayerChoice>& choices,
                              std::size_t switches, Terms& terms) {
    std::vector<State> reached;
    for (std::size_t s = 0; s < states.size(); ++s) {
        const Place born = terms.born(l, states[s].choice);
        for (const LayerChoice& choice : choices) {
            auto target = std::find_if(reached.begin(), reached.end(), [&](const State& state) {
                return state.before == born && state.choice == choice;
            });
            if (target == reached.end()) target = reached.insert(reached.end(), State{born, choice, {}});
            const double term = terms.seconds(l, states[s].before, states[s].choice, &choice)[switches];
            for (std::size_t way = 0; way < states[s].ways.size(); ++way) {
                target->ways.push_back({states[s].ways[way].seconds + term, s, way});
            }
        }
    }
    for (State& state : reached) keep_fastest(state.ways);
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
std::vector<DeepMember> fastest_under(const Space& space, const Frame& frame, std::size_t switches, bool varying,
                                      Terms& terms) {
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
        for (std::size_t way = 0; way < state.ways.size(); ++way)
            ends.push_back({state.ways[way].seconds + term, s, way});
    }
    keep_fastest(ends);
    std::vector<DeepMember> members;
    members.reserve(ends.size());
    for (const Partial& end : ends) members.push_back({end.seconds, trace(table, end.state, end.rank)});
    return members;
}

}  // namespace

std::vector<std::vector<DeepMember>> fastest_of_deep(const Space& space, const Frame& frame,
                                                     const std::vector<Switches>& switches, const Machine& machine,
                                                     Views& views) {
    Terms terms(space, frame, switches, machine, views);
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
