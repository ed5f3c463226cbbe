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
    : Rules(model, configuration), graph_(graph) {
    schedule_.grid = configuration.grid;
    schedule_.numbering.loss_layers = configuration.loss_rows ? depth() : 0;
    schedule_.numbering.parts = configuration.parts;
    schedule_.numbering.permuted = configuration.permutation;
    schedule_.numbering.seed = configuration.permutation ? graph.seed : 0;
    schedule_.parameters = model.parameters;
    schedule_.blocking = graph.blocking;
    schedule_.loading = loading_for(schedule_.numbering, graph.loading);
    schedule_.spaces.push_back({"vertices", graph.vertices, 0});
    for (int l = 1; configuration.loss_rows && l <= depth(); ++l)
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
    const std::string prefix = phase_ == Phase::evaluation ? "evaluation." : "";
    Tensor tensor{prefix + name, Role::transient, dtype, rows.count, columns, layout};
    tensor.space = rows.space;
    return add(std::move(tensor));
}

TensorId Builder::parameter(int id, Role role) {
    const Parameter& p = model().parameter(id);
    const TensorId tensor = resident(p.symbol, role, DType::f32, {p.rows()}, p.columns(), layout_replicated());
    schedule_.tensors[static_cast<std::size_t>(tensor)].parameter = id;
    return tensor;
}

void Builder::step(const std::string& name, OpKind op, const Operation& operation) {
    const std::string prefix = phase_ == Phase::evaluation ? "evaluation." : "";
    schedule_.steps.push_back({prefix + name, phase_, operation, {pass_, layer_, op}});
}

// The rows of a slice of the widest dense operand that one source panel meets fill most of the cache; panels with few
// nonzeros a row would be walked for their row starts. (bench/results/spmm.md: within a tenth of the best number of
// panels for widths of 16 to 602.)
std::int64_t Builder::panel_columns() const {
    constexpr std::int64_t slice_columns = 128;  // that the kernel multiplies at a time, or some more
    constexpr std::int64_t least_nonzeros = 20;  // a row and panel, on average
    if (graph_.panel_columns > 0 || graph_.cache_bytes == 0) return graph_.panel_columns;
    std::int64_t widest = 1;
    for (int l = 1; l <= depth(); ++l) {
        const bool multiplies = l > 1 || !configuration().cached_aggregation;
        if (model().product(l).heads.count > 0) widest = std::max(widest, model().product(l).mapped_width());
        const bool input = forward(l) == Order::sparse_first;
        const bool output = backward(l) == Order::sparse_first;
        if (multiplies) widest = std::max(widest, input ? model().in_width(l) : model().out_width(l));
        if (l > 1 && backward(l) != Order::none)
            widest = std::max(widest, output ? model().out_width(l) : model().in_width(l));
    }
    if (!block_distributed()) widest = (widest + schedule_.grid.y - 1) / schedule_.grid.y;
    const std::int64_t dense = graph_.vertices * 4 * std::min(slice_columns, widest);
    const std::int64_t room = graph_.cache_bytes / 4 * 3;
    const std::int64_t panels = std::min(dense / room + 1, graph_.nonzeros / graph_.vertices / least_nonzeros);
    return panels < 2 ? 0 : (graph_.vertices + panels - 1) / panels;
}

