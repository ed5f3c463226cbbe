#include "planner/search/deep_network.hpp"

#include "planner/lower/rules.hpp"
#include "planner/search/widthless_steps.hpp"

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

// What of a site, besides its width, decides which steps it has.
std::uint64_t code(const Site& site) {
    return 16 * static_cast<std::uint64_t>(site.kind) + (site.dropout > 0 ? 1U : 0U) + (site.parameter >= 0 ? 2U : 0U) +
           (site.relu ? 4U : 0U) + (site.addend >= 0 ? 8U : 0U);
}

// Terms of the sum: the time of layer l's steps, under each of the switches.
class Terms {
public:
    Terms(const Space& space, const ConfigurationFrame& frame, const std::vector<ExchangeOptions>& switches,
          const Machine& machine, NumberedGraphs& graphs)
        : space_(space),
          frame_(frame),
          switches_(switches),
          machine_(machine),
          graphs_(graphs),
          depth_(space.model.depth) {
        std::map<std::vector<std::int64_t>, std::size_t> shapes, kinds;
        for (int l = 1; l <= depth_; ++l) {
            const SiteGraph layers = layers_around(l);
            shape_of_.push_back(shapes.try_emplace(shape(l, layers), shapes.size()).first->second);
            kind_of_.push_back(kinds.try_emplace(kinds_around(l, layers), kinds.size()).first->second);
        }
        known_.resize(shapes.size() * lower::places.size());
        step_seconds_.resize(static_cast<std::size_t>(depth_));
        panels_ = panels_of_all();
    }

    // Where choice `c` of layer `l` leaves H^l.
    Place produced_in(int l, const LayerChoice& c) {
        const std::uint64_t key = 2 * code(c) + (l == 1 ? 1 : 0);
        const auto known = born_.find(key);
        if (known != born_.end()) return known->second;
        Choices choices(static_cast<std::size_t>(depth_), LayerChoice{});
        choices[static_cast<std::size_t>(l - 1)] = c;
        const Configuration configuration = configuration_of(frame_, choices);
        return born_[key] = lower::Rules(space_.model, configuration).made_in(space_.model.result(l));
    }

    // One time for each of the switches, valid until the next call. H^(l-1) is produced at `before`; `next` is layer l +
    // 1's choice, null for the last layer.
    const double* seconds(int l, Place before, const LayerChoice& c, const LayerChoice* next) {
        const std::size_t shape = shape_of_[static_cast<std::size_t>(l - 1)];
        auto& known = known_[shape * lower::places.size() + static_cast<std::size_t>(before)];
        const auto [entry, is_new] = known.try_emplace(neighbours(c, next), terms_.size());
        if (is_new) {
            terms_.resize(terms_.size() + switches_.size(), 0);
            add_steps(l, before, c, next, &terms_[entry->second]);
        }
        return &terms_[entry->second];
    }

private:
    int first(int l) const { return std::max(1, l - 1); }
    int last(int l) const { return std::min(depth_, l + 1); }

    // Layers of the same shape between layers of the same shapes have the same terms.
    std::vector<std::int64_t> shape(int l, const SiteGraph& layers) const {
        std::vector<std::int64_t> shape{l == 1 ? 1 : 0, l == depth_ ? 1 : 0, last(l) == depth_ ? 1 : 0};
        for (const Site& site : layers.sites) {
            shape.insert(shape.end(), {static_cast<std::int64_t>(code(site)), site.width});
        }
        for (int i = first(l); frame_.loss_rows && i <= last(l); ++i)
            shape.push_back(space_.shape.loss_rows[static_cast<std::size_t>(i)]);
        return shape;
    }

    static std::uint64_t neighbours(const LayerChoice& c, const LayerChoice* next) {
        return (code(c) << 16U) + (next != nullptr ? code(*next) + 1 : 0);
    }

    // Adds the time of layer l's steps under each of the switches.
    void add_steps(int l, Place before, const LayerChoice& c, const LayerChoice* next, double* seconds) {
        if (!costs_) {
            const Schedule schedule = sample();
            costs_.emplace(schedule, graphs_.numbered(schedule.numbering), machine_);
        }
        if (panels_) {
            for (const WidthlessSteps::StepId step : steps_of(l, before, c, next)) {
                const double* each = step_seconds(step, l);
                for (std::size_t i = 0; i < switches_.size(); ++i) seconds[i] += each[i];
            }
            return;
        }
        const Schedule schedule = lowered_between(l, before, c, next, layers_around(l));
        for (const Step& step : schedule.steps) {
            if (step.phase != Phase::epoch || step.origin.layer != position(l)) continue;
            for (std::size_t i = 0; i < switches_.size(); ++i) {
                seconds[i] += costs_->seconds(schedule, step.operation, switches_[i]);
            }
        }
    }

    // The steps of layer l between its neighbours, whatever the widths: lowered once for layers that are of one kind.
    const std::vector<WidthlessSteps::StepId>& steps_of(int l, Place before, const LayerChoice& c,
                                                        const LayerChoice* next) {
        const std::size_t place =
            kind_of_[static_cast<std::size_t>(l - 1)] * lower::places.size() + static_cast<std::size_t>(before);
        const auto [entry, is_new] = steps_of_.try_emplace((place << 32U) + neighbours(c, next));
        if (is_new) {
            const SiteGraph layers = layers_around(l);
            std::vector<std::int64_t> widths;
            for (int i = 0; i <= layers.depth; ++i) widths.push_back(stand_in(static_cast<std::size_t>(i)));
            Schedule schedule = lowered_between(l, before, c, next, with_widths(layers, widths));
            for (Tensor& tensor : schedule.tensors) {
                if (tensor.role == Role::adjacency) tensor.storage.panel_columns = *panels_;
            }
            entry->second = widthless_.add(std::move(schedule), position(l));
        }
        return entry->second;
    }

