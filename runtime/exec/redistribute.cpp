// Reading guide: a rank sends each peer (of its y-group; of others, too, where rows change their space) what their
// source and target blocks have in common. Floats are the communicator's business: it gets the parts as rows, and
// staging for those that are not contiguous where they lie. Bits have to be shifted, so all of theirs are packed and
// unpacked here, and so are floats that are rounded. In all cases staging holds the parts to send, then those received,
// in the order of ranks (staging_of counts the same parts).
#include "runtime/exec/handlers.hpp"

#include <algorithm>
#include <vector>

namespace gnnplan::exec {
namespace {

// Hands out the parts of a step's staging.
class Staging {
public:
    explicit Staging(const StepContext& context)
        : send_(context.store.staging(context.step)),
          receive_(send_ + context.store.send_staging_bytes(context.step)) {}

    std::span<std::byte> to_send(std::int64_t bytes) { return take(send_, bytes); }
    std::span<std::byte> to_receive(std::int64_t bytes) { return take(receive_, bytes); }

private:
    static std::span<std::byte> take(std::byte*& at, std::int64_t bytes) {
        const std::span<std::byte> taken(at, static_cast<std::size_t>(bytes));
        at += bytes;
        return taken;
    }

    std::byte* send_;
    std::byte* receive_;
};

// The elements that this rank and a peer, or itself, have for each other.
struct Exchanged {
    int peer = 0;
    Block sent, received;
};

std::vector<Exchanged> exchanged_parts(const RedistributeStep& step, const Store& store) {
    const Schedule& schedule = store.schedule();
    const int rank = store.rank();
    std::vector<int> ranks = step.peers(schedule, rank);
    ranks.insert(std::lower_bound(ranks.begin(), ranks.end(), rank), rank);
    std::vector<Exchanged> parts;
    parts.reserve(ranks.size());
    for (const int peer : ranks) {
        if (!step.may_take(schedule, rank, peer)) continue;
        parts.push_back({peer, intersect(store.block(step.in), block_of(schedule, step.out, peer)),
                         intersect(store.block(step.out), block_of(schedule, step.in, peer))});
    }
    return parts;
}

// Rows that only `out` has are zero.
void clear_missing_rows(const RedistributeStep& step, const StepContext& context) {
    const Store& store = context.store;
    const Block out = store.block(step.out);
    const std::int64_t present = tensor_of(store.schedule(), step.in).rows - out.rows.begin;
    const std::int64_t kept = std::clamp<std::int64_t>(present, 0, out.rows.size()) * out.columns.size();
    context.kernels.zero(std::as_writable_bytes(store.values<float>(step.out).subspan(static_cast<std::size_t>(kept))));
}

// The rows of `part` in a tensor whose local block is `whole`.
template <class Byte>
comm::Rows<Byte> rows_of(std::byte* tensor, const Block& whole, const Block& part) {
    const std::int64_t row = part.rows.begin - whole.rows.begin;
    const std::int64_t column = part.columns.begin - whole.columns.begin;
    const auto bytes = [](std::int64_t floats) { return static_cast<std::size_t>(bytes_of(DType::f32, floats)); };
    return {tensor + bytes(row * whole.columns.size() + column), static_cast<std::size_t>(part.rows.size()),
            bytes(part.columns.size()), bytes(whole.columns.size())};
}

void redistribute_floats(const RedistributeStep& step, const StepContext& context) {
    const Store& store = context.store;
    Staging staging(context);
    std::vector<comm::SendBlock> sends;
    std::vector<comm::ReceiveBlock> receives;
    for (const Exchanged& part : exchanged_parts(step, store)) {
        const auto& [peer, sent, received] = part;
        const auto staged = [&](const auto& rows) {
            return part.peer == store.rank() || rows.contiguous() ? 0 : static_cast<std::int64_t>(rows.bytes());
        };
        if (sent.count() > 0) {
            const auto rows = rows_of<const std::byte>(store.bytes(step.in), store.block(step.in), sent);
            sends.push_back({peer, rows, staging.to_send(staged(rows))});
        }
        if (received.count() > 0) {
            const auto rows = rows_of<std::byte>(store.bytes(step.out), store.block(step.out), received);
            receives.push_back({peer, rows, staging.to_receive(staged(rows))});
        }
    }
    context.world.exchange_blocks(sends, receives);
    clear_missing_rows(step, context);
}

// A tensor of bits, or a packed part of one.
struct Bits {
    std::byte* data = nullptr;
    Block block;
};

void copy_bits(const kernels::Table& kernels, const Bits& from, const Bits& to, const Block& part) {
    kernels.copy_bits(reinterpret_cast<const std::uint8_t*>(from.data), from.block.columns.size(),
                      part.rows.begin - from.block.rows.begin, part.columns.begin - from.block.columns.begin,
                      reinterpret_cast<std::uint8_t*>(to.data), to.block.columns.size(),
                      part.rows.begin - to.block.rows.begin, part.columns.begin - to.block.columns.begin,
                      part.rows.size(), part.columns.size());
}

void redistribute_bits(const RedistributeStep& step, const StepContext& context) {
    const Store& store = context.store;
    const kernels::Table& kernels = context.kernels;
    const Bits source{store.bytes(step.in), store.block(step.in)};
    const Bits target{store.bytes(step.out), store.block(step.out)};
    const auto bytes = [](const Block& part) { return bytes_of(DType::bits, part.count()); };
    kernels.zero({target.data, static_cast<std::size_t>(bytes(target.block))});
    Staging staging(context);
    std::vector<comm::Send> sends;
    std::vector<comm::Receive> receives;
    std::vector<Bits> arriving;
    for (const auto& [peer, sent, received] : exchanged_parts(step, store)) {
        if (peer == store.rank()) {
            if (sent.count() > 0) copy_bits(kernels, source, target, sent);
            continue;
        }
        if (sent.count() > 0) {
            const std::span<std::byte> packed = staging.to_send(bytes(sent));
            kernels.zero(packed);
            copy_bits(kernels, source, {packed.data(), sent}, sent);
            sends.push_back({peer, packed});
        }
        if (received.count() > 0) {
            receives.push_back({peer, staging.to_receive(bytes(received))});
            arriving.push_back({receives.back().bytes.data(), received});
        }
    }
    context.world.exchange(sends, receives);
    for (const Bits& part : arriving) copy_bits(kernels, part, target, part.block);
}

// The floats of `part` in a tensor.
kernels::Matrix matrix_of(const Store& store, TensorId id, const Block& part) {
    const Block whole = store.block(id);
    const std::int64_t row = part.rows.begin - whole.rows.begin, column = part.columns.begin - whole.columns.begin;
    return {store.data<float>(id) + row * whole.columns.size() + column, part.rows.size(), part.columns.size(),
            whole.columns.size()};
}

// A part of a tensor as it travels.
kernels::Dense<kernels::Bf16> rounded(std::span<std::byte> bytes, const Block& part) {
    return {reinterpret_cast<kernels::Bf16*>(bytes.data()), part.rows.size(), part.columns.size(), part.columns.size()};
}

void redistribute_rounded(const RedistributeStep& step, const StepContext& context) {
    const Store& store = context.store;
    const kernels::Table& kernels = context.kernels;
    const bool rounds_own = step.rounds_own(store.schedule());
    Staging staging(context);
    std::vector<comm::Send> sends;
    std::vector<comm::Receive> receives;
    std::vector<Block> arriving;
    const auto narrow = [&](const Block& part) {
        const std::span<std::byte> bytes = staging.to_send(wire_bytes(step.wire, part.count()));
        kernels.narrow(matrix_of(store, step.in, part), rounded(bytes, part));
        return bytes;
    };
    const auto widen = [&](std::span<std::byte> bytes, const Block& part) {
        kernels.widen(rounded(bytes, part), matrix_of(store, step.out, part));
    };
    for (const auto& [peer, sent, received] : exchanged_parts(step, store)) {
        if (peer == store.rank()) {
            if (sent.count() == 0) continue;
            rounds_own ? widen(narrow(sent), sent)
                       : kernels.copy(matrix_of(store, step.in, sent), matrix_of(store, step.out, sent));
            continue;
        }
        if (sent.count() > 0) sends.push_back({peer, narrow(sent)});
        if (received.count() == 0) continue;
        receives.push_back({peer, staging.to_receive(wire_bytes(step.wire, received.count()))});
        arriving.push_back(received);
    }
    context.world.exchange(sends, receives);
    for (std::size_t i = 0; i < arriving.size(); ++i) widen(receives[i].bytes, arriving[i]);
    clear_missing_rows(step, context);
}

}  // namespace

void run_step(const RedistributeStep& step, const StepContext& context) {
    if (tensor_of(context.store.schedule(), step.in).dtype == DType::bits)
        redistribute_bits(step, context);
    else if (step.wire == Wire::bfloat16)
        redistribute_rounded(step, context);
    else
        redistribute_floats(step, context);
}

}  // namespace gnnplan::exec
