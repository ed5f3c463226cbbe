// Layer normalisation: x * weight + bias beside Z, which the backward pass reads once more. Where the columns of a row
// are split over ranks, the sums that a row needs are made of all of them.
#include "planner/lower/passes.hpp"

namespace gnnplan::lower {
namespace {

// The forward pass leaves Z, and the mean and variance of its rows.
struct Normed {
    TensorId z, mean, variance;
};

class LayerNorm : SitePass {
public:
    LayerNorm(Passes& all, int site) : SitePass(all, site), label_(all.rules.label(site)) {}

    void forward() {
        prepare_backward(passes_, site_.input);
        builder_.begin(Pass::forward, l_);
        const std::string at = "forward." + label_;
        const Place place = rules_.made_in(id_);
        const TensorId z = passes_.value(site_.input).copies.at(place);
        const TensorId weight = builder_.bias(site_.parameter), bias = builder_.bias(site_.shift);
        const TensorId made = builder_.like("H" + label_ + suffix(place), z);
        const TensorId mean = by_rows("m" + label_, z, 1), variance = by_rows("v" + label_, z, 1);
        if (splits(z)) {
            emit(at + ".mean", {NormOp::mean, {z}, {}, {mean}});
            builder_.all_reduce(at + ".mean.all_reduce", mean, OpKind::layer_norm);
            emit(at + ".variance", {NormOp::variance, {z, mean}, {}, {variance}});
            builder_.all_reduce(at + ".variance.all_reduce", variance, OpKind::layer_norm);
            emit(at + ".scale", {NormOp::scale, {z, mean, variance, weight, bias}, {}, {made}});
        } else {
            emit(at, {NormOp::rows, {z, weight, bias}, {}, {mean, variance, made}});
        }
        if (passes_.training) passes_.value(id_).saved = Normed{z, mean, variance};
        passes_.value(id_).copies.add(place, made);
    }

    void backward() {
        builder_.begin(Pass::backward, l_);
        const std::string at = "backward." + label_;
        const Place place = rules_.norm_place(id_);
        const std::string to = rules_.label(rules_.sum_below(id_));
        const TensorId g =
            builder_.at(passes_.gradient(id_).copies, place, "backward." + to + ".input", "G" + to, OpKind::layer_norm);
        const Normed kept = moved(at, std::any_cast<const Normed&>(passes_.value(id_).saved), place);
        const TensorId weight = builder_.bias(site_.parameter);
        const std::int64_t columns = builder_.tensor(g).columns;
        const TensorId of_weight = builder_.summand("y" + label_ + ".weight", 1, columns);
        const TensorId of_bias = builder_.summand("y" + label_ + ".bias", 1, columns);
        const auto& [z, mean, variance] = kept;
        if (splits(z)) {
            const TensorId sums = by_rows("s" + label_, z, 2);
            emit(at + ".sums", {NormOp::sums, {z, mean, variance, weight, g}, {}, {sums, of_weight, of_bias}});
            builder_.all_reduce(at + ".sums.all_reduce", sums, OpKind::layer_norm);
            emit(at, {NormOp::back, {z, mean, variance, weight, sums}, g, {}});
        } else {
            emit(at, {NormOp::rows_back, {z, mean, variance, weight}, g, {of_weight, of_bias}});
        }
        passes_.gradient(site_.input).copies.add(place, g);
        reduce_and_update(builder_, weight, of_weight, OpKind::layer_norm);
        reduce_and_update(builder_, builder_.bias(site_.shift), of_bias, OpKind::layer_norm);
    }

private:
    bool splits(TensorId z) const { return rules_.places_differ() && !builder_.tensor(z).layout.columns.empty(); }
    // Numbers for each row of `z`, which are partial sums where its columns are split.
    TensorId by_rows(const std::string& name, TensorId z, std::int64_t columns) {
        Layout layout{builder_.tensor(z).layout.rows, {}, {}};
        if (splits(z)) layout.partial = builder_.tensor(z).layout.columns;
        return builder_.beside(name, z, columns, layout);
    }
    // Z where the gradient is, and what goes with its rows.
    Normed moved(const std::string& at, const Normed& saved, Place place) {
        const Place rest = rules_.made_in(id_);
        if (place == rest || !rules_.places_differ()) return saved;
        const Place rows = place == Place::c ? Place::f : place;
        const auto move = [&](TensorId from, const char* name, Place to) {
            return builder_.redistribute(at + "." + name + ".redistribute", from, to, name + label_ + ".moved",
                                         OpKind::layer_norm);
        };
        return {move(saved.z, "Z", place), move(saved.mean, "m", rows), move(saved.variance, "v", rows)};
    }
    void emit(const std::string& step, const NormStep& norm) { builder_.step(step, OpKind::layer_norm, norm); }

    std::string label_;
};

}  // namespace

void forward_norm(Passes& passes, int id) { LayerNorm(passes, id).forward(); }

void backward_norm(Passes& passes, int id) { LayerNorm(passes, id).backward(); }

}  // namespace gnnplan::lower
