#include "planner/lower/builder.hpp"

#include <algorithm>
#include <utility>

namespace gnnplan::lower {
namespace {

// Before names of what an epoch makes a second time.
constexpr const char* second_time = "remade.";

}  // namespace

Place Copies::source_for(Place place) const {
    for (const Place source : {place, Place::f, Place::c}) {
        if (in(source)) return source;
    }
    return Place::r;
}

Builder::Builder(const SiteGraph& model, const Configuration& configuration, const GraphShape& graph)
    : rules_(model, configuration), over_rows_(model.hops_through(model.last_over_rows())), graph_(graph) {
    constexpr std::size_t usual = 128;  // steps and tensors of two layers
    by_name_.reserve(usual), step_names_.reserve(usual);
    schedule_.steps.reserve(usual), schedule_.tensors.reserve(usual);
    schedule_.grid = configuration.grid_of_ranks();
    schedule_.numbering.loss_layers = configuration.loss_rows ? model.hops() : 0;
    schedule_.numbering.parts = configuration.parts;
    schedule_.numbering.permuted = configuration.permutation;
    schedule_.numbering.cut = configuration.cut_rule;
    schedule_.numbering.clones = configuration.clones;
    schedule_.numbering.delay = configuration.delay;
    if (graph.batches) schedule_.numbering.batches = graph.batches, schedule_.numbering.parts = configuration.grid.x;
    const bool draws = configuration.permutation || configuration.cut_rule != CutRule::none;
    schedule_.numbering.seed = draws ? graph.seed : 0;
    schedule_.parameters = model.parameters;
    schedule_.blocking = graph.blocking;
    schedule_.ranks_per_node = graph.ranks_per_node;
    schedule_.loading = loading_for(schedule_.numbering, graph.loading);
    schedule_.spaces.push_back({"vertices", graph.vertices, 0});
    for (int h = 1; configuration.loss_rows && h <= model.hops(); ++h)
        schedule_.spaces.push_back({numbered("needed.", h), graph.loss_rows[static_cast<std::size_t>(h)], h});
    if (schedule_.grid.grouped()) schedule_.spaces.push_back({"groups", schedule_.grid.groups.back(), 0, true});
}

// Each N_l contains the next one: where they are as many they are the same, and the first stands for both.
int Builder::space(int l, int hop) const {
    if (in_groups()) return 1;
    if (!configuration().loss_rows || phase_ == Phase::evaluation) return 0;
    const int hops = rules_.model().hops_through(l) + hop;
    if (hops <= over_rows_) return 0;
    const auto same = [&](const Space& s) { return s.rows == schedule_.spaces[static_cast<std::size_t>(hops)].rows; };
    return static_cast<int>(std::find_if(schedule_.spaces.begin(), schedule_.spaces.end(), same) -
                            schedule_.spaces.begin());
}

std::string Builder::suffix_of(const Rows& rows) const {
    if (of_groups(schedule_, rows.space)) return ".groups";
    return rows.count < graph_.vertices ? "." + std::to_string(rows.count) : "";
}

std::string Builder::in_phase(const std::string& name) const {
    return phase_ == Phase::evaluation ? "evaluation." + name : name;
}

TensorId Builder::resident(const std::string& name, Role role, DType dtype, Rows rows, std::int64_t columns,
                           const Layout& layout) {
    const auto [known, is_new] = by_name_.try_emplace(name, next_tensor());
    if (!is_new) return known->second;
    Tensor& tensor = schedule_.tensors.emplace_back(Tensor{name, role, dtype, rows.count, columns, layout});
    tensor.space = rows.space;
    return known->second;
}

TensorId Builder::transient(const std::string& name, DType dtype, Rows rows, std::int64_t columns,
                            const Layout& layout) {
    Tensor tensor{in_phase(name), Role::transient, dtype, rows.count, columns, layout};
    const TensorId id = next_tensor();
    while (!by_name_.try_emplace(tensor.name, id).second) tensor.name.insert(0, second_time);
    tensor.space = rows.space;
    schedule_.tensors.push_back(std::move(tensor));
    return id;
}

TensorId Builder::resident_parameter(int id, Role role) {
    const Parameter& p = rules_.model().parameter(id);
    const TensorId made = resident(p.symbol, role, DType::f32, {p.rows()}, p.columns(), layout_replicated());
    schedule_.tensors[static_cast<std::size_t>(made)].parameter = id;
    return made;
}

TensorId Builder::like(const std::string& name, TensorId of, DType dtype) {
    return transient(name, dtype, rows_of(of), tensor(of).columns, tensor(of).layout);
}

TensorId Builder::beside(const std::string& name, TensorId of, std::int64_t columns, const Layout& layout, Role role) {
    const TensorId id = transient(name, DType::f32, rows_of(of), columns, layout);
    schedule_.tensors[static_cast<std::size_t>(id)].role = role;
    return id;
}

TensorId Builder::summand(const std::string& name, std::int64_t rows, std::int64_t columns, DType dtype) {
    return transient(name, dtype, {rows}, columns, layout_partial());
}

TensorId Builder::edges(const std::string& name, TensorId matrix, std::int64_t columns, const Axes& split,
                        const Axes& partial) {
    return belonging(name, Role::edges, matrix, columns, {tensor(matrix).layout.rows, split, partial});
}

TensorId Builder::summands(const std::string& name, TensorId matrix, TensorId like) {
    const Layout layout{{}, layout_at(rules_.spmm_out()).columns, tensor(matrix).layout.partial};
    return belonging(name, Role::summands, matrix, tensor(like).columns, layout);
}

// A tensor of which ranks have as many rows as they have nonzeros of the matrix, or rows with some.
TensorId Builder::belonging(const std::string& name, Role role, TensorId matrix, std::int64_t columns,
                            const Layout& layout) {
    const TensorId id = beside(name, matrix, columns, layout, role);
    schedule_.tensors[static_cast<std::size_t>(id)].structure = matrix;
    return id;
}

TensorId Builder::result_of(const SpmmStep& product, const std::string& name, TensorId like) {
    const Place place = rules_.spmm_out();
    return beside(name + suffix(place), product.matrix, tensor(like).columns, layout_at(place));
}

void Builder::step(const std::string& name, OpKind op, const Operation& operation) {
    std::string made = in_phase(name);
    while (!step_names_.insert(made).second) made.insert(0, second_time);
    schedule_.steps.push_back({std::move(made), phase_, operation, {pass_, layer_, op}});
}

TensorId Builder::features(Place place, int space) {
    if (!rules_.places_differ()) place = Place::r;
    const Rows rows = rows_in(space);
    const std::int64_t width = rules_.model().sites.front().width;  // layer 1 may read a map of the features
    return resident("H0" + suffix_of(rows) + suffix(place), Role::features, DType::f32, rows, width, layout_at(place));
}

TensorId Builder::per_row(Role role, TensorId of, bool by_column) {
    const Layout& layout = tensor(of).layout;
    const bool all_rows = layout.rows.empty() && !layout.columns.empty();
    const bool whole_group = rules_.places_differ() && !layout.rows.contains(Axis::y);
    const Place place = !whole_group ? Place::r : by_column ? Place::c : Place::f;
    std::string name = role == Role::labels         ? (by_column ? "label_bits" : "labels")
                       : role == Role::known_labels ? "known_labels"
                       : role == Role::subset       ? "subset"
                       : role == Role::counts_as    ? "counts_as"
                                                    : "vertices";
    name += suffix_of(rows_of(of));
    if (whole_group || all_rows) name += all_rows ? (by_column ? ".columns" : ".all") : suffix(place);
    const DType dtype = by_column                 ? DType::bits
                        : role == Role::subset    ? DType::u8
                        : role == Role::counts_as ? DType::f32
                                                  : DType::i32;
    const Layout at = all_rows ? Layout{{}, by_column ? layout.columns : Axes(), {}} : layout_at(place);
    return resident(name, role, dtype, rows_of(of), by_column ? tensor(of).columns : 1, at);
}

std::optional<TensorId> Builder::draw_keys(TensorId of) {
    if (schedule_.numbering.identity()) return std::nullopt;
    return per_row(Role::vertices, of);
}

TensorId Builder::redistribute(const std::string& name, TensorId in, Place to, const std::string& out, OpKind reader,
                               std::optional<int> space) {
    const Tensor& from = tensor(in);
    const Rows rows = space ? rows_in(*space) : rows_of(in);
    const Layout whole{from.layout.rows, from.layout.columns, {}};  // what was a sum is one by now
    const bool same_place = !rules_.places_differ() || whole == layout_at(to);
    if (same_place && rows.space == from.space) return in;
    const TensorId moved = transient(out + suffix(to), from.dtype, rows, from.columns, layout_at(to));
    step(name, reader, RedistributeStep{in, moved});
    return moved;
}

TensorId Builder::at(Copies& matrix, Place place, const std::string& name, const std::string& out, OpKind reader) {
    if (matrix.in(place)) return matrix.at(place);
    const TensorId moved = redistribute(name, matrix.at(matrix.source_for(place)), place, out, reader);
    matrix.add(place, moved);
    return moved;
}

void Builder::update(TensorId parameter, TensorId gradient, OpKind op) {
    const Tensor of = tensor(parameter);
    const OptimiserRule& rule = rule_of(graph_.optimiser);
    const auto moment = [&](std::size_t which) -> std::optional<TensorId> {
        if (rule.state[which].empty()) return std::nullopt;
        return resident(of.name + numbered(".m", static_cast<int>(which) + 1), Role::moment, DType::f32, {of.rows},
                        of.columns, layout_replicated());
    };
    const auto m1 = moment(0);
    const auto m2 = moment(1);
    const Parameter& updated = rules_.model().parameter(*of.parameter);
    const Pass pass = pass_;
    pass_ = Pass::update;
    step("update." + of.name, op, UpdateStep{parameter, gradient, m1, m2, graph_.optimiser, updated.decays});
    pass_ = pass;
}

}  // namespace gnnplan::lower
