#include "planner/search/alternatives.hpp"

#include "planner/enumerate/letters.hpp"
#include "planner/search/full_space.hpp"
#include "planner/search/other_orders.hpp"
#include "planner/search/paper_space.hpp"

#include <algorithm>
#include <utility>

namespace gnnplan::search {
namespace {

using letters::D;
using letters::S;

// The best of each other scheme, and of the chosen scheme on another grid, in the order in which the search ranked
// them. Where the input varies, of those that let it.
std::vector<Alternative> other_places(const std::vector<EvaluatedCandidate>& costed, const Configuration& chosen) {
    std::vector<Alternative> found;
    for (const EvaluatedCandidate& entry : costed) {
        const Configuration& c = entry.ranked.configuration;
        if (!entry.ranked.fits || (c.constant_input && !chosen.constant_input)) continue;
        if (c.on() == chosen.on()) continue;
        const std::string scheme = scheme_of(c.on());
        const Choice choice = scheme == scheme_of(chosen.on()) ? Choice{"grid"} : Choice{"scheme", scheme};
        const bool known =
            std::any_of(found.begin(), found.end(), [&](const Alternative& a) { return a.choice == choice; });
        if (!known) found.push_back({choice, false, c, entry.ranked.predicted});
    }
    return found;
}

// The chosen configuration with one switch otherwise, or without a choice of a layer that most have not.
std::vector<Changed> other_switches(const Space& space, const Configuration& chosen) {
    const enumerate::Asked question = asked(space);
    std::vector<Changed> changed;
    const auto add = [&](const Choice& choice, bool pinned, Configuration configuration) {
        configuration.bf16 = space.options.bf16;
        configuration.switches() = configuration.rounded_where_packed();
        changed.push_back({choice, pinned, std::move(configuration)});
    };
    for (const enumerate::SwitchRow* row : enumerate::switch_rows()) {
        if (row->others == nullptr) continue;
        for (const enumerate::OtherValue& other : row->others(question, chosen)) {
            Configuration configuration = chosen;
            configuration.switches() = other.switches;
            add({row->key, other.value}, row->pinned(space.options), std::move(configuration));
        }
    }
    for (const auto& [key, member] : {std::pair("replicated_input", &Configuration::replicated_input),
                                      std::pair("column_loss", &Configuration::column_loss)}) {
        if (!(chosen.*member)) continue;
        Configuration configuration = chosen;
        configuration.*member = false;
        add({key, "off"}, false, std::move(configuration));
    }
    return changed;
}

// 1D with the products in these forward orders and in the backward orders that automatic differentiation makes of them:
// of A (X W) it takes A G first, of (A X) W first G W^T, and the products that the weight gradient needs are left over.
// Whole panels, nothing overlapped, permuted or pruned; the input varies as in the chosen one.
Configuration differentiated(const Space& space, const Configuration& chosen, const Orders& forward) {
    const Grid grid{space.ranks, 1, 1};
    Orders backward;
    std::vector<enumerate::LayerChoice> choices;
    for (const Order order : forward) {
        const std::optional<OnlyOrders> only = space.model.product(static_cast<int>(choices.size()) + 1).only_orders();
        backward.insert(backward.begin(), order == S ? D : S);
        const Operand usual = order == S ? Operand::product : Operand::gradient;
        choices.push_back({order, backward.front(), only ? only->operand : usual});
    }
    if (space.options.space == SearchSpace::paper) {
        Space fixed = space;
        fixed.options = {};
        fixed.options.space = SearchSpace::paper;
        fixed.options.constant_input = chosen.constant_input;
        fixed.options.forward = forward;
        fixed.options.backward = backward;
        return list_paper_space(fixed, {Sharing::replicated, grid}).front().configuration;
    }
    if (!space.model.orders_backward(1)) choices.front().backward = Order::none;
    choices.front().constant_input = chosen.constant_input;
    // Sums of the features alone are made before training: both libraries' SIGN has them in its data.
    const bool in_data = space.model.of_features(space.model.products.front());
    choices.front().cached_aggregation = in_data && chosen.constant_input && space.model.trains();
    ConfigurationFrame frame{{Sharing::replicated, grid}};
    frame.switches = Pins().unsearched(grid.x);
    frame.trains = space.model.trains();
    return configuration_of(frame, choices);
}

// PyTorch Geometric's GCNConv transforms first, its SAGEConv and GINConv, which have a second weight, aggregate first;
// DGL's GraphConv and SAGEConv transform first where that makes rows narrower, its GINConv never does. Maxima are
// aggregated first by all of them, and attention is the second of its two operations. Both libraries' SGConv propagates
// first, and their APPNP propagates what linear maps have made.
std::vector<Changed> baselines(const Space& space, const Configuration& chosen) {
    const SiteGraph& model = space.model;
    Orders usual, narrower_first;
    for (int l = 1; l <= model.depth; ++l) {
        const std::optional<OnlyOrders> only = model.product(l).only_orders();
        const Site& product = model.product(l);
        const Order of_pyg = model.model == "gcn" || product.teleport > 0 ? D : S;
        const Order narrower = model.in_width(l) > model.out_width(l) ? D : S;
        usual.push_back(only ? only->forward : of_pyg);
        narrower_first.push_back(only ? only->forward : product.propagates() ? of_pyg : narrower);
    }
    if (space.batches) return {};  // an epoch of theirs is of the whole graph
    std::vector<Changed> found{{{"baseline", "pyg"}, false, differentiated(space, chosen, usual)}};
    if (narrower_first != usual && model.model != "gin") {
        found.push_back({{"baseline", "dgl"}, false, differentiated(space, chosen, narrower_first)});
    }
    return found;
}

}  // namespace

std::vector<Alternative> alternatives(const Space& space, const std::vector<EvaluatedCandidate>& costed,
                                      const Configuration& chosen, const Machine& machine, NumberedGraphs& graphs) {
    std::vector<Alternative> found = other_places(costed, chosen);
    for (const std::vector<Changed>& changed :
         {other_orders(space, chosen, machine, graphs), keeping_less(space, chosen, machine, graphs),
          other_switches(space, chosen), baselines(space, chosen)}) {
        for (const Changed& entry : changed) {
            if (space.options.progress)
                space.options.progress("looking at what choices are worth: " + text(entry.choice));
            const auto candidate = cost_if_bounded(space, entry.configuration, machine, graphs);
            if (candidate) found.push_back({entry.choice, entry.pinned, entry.configuration, candidate->predicted});
        }
    }
    for (Alternative& alternative : found) alternative.predicted.step_seconds.clear();
    return found;
}

}  // namespace gnnplan::search
