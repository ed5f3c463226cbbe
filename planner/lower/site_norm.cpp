// Layer normalisation: x * weight + bias beside Z, which the backward pass reads once more. Where the columns of a row
// are split over ranks, the sums that a row needs are made of all of them.
#include "planner/lower/norm_pass.hpp"

namespace gnnplan::lower {
namespace {

// The forward pass leaves Z, and the mean and variance of its rows.
struct Normed {
    TensorId z, mean, variance;
};

class LayerNorm : NormPass {
public:
    LayerNorm(Passes& all, int site) : NormPass(all, site, OpKind::layer_norm) {}

    void forward() {
        const std::string at = "forward." + label_;
        const TensorId z = read();
        const TensorId weight = builder_.bias(site_.parameter), bias = builder_.bias(site_.shift);
        const TensorId made = builder_.like("H" + label_ + suffix(rest_), z);
        const TensorId mean = by_rows("m" + label_, z, 1), variance = by_rows("v" + label_, z, 1);
        if (splits(z)) {
            emit(at + ".mean", {NormOp::mean, {z}, {}, {mean}});
            builder_.step(at + ".mean.all_reduce", kind_, AllReduceStep{mean});
            emit(at + ".variance", {NormOp::variance, {z, mean}, {}, {variance}});
            builder_.step(at + ".variance.all_reduce", kind_, AllReduceStep{variance});
            emit(at + ".scale", {NormOp::scale, {z, mean, variance, weight, bias}, {}, {made}});
        } else {
            emit(at, {NormOp::rows, {z, weight, bias}, {}, {mean, variance, made}});
        }
        if (passes_.training) passes_.value(id_).saved = Normed{z, mean, variance};
        passes_.value(id_).copies.add(rest_, made);
    }

    void backward() {
        builder_.begin(Pass::backward, l_);
        const std::string at = "backward." + label_;
        const Place place = rules_.norm_place(id_);
        const TensorId g = gradient_in(place);
        const Normed kept = kept_in(place);
        const TensorId weight = builder_.bias(site_.parameter);
        const TensorId of_weight = gradient_of("weight"), of_bias = gradient_of("bias");
        const auto& [z, mean, variance] = kept;
        if (splits(z)) {
            const TensorId sums = by_rows("s" + label_, z, 2);
            emit(at + ".sums", {NormOp::sums, {z, mean, variance, weight, g}, {}, {sums, of_weight, of_bias}});
            builder_.step(at + ".sums.all_reduce", kind_, AllReduceStep{sums});
            emit(at, {NormOp::back, {z, mean, variance, weight, sums}, g, {}});
        } else {
            emit(at, {NormOp::rows_back, {z, mean, variance, weight}, g, {of_weight, of_bias}});
        }
        reduce_and_update(builder_, weight, of_weight, kind_);
        pass_on(g, place);
        reduce_and_update(builder_, builder_.bias(site_.shift), of_bias, kind_);
    }

private:
    bool splits(TensorId z) const { return rules_.places_differ() && !builder_.tensor(z).layout.columns.empty(); }
    // Numbers for each row of `z`, which are partial sums where its columns are split.
    TensorId by_rows(const std::string& name, TensorId z, std::int64_t columns) {
        Layout layout{builder_.tensor(z).layout.rows, {}, {}};
        if (splits(z)) layout.partial = builder_.tensor(z).layout.columns;
        return builder_.beside(name, z, columns, layout);
    }
    // Z in `place`, and the mean and variance of its rows beside it.
    Normed kept_in(Place place) {
        const Normed& saved = std::any_cast<const Normed&>(passes_.value(id_).saved);
        if (!moves_to(place)) return saved;
        const Place rows = place == Place::c ? Place::f : place;
        return {moved(saved.z, "Z", place), moved(saved.mean, "m", rows), moved(saved.variance, "v", rows)};
    }
    void emit(const std::string& step, const NormStep& norm) { builder_.step(step, kind_, norm); }
};

}  // namespace

void forward_norm(Passes& passes, int id) { LayerNorm(passes, id).forward(); }

void backward_norm(Passes& passes, int id) { LayerNorm(passes, id).backward(); }

}  // namespace gnnplan::lower