TensorId Builder::adjacency(int l, bool transposed, bool dealt) {
    const Rows rows = rows_in(transposed ? space(l) : space(l - 1));
    const Rows columns = rows_in(transposed ? space(l - 1) : space(l));
    const std::int64_t height = rows.count;
    const std::int64_t width = columns.count;
    const bool square = height == width;
    const bool stored_transposed = transposed || (graph_.symmetric && square);  // one copy, named for forward
    const bool factored = configuration().factored_values;
    std::optional<TensorId> structure;
    if (!stored_transposed && factored && graph_.symmetric_pattern && square) structure = adjacency(l, true);
    const int sample = graph_.samples.empty() ? 0 : graph_.samples[static_cast<std::size_t>(l - 1)];
    ensure(sample == 0 || transposed, "edges are drawn of those into a vertex");
    std::string name = stored_transposed ? "A^T" : "A";
    if (sample > 0) name += ".drawn" + std::to_string(sample);
    if (height < graph_.vertices || width < graph_.vertices) {
        name += "." + std::to_string(height) + "x" + std::to_string(width);
    }
    if (dealt) name += ".dealt";
    const bool sharded = configuration().sharing == Sharing::sharded;
    const Axes split = Axes::parse(block_distributed() ? "y" : sharded ? "zy" : "z");
    const Layout layout = dealt ? layout_r() : Layout{Axes::parse("x"), split, {}};
    const TensorId id = resident(name, Role::adjacency, DType::f32, rows, width, layout);
    Tensor& matrix = schedule_.tensors[static_cast<std::size_t>(id)];
    matrix.transposed = stored_transposed;
    matrix.sample = sample;
    matrix.column_space = columns.space;
    matrix.storage = {factored, panel_columns(), 1};
    const Reduce reduce = model().product(l).reduce;
    const bool stores = reduce == Reduce::attention && configuration().attention == AttentionScores::stored;
    const bool edges = reduce == Reduce::cosine || stores;  // values come and go in whole blocks
    if (configuration().overlap && !edges) matrix.storage.splits = splits_for_overlap(schedule_.grid, matrix);
    matrix.structure = structure;
    return id;
}

TensorId Builder::features(Place place, int space) {
    if (!places_differ()) place = Place::r;
    const Rows rows = rows_in(space);
    const std::string part = rows.count < graph_.vertices ? "." + std::to_string(rows.count) : "";
    const std::int64_t width = model().sites.front().width;  // layer 1 may read a map of the features
    return resident("H0" + part + suffix(place), Role::features, DType::f32, rows, width, layout_at(place));
}

// One entry for each row of another tensor, where its rows are.
TensorId Builder::per_row(const std::string& name, Role role, DType dtype, const Tensor& of) {
    const bool whole_group = places_differ() && !of.layout.rows.contains(Axis::y);
    const Place place = whole_group ? Place::f : Place::r;
    std::string full_name = name;
    if (of.rows < graph_.vertices) full_name += "." + std::to_string(of.rows);
    if (whole_group) full_name += suffix(place);
    return resident(full_name, role, dtype, rows_of(of), 1, layout_at(place));
}

std::optional<TensorId> Builder::vertices(const Tensor& of, bool dropout) {
    if (!dropout || schedule_.numbering.identity()) return std::nullopt;
    return per_row("vertices", Role::vertices, DType::i32, of);
}

TensorId Builder::weight(const Site& site) { return parameter(site.parameter, Role::weight); }

TensorId Builder::bias(const Site& pointwise) { return parameter(pointwise.parameter, Role::bias); }

TensorId Builder::epsilon(const Site& product) { return parameter(product.self_parameter, Role::bias); }

// Setup steps come first in the list, in the order in which they were found to be needed.
void Builder::index(TensorId matrix) {
    const std::string name = "index." + tensor_of(schedule_, matrix).name;
    std::size_t position = 0;
    for (; position < schedule_.steps.size() && schedule_.steps[position].phase == Phase::setup; ++position) {
        if (schedule_.steps[position].name == name) return;
    }
    // Before every product of setup, which may need them.
    schedule_.steps.insert(
        schedule_.steps.begin(),
        Step{name, Phase::setup, RowRequestStep{matrix}, {Pass::forward, layer_, OpKind::aggregate}});
}

