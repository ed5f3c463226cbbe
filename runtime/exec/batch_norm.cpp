#include "runtime/exec/handlers.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::exec {
namespace {

class BatchNormWork {
public:
    BatchNormWork(const BatchNormStep& step, const StepContext& context)
        : step_(step), context_(context), columns_(context.store.block(step.in.front()).columns) {}

    void run() const {
        const kernels::Table& kernels = context_.kernels;
        switch (step_.op) {
            case BatchNormOp::moments: {
                double* const sums = cleared<double>(step_.out[0]);
                return kernels.batch_moments(matrix(step_.in[0]), sums, sums + width());
            }
            case BatchNormOp::finish: {
                const auto* sums = data<double>(step_.in[0]);
                return kernels.batch_finish({sums, sums + width(), width(), step_.rows}, data<float>(step_.out[0]),
                                            data<float>(step_.out[1]), data<float>(step_.running[0]),
                                            data<float>(step_.running[1]));
            }
            case BatchNormOp::known:
                return kernels.batch_known(data<float>(step_.in[0]), data<float>(step_.in[1]), width(),
                                           data<float>(step_.out[0]), data<float>(step_.out[1]));
            case BatchNormOp::scale: return kernels.batch_scale(normed(3), local(4), matrix(step_.out[0]));
            case BatchNormOp::sums:
                return kernels.batch_sums(normed({}), matrix(step_.in[3]), cleared<float>(step_.out[0]),
                                          cleared<float>(step_.out[1]));
            case BatchNormOp::back:
                return kernels.batch_back(normed(3), local(4), local(5), 1 / static_cast<double>(z().rows),
                                          matrix(*step_.gradient));
        }
        ensure(false, "an operation of a batch norm has no handler");
    }

private:
    const Tensor& z() const { return tensor_of(context_.store.schedule(), step_.in.front()); }
    std::int64_t width() const { return z().columns; }
    kernels::Matrix matrix(TensorId id) const { return context_.store.matrix(id); }
    template <class T>
    T* data(TensorId id) const {
        return context_.store.data<T>(id);
    }
    // An operand by columns, from the first local one on.
    const float* local(std::size_t operand) const { return data<float>(step_.in[operand]) + columns_.begin; }
    kernels::NormedColumns normed(std::optional<std::size_t> weight) const {
        return {matrix(step_.in[0]), local(1), local(2), weight ? local(*weight) : nullptr};
    }
    template <class T>
    T* cleared(TensorId sums) const {
        return cleared_columns<T>(context_, sums, step_.in.front());
    }

    const BatchNormStep& step_;
    const StepContext& context_;
    Range columns_;
};

}  // namespace

void run_step(const BatchNormStep& step, const StepContext& context) { BatchNormWork(step, context).run(); }

}  // namespace gnnplan::exec
