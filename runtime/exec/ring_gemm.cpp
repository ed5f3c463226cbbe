// Reading guide: the stages of gnnplan/ir/steps/ring_gemm.hpp. Tiles are sent from where they are in `in`, and results
// arrive where they belong in `out`, as whole rows of either. The pieces of a tile are staged: one for each other rank
// of the y-group, which is a range of columns. W is multiplied in blocks: its rows by pieces of the operand, its
// columns by pieces of the result. Where messages are rounded, each of these places has a counterpart in bfloat16
// (RingBuffers), from which a rank sends or into which it receives.
#include "runtime/exec/handlers.hpp"

#include "kernels/parallel.hpp"
#include "runtime/exec/packed_rows.hpp"

#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/ring_tiles.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace gnnplan::exec {
namespace {

class RingGemm {
public:
    RingGemm(const RingGemmStep& step, const StepContext& context)
        : step_(step),
          context_(context),
          schedule_(context.store.schedule()),
          rank_(context.store.rank()),
          own_(schedule_.grid.coordinate(rank_, Axis::y)),
          group_(schedule_.grid.y),
          tiles_(ring_tiles(schedule_.grid)),
          first_row_(context.store.block(step.in).rows.begin),
          in_(context.store.matrix(step.in)),
          out_(context.store.matrix(step.out)),
          buffers_(step.buffers(schedule_, rank_)) {}

    // Exchanges are waited for in the order in which they begin: the first tile, the second tile, the first tile's
    // result, the third tile, and so on.
    void run() {
        fetch(0);
        for (int t = 0; t < tiles_; ++t) {
            if (!rounds() && t > 1) wait();  // the result of tile t - 2 has left its buffer
            wait();                          // tile t is here
            if (t + 1 < tiles_) fetch(t + 1);
            multiply(t);
            if (rounds() && t > 0) wait();  // the result of tile t - 1 has left the only one
            send_result(t);
        }
        while (!under_way_.empty()) wait();
    }

private:
    // A piece of a tile: the columns that one rank of the y-group has.
    struct Piece {
        Range columns;
        kernels::Matrix values;
    };

    // A piece that has come, rounded, and where it belongs.
    struct Arrived {
        kernels::Dense<const kernels::Bf16> rounded;
        kernels::Matrix place;
    };
    struct Exchange {
        std::unique_ptr<comm::PendingExchange> pending;
        std::vector<Arrived> arriving;  // none where floats travel
    };

    bool rounds() const { return step_.wire == Wire::bfloat16; }
    std::byte* staged(std::int64_t begin) const { return context_.store.staging(context_.step) + begin; }
    std::byte* tile_of(const std::array<std::int64_t, 2>& buffers, int t) const {
        return staged(buffers[static_cast<std::size_t>(t % 2)]);
    }
    int rank_at(int position) const { return schedule_.grid.neighbour(rank_, Axis::y, position); }
    Range columns_at(TensorId id, int position) const { return block_of(schedule_, id, rank_at(position)).columns; }
    // The rows of a tile in a local block.
    Range rows_of_tile(int position, int t) const {
        const Range rows = step_.tile(schedule_, rank_at(position), t);
        return {rows.begin - first_row_, rows.end - first_row_};
    }
    static kernels::Matrix rows_of(const kernels::Matrix& whole, Range rows) {
        return {whole.row(rows.begin), rows.size(), whole.columns, whole.stride};
    }
    static std::span<std::byte> bytes_in(const kernels::Matrix& rows) {
        const auto floats = static_cast<std::size_t>(rows.rows * rows.columns);
        return std::as_writable_bytes(std::span(rows.data, floats));
    }

    // The pieces of this rank's tile t, by the ranks of the group: its own in the rows of `local`, those of the others
    // one after the other in `tile`.
    std::vector<Piece> pieces(TensorId id, const kernels::Matrix& local, std::byte* tile, int t) const {
        const Range rows = rows_of_tile(own_, t);
        std::vector<Piece> all;
        auto* next = reinterpret_cast<float*>(tile);
        for (int position = 0; position < group_; ++position) {
            const Range columns = columns_at(id, position);
            if (position == own_) {
                all.push_back({columns, rows_of(local, rows)});
                continue;
            }
            all.push_back({columns, {next, rows.size(), columns.size(), columns.size()}});
            next += rows.size() * columns.size();
        }
        return all;
    }
    std::vector<Piece> operand(int t) const { return pieces(step_.in, in_, tile_of(buffers_.multiplied, t), t); }
    std::vector<Piece> result(int t) const { return pieces(step_.out, out_, tile_of(buffers_.made, t), t); }

    void fetch(int t) { exchange_pieces(operand(t), in_, t, true); }
    void send_result(int t) { exchange_pieces(result(t), out_, t, false); }