SpmmStep Builder::spmm_step(int l, bool transposed) {
    const TensorId matrix = adjacency(l, transposed);
    const Tensor& m = tensor_of(schedule_, matrix);
    const bool gathers = gathers_rows(schedule_.grid, m) || gathers_matrix(schedule_.grid, m);
    if (configuration().exchange == Exchange::rows) index(m.structure.value_or(matrix));
    return {matrix, {}, {}, configuration().exchange, configuration().overlap && gathers};
}

TensorId Builder::spmm_result(const SpmmStep& product, const std::string& name, TensorId like) {
    const Rows height = rows_of(tensor_of(schedule_, product.matrix));
    return transient(name + suffix(spmm_out()), DType::f32, height, tensor_of(schedule_, like).columns,
                     layout_at(spmm_out()));
}

TensorId Builder::spmm(const std::string& name, int l, bool transposed, TensorId in, const std::string& out) {
    SpmmStep product = spmm_step(l, transposed);
    product.column_operands = {in};
    product.bf16 = configuration().bf16 && packs_panels(product.exchange, product.overlap);
    const Tensor& m = tensor_of(schedule_, product.matrix);
    const std::optional<Axis> axis = contraction_axis(schedule_.grid, m);
    const auto emit = [&](TensorId result) {
        product.results = {result};
        step(name, OpKind::aggregate, product);
        return result;
    };
    if (!axis) return emit(spmm_result(product, out, in));
    const Layout partial{Axes::parse("x"), layout_at(spmm_out()).columns, Axes::parse(*axis == Axis::y ? "y" : "z")};
    const TensorId summand =
        emit(transient(out + ".partial", DType::f32, rows_of(m), tensor_of(schedule_, in).columns, partial));
    const TensorId sum = spmm_result(product, out, in);
    step(name + ".reduce_scatter", OpKind::aggregate, ReduceScatterStep{summand, sum});
    return sum;
}

Builder::Maxima Builder::spmm_max(const std::string& name, int l, TensorId in, const std::string& out) {
    SpmmStep product = spmm_step(l, true);
    product.program = Program::max;
    product.column_operands = {in};
    const Maxima maxima{spmm_result(product, out, in), spmm_result(product, out + ".ties", in)};
    product.results = {maxima.values, maxima.ties};
    step(name, OpKind::aggregate, product);
    return maxima;
}

TensorId Builder::spmm_max_back(const std::string& name, int l, TensorId shares, TensorId values, TensorId own,
                                const std::string& out) {
    SpmmStep product = spmm_step(l, false);
    product.program = Program::max_back;
    product.column_operands = {shares, values};
    product.row_operands = {own};
    product.results = {spmm_result(product, out, own)};
    step(name, OpKind::aggregate, product);
    return product.results.front();
}

TensorId Builder::copy(const std::string& name, TensorId in, const std::string& out) {
    const Tensor like = tensor_of(schedule_, in);
    const TensorId made = transient(out, DType::f32, rows_of(like), like.columns, like.layout);
    step(name, OpKind::aggregate, MapStep{MapOp::copy, in, {}, made, 0, Activation::none, false});
    return made;
}

TensorId Builder::gemm(const std::string& name, TensorId in, const Site& site, bool transposed,
                       const std::string& out) {
    const TensorId w = weight(site);
    const Tensor& shape = tensor_of(schedule_, w);
    const std::int64_t width = transposed ? shape.rows : shape.columns;
    const Place place = transposed ? Place::r : gemm_out(site);
    const TensorId result =
        transient(out + suffix(place), DType::f32, rows_of(tensor_of(schedule_, in)), width, layout_at(place));
    if (!transposed && rings(site)) {
        step(name, OpKind::linear, RingGemmStep{in, w, result});
    } else {
        step(name, OpKind::linear, GemmStep{in, w, result, transposed});
    }
    return result;
}

void Builder::gemm_onto(const std::string& name, TensorId in, const Site& site, bool transposed, TensorId onto) {
    step(name, OpKind::linear, GemmStep{in, weight(site), onto, transposed, true});
}

