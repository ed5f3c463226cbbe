#include "planner/search/other_orders.hpp"

#include "planner/enumerate/letters.hpp"
#include "planner/search/full_space.hpp"
#include "planner/search/paper_space.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace gnnplan::search {
namespace {

using letters::D;
using letters::S;

// Layers that change together.
std::vector<LayerRange> groups_of(int depth) {
    if (depth > max_single_layers) return {{1, 1}, {2, depth - 1}, {depth, depth}};
    std::vector<LayerRange> groups;
    for (int l = 1; l <= depth; ++l) groups.push_back({l, l});
    return groups;
}

// The seconds by which configurations are ranked that differ from the chosen one in their layers' choices only: each
// step is costed once.
class Epochs {
public:
    Epochs(const Space& space, const Machine& machine, NumberedGraphs& graphs)
        : space_(space), machine_(machine), graphs_(graphs) {}

    // Infinite where no cut keeps to the bound on buffers.
    double seconds(const Configuration& configuration) {
        const auto [schedule, needed_buffer] = lowered(space_, configuration, graphs_);
        if (needed_buffer > 0) return std::numeric_limits<double>::infinity();
        if (!costs_) costs_.emplace(schedule, graphs_.numbered(schedule.numbering), machine_);
        double seconds = 0;
        for (const Step& step : schedule.steps) {
            if (const double weight = space_.weight_of(step); weight > 0)
                seconds += weight * costs_->seconds(schedule, step.operation);
        }
        return seconds;
    }

    // The fastest of the configurations; nothing when there is none.
    std::optional<Configuration> fastest(std::vector<Configuration> configurations) {
        std::optional<Configuration> best;
        double best_seconds = 0;
        for (Configuration& configuration : configurations) {
            const double epoch = seconds(configuration);
            if (!std::isfinite(epoch) || (best && epoch >= best_seconds)) continue;
            best = std::move(configuration);
            best_seconds = epoch;
        }
        return best;
    }

private:
    const Space& space_;
    const Machine& machine_;
    NumberedGraphs& graphs_;
    std::optional<StepCosts> costs_;
};

// The configurations with one choice for every layer of the group, out of those that are allowed there.
std::vector<Configuration> with_choice(const Space& space, const Configuration& chosen, const LayerRange& group,
                                       const std::function<bool(const enumerate::LayerChoice&)>& allowed) {
    std::vector<Configuration> configurations;
    for (const auto& choice : choices_of_layer(space, chosen.on(), group.first, true)) {
        // Features that vary stay so: what needs a constant input answers another question.
        if (!allowed(choice) || (choice.constant_input && !chosen.constant_input)) continue;
        std::vector<enumerate::LayerChoice> choices = enumerate::choices_of(chosen);
        for (int l = group.first; l <= group.last; ++l) choices[static_cast<std::size_t>(l - 1)] = choice;
        configurations.push_back(chosen);
        enumerate::apply(choices, configurations.back());
        configurations.back().ring = chosen.ring && asked(space).rings(space.model, configurations.back());
    }
    return configurations;
}

// A pass of the chosen configuration, and what may be pinned of it.
struct Pass {
    const char* name;
    Orders Configuration::*orders;
    std::optional<Orders> SelectOptions::*pin;
    bool backward;
};
constexpr Pass passes[] = {{"forward", &Configuration::forward, &SelectOptions::forward, false},
                           {"backward", &Configuration::backward, &SelectOptions::backward, true}};

std::size_t place_in(const Pass& pass, int layer, int depth) {
    return static_cast<std::size_t>(pass.backward ? depth - layer : layer - 1);
}

// Whether a pass has an order in the group that is not `order`. Layer 1 of the full space has no backward products.
bool differs(const Configuration& chosen, const Pass& pass, const LayerRange& group, Order order) {
    const int depth = static_cast<int>(chosen.forward.size());
    if ((chosen.*pass.orders).empty()) return false;
    for (int l = group.first; l <= group.last; ++l) {
        const Order now = (chosen.*pass.orders)[place_in(pass, l, depth)];
        if (now != order && now != Order::none) return true;
    }
    return false;
}

// In the full space the layer's other pass, its weight gradient and its input follow as is best, unless pinned.
std::vector<Configuration> reordered(const Space& space, const Configuration& chosen, const Pass& pass,
                                     const LayerRange& group, Order order) {
    Space free = space;
    (free.options.*pass.pin).reset();
    return with_choice(free, chosen, group, [&](const enumerate::LayerChoice& choice) {
        return (pass.backward ? choice.backward : choice.forward) == order;
    });
}

// In the paper space the other pass's order of the layer may follow, and what is kept follows by the paper's rule.
std::vector<Configuration> reordered_in_paper(const Space& space, const Configuration& chosen, const Pass& pass,
                                              const LayerRange& group, Order order) {
    const Pass& other = passes[pass.backward ? 0 : 1];
    const int depth = static_cast<int>(chosen.forward.size());
    std::vector<Configuration> configurations;
    for (const Order follows : {S, D}) {
        Configuration changed = chosen;
        for (int l = group.first; l <= group.last; ++l) {
            (changed.*pass.orders)[place_in(pass, l, depth)] = order;
            if (!(space.options.*other.pin)) (changed.*other.orders)[place_in(other, l, depth)] = follows;
        }
        Space fixed = space;
        fixed.options.forward = changed.forward;
        fixed.options.backward = changed.backward;
        configurations.push_back(list_paper_space(fixed, chosen.on()).front().configuration);
    }
    return configurations;
}

bool same_products(const Configuration& a, const Configuration& b) {
    return a.forward == b.forward && a.backward == b.backward && a.operands == b.operands;
}

// The same orders, every weight gradient from H^(l-1) and A G^l, which is made again where the backward pass leaves
// none. Products of one order keep what their gradient needs.
Configuration keeping_nothing(const SiteGraph& model, const Configuration& chosen) {
    std::vector<enumerate::LayerChoice> choices = enumerate::choices_of(chosen);
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const bool kept = choices[i].forward == S && model.product(static_cast<int>(i) + 1).reorderable();
        if (kept) choices[i].operand = Operand::gradient;
    }
    choices.front().cached_aggregation = false;
    if (choices.front().forward == S) choices.front().replicated_input = false;
    Configuration changed = chosen;
    enumerate::apply(choices, changed);
    return changed;
}

}  // namespace

