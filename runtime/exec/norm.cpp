#include "runtime/exec/handlers.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::exec {
namespace {

class NormWork {
public:
    NormWork(const NormStep& step, const StepContext& context)
        : step_(step), context_(context), columns_(context.store.block(step.in.front()).columns) {}

    void run() const {
        const kernels::Table& kernels = context_.kernels;
        const double share = 1 / static_cast<double>(tensor_of(context_.store.schedule(), step_.in.front()).columns);
        const kernels::Matrix z = matrix(step_.in.front());
        switch (step_.op) {
            case NormOp::rows:
                return kernels.norm_rows({z, parameter(1), by_rows(step_.out[0]), by_rows(step_.out[1]), share},
                                         parameter(2), true, matrix(step_.out[2]));
            case NormOp::mean: return kernels.norm_moment(z, nullptr, share, by_rows(step_.out[0]));
            case NormOp::variance: return kernels.norm_moment(z, by_rows(step_.in[1]), share, by_rows(step_.out[0]));
            case NormOp::scale: return kernels.norm_rows(known(z, share), parameter(4), false, matrix(step_.out[0]));
            case NormOp::rows_back:
                return kernels.norm_rows_back(known(z, share), matrix(*step_.gradient), cleared(0), cleared(1));
            case NormOp::sums:
                return kernels.norm_sums(known(z, share), matrix(step_.in[4]), matrix(step_.out[0]), cleared(1),
                                         cleared(2));
            case NormOp::back: return kernels.norm_back(known(z, share), matrix(step_.in[4]), matrix(*step_.gradient));
        }
        ensure(false, "an operation of a norm has no handler");
    }

private:
    kernels::Matrix matrix(TensorId id) const { return context_.store.matrix(id); }
    float* by_rows(TensorId id) const { return context_.store.data<float>(id); }
    // A parameter from the first local column on.
    const float* parameter(std::size_t operand) const {
        return context_.store.data<float>(step_.in[operand]) + columns_.begin;
    }
    kernels::NormedRows known(kernels::ConstMatrix z, double share) const {
        return {z, parameter(3), by_rows(step_.in[1]), by_rows(step_.in[2]), share};
    }
    float* cleared(std::size_t result) const {
        return cleared_columns<float>(context_, step_.out[result], step_.in.front());
    }

    const NormStep& step_;
    const StepContext& context_;
    Range columns_;
};

}  // namespace

void run_step(const NormStep& step, const StepContext& context) { NormWork(step, context).run(); }

}  // namespace gnnplan::exec