    // A step's time in layer l under each of the switches.
    const double* step_seconds(WidthlessSteps::StepId step, int l) {
        constexpr double unknown = -1;
        std::vector<double>& of_layer = step_seconds_[static_cast<std::size_t>(l - 1)];
        of_layer.resize(widthless_.size() * switches_.size(), unknown);
        double* seconds = &of_layer[step * switches_.size()];
        if (*seconds == unknown) {
            const auto begin = space_.widths.begin() + (first(l) - 1);
            const std::vector<std::int64_t> widths(begin, space_.widths.begin() + last(l) + 1);
            const std::vector<double> each = widthless_.seconds(step, widths, *costs_, switches_);
            std::copy(each.begin(), each.end(), seconds);
        }
        return seconds;
    }

    // What of layer l and its neighbours decides which steps there are.
    std::vector<std::int64_t> kinds_around(int l, const SiteGraph& layers) const {
        std::vector<std::int64_t> kinds{l == 1 ? 1 : 0, last(l) == depth_ ? 1 : 0};
        for (const Site& site : layers.sites) kinds.push_back(static_cast<std::int64_t>(code(site)));
        return kinds;
    }

    SiteGraph layers_around(int l) const { return window(space_.model, first(l), last(l)); }
    int position(int l) const { return l - first(l) + 1; }

    // Any choice of the first of `layers` that leaves its result where it is said to be.
    LayerChoice previous_leaving(Place before, const SiteGraph& layers) const {
        LayerChoice previous;
        for (const bool replicated : {false, true}) {
            for (const Order forward : {Order::sparse_first, Order::dense_first}) {
                previous.forward = forward;
                previous.replicated_input = replicated;
                const Choices choices(static_cast<std::size_t>(layers.depth), previous);
                const Configuration configuration = configuration_of(frame_, choices);
                if (lower::Rules(layers, configuration).made_in(layers.result(1)) == before) return previous;
            }
        }
        return previous;
    }

    // The schedule of layer l between its neighbours alone.
    Schedule lowered_between(int l, Place before, const LayerChoice& c, const LayerChoice* next,
                             const SiteGraph& layers) const {
        Choices choices;
        if (l > 1) {
            choices.push_back(previous_leaving(before, layers));
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
        return schedule;
    }

    // How wide source panels are where that is the same for all widths between the network's narrowest and its widest;
    // nothing where rows differ between layers.
    std::optional<std::int64_t> panels_of_all() const {
        if (frame_.loss_rows) return std::nullopt;
        const auto panels = [&](std::int64_t width) {
            SiteGraph layers = layers_around(1);
            layers = with_widths(layers, std::vector<std::int64_t>(static_cast<std::size_t>(layers.depth) + 1, width));
            Choices choices(static_cast<std::size_t>(layers.depth), LayerChoice{});
            choices.back().backward = Order::sparse_first;
            const Schedule schedule = lower::lower(layers, configuration_of(frame_, choices), space_.shape);
            const auto matrix = std::find_if(schedule.tensors.begin(), schedule.tensors.end(),
                                             [](const Tensor& tensor) { return tensor.role == Role::adjacency; });
            return matrix->storage.panel_columns;
        };
        const auto [narrowest, widest] = std::minmax_element(space_.widths.begin(), space_.widths.end());
        const std::int64_t of_narrowest = panels(*narrowest);
        return of_narrowest == panels(*widest) ? std::optional(of_narrowest) : std::nullopt;
    }

    // A schedule with every width and row count of the network.
    Schedule sample() const {
        Choices choices(static_cast<std::size_t>(depth_), LayerChoice{});
        for (std::size_t l = 1; l < choices.size(); ++l) choices[l].backward = Order::sparse_first;
        return lower::lower(space_.model, configuration_of(frame_, choices), space_.shape);
    }

    const Space& space_;
    const ConfigurationFrame& frame_;
    const std::vector<ExchangeOptions>& switches_;
    const Machine& machine_;
    NumberedGraphs& graphs_;
    int depth_;
    std::vector<std::size_t> shape_of_, kind_of_;                        // per layer
    std::vector<std::unordered_map<std::uint64_t, std::size_t>> known_;  // per shape and place: where its term is
    std::vector<double> terms_;                                          // one after the other, by switches
    std::unordered_map<std::uint64_t, Place> born_;
    std::optional<StepCosts> costs_;
    std::optional<std::int64_t> panels_;  // see panels_of_all
    WidthlessSteps widthless_;
    std::unordered_map<std::uint64_t, std::vector<WidthlessSteps::StepId>> steps_of_;  // by kind, place and choices
    std::vector<std::vector<double>> step_seconds_;  // per layer: by step and switches
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
                              std::size_t switches, Terms& terms) {
    std::vector<State> reached;
    for (std::size_t s = 0; s < states.size(); ++s) {
        const Place produced_in = terms.produced_in(l, states[s].choice);
        for (const LayerChoice& choice : choices) {
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
                                      bool varying, Terms& terms) {
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
                                                     const std::vector<ExchangeOptions>& switches,
                                                     const Machine& machine, NumberedGraphs& graphs) {
    Terms terms(space, frame, switches, machine, graphs);
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
