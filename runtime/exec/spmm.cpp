// Reading guide: a product runs in stages (gnnplan/ir/pieces.hpp). At each, a rank sends what others lack for their
// piece, gets what it lacks for its own, and multiplies. With overlap the transfers of the next stages, as many as a
// block is cut into, are begun before stage k is multiplied, a few rows at a time, so that the library gets to move
// bytes in between.
#include "runtime/exec/handlers.hpp"

#include <gnnplan/base/slices.hpp>

#include <algorithm>
#include <cstring>
#include <deque>
#include <span>

namespace gnnplan::exec {
namespace {

// Work between two looks at the network: long enough that looking costs little, well below the time of a piece.
constexpr std::int64_t flops_per_look = 1'000'000;

class DistributedSpmm {
public:
    DistributedSpmm(const SpmmStep& step, const StepContext& context)
        : step_(step),
          context_(context),
          part_(context.store.part(step.matrix)),
          in_(context.store.matrix(step.in)),
          in_rows_(context.store.block(step.in).rows),
          out_(context.store.matrix(step.out)),
          buffers_(context.store.buffers(context.step)) {}

    void run() {
        const std::size_t ahead = step_.overlap ? static_cast<std::size_t>(buffers_.packs) : 0;
        for (std::size_t k = 0; k < part_.stages().size(); ++k) {
            begin_up_to(k);
            under_way_.front()->wait();
            under_way_.pop_front();
            begin_up_to(k + ahead);
            multiply(k);
        }
        if (!accumulate_) clear();
    }

private:
    std::byte* staging() const { return context_.store.staging(context_.step); }
    std::byte* pack_buffer(std::size_t k) const {
        return staging() + static_cast<std::int64_t>(k % static_cast<std::size_t>(buffers_.packs)) * buffers_.pack;
    }
    std::byte* dense_buffer(std::size_t k) const {
        const auto copy = static_cast<std::int64_t>(k % static_cast<std::size_t>(buffers_.copies));
        return staging() + buffers_.packs * buffers_.pack + copy * (buffers_.dense + buffers_.nonzeros);
    }
    kernels::PanelRoom panel_room() const {
        std::byte* begin = dense_buffer(0) + buffers_.copies * (buffers_.dense + buffers_.nonzeros);
        return {{begin, static_cast<std::size_t>(buffers_.panel)}, step_.bf16};
    }
    std::byte* nonzero_buffer(std::size_t k) const { return dense_buffer(k) + buffers_.dense; }
    std::size_t row_bytes(std::int64_t rows) const { return static_cast<std::size_t>(4 * rows * in_.columns); }
    const float* own_rows(Range rows) const { return in_.row(rows.begin - in_rows_.begin); }

    // Starts the transfers of all stages up to `last` that are not under way yet.
    void begin_up_to(std::size_t last) {
        for (; begun_ < part_.stages().size() && begun_ <= last; ++begun_) under_way_.push_back(begin(begun_));
    }

    // Starts the transfers of stage k.
    std::unique_ptr<comm::PendingExchange> begin(std::size_t k) const {
        const SparseStage& stage = part_.stages()[k];
        std::vector<comm::Send> sends;
        std::vector<comm::Receive> receives;
        serve_rows(k, sends);
        for (const NonzeroService& service : stage.sent) {
            sends.push_back({service.rank, part_.block(service.block).buffer()});
        }
        const int rank = context_.store.rank();
        if (stage.piece && stage.piece->dense_root != rank && row_bytes(stage.dense_rows) > 0) {
            receives.push_back({stage.piece->dense_root, {dense_buffer(k), row_bytes(stage.dense_rows)}});
        }
        if (stage.piece && !stage.block) {
            const auto bytes = static_cast<std::size_t>(part_.block_bytes(stage));
            receives.push_back({stage.piece->matrix_root, {nonzero_buffer(k), bytes}});
        }
        return context_.world.start_exchange(sends, receives);
    }