    // The bytes in which rows travel: their own, or those of bfloat16 at `next`, which moves behind them.
    std::span<std::byte> travelling(const kernels::Matrix& rows, std::byte*& next) const {
        if (!rounds()) return bytes_in(rows);
        const auto bytes = static_cast<std::size_t>(wire_bytes(step_.wire, rows.rows * rows.columns));
        return {std::exchange(next, next + bytes), bytes};
    }
    std::span<std::byte> to_send(const kernels::Matrix& rows, std::byte*& next) const {
        const std::span<std::byte> bytes = travelling(rows, next);
        if (rounds() && !bytes.empty())
            context_.kernels.narrow(rows, packed_rows<kernels::Bf16>(bytes.data(), rows.rows, rows.columns));
        return bytes;
    }

    // Gets the pieces of its own tile and sends its columns of the others' tiles (`to_staging`), or the other way
    // round. In the d-th message a rank sends to the one that is d further along the ring.
    void exchange_pieces(const std::vector<Piece>& tile, const kernels::Matrix& local, int t, bool to_staging) {
        std::vector<comm::Send> sends;
        std::vector<comm::Receive> receives;
        std::vector<Arrived> arriving;
        std::byte* leave = staged(to_staging ? buffers_.pieces_sent : buffers_.results_sent);
        std::byte* arrive = staged(to_staging ? buffers_.tile_received : buffers_.pieces_received);
        for (int d = 1; d < group_; ++d) {
            const int next = (own_ + d) % group_, previous = (own_ + group_ - d) % group_;
            const auto of_tile = [&](int position) { return tile[static_cast<std::size_t>(position)].values; };
            const auto of_block = [&](int position) { return rows_of(local, rows_of_tile(position, t)); };
            const auto sent = to_send(to_staging ? of_block(next) : of_tile(next), leave);
            const kernels::Matrix place = to_staging ? of_tile(previous) : of_block(previous);
            const std::span<std::byte> received = travelling(place, arrive);
            if (!sent.empty()) sends.push_back({rank_at(next), sent});
            if (received.empty()) continue;
            receives.push_back({rank_at(previous), received});
            const auto rounded = packed_rows<const kernels::Bf16>(received.data(), place.rows, place.columns);
            if (rounds()) arriving.push_back({rounded, place});
        }
        under_way_.push_back({context_.world.start_exchange(sends, receives), std::move(arriving)});
    }

    void wait() {
        under_way_.front().pending->wait();
        for (const Arrived& piece : under_way_.front().arriving) context_.kernels.widen(piece.rounded, piece.place);
        under_way_.pop_front();
    }

    // A few rows at a time where the library moves bytes only when it is looked at.
    void multiply(int t) {
        const std::vector<Piece> from = operand(t), to = result(t);
        const std::int64_t rows = rows_of_tile(own_, t).size();
        const kernels::Matrix weight = context_.store.matrix(step_.weight);
        const std::int64_t flops = 2 * rows * weight.rows * weight.columns;
        const bool looks = !under_way_.empty() && context_.world.needs_progress();
        const std::int64_t wanted = looks ? flops / (flops_per_look * kernels::max_threads()) : 1;
        const std::int64_t portions = std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, rows));
        for (std::int64_t i = 0; i < portions; ++i) {
            const Range some = balanced_block({0, rows}, i, portions);
            for (const Piece& piece : to) multiply(from, rows_of(piece.values, some), piece.columns, some);
            if (!looks) continue;
            for (const Exchange& exchange : under_way_) exchange.pending->progress();
        }
    }

    // Some rows of a tile's result in some columns: the sum over the pieces of the operand.
    void multiply(const std::vector<Piece>& from, const kernels::Matrix& to, Range columns, Range rows) const {
        const kernels::Matrix weight = context_.store.matrix(step_.weight);
        bool accumulate = false;
        for (const Piece& piece : from) {
            if (piece.columns.empty() || columns.empty()) continue;
            const kernels::Matrix block{weight.row(piece.columns.begin) + columns.begin, piece.columns.size(),
                                        columns.size(), weight.stride};
            context_.kernels.gemm(kernels::Transpose::no, kernels::Transpose::no, rows_of(piece.values, rows), block,
                                  to, accumulate);
            accumulate = true;
        }
    }

    const RingGemmStep& step_;
    const StepContext& context_;
    const Schedule& schedule_;
    int rank_;
    int own_;    // its position in the y-group
    int group_;  // ranks in it
    int tiles_;
    std::int64_t first_row_;
    kernels::Matrix in_, out_;
    RingBuffers buffers_;
    std::deque<Exchange> under_way_;
};

}  // namespace

void run_step(const RingGemmStep& step, const StepContext& context) { RingGemm(step, context).run(); }

}  // namespace gnnplan::exec
