// What attention and values of edges add to a schedule.
#include "planner/lower/builder.hpp"

#include <gnnplan/ir/pieces.hpp>

namespace gnnplan::lower {

Builder::Attended Builder::attend(const std::string& name, const Site& site, TensorId h, TensorId source,
                                  TensorId target, bool training) {
    SpmmStep product = spmm_step(site.layer, true);
    product.program = Program::attend;
    const bool stored = training && configuration().attention == AttentionScores::stored;
    product.attending = {site.heads.count, site.heads.slope, site.layer, training, stored};
    product.column_operands = {h, source};
    product.row_operands = {target};
    // If a mean over heads or a copy follows, the raw sums are called "Z.sums"; "Z" is that step's result.
    const std::string z = numbered("Z", site.layer) + (training || site.heads.average ? ".sums" : "");
    const Attended made{spmm_result(product, z, h), {}, {}};
    const Tensor result = tensor_of(schedule_, made.sums);
    const Layout layout = layout_at(by_heads(site));
    const auto beside = [&](const char* what) {
        return heads_like(numbered("Z", site.layer) + what, result, site, layout);
    };
    Attended all = made;
    all.log_total = beside(".log_total");
    product.results = {made.sums, *all.log_total, beside(".total")};
    if (training) {
        all.by_target = spmm_result(product, numbered("Z", site.layer) + ".by_target", h);
        product.results.insert(product.results.end(), {*all.by_target, beside(".negative_share")});
        if (stored) all.scores = edges_by_heads(product.matrix, numbered("e", site.layer), site);
        if (stored) product.results.push_back(*all.scores);
        product.column_operands.push_back(per_row("vertices", Role::vertices, DType::i32, tensor_of(schedule_, h)));
        product.row_operands.push_back(per_row("vertices", Role::vertices, DType::i32, result));
    }
    step(name, OpKind::aggregate, product);
    return all;
}

Builder::AttendedBack Builder::attend_back(const std::string& name, const Site& site, const AttendBackOperands& in) {
    SpmmStep product = spmm_step(site.layer, false);
    product.program = Program::attend_back;
    const bool stored = in.scores.has_value();
    product.attending = {site.heads.count, site.heads.slope, site.layer, !stored, stored};
    const Tensor rows = tensor_of(schedule_, in.h), columns = tensor_of(schedule_, in.gradient);
    if (stored) {
        product.column_operands = {in.gradient, in.log_total, in.inner};
        product.row_operands = {in.h, *in.scores};
    } else {
        product.column_operands = {in.gradient, in.target, in.log_total, in.inner,
                                   per_row("vertices", Role::vertices, DType::i32, columns)};
        product.row_operands = {in.h, in.source, per_row("vertices", Role::vertices, DType::i32, rows)};
    }
    Layout layout = layout_at(by_heads(site));
    if (by_heads(site) == Place::f) layout.partial = Axes::parse("y");
    const AttendedBack made{spmm_result(product, numbered("dh", site.layer), in.h),
                            heads_like(numbered("ds", site.layer), rows, site, layout)};
    product.results = {made.h, made.source};
    step(name, OpKind::aggregate, product);
    return made;
}

TensorId Builder::heads_like(const std::string& name, const Tensor& like, const Site& site, const Layout& layout) {
    return transient(name, DType::f32, rows_of(like), site.heads.count, layout);
}

void Builder::head(const std::string& name, HeadOp op, const Site& site, std::vector<TensorId> in, TensorId out) {
    step(name, OpKind::aggregate, HeadStep{op, site.heads.count, std::move(in), out});
}

TensorId Builder::head_dot(const std::string& name, const Site& site, TensorId x, TensorId y, const std::string& out) {
    const Tensor wide = tensor_of(schedule_, x);
    Layout layout = wide.layout;
    if (!layout.columns.empty() && by_heads(site) == Place::f) layout = {layout.rows, {}, layout.columns};
    const TensorId result = heads_like(out, wide, site, layout);
    head(name, HeadOp::dot, site, {x, y}, result);
    return result;
}

TensorId Builder::summed(const std::string& name, TensorId by_heads) {
    const bool summand = !tensor_of(schedule_, by_heads).layout.partial.empty();
    if (summand) all_reduce(name + ".all_reduce", by_heads, OpKind::aggregate);
    return by_heads;
}

void Builder::head_spread(const std::string& name, const Site& site, TensorId wide, TensorId by, TensorId p) {
    head(name, HeadOp::spread, site, {by, p}, wide);
}

TensorId Builder::head_fold(const std::string& name, const Site& site, TensorId wide, TensorId by, int id) {
    const Parameter& p = model().parameter(id);
    const TensorId gradient = transient("Y." + p.symbol, DType::f32, {p.rows()}, p.columns(), layout_partial());
    head(name, HeadOp::fold, site, {wide, by}, gradient);
    return gradient;
}

TensorId Builder::head_mean(const std::string& name, const Site& site, TensorId wide, const std::string& out) {
    const TensorId mean = transient(out + suffix(Place::r), DType::f32, rows_of(tensor_of(schedule_, wide)), site.width,
                                    layout_at(Place::r));
    head(name, HeadOp::mean, site, {wide}, mean);
    return mean;
}

TensorId Builder::head_share(const std::string& name, const Site& site, TensorId narrow, const std::string& out) {
    const TensorId wide = transient(out + suffix(Place::r), DType::f32, rows_of(tensor_of(schedule_, narrow)),
                                    site.mapped_width(), layout_at(Place::r));
    head(name, HeadOp::share, site, {narrow}, wide);
    return wide;
}

TensorId Builder::head_unit(const std::string& name, const Site& site, TensorId x, TensorId squares,
                            const std::string& out) {
    const Tensor like = tensor_of(schedule_, x);
    const TensorId unit = transient(out, DType::f32, rows_of(like), like.columns, like.layout);
    head(name, HeadOp::unit, site, {x, squares}, unit);
    return unit;
}

void Builder::head_unit_back(const std::string& name, const Site& site, const UnitBack& in, TensorId gradient) {
    head(name, HeadOp::unit_back, site, {in.of_unit, in.unit, in.inner, in.squares}, gradient);
}

TensorId Builder::edges_of(TensorId matrix, const std::string& name, const Axes& partial) {
    const Rows rows = rows_of(tensor_of(schedule_, matrix));
    const Axes split = tensor_of(schedule_, matrix).layout.rows;
    const TensorId edges = transient(name, DType::f32, rows, 1, {split, {}, partial});
    schedule_.tensors[static_cast<std::size_t>(edges)].role = Role::edges;
    schedule_.tensors[static_cast<std::size_t>(edges)].structure = matrix;
    return edges;
}

TensorId Builder::edges_by_heads(TensorId matrix, const std::string& name, const Site& site) {
    const TensorId edges = edges_of(matrix, name);
    Tensor& tensor = schedule_.tensors[static_cast<std::size_t>(edges)];
    tensor.columns = site.heads.count;
    tensor.layout.columns = layout_at(by_heads(site)).columns;
    return edges;
}

TensorId Builder::by_rows_of(TensorId matrix, const std::string& name) {
    return transient(name, DType::f32, rows_of(tensor_of(schedule_, matrix)), 1, layout_at(Place::f));
}

Place Builder::scores_place() const {
    switch (configuration().scores) {
        case Scores::columns: return Place::c;
        case Scores::whole_rows: return Place::f;
        case Scores::dealt_rows: return Place::r;
    }
    return Place::c;
}

// The ranks of a y-group need rows of few others, so that there they are asked for even if other products get panels.
SpmmStep Builder::dot_step(int l) {
    if (!places_differ() || scores_place() != Place::r) return spmm_step(l, true);
    const TensorId dealt = adjacency(l, true, true);
    index(dealt);
    return {dealt, {}, {}, Exchange::rows, false};
}

TensorId Builder::edge_dot(const std::string& name, int l, TensorId x, TensorId y, const std::string& out) {
    SpmmStep product = dot_step(l);
    product.program = Program::dot;
    product.column_operands = {x};
    product.row_operands = {y};
    const bool sums = places_differ() && scores_place() == Place::c;
    const bool dealt = deals_rows(tensor_of(schedule_, product.matrix));
    const TensorId made = edges_of(product.matrix, dealt ? out + ".dealt" : out, sums ? Axes::parse("y") : Axes());
    product.results = {made};
    step(name, OpKind::aggregate, product);
    if (sums) all_reduce(name + ".all_reduce", made, OpKind::aggregate);
    if (!dealt) return made;
    const TensorId gathered = edges_of(adjacency(l, true), out);
    step(name + ".gather", OpKind::aggregate, EdgeGatherStep{made, gathered});
    return gathered;
}

TensorId Builder::edge_softmax(const std::string& name, const Site& site, TensorId scores, const std::string& out) {
    const TensorId matrix = *tensor_of(schedule_, scores).structure;
    const TensorId weights = edges_of(matrix, out);
    const TensorId largest = by_rows_of(matrix, out + ".largest"), total = by_rows_of(matrix, out + ".total");
    const TensorId beta = parameter(site.beta, Role::bias);
    step(name, OpKind::aggregate,
         EdgeStep{EdgeOp::softmax, matrix, {scores, beta}, std::nullopt, {weights, largest, total}});
    return weights;
}

TensorId Builder::edge_softmax_back(const std::string& name, const Site& site, const SoftmaxBack& in,
                                    const std::string& out) {
    const TensorId matrix = *tensor_of(schedule_, in.scores).structure;
    const TensorId of_beta = by_rows_of(matrix, out);
    const TensorId beta = parameter(site.beta, Role::bias);
    step(name, OpKind::aggregate,
         EdgeStep{EdgeOp::softmax_back, matrix, {in.scores, in.weights, in.inner, beta}, in.gradient, {of_beta}});
    return of_beta;
}

TensorId Builder::edge_transpose(const std::string& name, int l, TensorId in, const std::string& out) {
    const TensorId transposed = edges_of(spmm_step(l, false).matrix, out);
    const Tensor like = tensor_of(schedule_, in);
    Tensor& tensor = schedule_.tensors[static_cast<std::size_t>(transposed)];
    tensor.columns = like.columns, tensor.layout.columns = like.layout.columns;
    step(name, OpKind::aggregate, EdgeTransposeStep{in, transposed});
    return transposed;
}

TensorId Builder::edge_sum(const std::string& name, int l, bool transposed, TensorId values, TensorId in,
                           const std::string& out) {
    SpmmStep product = spmm_step(l, transposed);
    product.program = Program::edge_sum;
    product.column_operands = {in};
    product.row_operands = {values};
    product.results = {spmm_result(product, out, in)};
    step(name, OpKind::aggregate, product);
    return product.results.front();
}

void Builder::update_beta(const std::string& name, const Site& site, TensorId by_rows) {
    const TensorId once = redistribute(name + ".redistribute", by_rows, Place::r,
                                       tensor_of(schedule_, by_rows).name + ".once", OpKind::aggregate);
    const TensorId gradient = transient(numbered("y", site.layer) + ".beta", DType::f32, {1}, 1, layout_partial());
    step(name, OpKind::aggregate, MapStep{MapOp::column_sum, once, {}, gradient, site.layer, Activation::none, false});
    reduce_and_update(parameter(site.beta, Role::bias), gradient, OpKind::aggregate);
}

}  // namespace gnnplan::lower
