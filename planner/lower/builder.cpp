#include "planner/lower/builder.hpp"

#include <gnnplan/ir/pieces.hpp>

#include <algorithm>

namespace gnnplan::lower {

Place Copies::source_for(Place place) const {
    for (const Place source : {place, Place::f, Place::c}) {
        if (in(source)) return source;
    }
    return Place::r;
}

Builder::Builder(const SiteGraph& model, const Configuration& configuration, const GraphShape& graph)
    : rules_(model, configuration), graph_(graph) {
    schedule_.grid = configuration.grid;
    schedule_.numbering.loss_layers = configuration.loss_rows ? model.depth : 0;
    schedule_.numbering.parts = configuration.parts;
    schedule_.numbering.permuted = configuration.permutation;
    schedule_.numbering.seed = configuration.permutation ? graph.seed : 0;
    schedule_.parameters = model.parameters;
    schedule_.blocking = graph.blocking;
    schedule_.loading = loading_for(schedule_.numbering, graph.loading);
    schedule_.spaces.push_back({"vertices", graph.vertices, 0});
    for (int l = 1; configuration.loss_rows && l <= model.depth; ++l)
        schedule_.spaces.push_back({numbered("needed.", l), graph.loss_rows[static_cast<std::size_t>(l)], l});
}

// Each N_l contains the next one: where they are as many they are the same, and the first stands for both.
int Builder::space(int l) const {
    if (!configuration().loss_rows || phase_ == Phase::evaluation || l == 0) return 0;
    const auto same = [&](const Space& s) { return s.rows == schedule_.spaces[static_cast<std::size_t>(l)].rows; };
    return static_cast<int>(std::find_if(schedule_.spaces.begin(), schedule_.spaces.end(), same) -
                            schedule_.spaces.begin());
}

TensorId Builder::add(Tensor tensor) {
    const auto id = static_cast<TensorId>(schedule_.tensors.size());
    by_name_.try_emplace(tensor.name, id);
    schedule_.tensors.push_back(std::move(tensor));
    return id;
}

std::string Builder::in_phase(const std::string& name) const {
    return phase_ == Phase::evaluation ? "evaluation." + name : name;
}

TensorId Builder::resident(const std::string& name, Role role, DType dtype, Rows rows, std::int64_t columns,
                           const Layout& layout) {
    const auto known = by_name_.find(name);
    if (known != by_name_.end()) return known->second;
    Tensor tensor{name, role, dtype, rows.count, columns, layout};
    tensor.space = rows.space;
    return add(std::move(tensor));
}

TensorId Builder::transient(const std::string& name, DType dtype, Rows rows, std::int64_t columns,
                            const Layout& layout) {
    Tensor tensor{in_phase(name), Role::transient, dtype, rows.count, columns, layout};
    tensor.space = rows.space;
    return add(std::move(tensor));
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

TensorId Builder::beside(const std::string& name, TensorId of, std::int64_t columns, const Layout& layout) {
    return transient(name, DType::f32, rows_of(of), columns, layout);
}

TensorId Builder::summand(const std::string& name, std::int64_t rows, std::int64_t columns, DType dtype) {
    return transient(name, dtype, {rows}, columns, layout_partial());
}

TensorId Builder::edges(const std::string& name, TensorId matrix, std::int64_t columns, const Axes& split,
                        const Axes& partial) {
    const TensorId values = beside(name, matrix, columns, {tensor(matrix).layout.rows, split, partial});
    schedule_.tensors[static_cast<std::size_t>(values)].role = Role::edges;
    schedule_.tensors[static_cast<std::size_t>(values)].structure = matrix;
    return values;
}

TensorId Builder::result_of(const SpmmStep& product, const std::string& name, TensorId like) {
    const Place place = rules_.spmm_out();
    return beside(name + suffix(place), product.matrix, tensor(like).columns, layout_at(place));
}

void Builder::step(const std::string& name, OpKind op, const Operation& operation) {
    schedule_.steps.push_back({in_phase(name), phase_, operation, {pass_, layer_, op}});
}

// Columns of the widest operand of a product, of those that a rank has.
std::int64_t Builder::widest_product() const {
    const SiteGraph& model = rules_.model();
    std::int64_t widest = 1;
    for (int l = 1; l <= model.depth; ++l) {
        const bool multiplies = l > 1 || !configuration().cached_aggregation;
        if (model.product(l).heads.count > 0) widest = std::max(widest, model.product(l).mapped_width());
        const bool input = rules_.forward(l) == Order::sparse_first;
        const bool output = rules_.backward(l) == Order::sparse_first;
        if (multiplies) widest = std::max(widest, input ? model.in_width(l) : model.out_width(l));
        if (l > 1 && rules_.backward(l) != Order::none)
            widest = std::max(widest, output ? model.out_width(l) : model.in_width(l));
    }
    return rules_.block_distributed() ? widest : (widest + schedule_.grid.y - 1) / schedule_.grid.y;
}

// The rows of a slice of the widest dense operand that one source panel meets fill most of the cache; panels with few
// nonzeros a row would be walked for their row starts. (bench/results/spmm.md: within a tenth of the best number of
// panels for widths of 16 to 602.)
std::int64_t Builder::panel_columns() const {
    constexpr std::int64_t slice_columns = 128;  // that the kernel multiplies at a time, or some more
    constexpr std::int64_t least_nonzeros = 20;  // a row and panel, on average
    if (graph_.panel_columns > 0 || graph_.cache_bytes == 0) return graph_.panel_columns;
    const std::int64_t dense = graph_.vertices * 4 * std::min(slice_columns, widest_product());
    const std::int64_t room = graph_.cache_bytes / 4 * 3;
    const std::int64_t panels = std::min(dense / room + 1, graph_.nonzeros / graph_.vertices / least_nonzeros);
    return panels < 2 ? 0 : (graph_.vertices + panels - 1) / panels;
}

// The axes over which the contraction side of adjacencies is split.
Axes Builder::contraction_split() const {
    if (rules_.block_distributed()) return Axes::parse("y");
    return Axes::parse(configuration().sharing == Sharing::sharded ? "zy" : "z");
}

std::string Builder::adjacency_name(bool transposed, const Rows& rows, const Rows& columns, int sample) const {
    std::string name = transposed ? "A^T" : "A";
    if (sample > 0) name += ".drawn" + std::to_string(sample);
    if (rows.count < graph_.vertices || columns.count < graph_.vertices)
        name += "." + std::to_string(rows.count) + "x" + std::to_string(columns.count);
    return name;
}

TensorId Builder::adjacency(int l, Direction direction, RowSplit split) {
    const bool forward = direction == Direction::forward;
    const Rows rows = rows_in(forward ? space(l) : space(l - 1));
    const Rows columns = rows_in(forward ? space(l - 1) : space(l));
    const bool square = rows.count == columns.count;
    const bool transposed = forward || (graph_.symmetric && square);  // one copy, named for forward
    const bool factored = configuration().factored_values;
    std::optional<TensorId> structure;
    if (!transposed && factored && graph_.symmetric_pattern && square) structure = adjacency(l, Direction::forward);
    const int sample = graph_.samples.empty() ? 0 : graph_.samples[static_cast<std::size_t>(l - 1)];
    ensure(sample == 0 || forward, "edges are drawn of those into a vertex");
    const bool dealt = split == RowSplit::over_all;
    const std::string name = adjacency_name(transposed, rows, columns, sample) + (dealt ? ".dealt" : "");
    const Layout layout = dealt ? layout_r() : Layout{Axes::parse("x"), contraction_split(), {}};
    const TensorId id = resident(name, Role::adjacency, DType::f32, rows, columns.count, layout);
    Tensor& matrix = schedule_.tensors[static_cast<std::size_t>(id)];
    matrix.transposed = transposed;
    matrix.sample = sample;
    matrix.column_space = columns.space;
    matrix.storage = {factored, panel_columns(), 1};
    const Reduce reduce = rules_.model().product(l).reduce;
    const bool stores = reduce == Reduce::attention && configuration().attention == AttentionScores::stored;
    const bool edges = reduce == Reduce::cosine || stores;  // values come and go in whole blocks
    if (configuration().overlap && !edges) matrix.storage.splits = splits_for_overlap(schedule_.grid, matrix);
    matrix.structure = structure;
    return id;
}

TensorId Builder::features(Place place, int space) {
    if (!rules_.places_differ()) place = Place::r;
    const Rows rows = rows_in(space);
    const std::string part = rows.count < graph_.vertices ? "." + std::to_string(rows.count) : "";
    const std::int64_t width = rules_.model().sites.front().width;  // layer 1 may read a map of the features
    return resident("H0" + part + suffix(place), Role::features, DType::f32, rows, width, layout_at(place));
}

TensorId Builder::per_row(Role role, TensorId of) {
    const bool whole_group = rules_.places_differ() && !tensor(of).layout.rows.contains(Axis::y);
    const Place place = whole_group ? Place::f : Place::r;
    std::string name = role == Role::labels ? "labels" : role == Role::subset ? "subset" : "vertices";
    if (tensor(of).rows < graph_.vertices) name += "." + std::to_string(tensor(of).rows);
    if (whole_group) name += suffix(place);
    const DType dtype = role == Role::subset ? DType::u8 : DType::i32;
    return resident(name, role, dtype, rows_of(of), 1, layout_at(place));
}

std::optional<TensorId> Builder::draw_keys(TensorId of) {
    if (schedule_.numbering.identity()) return std::nullopt;
    return per_row(Role::vertices, of);
}

// Setup steps come first in the list, in the order in which they were found to be needed.
void Builder::request_rows(TensorId matrix) {
    const std::string name = "index." + tensor(matrix).name;
    std::size_t position = 0;
    for (; position < schedule_.steps.size() && schedule_.steps[position].phase == Phase::setup; ++position) {
        if (schedule_.steps[position].name == name) return;
    }
    // Before every product of setup, which may need them.
    schedule_.steps.insert(
        schedule_.steps.begin(),
        Step{name, Phase::setup, RowRequestStep{matrix}, {Pass::forward, layer_, OpKind::aggregate}});
}

SpmmStep Builder::product(int l, Direction direction) {
    const TensorId matrix = adjacency(l, direction);
    const Tensor& m = tensor(matrix);
    const bool gathers = gathers_rows(schedule_.grid, m) || gathers_matrix(schedule_.grid, m);
    if (configuration().exchange == Exchange::rows) request_rows(m.structure.value_or(matrix));
    return {matrix, {}, {}, configuration().exchange, configuration().overlap && gathers};
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

void Builder::reduce_and_update(TensorId parameter, TensorId gradient, OpKind op) {
    all_reduce("all_reduce." + tensor(parameter).name, gradient, op);
    const Pass pass = pass_;
    pass_ = Pass::update;
    update(parameter, gradient, op);
    pass_ = pass;
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
    step("update." + of.name, op, UpdateStep{parameter, gradient, m1, m2, graph_.optimiser, updated.decays});
}

}  // namespace gnnplan::lower
