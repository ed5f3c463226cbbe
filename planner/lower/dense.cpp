#include "planner/lower/dense.hpp"

namespace gnnplan::lower {

TensorId gemm(Builder& builder, const std::string& step, TensorId in, const Site& site, Direction direction,
              const std::string& out) {
    const Rules& rules = builder.rules();
    const bool forward = direction == Direction::forward;
    const TensorId w = builder.weight(site.parameter);
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
    builder.step(step, OpKind::linear, GemmStep{in, builder.weight(site.parameter), onto, transposed, true});
}

TensorId weight_grad(Builder& builder, const std::string& step, TensorId left, TensorId right, int site) {
    const SiteGraph& model = builder.rules().model();
    const Parameter& w = model.parameter(model.at(site).parameter);
    const TensorId gradient = builder.summand("Y" + builder.rules().label(site), w.rows(), w.columns());
    builder.step(step, OpKind::linear, WeightGradStep{left, right, gradient});
    return gradient;
}

void reduce(Builder& builder, TensorId parameter, TensorId gradient, OpKind op) {
    builder.all_reduce("all_reduce." + builder.tensor(parameter).name, gradient, op);
}

void reduce_and_update(Builder& builder, TensorId parameter, TensorId gradient, OpKind op) {
    reduce(builder, parameter, gradient, op), builder.update(parameter, gradient, op);
}

void add_to(Builder& builder, const std::string& step, TensorId sum, TensorId other) {
    builder.step(step, OpKind::add, MapStep{MapOp::add, sum, other, {}, 0, Activation::none, false});
}

TensorId copy(Builder& builder, const std::string& step, TensorId in, const std::string& out) {
    const TensorId made = builder.like(out, in);
    builder.step(step, OpKind::aggregate, MapStep{MapOp::copy, in, {}, made, 0, Activation::none, false});
    return made;
}

}  // namespace gnnplan::lower