void Builder::add_to(const std::string& name, TensorId sum, TensorId other) {
    step(name, OpKind::add, MapStep{MapOp::add, sum, other, {}, 0, Activation::none, false});
}

void Builder::divide(const std::string& name, TensorId gradient, TensorId ties) {
    step(name, OpKind::aggregate, MapStep{MapOp::divide, gradient, ties, {}, 0, Activation::none, false});
}

void Builder::add_self(const std::string& name, const Site& product, TensorId sum, TensorId own) {
    MapStep added{MapOp::add_scaled, sum, own, {}, 0, Activation::none, false};
    added.scale = product.self;
    if (product.self_parameter >= 0) added.epsilon = epsilon(product);
    step(name, OpKind::aggregate, added);
}

void Builder::update_epsilon(const std::string& name, const Site& product, TensorId left, TensorId right) {
    const TensorId gradient =
        transient(numbered("y", product.layer) + ".epsilon", DType::f32, {1}, 1, layout_partial());
    step(name, OpKind::aggregate, MapStep{MapOp::dot, left, right, gradient, 0, Activation::none, false});
    reduce_and_update(epsilon(product), gradient, OpKind::aggregate);
}

TensorId Builder::redistribute(const std::string& name, TensorId in, Place to, const std::string& out, OpKind reader,
                               std::optional<int> space) {
    const Tensor tensor = tensor_of(schedule_, in);
    const Rows rows = space ? rows_in(*space) : rows_of(tensor);
    const Layout whole{tensor.layout.rows, tensor.layout.columns, {}};  // what was a sum is one by now
    const bool same_place = !places_differ() || whole == layout_at(to);
    if (same_place && rows.space == tensor.space) return in;
    const TensorId moved = transient(out + suffix(to), tensor.dtype, rows, tensor.columns, layout_at(to));
    step(name, reader, RedistributeStep{in, moved});
    return moved;
}

TensorId Builder::weight_grad(const std::string& name, TensorId left, TensorId right, int site) {
    const Parameter& w = model().parameter(model().at(site).parameter);
    const TensorId gradient = transient("Y" + label(site), DType::f32, {w.rows()}, w.columns(), layout_partial());
    step(name, OpKind::linear, WeightGradStep{left, right, gradient});
    return gradient;
}

TensorId Builder::column_sum(const std::string& name, TensorId in, int pointwise) {
    const std::int64_t width = tensor_of(schedule_, in).columns;
    const TensorId sum = transient("y" + label(pointwise), DType::f32, {1}, width, layout_partial());
    step(name, OpKind::bias,
         MapStep{MapOp::column_sum, in, {}, sum, model().at(pointwise).layer, Activation::none, false});
    return sum;
}

std::optional<TensorId> Builder::activate(const std::string& name, TensorId z, const Site& pointwise, bool training,
                                          const std::optional<std::string>& mask) {
    const bool dropped = training && pointwise.dropout > 0;
    const bool biased = pointwise.parameter >= 0;
    if (!biased && pointwise.activation == Activation::none && !dropped) return std::nullopt;
    const std::optional<TensorId> operand = biased ? std::optional(bias(pointwise)) : std::nullopt;
    const Tensor output = tensor_of(schedule_, z);
    const auto ids = vertices(output, dropped);
    std::optional<TensorId> bits;
    if (mask) bits = transient(*mask, DType::bits, rows_of(output), output.columns, output.layout);
    step(name, operation_of(pointwise.activation),
         MapStep{MapOp::activate, z, operand, bits, pointwise.layer + 1, pointwise.activation, dropped, ids});
    return bits;
}

TensorId Builder::dropout_input(const std::string& name, TensorId in, const std::string& out) {
    const Tensor source = tensor_of(schedule_, in);
    const auto ids = vertices(source, true);
    const TensorId dropped = transient(out, DType::f32, rows_of(source), source.columns, source.layout);
    step(name, OpKind::dropout, MapStep{MapOp::dropout, in, {}, dropped, 1, Activation::none, true, ids});
    return dropped;
}

