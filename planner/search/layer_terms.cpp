#include "planner/search/layer_terms.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <limits>
#include <map>

namespace gnnplan::search {

using enumerate::LayerChoice;
using lower::Place;

namespace {

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

// Key of all properties (except width) that change which steps a site lowers to.
std::uint64_t code(const Site& site) {
    std::uint64_t bits = 4 * static_cast<std::uint64_t>(site.kind) + static_cast<std::uint64_t>(site.activation);
    bits = 4 * bits + static_cast<std::uint64_t>(site.layer - site.rows_of + 1);
    bits = 4 * bits + static_cast<std::uint64_t>(site.reduce);
    bits = (max_hops + 1) * bits + static_cast<std::uint64_t>(site.hops);
    for (const bool flag : {site.dropout > 0, site.parameter >= 0, site.addend >= 0, site.heads.average,
                            site.adds_self(), site.self_parameter >= 0, site.beta >= 0, site.columns_of >= 0,
                            site.over_rows(), site.teleport > 0, site.initial >= 0, site.share != 1}) {
        bits = 2 * bits + (flag ? 1 : 0);
    }
    return bits;
}

// A choice that layer `l` has.
LayerChoice some_choice(const SiteGraph& model, int l) {
    const OnlyOrders orders =
        model.product(l).only_orders().value_or(OnlyOrders{Order::sparse_first, Order::sparse_first, Operand::product});
    return {orders.forward, model.orders_backward(l) ? orders.backward : Order::none, orders.operand};
}

}  // namespace

LayerTerms::LayerTerms(const Space& space, const ConfigurationFrame& frame, const std::vector<Switches>& switches,
                       const Machine& machine, NumberedGraphs& graphs)
    : space_(space), frame_(frame), switches_(switches), machine_(machine), graphs_(graphs), depth_(space.model.depth) {
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

Place LayerTerms::produced_in(int l, const LayerChoice& c, const LayerChoice& next) {
    const std::uint64_t key = 2 * neighbours(c, &next) + (l == 1 ? 1 : 0);
    const auto known = produced_in_.find(key);
    if (known != produced_in_.end()) return known->second;
    Choices choices(static_cast<std::size_t>(depth_), LayerChoice{});
    choices[static_cast<std::size_t>(l - 1)] = c;
    choices[static_cast<std::size_t>(l)] = next;
    const Configuration configuration = configuration_of(frame_, choices);
    return produced_in_[key] = lower::Rules(space_.model, configuration).made_in(space_.model.result(l));
}

const double* LayerTerms::seconds(int l, Place before, const LayerChoice& c, const LayerChoice* next) {
    const std::size_t shape = shape_of_[static_cast<std::size_t>(l - 1)];
    auto& known = known_[shape * lower::places.size() + static_cast<std::size_t>(before)];
    const auto [entry, is_new] = known.try_emplace(neighbours(c, next), terms_.size());
    if (is_new) {
        terms_.resize(terms_.size() + switches_.size(), 0);
        add_steps(l, before, c, next, &terms_[entry->second]);
    }
    return &terms_[entry->second];
}

std::vector<std::int64_t> LayerTerms::shape(int l, const SiteGraph& layers) const {
    std::vector<std::int64_t> shape{l == 1 ? 1 : 0, l == depth_ ? 1 : 0, last(l) == depth_ ? 1 : 0};
    for (const Site& site : layers.sites)
        shape.insert(shape.end(), {static_cast<std::int64_t>(code(site)), site.width, site.heads.count});
    // Each layer that draws has edges of its own.
    for (int i = first(l); !space_.shape.samples.empty() && i <= last(l); ++i) shape.push_back(i);
    if (frame_.switches.loss_rows) {
        const std::vector<std::int64_t> rows = loss_rows_around(l);
        shape.insert(shape.end(), rows.begin() + 1, rows.end());
    }
    return shape;
}

std::vector<std::int64_t> LayerTerms::loss_rows_around(int l) const {
    const auto rows = space_.shape.loss_rows.begin();
    return {rows + space_.model.hops_through(first(l) - 1), rows + space_.model.hops_through(last(l)) + 1};
}

std::uint64_t LayerTerms::neighbours(const LayerChoice& c, const LayerChoice* next) {
    return (code(c) << 16U) + (next != nullptr ? code(*next) + 1 : 0);
}

void LayerTerms::add_steps(int l, Place before, const LayerChoice& c, const LayerChoice* next, double* seconds) {
    if (!costs_) {
        const Schedule schedule = sample();
        costs_.emplace(schedule, graphs_.numbered(schedule.numbering), machine_);
    }
    const SiteGraph layers = layers_around(l);
    if (space_.options.buffer_bytes > 0) {
        for (std::size_t i = 0; i < switches_.size(); ++i) {
            ConfigurationFrame frame = frame_;
            frame.switches = switches_[i];
            seconds[i] += bounded_seconds(l, lowered_between(l, before, c, next, layers, frame));
        }
        return;
    }
    if (panels_) {
        for (const auto& [step, weight] : steps_of(l, before, c, next)) {
            const double* each = step_seconds(step, l);
            for (std::size_t i = 0; i < switches_.size(); ++i) seconds[i] += weight * each[i];
        }
        return;
    }
    const Schedule schedule = lowered_between(l, before, c, next, layers, frame_);
    for (const Step& step : schedule.steps) {
        const double weight = step.origin.layer == position(l) ? space_.weight_of(step) : 0;
        for (std::size_t i = 0; weight > 0 && i < switches_.size(); ++i) {
            seconds[i] += weight * costs_->seconds(schedule, step.operation, switches_[i]);
        }
    }
}

double LayerTerms::bounded_seconds(int l, Schedule schedule) {
    const GraphStats& graph = graphs_.numbered(schedule.numbering);
    if (lower::bound_buffers(schedule, graph, space_.options.buffer_bytes, graphs_.cuts) > 0)
        return std::numeric_limits<double>::infinity();
    double seconds = 0;
    for (const Step& step : schedule.steps) {
        if (step.origin.layer != position(l) || space_.weight_of(step) == 0) continue;
        seconds += space_.weight_of(step) * costs_->seconds(schedule, step.operation);
    }
    return seconds;
}

const std::vector<WidthlessSteps::Counted>& LayerTerms::steps_of(int l, Place before, const LayerChoice& c,
                                                                 const LayerChoice* next) {
    const std::size_t place =
        kind_of_[static_cast<std::size_t>(l - 1)] * lower::places.size() + static_cast<std::size_t>(before);
    const auto [entry, is_new] = steps_of_.try_emplace((place << 32U) + neighbours(c, next));
    if (is_new) {
        const SiteGraph layers = layers_around(l);
        std::vector<std::int64_t> widths;
        for (int i = 0; i <= layers.depth; ++i) widths.push_back(stand_in(static_cast<std::size_t>(i)));
        Schedule schedule = lowered_between(l, before, c, next, with_widths(layers, widths), frame_);
        for (Tensor& tensor : schedule.tensors) {
            if (tensor.role == Role::adjacency) tensor.storage.panel_columns = *panels_;
        }
        entry->second = widthless_.add(
            std::move(schedule), [&](const Step& step) { return space_.weight_of(step); }, position(l));
    }
    return entry->second;
}

const double* LayerTerms::step_seconds(WidthlessSteps::StepId step, int l) {
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

std::vector<std::int64_t> LayerTerms::kinds_around(int l, const SiteGraph& layers) const {
    std::vector<std::int64_t> kinds{l == 1 ? 1 : 0, last(l) == depth_ ? 1 : 0};
    for (const Site& site : layers.sites) {
        kinds.push_back(static_cast<std::int64_t>(code(site)));
        if (site.columns_of < 0) kinds.push_back(site.width);
    }
    return kinds;
}

LayerChoice LayerTerms::previous_leaving(Place before, const SiteGraph& layers, const Choices& others) const {
    LayerChoice transformed{Order::dense_first};
    LayerChoice column_parallel = transformed;
    column_parallel.replicated_input = true;
    LayerChoice cached{Order::sparse_first};
    cached.constant_input = cached.cached_aggregation = cached.replicated_input = true;
    const std::optional<OnlyOrders> only = layers.product(1).only_orders();
    for (LayerChoice previous : {LayerChoice{Order::sparse_first}, transformed, column_parallel, cached}) {
        if (only && previous.forward != only->forward) continue;
        if (only) previous.operand = only->operand;
        previous.backward = some_choice(layers, 1).backward;
        Choices choices{previous};
        choices.insert(choices.end(), others.begin(), others.end());
        const Configuration configuration = configuration_of(frame_, choices);
        if (lower::Rules(layers, configuration).made_in(layers.result(1)) == before) return previous;
    }
    ensure(false, "no choice leaves a layer's result in a layout that another does");
    return transformed;
}

Schedule LayerTerms::lowered_between(int l, Place before, const LayerChoice& c, const LayerChoice* next,
                                     const SiteGraph& layers, const ConfigurationFrame& frame) const {
    Choices choices{c};
    if (next != nullptr) choices.push_back(*next);
    if (l > 1) choices.insert(choices.begin(), previous_leaving(before, layers, choices));
    lower::GraphShape shape = space_.shape;
    if (frame_.switches.loss_rows) shape.loss_rows = loss_rows_around(l);
    if (!shape.samples.empty())
        shape.samples.assign(space_.shape.samples.begin() + (first(l) - 1), space_.shape.samples.begin() + last(l));
    Schedule schedule = lower::lower_epoch(layers, configuration_of(frame, choices), shape);
    schedule.numbering.loss_layers = frame_.switches.loss_rows ? space_.model.hops() : 0;
    return schedule;
}

std::optional<std::int64_t> LayerTerms::panels_of_all() const {
    // Heads have columns that are no width of a layer.
    if (frame_.switches.loss_rows || space_.weighs_edges()) return std::nullopt;
    const auto panels = [&](std::int64_t width) {
        SiteGraph layers = layers_around(1);
        layers = with_widths(layers, std::vector<std::int64_t>(static_cast<std::size_t>(layers.depth) + 1, width));
        Choices choices;
        for (int l = 1; l <= layers.depth; ++l) choices.push_back(some_choice(layers, l));
        const Schedule schedule = lower::lower_epoch(layers, configuration_of(frame_, choices), space_.shape);
        const auto matrix = std::find_if(schedule.tensors.begin(), schedule.tensors.end(),
                                         [](const Tensor& tensor) { return tensor.role == Role::adjacency; });
        return matrix->storage.panel_columns;
    };
    const auto [narrowest, widest] = std::minmax_element(space_.widths.begin(), space_.widths.end());
    const std::int64_t of_narrowest = panels(*narrowest);
    return of_narrowest == panels(*widest) ? std::optional(of_narrowest) : std::nullopt;
}

Schedule LayerTerms::sample() const {
    Choices choices;
    for (int l = 1; l <= depth_; ++l) choices.push_back(some_choice(space_.model, l));
    return lower::lower_epoch(space_.model, configuration_of(frame_, choices), space_.shape);
}

}  // namespace gnnplan::search
