#include "planner/lower/dense.hpp"

namespace gnnplan::lower {
namespace {

// An operand that has added teleport / (1 - teleport) of another value leaves the factor 1 - teleport to its weight, so
// that no pass has to scale rows.
double scale_of(const Site& site) { return site.initial >= 0 ? 1 - site.teleport : 1; }

// The weight of a site, or share W + (1 - share) I times its scale, which a phase makes once.
TensorId multiplier(Builder& builder, const Site& site) {
    const TensorId w = builder.weight(site.parameter);
    const double scale = scale_of(site);
    if (scale == 1 && site.share == 1) return w;
    const std::string symbol = builder.tensor(w).name;
    if (const auto made = builder.made_before(symbol + ".mixed")) return *made;
    const TensorId mixed = scaled(builder, "mix." + symbol, scale * site.share, w, symbol + ".mixed", OpKind::linear);
    MapStep identity{MapOp::add_identity, mixed, {}, {}, 0, Activation::none, false};
    identity.scale = scale * (1 - site.share);
    if (site.share != 1) builder.step("mix." + symbol + ".identity", OpKind::linear, identity);
    return mixed;
}

}  // namespace

TensorId gemm(Builder& builder, const std::string& step, TensorId in, const Site& site, Direction direction,
              const std::string& out) {
    const Rules& rules = builder.rules();
    const bool forward = direction == Direction::forward;
    const TensorId w = multiplier(builder, site);
    const std::int64_t width = forward ? builder.tensor(w).columns : builder.tensor(w).rows;
    const Place place = forward ? rules.gemm_out(site) : Place::r;
    const TensorId result = builder.beside(out + suffix(place), in, width, layout_at(place));
    if (forward && rules.rings(site)) {
        builder.step(step, OpKind::linear, RingGemmStep{in, w, result});
    } else {
        builder.step(step, OpKind::linear, GemmStep{in, w, result, !forward});
    }
    return result;
}

void gemm_onto(Builder& builder, const std::string& step, TensorId in, const Site& site, Direction direction,
               TensorId onto) {
    const bool transposed = direction == Direction::backward;
    builder.step(step, OpKind::linear, GemmStep{in, multiplier(builder, site), onto, transposed, true});
}

TensorId weight_grad(Builder& builder, const std::string& step, TensorId left, TensorId right, int site) {
    const SiteGraph& model = builder.rules().model();
    const Parameter& w = model.parameter(model.at(site).parameter);
    const TensorId gradient = builder.summand("Y" + builder.rules().label(site), w.rows(), w.columns());
    builder.step(step, OpKind::linear, WeightGradStep{left, right, gradient});
    return gradient;
}

void reduce(Builder& builder, TensorId parameter, TensorId gradient, OpKind op) {
    builder.step("all_reduce." + builder.tensor(parameter).name, op, AllReduceStep{gradient});
}

void reduce_and_update(Builder& builder, TensorId parameter, TensorId gradient, OpKind op) {
    reduce(builder, parameter, gradient, op), builder.update(parameter, gradient, op);
}

void update_weight(Builder& builder, const Site& site, TensorId gradient) {
    const TensorId w = builder.weight(site.parameter);
    reduce(builder, w, gradient, OpKind::linear);
    MapStep scaled{MapOp::scaled, gradient, {}, {}, 0, Activation::none, false};
    scaled.scale = scale_of(site) * site.share;
    if (scaled.scale != 1) builder.step("mix." + builder.tensor(gradient).name, OpKind::linear, scaled);
    builder.update(w, gradient, OpKind::linear);
}

void add_to(Builder& builder, const std::string& step, TensorId sum, TensorId other) {
    builder.step(step, OpKind::add, MapStep{MapOp::add, sum, other, {}, 0, Activation::none, false});
}

void add_scaled(Builder& builder, const std::string& step, double scale, TensorId sum, TensorId other) {
    MapStep added{MapOp::add_scaled, sum, other, {}, 0, Activation::none, false};
    added.scale = scale;
    builder.step(step, OpKind::add, added);
}

TensorId scaled(Builder& builder, const std::string& step, double scale, TensorId in, const std::string& out,
                OpKind op) {
    MapStep map{MapOp::scaled, in, {}, builder.like(out, in), 0, Activation::none, false};
    map.scale = scale;
    builder.step(step, op, map);
    return *map.out;
}

TensorId copy(Builder& builder, const std::string& step, TensorId in, const std::string& out) {
    const TensorId made = builder.like(out, in);
    builder.step(step, OpKind::aggregate, MapStep{MapOp::copy, in, {}, made, 0, Activation::none, false});
    return made;
}

}  // namespace gnnplan::lower
