// Reading guide: a product, of whatever program, runs in stages (gnnplan/ir/pieces.hpp). At each, a rank sends what
// others lack for their piece, gets what it lacks for its own, and multiplies. With overlap the transfers of the next
// stages, as many as a block is cut into, are begun before stage k is multiplied, and the product looks after them
// every few rows, so that the library gets to move bytes in between.
#include "runtime/exec/handlers.hpp"
#include "runtime/exec/program_kernels.hpp"
#include "runtime/exec/stage_transfers.hpp"

#include "kernels/look.hpp"

#include <gnnplan/base/blocking.hpp>
#include <gnnplan/ir/machine.hpp>

#include <span>

namespace gnnplan::exec {
namespace {

class DistributedSpmm {
public:
    DistributedSpmm(const SpmmStep& step, const StepContext& context)
        : step_(step),
          context_(context),
          part_(context.store.part(step.matrix)),
          stay_{{}, context.store.matrices(step.row_operands), context.store.matrices(step.results)},
          transfers_(step, context),
          kernels_(step, context) {}

    void run() {
        const std::size_t last = last_piece();
        for (std::size_t k = 0; k < part_.stages().size(); ++k) {
            transfers_.begin_up_to(k);
            transfers_.finish_first();
            transfers_.begin_up_to(k + transfers_.ahead());
            multiply(k, k == last);
        }
        transfers_.end();
        if (!accumulate_) clear();
    }

    std::vector<ProductKernel> choose_kernels(kernels::Device& device, std::string_view wanted) const {
        std::vector<ProductKernel> first;
        for (std::size_t k = 0; step_.program == Program::sum && k < part_.stages().size(); ++k) {
            if (!part_.stages()[k].block) continue;
            const Views views = views_of(k);
            const kernels::Csr nonzeros = nonzeros_of(k);
            const auto of = kernels_.named<SumOperands>(views);
            auto found = device.choose(nonzeros, of.in, of.out, room_for(nonzeros), wanted);
            if (first.empty()) first = std::move(found);
        }
        return first;
    }

private:
    // The last stage with a piece for this rank.
    std::size_t last_piece() const {
        std::size_t last = 0;
        for (std::size_t k = 0; k < part_.stages().size(); ++k) last = part_.stages()[k].piece ? k : last;
        return last;
    }
    const Blocking& blocking() const { return context_.store.schedule().blocking; }

    void multiply(std::size_t k, bool last) {
        if (!part_.stages()[k].piece) return;
        const Views views = views_of(k);
        const kernels::Csr nonzeros = nonzeros_of(k);
        kernels_.begin_piece(values_beside(k), last);
        if (!transfers_.under_way() || !context_.world.needs_progress()) {
            kernels_.compute(nonzeros, views, accumulate_, room_for(nonzeros));
        } else {
            looking(nonzeros, views);
        }
        accumulate_ = true;
    }
    Views views_of(std::size_t k) const {
        Views views = stay_;
        views.columns = transfers_.column_rows(k);
        return views;
    }
    // The values of nonzeros of stage k that the program makes or reads, if it does.
    kernels::Matrix values_beside(std::size_t k) const {
        if (step_.program == Program::dot) return edges(step_.named<DotOperands<TensorId>>().products, k);
        const std::optional<TensorId> scores = step_.stored_scores();
        return scores ? edges(*scores, k) : kernels::Matrix{};
    }
    kernels::Csr nonzeros_of(std::size_t k) const {
        kernels::Csr nonzeros = part_.nonzeros(part_.stages()[k], transfers_.nonzeros(k));
        if (step_.program == Program::edge_sum) {
            nonzeros.value = edges(step_.named<EdgeSumOperands<TensorId>>().values, k).data;
            return nonzeros;
        }
        if (const ValueScales* scales = context_.store.scales(step_.matrix)) scales->apply(k, nonzeros);
        return nonzeros;
    }
    // The values of the nonzeros of stage k, a row for each.
    kernels::Matrix edges(TensorId id, std::size_t k) const {
        const SparseStage& stage = part_.stages()[k];
        const std::int64_t columns = context_.store.block(id).columns.size();
        return {context_.store.data<float>(id) + stage.first_edge * columns, stage.nonzeros, columns, columns};
    }
    kernels::PanelRoom room_for(const kernels::Csr& nonzeros) const {
        const bool packs = nonzeros.panels > 1 || step_.bf16 || blocking().packs_single_panels;
        return packs ? transfers_.panel_room() : kernels::PanelRoom{};
    }

    // Copies of the rows that panels meet would be made without a look, so there are none.
    void looking(kernels::Csr nonzeros, const Views& views) const {
        kernels::Look look(flops_per_look, [this] { transfers_.progress(); });
        nonzeros.look = &look;
        kernels_.compute(nonzeros, views, accumulate_, {});
        look.rethrow();
    }

    void clear() const {
        for (const TensorId result : step_.results)
            context_.kernels.zero(std::as_writable_bytes(context_.store.values<float>(result)));
    }

    const SpmmStep& step_;
    const StepContext& context_;
    const SparsePart& part_;
    Views stay_;  // without column operands
    StageTransfers transfers_;
    ProgramKernels kernels_;
    bool accumulate_ = false;  // whether a piece has been multiplied
};

}  // namespace

void run_step(const SpmmStep& step, const StepContext& context) { DistributedSpmm(step, context).run(); }

std::vector<ProductKernel> choose_kernels(const SpmmStep& step, const StepContext& context, kernels::Device& device,
                                          std::string_view wanted) {
    return DistributedSpmm(step, context).choose_kernels(device, wanted);
}

void run_step(const RowRequestStep& step, const StepContext& context) {
    if (step.targets) return context.store.exchange_targets(step.matrix, context.world);
    context.store.exchange_indices(step.matrix, context.world);
}

}  // namespace gnnplan::exec
