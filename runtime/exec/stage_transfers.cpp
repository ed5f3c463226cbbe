#include "runtime/exec/stage_transfers.hpp"

#include <utility>

namespace gnnplan::exec {
namespace {

// Rows without gaps.
template <class T, class Byte>
kernels::Dense<T> view(Byte* begin, std::int64_t rows, std::int64_t columns) {
    return {reinterpret_cast<T*>(begin), rows, columns, columns};
}

// Sends what `packed` points to, and moves it behind that.
void send_behind(int to, std::size_t bytes, std::byte*& packed, std::vector<comm::Send>& sends) {
    std::byte* const begin = std::exchange(packed, packed + bytes);
    sends.push_back({to, {begin, bytes}});
}

}  // namespace

StageTransfers::StageTransfers(const SpmmStep& step, const StepContext& context)
    : step_(step),
      context_(context),
      part_(context.store.part(step.matrix)),
      in_(context.store.matrices(step.column_operands)),
      in_rows_(context.store.block(step.column_operands.front()).rows),
      buffers_(step, context) {
    if (step.exchange != Exchange::relay) return;
    relay_.emplace(context.store.schedule(), step);
    passing_ = relay_->to(context.store.rank());
    passed_ = relay_->from(context.store.rank());
}

void StageTransfers::begin_up_to(std::size_t last) {
    if (loan_) return;
    if (begun_ == 0 && step_.exchange == Exchange::panels && !rounds()) lend();
    if (begun_ == 0 && buffers_.keeps_own()) round_own();
    for (; !loan_ && begun_ < part_.stages().size() && begun_ <= last; ++begun_) {
        std::byte* packed = buffers_.pack(begun_);
        for (std::size_t operand = 0; operand < in_.size(); ++operand)
            under_way_.push_back(begin(begun_, operand, packed));
    }
}

void StageTransfers::finish_first() {
    if (loan_) return;
    for (std::size_t operand = 0; operand < in_.size(); ++operand) {
        under_way_.front()->wait();
        under_way_.pop_front();
    }
    if (rounds()) widen(finished_);
    ++finished_;
}

void StageTransfers::end() {
    if (loan_) loan_->end();
}

// Panels are multiplied where their owners have them, if ranks share memory.
void StageTransfers::lend() {
    std::vector<comm::Send> sends;
    std::vector<comm::Receive> receives;
    for (std::size_t k = 0; k < part_.stages().size(); ++k) {
        for (std::size_t operand = 0; operand < in_.size(); ++operand) {
            std::byte* nothing_packed = nullptr;
            serve_rows(k, operand, nothing_packed, sends);
            lent_panels_.push_back(receives.size());
            receive_rows(k, operand, receives);
        }
        lent_nonzeros_.push_back(receives.size());
        exchange_nonzeros(k, sends, receives);
    }
    loan_ = context_.world.lend(sends, receives);
}

// Its own rows are rounded once for all that get them as they lie.
void StageTransfers::round_own() const {
    const kernels::Matrix& in = in_.front();
    context_.kernels.narrow(in, view<kernels::Bf16>(buffers_.own_rounded(), in.rows, in.columns));
}

// The rows that have arrived at stage k become floats, which the product of that stage reads.
void StageTransfers::widen(std::size_t k) const {
    const SparseStage& stage = part_.stages()[k];
    if (!stage.piece || stage.piece->dense_root == context_.store.rank()) return;
    const std::int64_t columns = in_.front().columns;
    context_.kernels.widen(view<const kernels::Bf16>(buffers_.dense(k, 0), stage.dense_rows, columns),
                           {buffers_.widened(), stage.dense_rows, columns, columns});
}

void StageTransfers::progress() const {
    for (const auto& exchange : under_way_) exchange->progress();
}

std::size_t StageTransfers::ahead() const { return step_.overlap ? buffers_.packs() : 0; }

std::vector<kernels::ConstMatrix> StageTransfers::column_rows(std::size_t k) const {
    const SparseStage& stage = part_.stages()[k];
    const bool own = stage.piece->dense_root == context_.store.rank();
    std::vector<kernels::ConstMatrix> found;
    for (std::size_t i = 0; i < in_.size(); ++i) {
        const float* rows = own        ? own_rows(i, stage.piece->columns).data
                            : rounds() ? buffers_.widened()
                                       : reinterpret_cast<const float*>(panel(k, i));
        found.push_back({rows, stage.dense_rows, in_[i].columns, in_[i].columns});
    }
    return found;
}

// The rows of a stage that others have.
const std::byte* StageTransfers::panel(std::size_t k, std::size_t operand) const {
    if (!loan_ || buffers_.row_bytes(operand, part_.stages()[k].dense_rows) == 0) return buffers_.dense(k, operand);
    return loan_->received(lent_panels_[k * in_.size() + operand]).data();
}

const std::byte* StageTransfers::nonzeros(std::size_t k) const {
    const bool lent = loan_ && !part_.stages()[k].block;
    return lent ? loan_->received(lent_nonzeros_[k]).data() : buffers_.nonzeros(k);
}

kernels::ConstMatrix StageTransfers::own_rows(std::size_t operand, Range rows) const {
    const kernels::Matrix& in = in_[operand];
    return {in.row(rows.begin - in_rows_.begin), rows.size(), in.columns, in.stride};
}

// The same as they travel where they are sent as they lie.
const std::byte* StageTransfers::own_bytes(std::size_t operand, Range rows) const {
    if (rounds()) return buffers_.own_rounded() + buffers_.row_bytes(operand, rows.begin - in_rows_.begin);
    return reinterpret_cast<const std::byte*>(own_rows(operand, rows).data);
}

// Starts the transfers of stage k for one column operand, and with the first one those of nonzeros: an exchange has
// one message for a pair of ranks. Packed rows go to `packed`, which moves behind them.
std::unique_ptr<comm::PendingExchange> StageTransfers::begin(std::size_t k, std::size_t operand,
                                                             std::byte*& packed) const {
    std::vector<comm::Send> sends;
    std::vector<comm::Receive> receives;
    serve_rows(k, operand, packed, sends);
    pass_on(k, operand, sends);
    pass_rows_on(k, operand, packed, sends);
    receive_rows(k, operand, receives);
    if (operand == 0) exchange_nonzeros(k, sends, receives);
    return context_.world.start_exchange(sends, receives);
}

// Rows of the piece come from the rank that holds them, or are passed on: whole panels by one rank, needed rows by
// several.
void StageTransfers::receive_rows(std::size_t k, std::size_t operand, std::vector<comm::Receive>& receives) const {
    const SparseStage& stage = part_.stages()[k];
    if (!stage.piece || stage.piece->dense_root == context_.store.rank()) return;
    std::byte* to = buffers_.dense(k, operand);
    const auto receive = [&](int from, std::int64_t rows) {
        const std::size_t bytes = buffers_.row_bytes(operand, rows);
        if (bytes > 0) receives.push_back({from, {to, bytes}});
        to += bytes;
    };
    if (by_need(step_.exchange)) {
        for (const auto& [from, rows] : stage.sources) receive(from, rows);
    } else {
        receive(passing_ && k >= passing_->first ? passing_->from : stage.piece->dense_root, stage.dense_rows);
    }
}

void StageTransfers::exchange_nonzeros(std::size_t k, std::vector<comm::Send>& sends,
                                       std::vector<comm::Receive>& receives) const {
    const SparseStage& stage = part_.stages()[k];
    for (const NonzeroService& service : stage.sent) {
        sends.push_back({service.rank, part_.block(service.block).bytes()});
    }
    if (!stage.piece || stage.block) return;
    const auto bytes = static_cast<std::size_t>(part_.block_bytes(stage));
    receives.push_back({stage.piece->matrix_root, {buffers_.nonzeros(k), bytes}});
}

// Whole panels are sent from where they are, needed rows are packed.
void StageTransfers::serve_rows(std::size_t k, std::size_t operand, std::byte*& packed,
                                std::vector<comm::Send>& sends) const {
    for (const RowService& service : part_.stages()[k].rows) {
        const std::size_t bytes = buffers_.row_bytes(operand, service.needed);
        if (bytes == 0) continue;
        const auto passing = relay_ ? relay_->to(service.rank) : std::nullopt;
        if (passing && k >= passing->first) continue;
        const kernels::ConstMatrix rows = own_rows(operand, service.rows);
        if (by_need(step_.exchange)) {
            send_packed(service.rank, rows, *service.index, service.needed, packed, sends);
        } else {
            sends.push_back({service.rank, {own_bytes(operand, service.rows), bytes}});
        }
    }
}

// Packs `count` rows of a matrix, and moves `packed` behind them.
void StageTransfers::send_packed(int to, const kernels::ConstMatrix& rows, const kernels::DeviceMemory& index,
                                 std::int64_t count, std::byte*& packed, std::vector<comm::Send>& sends) const {
    const auto* numbers = reinterpret_cast<const std::int32_t*>(index.data());
    if (rounds())
        context_.kernels.gather_rows_narrow(rows, numbers, view<kernels::Bf16>(packed, count, rows.columns));
    else
        context_.kernels.gather_rows(rows, numbers, view<float>(packed, count, rows.columns));
    send_behind(to, static_cast<std::size_t>(wire_bytes(step_.wire, count * rows.columns)), packed, sends);
}

void StageTransfers::pass_rows_on(std::size_t k, std::size_t operand, std::byte*& packed,
                                  std::vector<comm::Send>& sends) const {
    const std::int64_t columns = in_[operand].columns;
    for (const RowPassing& passing : part_.stages()[k].passed) {
        if (columns == 0) continue;
        const std::byte* got = buffers_.dense(passing.got, operand);
        const std::int64_t rows = part_.stages()[passing.got].dense_rows;
        const auto* numbers = reinterpret_cast<const std::int32_t*>(passing.index->data());
        if (rounds())
            context_.kernels.gather_rows_bf16(view<const kernels::Bf16>(got, rows, columns), numbers,
                                              view<kernels::Bf16>(packed, passing.rows, columns));
        else
            context_.kernels.gather_rows(view<const float>(got, rows, columns), numbers,
                                         view<float>(packed, passing.rows, columns));
        send_behind(passing.rank, buffers_.row_bytes(operand, passing.rows), packed, sends);
    }
}

// A panel that came some stages before, or that the rank has itself, goes to the neighbour that comes to this piece
// now, unless that one has it itself. Both have equally many pieces.
void StageTransfers::pass_on(std::size_t k, std::size_t operand, std::vector<comm::Send>& sends) const {
    if (!passed_ || k < passed_->how.first || !part_.stages()[k].piece) return;
    const std::size_t got = k - passed_->how.behind;
    const Piece& piece = *part_.stages()[got].piece;
    if (piece.dense_root == passed_->to || piece.columns.empty()) return;
    const bool own = piece.dense_root == context_.store.rank();
    const std::byte* rows = own ? own_bytes(operand, piece.columns) : buffers_.dense(got, operand);
    const std::size_t bytes = buffers_.row_bytes(operand, piece.columns.size());
    if (bytes > 0) sends.push_back({passed_->to, {rows, bytes}});
}

}  // namespace gnnplan::exec
