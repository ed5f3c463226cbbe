// Reading guide: a product, of whatever program, runs in stages (gnnplan/ir/pieces.hpp). At each, a rank sends what
// others lack for their piece, gets what it lacks for its own, and multiplies. With overlap the transfers of the next
// stages, as many as a block is cut into, are begun before stage k is multiplied, a few rows at a time, so that the
// library gets to move bytes in between.
#include "runtime/exec/handlers.hpp"

#include <gnnplan/base/blocking.hpp>

#include <algorithm>
#include <deque>
#include <span>

namespace gnnplan::exec {
namespace {

std::vector<kernels::Matrix> matrices(const StepContext& context, const std::vector<TensorId>& ids) {
    std::vector<kernels::Matrix> found;
    found.reserve(ids.size());
    for (const TensorId id : ids) found.push_back(context.store.matrix(id));
    return found;
}

// What a program takes and makes, in the order of its lists: the rows of column operands that a piece meets, and the
// rank's rows of row operands and results.
struct Views {
    std::vector<kernels::ConstMatrix> columns;
    std::vector<kernels::Matrix> rows, results;

    // The same views, restricted to columns [first, first + count).
    Views slice(std::int64_t first, std::int64_t count) const {
        Views cut = *this;
        const auto narrow = [&](auto& views) {
            for (auto& view : views) view.data += first, view.columns = count;
        };
        narrow(cut.columns), narrow(cut.rows), narrow(cut.results);
        return cut;
    }
    // All of the column operands, and some rows of the others.
    Views of_rows(Range range) const {
        Views cut = *this;
        const auto shorten = [&](auto& views) {
            for (auto& view : views) view.data = view.row(range.begin), view.rows = range.size();
        };
        shorten(cut.rows), shorten(cut.results);
        return cut;
    }
};

class DistributedSpmm {
public:
    DistributedSpmm(const SpmmStep& step, const StepContext& context)
        : step_(step),
          context_(context),
          part_(context.store.part(step.matrix)),
          in_(matrices(context, step.column_operands)),
          in_rows_(context.store.block(step.column_operands.front()).rows),
          stay_{{}, matrices(context, step.row_operands), matrices(context, step.results)},
          buffers_(context.store.buffers(context.step)) {}

    void run() {
        const std::size_t last = last_piece();
        const std::size_t ahead = step_.overlap ? static_cast<std::size_t>(buffers_.packs) : 0;
        for (std::size_t k = 0; k < part_.stages().size(); ++k) {
            begin_up_to(k);
            for (std::size_t operand = 0; operand < in_.size(); ++operand) {
                under_way_.front()->wait();
                under_way_.pop_front();
            }
            begin_up_to(k + ahead);
            last_ = k == last;
            multiply(k);
        }
        if (!accumulate_) clear();
    }

    std::vector<ProductKernel> choose_kernels(kernels::Device& device, std::string_view wanted) const {
        std::vector<ProductKernel> first;
        for (std::size_t k = 0; step_.program == Program::sum && k < part_.stages().size(); ++k) {
            if (!part_.stages()[k].block) continue;
            const Views views = views_of(k);
            const kernels::Csr nonzeros = nonzeros_of(k);
            const auto of = named<SumOperands>(views);
            auto found = device.choose(nonzeros, of.in, of.out, room_for(nonzeros), wanted);
            if (first.empty()) first = std::move(found);
        }
        return first;
    }

private:
    template <template <class, class> class Operands>
    Operands<kernels::ConstMatrix, kernels::Matrix> named(const Views& views) const {
        using Named = Operands<kernels::ConstMatrix, kernels::Matrix>;
        return step_.named<Named>(views.columns, views.rows, views.results);
    }
    // The last stage with a piece for this rank.
    std::size_t last_piece() const {
        std::size_t last = 0;
        for (std::size_t k = 0; k < part_.stages().size(); ++k) last = part_.stages()[k].piece ? k : last;
        return last;
    }
    const Blocking& blocking() const { return context_.store.schedule().blocking; }
    std::byte* staging() const { return context_.store.staging(context_.step); }
    std::byte* pack_buffer(std::size_t k) const {
        return staging() + static_cast<std::int64_t>(k % static_cast<std::size_t>(buffers_.packs)) * buffers_.pack;
    }
    // The rows received at stage k: of each operand those of the piece, one operand after the other.
    std::byte* dense_buffer(std::size_t k, std::size_t operand) const {
        const auto copy = static_cast<std::int64_t>(k % static_cast<std::size_t>(buffers_.copies));
        std::byte* buffer = staging() + buffers_.packs * buffers_.pack + copy * (buffers_.dense + buffers_.nonzeros);
        for (std::size_t i = 0; i < operand; ++i) buffer += row_bytes(i, part_.stages()[k].dense_rows);
        return buffer;
    }
    kernels::PanelRoom panel_room() const {
        std::byte* begin = dense_buffer(0, 0) + buffers_.copies * (buffers_.dense + buffers_.nonzeros);
        return {{begin, static_cast<std::size_t>(buffers_.panel)}, step_.bf16, buffers_.slice_columns};
    }
    std::byte* nonzero_buffer(std::size_t k) const { return dense_buffer(k, 0) + buffers_.dense; }
    std::size_t row_bytes(std::size_t operand, std::int64_t rows) const {
        return static_cast<std::size_t>(4 * rows * in_[operand].columns);
    }
    kernels::ConstMatrix own_rows(std::size_t operand, Range rows) const {
        const kernels::Matrix& in = in_[operand];
        return {in.row(rows.begin - in_rows_.begin), rows.size(), in.columns, in.stride};
    }

