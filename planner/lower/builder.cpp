#include "planner/lower/builder.hpp"

#include <algorithm>

namespace gnnplan::lower {

Builder::Builder(const std::vector<ProductLayer>& layers, const Configuration& configuration, const GraphShape& graph)
    : layers_(layers), configuration_(configuration), graph_(graph) {
    schedule_.grid = configuration.grid;
}

bool Builder::keeps(int l) const {
    const auto& kept = configuration_.kept;
    return std::find(kept.begin(), kept.end(), numbered("T", l)) != kept.end();
}

void Builder::begin_phase(Phase phase) { phase_ = phase; }

TensorId Builder::add(Tensor tensor) {
    schedule_.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(schedule_.tensors.size()) - 1;
}

TensorId Builder::resident(const std::string& name, Role role, DType dtype, std::int64_t rows, std::int64_t columns,
                           const Layout& layout, int l, bool transposed) {
    for (std::size_t id = 0; id < schedule_.tensors.size(); ++id) {
        if (schedule_.tensors[id].name == name) return static_cast<TensorId>(id);
    }
    return add({name, role, dtype, rows, columns, layout, l, transposed});
}

TensorId Builder::transient(const std::string& name, DType dtype, std::int64_t rows, std::int64_t columns,
                            const Layout& layout) {
    const std::string prefix = phase_ == Phase::evaluation ? "evaluation." : "";
    return add({prefix + name, Role::transient, dtype, rows, columns, layout, 0, false});
}

void Builder::step(const std::string& name, const Operation& operation) {
    const std::string prefix = phase_ == Phase::evaluation ? "evaluation." : "";
    schedule_.steps.push_back({prefix + name, phase_, operation});
}

TensorId Builder::adjacency(bool transposed) {
    const bool stored_transposed = transposed || graph_.symmetric;  // one copy, named for the forward pass
    return resident(stored_transposed ? "A^T" : "A", Role::adjacency, DType::f32, graph_.vertices, graph_.vertices,
                    {Axes::parse("x"), Axes::parse("z"), {}}, 0, stored_transposed);
}

TensorId Builder::features(Place place) {
    if (!places_differ()) place = Place::r;
    return resident(std::string("H0") + suffix(place), Role::features, DType::f32, graph_.vertices, layer(1).in_width,
                    place == Place::c ? layout_c() : layout_r());
}

TensorId Builder::labels() { return resident("labels", Role::labels, DType::i32, graph_.vertices, 1, layout_r()); }

TensorId Builder::subset() { return resident("subset", Role::subset, DType::u8, graph_.vertices, 1, layout_r()); }

TensorId Builder::weight(int l) {
    return resident(numbered("W", l), Role::weight, DType::f32, layer(l).in_width, layer(l).out_width,
                    layout_replicated(), l);
}

TensorId Builder::bias(int l) {
    return resident(numbered("b", l), Role::bias, DType::f32, 1, layer(l).out_width, layout_replicated(), l);
}

TensorId Builder::spmm(const std::string& name, bool transposed, TensorId in, const std::string& out) {
    const TensorId matrix = adjacency(transposed);
    const TensorId product =
        transient(out + ".C", DType::f32, graph_.vertices, tensor_of(schedule_, in).columns, layout_c());
    step(name, SpmmStep{matrix, in, product, configuration_.exchange});
    return product;
}

TensorId Builder::gemm(const std::string& name, TensorId in, int l, bool transposed, const std::string& out) {
    const TensorId w = weight(l);
    const std::int64_t width = transposed ? layer(l).in_width : layer(l).out_width;
    const TensorId product = transient(out + ".R", DType::f32, graph_.vertices, width, layout_r());
    step(name, GemmStep{in, w, product, transposed});
    return product;
}

TensorId Builder::redistribute(const std::string& name, TensorId in, Place to, const std::string& out) {
    if (!places_differ()) return in;
    const Tensor& tensor = tensor_of(schedule_, in);
    const TensorId moved = transient(out + suffix(to), tensor.dtype, tensor.rows, tensor.columns,
                                     to == Place::c ? layout_c() : layout_r());
    step(name, RedistributeStep{in, moved});
    return moved;
}

TensorId Builder::weight_grad(const std::string& name, TensorId left, TensorId right, int l) {
    const TensorId gradient =
        transient(numbered("Y", l), DType::f32, layer(l).in_width, layer(l).out_width, layout_partial());
    step(name, WeightGradStep{left, right, gradient});
    return gradient;
}

TensorId Builder::column_sum(const std::string& name, TensorId in, int l) {
    const TensorId sum = transient(numbered("y", l), DType::f32, 1, layer(l).out_width, layout_partial());
    step(name, MapStep{MapOp::column_sum, in, {}, sum, l, false, false});
    return sum;
}

void Builder::activate(const std::string& name, TensorId z, int l, bool training) {
    const bool dropped = training && l < depth() && layer(l + 1).dropout;
    if (!layer(l).bias && !layer(l).relu && !dropped) return;
    const std::optional<TensorId> operand = layer(l).bias ? std::optional(bias(l)) : std::nullopt;
    step(name, MapStep{MapOp::activate, z, operand, {}, l + 1, layer(l).relu, dropped});
}

TensorId Builder::dropout_input(const std::string& name, TensorId in, const std::string& out) {
    const Tensor source = tensor_of(schedule_, in);
    const TensorId dropped = transient(out, DType::f32, source.rows, source.columns, source.layout);
    step(name, MapStep{MapOp::dropout, in, {}, dropped, 1, false, true});
    return dropped;
}

TensorId Builder::positive_mask(const std::string& name, TensorId h, const std::string& out) {
    const Tensor source = tensor_of(schedule_, h);
    const TensorId mask = transient(out, DType::bits, source.rows, source.columns, source.layout);
    step(name, MapStep{MapOp::positive_mask, h, {}, mask, 0, false, false});
    return mask;
}

void Builder::apply_mask(const std::string& name, TensorId g, TensorId mask, int reading_layer) {
    step(name, MapStep{MapOp::apply_mask, g, mask, {}, reading_layer, false, layer(reading_layer).dropout});
}

void Builder::all_reduce(const std::string& name, TensorId tensor) { step(name, AllReduceStep{tensor}); }

void Builder::loss(TensorId logits) {
    const TensorId label = labels();
    const TensorId part = subset();
    const TensorId sum = transient("loss", DType::f64, 1, 1, layout_partial());
    step("loss", LossStep{logits, label, part, sum});
    step("loss.all_reduce", AllReduceStep{sum});
}

void Builder::score(TensorId logits) {
    const TensorId label = labels();
    const TensorId part = subset();
    const TensorId counts = transient("correct", DType::f64, 1, 3, layout_partial());
    step("score", ScoreStep{logits, label, part, counts});
    step("score.all_reduce", AllReduceStep{counts});
}

void Builder::update(int l, TensorId gradient, bool of_bias) {
    const std::string name = numbered(of_bias ? "b" : "W", l);
    const TensorId target = of_bias ? bias(l) : weight(l);
    const Tensor shape = tensor_of(schedule_, target);
    const auto moment = [&](const char* which) {
        return resident(name + which, Role::moment, DType::f32, shape.rows, shape.columns, layout_replicated(), l);
    };
    const TensorId m1 = moment(".m1");
    const TensorId m2 = moment(".m2");
    step("update." + name, UpdateStep{target, gradient, m1, m2});
}

TensorId Builder::at(Copies& matrix, Place place, const std::string& name, const std::string& out) {
    if (matrix.in(place)) return matrix.at(place);
    const TensorId moved = redistribute(name, matrix.at(other(place)), place, out);
    matrix.add(place, moved);
    return moved;
}

}  // namespace gnnplan::lower
