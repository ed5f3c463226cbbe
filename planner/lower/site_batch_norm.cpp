// Batch normalisation: x * weight + bias beside Z, which the backward pass reads once more. Sums over all rows of a
// column are made of every rank's; the sums of the backward pass are the gradients of weight and bias, too.
#include "planner/lower/passes.hpp"

namespace gnnplan::lower {
namespace {

// Means and inverse deviations of columns.
struct Columns {
    TensorId mean, inverse;
};
// The forward pass leaves Z, and those of its columns.
struct Normed {
    TensorId z;
    Columns of;
};

class BatchNorm : SitePass {
public:
    BatchNorm(Passes& all, int site) : SitePass(all, site), label_(all.rules.label(site)) {}

    void forward() {
        prepare_backward(passes_, site_.input);
        builder_.begin(Pass::forward, l_);
        const std::string at = "forward." + label_;
        const Place place = rules_.made_in(id_);
        const TensorId z = passes_.value(site_.input).copies.at(place);
        const Columns of = passes_.training ? of_these_rows(at, z) : of_earlier_epochs(at);
        const TensorId made = builder_.like("H" + label_ + suffix(place), z);
        emit(at, {BatchNormOp::scale,
                  {z, of.mean, of.inverse, builder_.bias(site_.parameter), builder_.bias(site_.shift)},
                  {made}});
        if (passes_.training) passes_.value(id_).saved = Normed{z, of};
        passes_.value(id_).copies.add(place, made);
    }

    void backward() {
        builder_.begin(Pass::backward, l_);
        const std::string at = "backward." + label_;
        const Place place = rules_.norm_place(id_);
        const std::string to = rules_.label(rules_.sum_below(id_));
        const TensorId g =
            builder_.at(passes_.gradient(id_).copies, place, "backward." + to + ".input", "G" + to, OpKind::batch_norm);
        const auto& [z, of] = std::any_cast<const Normed&>(passes_.value(id_).saved);
        const TensorId moved =
            place == rules_.made_in(id_) || !rules_.places_differ()
                ? z
                : builder_.redistribute(at + ".Z.redistribute", z, place, "Z" + label_ + ".moved", OpKind::batch_norm);
        const TensorId weight = builder_.bias(site_.parameter), bias = builder_.bias(site_.shift);
        const TensorId of_weight = builder_.summand("y" + label_ + ".weight", 1, site_.width);
        const TensorId of_bias = builder_.summand("y" + label_ + ".bias", 1, site_.width);
        emit(at + ".sums", {BatchNormOp::sums, {moved, of.mean, of.inverse, g}, {of_weight, of_bias}});
        reduce(builder_, weight, of_weight, OpKind::batch_norm);
        reduce(builder_, bias, of_bias, OpKind::batch_norm);
        emit(at, {BatchNormOp::back, {moved, of.mean, of.inverse, weight, of_weight, of_bias}, {}, g});
        passes_.gradient(site_.input).copies.add(place, g);
        builder_.update(weight, of_weight, OpKind::batch_norm);
        builder_.update(bias, of_bias, OpKind::batch_norm);
    }

private:
    // Means and deviations of the rows of z, which running values move towards.
    Columns of_these_rows(const std::string& at, TensorId z) {
        const std::int64_t rows = builder_.tensor(z).rows;
        const TensorId sums = builder_.summand("s" + label_, 2, site_.width, DType::f64);
        emit(at + ".moments", {BatchNormOp::moments, {z}, {sums}});
        builder_.all_reduce(at + ".moments.all_reduce", sums, OpKind::batch_norm);
        const Columns of = by_columns();
        const std::vector<TensorId> running = {builder_.bias(site_.running[0]), builder_.bias(site_.running[1])};
        emit(at + ".finish", {BatchNormOp::finish, {sums}, {of.mean, of.inverse}, {}, running, rows});
        return of;
    }
    Columns of_earlier_epochs(const std::string& at) {
        const std::vector<TensorId> running = {builder_.bias(site_.running[0]), builder_.bias(site_.running[1])};
        const Columns of = by_columns();
        emit(at + ".known", {BatchNormOp::known, running, {of.mean, of.inverse}});
        return of;
    }
    Columns by_columns() {
        const auto made = [&](const char* name) {
            return builder_.beside(name + label_, builder_.bias(site_.parameter), site_.width, layout_replicated());
        };
        return {made("mean"), made("inverse")};
    }
    void emit(const std::string& step, const BatchNormStep& norm) { builder_.step(step, OpKind::batch_norm, norm); }

    std::string label_;
};

}  // namespace

void forward_batch_norm(Passes& passes, int id) { BatchNorm(passes, id).forward(); }

void backward_batch_norm(Passes& passes, int id) { BatchNorm(passes, id).backward(); }

}  // namespace gnnplan::lower