    // Whole panels are sent from where they are, needed rows are packed.
    void serve_rows(std::size_t k, std::vector<comm::Send>& sends) const {
        std::byte* packed = pack_buffer(k);
        for (const RowService& service : part_.stages()[k].rows) {
            const std::size_t bytes = row_bytes(service.needed);
            if (bytes == 0) continue;
            const float* rows = own_rows(service.rows);
            if (step_.exchange == Exchange::rows) {
                const std::size_t row = row_bytes(1);
                for (std::size_t i = 0; i < service.index.size(); ++i) {
                    std::memcpy(packed + i * row, rows + service.index[i] * in_.stride, row);
                }
                sends.push_back({service.rank, {packed, bytes}});
                packed += bytes;
            } else {
                sends.push_back({service.rank, {reinterpret_cast<const std::byte*>(rows), bytes}});
            }
        }
    }

    void multiply(std::size_t k) {
        const SparseStage& stage = part_.stages()[k];
        if (!stage.piece) return;
        const bool own = stage.piece->dense_root == context_.store.rank();
        const float* rows = own ? own_rows(stage.piece->columns) : reinterpret_cast<const float*>(dense_buffer(k));
        const kernels::ConstMatrix dense{rows, stage.dense_rows, in_.columns, in_.columns};
        kernels::Csr nonzeros = part_.nonzeros(stage, nonzero_buffer(k));
        if (const ValueScales* scales = context_.store.scales(step_.matrix)) scales->apply(k, nonzeros);
        if (under_way_.empty()) {
            const bool packs = nonzeros.panels > 1 || step_.bf16;
            context_.kernels.spmm(nonzeros, dense, out_, accumulate_, packs ? panel_room() : kernels::PanelRoom{});
        } else {
            in_portions(nonzeros, dense);
        }
        accumulate_ = true;
    }

    // Slice after slice of the columns, and panel after panel, as the product does by itself: cut only by rows, each
    // portion would read all of the dense operand.
    void in_portions(const kernels::Csr& nonzeros, const kernels::ConstMatrix& dense) const {
        const std::int64_t slice = column_slices(dense.columns, sizeof(float)).columns;
        for (std::int64_t first = 0; first < dense.columns; first += slice) {
            const std::int64_t columns = std::min(slice, dense.columns - first);
            const kernels::ConstMatrix from{dense.data + first, dense.rows, columns, dense.stride};
            const kernels::Matrix to{out_.data + first, out_.rows, columns, out_.stride};
            for (std::int64_t p = 0; p < nonzeros.panels; ++p) {
                in_portions(nonzeros.panel(p), from, to, accumulate_ || p > 0);
            }
        }
    }
    void in_portions(const kernels::Csr& panel, const kernels::ConstMatrix& from, const kernels::Matrix& to,
                     bool accumulate) const {
        const std::int64_t flops = 2 * panel.nonzeros() * from.columns;
        const std::int64_t portions =
            std::clamp<std::int64_t>(flops / flops_per_look, 1, std::max<std::int64_t>(1, panel.rows));
        for (std::int64_t i = 0; i < portions; ++i) {
            const Range rows = balanced_block({0, panel.rows}, i, portions);
            context_.kernels.spmm(panel.row_slice(rows.begin, rows.size()), from,
                                  {to.row(rows.begin), rows.size(), to.columns, to.stride}, accumulate, {});
            for (const auto& exchange : under_way_) exchange->progress();
        }
    }

    void clear() const { std::fill(out_.data, out_.data + out_.rows * out_.stride, 0.0F); }

    const SpmmStep& step_;
    const StepContext& context_;
    const SparsePart& part_;
    kernels::Matrix in_;
    Range in_rows_;
    kernels::Matrix out_;
    SpmmBuffers buffers_;
    std::size_t begun_ = 0;  // stages whose transfers have been started
    std::deque<std::unique_ptr<comm::PendingExchange>> under_way_;
    bool accumulate_ = false;  // whether a piece has been multiplied
};

}  // namespace

void run_step(const SpmmStep& step, const StepContext& context) { DistributedSpmm(step, context).run(); }

void run_step(const RowRequestStep& step, const StepContext& context) {
    context.store.exchange_indices(step.matrix, context.world);
}

}  // namespace gnnplan::exec
