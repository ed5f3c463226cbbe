// Batch normalisation: x * weight + bias beside Z, which the backward pass reads once more. Sums over all rows of a
// column are made of every rank's; the sums of the backward pass are the gradients of weight and bias, too.
#include "planner/lower/norm_pass.hpp"

namespace gnnplan::lower {
namespace {

// Means and inverse deviations of columns.
struct Columns {
    TensorId mean, inverse;
};
// The forward pass leaves Z, and those of its columns.
struct NormedColumns {
    TensorId z;
    Columns of;
};

class BatchNorm : NormPass {
public:
    BatchNorm(Passes& all, int site) : NormPass(all, site, OpKind::batch_norm) {}

    void forward() {
        const std::string at = "forward." + label_;
        const TensorId z = read();
        const Columns of = passes_.again      ? std::any_cast<const NormedColumns&>(passes_.value(id_).saved).of
                           : passes_.training ? of_these_rows(at, z)
                                              : of_earlier_epochs(at);
        const TensorId made = builder_.like("H" + label_ + suffix(rest_), z);
        emit(at, {BatchNormOp::scale,
                  {z, of.mean, of.inverse, builder_.bias(site_.parameter), builder_.bias(site_.shift)},
                  {made}});
        if (passes_.training) passes_.value(id_).saved = NormedColumns{z, of};
        passes_.value(id_).copies.add(rest_, made);
    }

    void backward() {
        builder_.begin(Pass::backward, l_);
        const std::string at = "backward." + label_;
        const Place place = rules_.norm_place(id_);
        const TensorId g = gradient_in(place);
        const auto& [saved, of] = std::any_cast<const NormedColumns&>(passes_.value(id_).saved);
        const TensorId z = moves_to(place) ? moved(saved, "Z", place) : saved;
        const TensorId weight = builder_.bias(site_.parameter), bias = builder_.bias(site_.shift);
        const TensorId of_weight = gradient_of("weight"), of_bias = gradient_of("bias");
        emit(at + ".sums", {BatchNormOp::sums, {z, of.mean, of.inverse, g}, {of_weight, of_bias}});
        reduce(builder_, weight, of_weight, kind_);
        reduce(builder_, bias, of_bias, kind_);
        emit(at, {BatchNormOp::back, {z, of.mean, of.inverse, weight, of_weight, of_bias}, {}, g});
        pass_on(g, place);
        builder_.update(weight, of_weight, kind_);
        builder_.update(bias, of_bias, kind_);
    }

private:
    // Means and deviations of the rows of z, which running values move towards.
    Columns of_these_rows(const std::string& at, TensorId z) {
        const TensorId sums = builder_.summand("s" + label_, 2, site_.width, DType::f64);
        emit(at + ".moments", {BatchNormOp::moments, {z}, {sums}});
        builder_.step(at + ".moments.all_reduce", kind_, AllReduceStep{sums});
        const Columns of = by_columns();
        const std::int64_t rows = builder_.tensor(z).rows;
        emit(at + ".finish", {BatchNormOp::finish, {sums}, {of.mean, of.inverse}, {}, running(), rows});
        return of;
    }
    Columns of_earlier_epochs(const std::string& at) {
        const Columns of = by_columns();
        emit(at + ".known", {BatchNormOp::known, running(), {of.mean, of.inverse}});
        return of;
    }
    std::vector<TensorId> running() { return {builder_.bias(site_.running[0]), builder_.bias(site_.running[1])}; }
    Columns by_columns() {
        const auto made = [&](const char* name) {
            return builder_.beside(name + label_, builder_.bias(site_.parameter), site_.width, layout_replicated());
        };
        return {made("mean"), made("inverse")};
    }
    void emit(const std::string& step, const BatchNormStep& norm) { builder_.step(step, kind_, norm); }
};

}  // namespace

void forward_batch_norm(Passes& passes, int id) { BatchNorm(passes, id).forward(); }

void backward_batch_norm(Passes& passes, int id) { BatchNorm(passes, id).backward(); }

}  // namespace gnnplan::lower