TensorId Builder::positive_mask(const std::string& name, TensorId h, const std::string& out) {
    const Tensor source = tensor_of(schedule_, h);
    const TensorId mask = transient(out, DType::bits, rows_of(source), source.columns, source.layout);
    step(name, OpKind::relu, MapStep{MapOp::positive_mask, h, {}, mask, 0, Activation::none, false});
    return mask;
}

void Builder::apply_mask(const std::string& name, TensorId g, TensorId mask, const Site& pointwise) {
    step(name, OpKind::relu,
         MapStep{MapOp::apply_mask, g, mask, {}, pointwise.layer + 1, Activation::none, pointwise.dropout > 0});
}

void Builder::activation_gradient(const std::string& name, TensorId g, std::optional<TensorId> h,
                                  const Site& pointwise) {
    const bool dropped = pointwise.dropout > 0;
    const auto ids = vertices(tensor_of(schedule_, g), dropped);
    step(name, operation_of(pointwise.activation),
         MapStep{MapOp::activation_gradient, g, h, {}, pointwise.layer + 1, pointwise.activation, dropped, ids});
}

void Builder::all_reduce(const std::string& name, TensorId tensor, OpKind op) { step(name, op, AllReduceStep{tensor}); }

void Builder::loss(TensorId logits) {
    const Tensor of = tensor_of(schedule_, logits);
    const TensorId label = per_row("labels", Role::labels, DType::i32, of);
    const TensorId part = per_row("subset", Role::subset, DType::u8, of);
    const TensorId sum = transient("loss", DType::f64, {1}, 1, layout_partial());
    step("loss", OpKind::softmax_cross_entropy, LossStep{logits, label, part, sum});
    all_reduce("loss.all_reduce", sum, OpKind::softmax_cross_entropy);
}

void Builder::score(TensorId logits) {
    const Tensor of = tensor_of(schedule_, logits);
    const TensorId label = per_row("labels", Role::labels, DType::i32, of);
    const TensorId part = per_row("subset", Role::subset, DType::u8, of);
    const TensorId counts = transient("correct", DType::f64, {1}, 3, layout_partial());
    step("score", OpKind::softmax_cross_entropy, ScoreStep{logits, label, part, counts});
    all_reduce("score.all_reduce", counts, OpKind::softmax_cross_entropy);
}

void Builder::reduce_and_update(TensorId parameter, TensorId gradient, OpKind op) {
    all_reduce("all_reduce." + tensor_of(schedule_, parameter).name, gradient, op);
    const Pass pass = pass_;
    pass_ = Pass::update;
    update(parameter, gradient, op);
    pass_ = pass;
}

void Builder::update(TensorId parameter, TensorId gradient, OpKind op) {
    const Tensor of = tensor_of(schedule_, parameter);
    const OptimiserRule& rule = rule_of(graph_.optimiser);
    const auto moment = [&](std::size_t which) -> std::optional<TensorId> {
        if (rule.state[which].empty()) return std::nullopt;
        return resident(of.name + numbered(".m", static_cast<int>(which) + 1), Role::moment, DType::f32, {of.rows},
                        of.columns, layout_replicated());
    };
    const auto m1 = moment(0);
    const auto m2 = moment(1);
    const Parameter& updated = model().parameter(*of.parameter);
    step("update." + of.name, op, UpdateStep{parameter, gradient, m1, m2, graph_.optimiser, updated.decays});
}

TensorId Builder::at(Copies& matrix, Place place, const std::string& name, const std::string& out, OpKind reader) {
    if (matrix.in(place)) return matrix.at(place);
    const TensorId moved = redistribute(name, matrix.at(matrix.source_for(place)), place, out, reader);
    matrix.add(place, moved);
    return moved;
}

}  // namespace gnnplan::lower
