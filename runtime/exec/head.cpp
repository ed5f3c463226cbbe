#include "runtime/exec/handlers.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::exec {
namespace {

class HeadWork {
public:
    HeadWork(const HeadStep& step, const StepContext& context) : step_(step), context_(context) {}

    void run() const {
        const kernels::Table& kernels = context_.kernels;
        switch (step_.op) {
            case HeadOp::dot: {
                const kernels::Heads heads = heads_of(step_.in[0], step_.out);
                if (makes_squares(step_)) return kernels.head_squares(matrix(step_.in[0]), heads, matrix(step_.out));
                return kernels.head_dot(matrix(step_.in[0]), repeated(step_.in[1], step_.in[0]), heads,
                                        matrix(step_.out));
            }
            case HeadOp::spread:
                return kernels.head_spread(matrix(step_.in[0]), repeated(step_.in[1], step_.out),
                                           heads_of(step_.out, step_.in[0]), matrix(step_.out));
            case HeadOp::fold: return fold();
            case HeadOp::mean: return kernels.head_mean(matrix(step_.in[0]), matrix(step_.out));
            case HeadOp::share: return kernels.head_share(matrix(step_.in[0]), matrix(step_.out));
            case HeadOp::unit:
                return kernels.head_unit(matrix(step_.in[0]), matrix(step_.in[1]), heads_of(step_.out, step_.in[1]),
                                         matrix(step_.out));
            case HeadOp::unit_back:
                return kernels.head_unit_back(
                    {matrix(step_.in[0]), matrix(step_.in[1]), matrix(step_.in[2]), matrix(step_.in[3])},
                    heads_of(step_.out, step_.in[3]), matrix(step_.out));
        }
        ensure(false, "an operation on heads has no handler");
    }

private:
    kernels::Matrix matrix(TensorId id) const { return context_.store.matrix(id); }

    kernels::Heads heads_of(TensorId wide, TensorId by_heads) const {
        const Store& store = context_.store;
        const std::int64_t columns = tensor_of(store.schedule(), wide).columns / step_.heads;
        return {columns, store.block(wide).columns.begin - columns * store.block(by_heads).columns.begin};
    }

    // A parameter stands for each row of `wide`, the row of each head behind that of the one before.
    kernels::ConstMatrix repeated(TensorId id, TensorId wide) const {
        const Store& store = context_.store;
        if (tensor_of(store.schedule(), id).role != Role::weight) return matrix(id);
        const Block block = store.block(wide);
        return {store.data<float>(id) + block.columns.begin, block.rows.size(), block.columns.size(), 0};
    }

    void fold() const {
        context_.kernels.head_fold(matrix(step_.in[0]), matrix(step_.in[1]), heads_of(step_.in[0], step_.in[1]),
                                   cleared_columns<float>(context_, step_.out, step_.in[0]));
    }

    const HeadStep& step_;
    const StepContext& context_;
};

}  // namespace

void run_step(const HeadStep& step, const StepContext& context) { HeadWork(step, context).run(); }

}  // namespace gnnplan::exec