    // Starts the transfers of all stages up to `last` that are not under way yet.
    void begin_up_to(std::size_t last) {
        for (; begun_ < part_.stages().size() && begun_ <= last; ++begun_) {
            std::byte* packed = pack_buffer(begun_);
            for (std::size_t operand = 0; operand < in_.size(); ++operand)
                under_way_.push_back(begin(begun_, operand, packed));
        }
    }

    // Starts the transfers of stage k for one column operand, and with the first one those of nonzeros: an exchange has
    // one message for a pair of ranks. What is packed goes to `packed`, which moves behind it.
    std::unique_ptr<comm::PendingExchange> begin(std::size_t k, std::size_t operand, std::byte*& packed) const {
        const SparseStage& stage = part_.stages()[k];
        std::vector<comm::Send> sends;
        std::vector<comm::Receive> receives;
        serve_rows(stage, operand, packed, sends);
        const std::size_t bytes = row_bytes(operand, stage.dense_rows);
        if (stage.piece && stage.piece->dense_root != context_.store.rank() && bytes > 0) {
            receives.push_back({stage.piece->dense_root, {dense_buffer(k, operand), bytes}});
        }
        if (operand == 0) exchange_nonzeros(k, sends, receives);
        return context_.world.start_exchange(sends, receives);
    }

    void exchange_nonzeros(std::size_t k, std::vector<comm::Send>& sends, std::vector<comm::Receive>& receives) const {
        const SparseStage& stage = part_.stages()[k];
        for (const NonzeroService& service : stage.sent) {
            sends.push_back({service.rank, part_.block(service.block).bytes()});
        }
        if (!stage.piece || stage.block) return;
        const auto bytes = static_cast<std::size_t>(part_.block_bytes(stage));
        receives.push_back({stage.piece->matrix_root, {nonzero_buffer(k), bytes}});
    }

    // Whole panels are sent from where they are, needed rows are packed.
    void serve_rows(const SparseStage& stage, std::size_t operand, std::byte*& packed,
                    std::vector<comm::Send>& sends) const {
        for (const RowService& service : stage.rows) {
            const std::size_t bytes = row_bytes(operand, service.needed);
            if (bytes == 0) continue;
            const kernels::ConstMatrix rows = own_rows(operand, service.rows);
            if (step_.exchange == Exchange::rows) {
                context_.kernels.gather_rows(
                    rows, reinterpret_cast<const std::int32_t*>(service.index->data()),
                    {reinterpret_cast<float*>(packed), service.needed, rows.columns, rows.columns});
                sends.push_back({service.rank, {packed, bytes}});
                packed += bytes;
            } else {
                sends.push_back({service.rank, {reinterpret_cast<const std::byte*>(rows.data), bytes}});
            }
        }
    }

    void multiply(std::size_t k) {
        if (!part_.stages()[k].piece) return;
        const Views views = views_of(k);
        const kernels::Csr nonzeros = nonzeros_of(k);
        if (step_.program == Program::dot) of_edges_ = edges(step_.named<DotOperands<TensorId>>().products, k);
        if (const std::optional<TensorId> scores = step_.stored_scores()) of_edges_ = edges(*scores, k);
        if (under_way_.empty() || !context_.world.needs_progress()) {
            compute(nonzeros, views, accumulate_, room_for(nonzeros));
        } else {
            in_portions(nonzeros, views);
        }
        accumulate_ = true;
    }
    Views views_of(std::size_t k) const {
        const SparseStage& stage = part_.stages()[k];
        Views views = stay_;
        const bool own = stage.piece->dense_root == context_.store.rank();
        for (std::size_t i = 0; i < in_.size(); ++i) {
            const float* rows =
                own ? own_rows(i, stage.piece->columns).data : reinterpret_cast<const float*>(dense_buffer(k, i));
            views.columns.push_back({rows, stage.dense_rows, in_[i].columns, in_[i].columns});
        }
        return views;
    }
    kernels::Csr nonzeros_of(std::size_t k) const {
        kernels::Csr nonzeros = part_.nonzeros(part_.stages()[k], nonzero_buffer(k));
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
        return packs ? panel_room() : kernels::PanelRoom{};
    }

