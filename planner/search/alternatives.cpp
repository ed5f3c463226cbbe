#include "planner/search/alternatives.hpp"

#include "planner/enumerate/letters.hpp"
#include "planner/lower/rules.hpp"
#include "planner/search/full_space.hpp"
#include "planner/search/other_orders.hpp"
#include "planner/search/paper_space.hpp"

#include <algorithm>

namespace gnnplan::search {
namespace {

using namespace letters;

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

// Panels are packed in bfloat16 where that was asked for, and where the exchange and the overlap allow it.
Configuration rounded(Configuration configuration, const SelectOptions& options) {
    configuration.bf16 = options.bf16 && packs_panels(configuration.exchange, configuration.overlap);
    return configuration;
}

// The chosen configuration with one switch the other way.
class Switched {
public:
    Switched(const Space& space, const Configuration& chosen)
        : options_(space.options),
          model_(space.model),
          chosen_(chosen),
          compares_(space.compares()),
          may_store_(space.may_store_scores()),
          reads_values_(space.reads_values()) {}

    std::vector<Changed> all() {
        const Grid& grid = chosen_.grid;
        const bool panels = chosen_.exchange == Exchange::panels;
        if (grid.x > 1) {
            add({"exchange", panels ? "rows" : "panels"}, options_.exchange.has_value(),
                [&](Configuration& c) { c.exchange = panels ? Exchange::rows : Exchange::panels; });
        }
        if (chosen_.on().can_overlap()) {
            add({"overlap", chosen_.overlap ? "off" : "on"}, options_.overlap.has_value(),
                [](Configuration& c) { c.overlap = !c.overlap; });
        }
        off("permutation", chosen_.permutation, options_.permutation.has_value(),
            [](Configuration& c) { c.permutation = false; });
        off("parts", chosen_.parts > 1, options_.partition, [](Configuration& c) { c.parts = 0; });
        off("loss_rows", chosen_.loss_rows, options_.loss_rows.has_value(),
            [](Configuration& c) { c.loss_rows = false; });
        off("factored_values", chosen_.factored_values && reads_values_, options_.factored_values.has_value(),
            [](Configuration& c) { c.factored_values = false; });
        other_scores("columns", Scores::columns);
        other_scores("whole_rows", Scores::whole_rows);
        other_scores("dealt_rows", Scores::dealt_rows);
        other_attention();
        Configuration rung = chosen_;
        rung.ring = true;
        if (chosen_.ring || may_ring(rung)) {
            add({"ring", chosen_.ring ? "off" : "on"}, options_.ring.has_value(),
                [](Configuration& c) { c.ring = !c.ring; });
        }
        off("replicated_input", chosen_.replicated_input, false, [](Configuration& c) { c.replicated_input = false; });
        off("column_loss", chosen_.column_loss, false, [](Configuration& c) { c.column_loss = false; });
        return std::move(changed_);
    }

private:
    bool may_ring(const Configuration& configuration) const {
        return !model_.trains() && configuration.on().splits_columns() &&
               lower::Rules(model_, configuration).any_rings();
    }
    template <class Change>
    void add(const Choice& choice, bool pinned, const Change& change) {
        Configuration configuration = chosen_;
        change(configuration);
        changed_.push_back({choice, pinned, rounded(std::move(configuration), options_)});
    }
    void other_scores(const char* value, Scores scores) {
        if (compares_ && chosen_.on().splits_columns() && chosen_.scores != scores)
            add({"scores", value}, options_.scores.has_value(), [&](Configuration& c) { c.scores = scores; });
    }
    void other_attention() {
        if (!may_store_ || chosen_.on().sends_nonzeros()) return;
        const bool stores = chosen_.attention == AttentionScores::stored;
        add({"attention", stores ? "recompute" : "stored"}, options_.attention.has_value(),
            [&](Configuration& c) { c.attention = stores ? AttentionScores::recompute : AttentionScores::stored; });
    }
    template <class Change>
    void off(const char* key, bool on, bool pinned, const Change& change) {
        if (on) add({key, "off"}, pinned, change);
    }

    const SelectOptions& options_;
    const SiteGraph& model_;
    const Configuration& chosen_;
    bool compares_;      // rows, for scores of edges
    bool may_store_;     // scores of attention
    bool reads_values_;  // of nonzeros
    std::vector<Changed> changed_;
};

// 1D with the products in these forward orders and in the backward orders that automatic differentiation makes of them:
// of A (X W) it takes A G first, of (A X) W first G W^T, and the products that the weight gradient needs are left over.
// Whole panels, nothing overlapped, permuted or pruned; the input varies as in the chosen one.
Configuration differentiated(const Space& space, const Configuration& chosen, const Orders& forward) {
    const Grid grid{space.ranks, 1, 1};
    const Exchange exchange = grid.x > 1 ? Exchange::panels : Exchange::none;
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
    choices.front().backward = Order::none;
    choices.front().constant_input = chosen.constant_input;
    ConfigurationFrame frame{{Sharing::replicated, grid}};
    frame.switches.exchange = exchange;
    frame.trains = space.model.trains();
    return configuration_of(frame, choices);
}

// PyTorch Geometric's GCNConv transforms first, its SAGEConv and GINConv, which have a second weight, aggregate first;
// DGL's GraphConv and SAGEConv transform first where that makes rows narrower, its GINConv never does. Maxima are
// aggregated first by all of them, and attention is the second of its two operations.
std::vector<Changed> baselines(const Space& space, const Configuration& chosen) {
    const SiteGraph& model = space.model;
    Orders usual, narrower_first;
    for (int l = 1; l <= model.depth; ++l) {
        const std::optional<OnlyOrders> only = model.product(l).only_orders();
        usual.push_back(only ? only->forward : model.model == "gcn" ? D : S);
        narrower_first.push_back(only ? only->forward : model.in_width(l) > model.out_width(l) ? D : S);
    }
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
          Switched(space, chosen).all(), baselines(space, chosen)}) {
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
