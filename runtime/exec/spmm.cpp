// Reading guide: a product, of whatever program, runs in stages (gnnplan/ir/pieces.hpp). At each, a rank sends what
// others lack for their piece, gets what it lacks for its own, and multiplies. With overlap the transfers of the next
// stages, as many as a block is cut into, are begun before stage k is multiplied, a few rows at a time, so that the
// library gets to move bytes in between.
#include "runtime/exec/handlers.hpp"
#include "runtime/exec/program_kernels.hpp"
#include "runtime/exec/stage_transfers.hpp"

#include <gnnplan/base/blocking.hpp>

#include <algorithm>
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
            in_portions(nonzeros, views);
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
        kernels::Csr nonzeros = part_.nonzeros(part_.stages()[k], transfers_.nonzero_buffer(k));
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

    // Goes slice after slice of the columns, and panel after panel, as the product does by itself: if it were cut only
    // by rows, each portion would read all of the column operands. Attention is cut by heads instead, as its columns
    // are of several kinds, and products of rows need all columns.
    void in_portions(const kernels::Csr& nonzeros, const Views& views) const {
        if (step_.attends() || step_.program == Program::dot) return in_portions(nonzeros, views, accumulate_);
        const std::int64_t width = views.results.front().columns;
        const std::int64_t rows = (nonzeros.columns + nonzeros.panels - 1) / nonzeros.panels;
        const std::int64_t slice = column_slices(blocking(), rows, width, sizeof(float)).columns;
        for (std::int64_t first = 0; first < width; first += slice) {
            const Views cut = views.slice(first, std::min(slice, width - first));
            for (std::int64_t p = 0; p < nonzeros.panels; ++p) {
                in_portions(nonzeros.panel(p), cut, accumulate_ || p > 0);
            }
        }
    }
    void in_portions(const kernels::Csr& panel, const Views& views, bool accumulate) const {
        const auto operands = static_cast<std::int64_t>(views.columns.size());
        const std::int64_t flops = 2 * panel.nonzeros() * views.columns.front().columns * operands;
        const std::int64_t portions =
            std::clamp<std::int64_t>(flops / flops_per_look, 1, std::max<std::int64_t>(1, panel.rows));
        for (std::int64_t i = 0; i < portions; ++i) {
            const Range rows = balanced_block({0, panel.rows}, i, portions);
            kernels_.compute(panel.row_slice(rows.begin, rows.size()), views.of_rows(rows), accumulate, {});
            transfers_.progress();
        }
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
    context.store.exchange_indices(step.matrix, context.world);
}

}  // namespace gnnplan::exec