    // The program on one piece, or a part of it. What earlier pieces made is in the results if `accumulate`.
    void compute(const kernels::Csr& nonzeros, const Views& views, bool accumulate, kernels::PanelRoom room) const {
        const kernels::Table& kernels = context_.kernels;
        switch (step_.program) {
            case Program::sum: {
                const auto of = named<SumOperands>(views);
                return kernels.spmm(nonzeros, of.in, of.out, accumulate, room);
            }
            case Program::edge_sum: {
                const auto of = named<EdgeSumOperands>(views);
                return kernels.spmm(nonzeros, of.in, of.out, accumulate, room);
            }
            case Program::dot: {
                const auto of = named<DotOperands>(views);
                return kernels.edge_dot(nonzeros, of.x, of.y, of_edges_.data);
            }
            case Program::max: {
                const auto of = named<MaxOperands>(views);
                return kernels.spmm_max(nonzeros, of.in, of.maxima, of.ties, accumulate, room.memory);
            }
            case Program::max_back: {
                const auto of = named<MaxBackOperands>(views);
                return kernels.spmm_max_back(nonzeros, of.share, of.maxima, of.in, of.gradient, accumulate);
            }
            case Program::attend: return attend(nonzeros, views, accumulate);
            case Program::attend_back: return attend_back(nonzeros, views, accumulate);
        }
        ensure(false, "a program has no kernel");
    }

    void attend(const kernels::Csr& nonzeros, const Views& views, bool accumulate) const {
        const auto of = named<AttendOperands>(views);
        const auto ids = step_.named<AttendOperands<TensorId>>();
        kernels::Attention how = attention(ids.h, ids.source);
        if (drops(step_.attending.dropout)) how.dropout = dropout(ids.source, of.row_vertices, of.column_vertices);
        kernels::AttendResults to{of.sums, of.log_total, of.total};
        if (of.by_target) to.by_target = *of.by_target, to.negative_share = *of.negative_share;
        if (of.scores) to.scores = of_edges_;
        context_.kernels.attend(nonzeros, {of.h, of.source, of.target}, to, how, accumulate, last_);
    }

    // Stored scores say themselves what was dropped.
    void attend_back(const kernels::Csr& nonzeros, const Views& views, bool accumulate) const {
        const auto of = named<AttendBackOperands>(views);
        const auto ids = step_.named<AttendBackOperands<TensorId>>();
        kernels::Attention how = attention(ids.gradient, ids.log_total);
        if (drops(step_.attending.dropout || step_.attending.stored))
            how.dropout = dropout(ids.log_total, of.row_vertices, of.column_vertices);
        kernels::AttendBackOperands in{
            .gradient = of.gradient, .log_total = of.log_total, .inner = of.inner, .h = of.h};
        if (of.scores) in.scores = of_edges_;
        if (of.target) in.target = *of.target, in.source = *of.source;
        context_.kernels.attend_back(nonzeros, in, {of.of_h, of.of_source}, how, accumulate);
    }

    bool drops(bool may_drop) const { return may_drop && context_.settings.training; }

    // `wide` and `by_heads` are a wide operand and one by heads.
    kernels::Attention attention(TensorId wide, TensorId by_heads) const {
        const Store& store = context_.store;
        const std::int64_t columns = tensor_of(store.schedule(), wide).columns / step_.attending.heads;
        const std::int64_t first_head = store.block(by_heads).columns.begin;
        kernels::Attention how;
        how.heads = {columns, store.block(wide).columns.begin - columns * first_head};
        how.slope = static_cast<float>(step_.attending.slope);
        return how;
    }

    template <class Vertices>
    kernels::AttentionDropout dropout(TensorId by_heads, const Vertices& rows, const Vertices& columns) const {
        const auto numbers = [](const Vertices& of) {
            return of ? reinterpret_cast<const std::int32_t*>(of->data) : nullptr;
        };
        return {context_.settings.seed,
                context_.pass,
                static_cast<std::uint32_t>(step_.attending.layer),
                context_.settings.attention_dropout,
                context_.store.block(by_heads).columns.begin,
                step_.attending.heads,
                numbers(rows),
                numbers(columns)};
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
            compute(panel.row_slice(rows.begin, rows.size()), views.of_rows(rows), accumulate, {});
            for (const auto& exchange : under_way_) exchange->progress();
        }
    }

    void clear() const {
        for (const TensorId result : step_.results)
            context_.kernels.zero(std::as_writable_bytes(context_.store.values<float>(result)));
    }

    const SpmmStep& step_;
    const StepContext& context_;
    const SparsePart& part_;
    std::vector<kernels::Matrix> in_;  // column operands, of which the rank has these rows
    Range in_rows_;
    Views stay_;  // without column operands
    SpmmBuffers buffers_;
    std::size_t begun_ = 0;  // stages whose transfers have been started
    // An exchange for each column operand of each of these stages.
    std::deque<std::unique_ptr<comm::PendingExchange>> under_way_;
    bool accumulate_ = false;   // whether a piece has been multiplied
    kernels::Matrix of_edges_;  // values of the nonzeros of the piece at work, which the program makes or reads
    bool last_ = false;         // whether the piece at work is the last one
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