std::vector<Changed> other_orders(const Space& space, const Configuration& chosen, const Machine& machine,
                                  NumberedGraphs& graphs) {
    const bool paper = space.options.space == SearchSpace::paper;
    Epochs epochs(space, machine, graphs);
    std::vector<Changed> changed;
    if (space.depth() > max_varied_layers) return changed;
    for (const LayerRange& group : groups_of(space.model.depth)) {
        const std::size_t of_other_layers = changed.size();
        for (const Pass& pass : passes) {
            for (const Order order : {S, D}) {
                if (!differs(chosen, pass, group, order)) continue;
                const auto best = epochs.fastest(paper ? reordered_in_paper(space, chosen, pass, group, order)
                                                       : reordered(space, chosen, pass, group, order));
                if (!best) continue;
                // Where both passes change together it is said once, as a change of the forward pass.
                const bool known =
                    std::any_of(changed.begin() + static_cast<std::ptrdiff_t>(of_other_layers), changed.end(),
                                [&](const Changed& entry) { return same_products(entry.configuration, *best); });
                if (known) continue;
                changed.push_back(
                    {{pass.name, text(Orders{order}), group}, (space.options.*pass.pin).has_value(), *best});
            }
        }
    }
    return changed;
}

std::vector<Changed> keeping_less(const Space& space, const Configuration& chosen, const Machine& machine,
                                  NumberedGraphs& graphs) {
    std::vector<Changed> changed;
    if (space.options.space == SearchSpace::paper) return changed;
    if (chosen.cached_aggregation) {
        Epochs epochs(space, machine, graphs);
        const auto best = epochs.fastest(with_choice(
            space, chosen, {1, 1}, [](const enumerate::LayerChoice& choice) { return !choice.cached_aggregation; }));
        if (best) changed.push_back({{"cached_aggregation", "off"}, false, *best});
    }
    const std::size_t across_epochs = chosen.cached_aggregation ? 1 : 0;
    const bool deep = space.depth() > max_varied_layers;
    if (deep || kept_products(chosen).size() <= across_epochs) return changed;
    const Configuration nothing = keeping_nothing(space.model, chosen);
    if (!same_products(nothing, chosen)) changed.push_back({{"kept", "nothing"}, false, nothing});
    return changed;
}

}  // namespace gnnplan::search
