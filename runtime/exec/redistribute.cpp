// Reading guide: a rank sends each rank of its y-group what their source and target blocks have in common. Parts that
// are contiguous where they lie are sent and received in place, the others, and all bits, pass through the step's
// staging: first the packed parts to send, then those received, in the order of ranks (staging_of counts the same
// parts).
#include "runtime/exec/handlers.hpp"

#include <cstring>
#include <vector>

namespace gnnplan::exec {
namespace {

// One tensor's local block and the kernels to copy parts of it, whatever the element type.
class LocalTensor {
public:
    LocalTensor(const StepContext& context, TensorId id)
        : kernels_(context.kernels),
          bits_(tensor_of(context.store.schedule(), id).dtype == DType::bits),
          block_(context.store.block(id)),
          data_(context.store.bytes(id)) {}

    const Block& block() const { return block_; }

    bool in_place(const Block& part) const { return !bits_ && contiguous_in(part, block_); }
    std::byte* at(const Block& part) const {
        const std::int64_t row = part.rows.begin - block_.rows.begin;
        const std::int64_t column = part.columns.begin - block_.columns.begin;
        return data_ + bytes_of(DType::f32, row * block_.columns.size() + column);
    }
    void copy_to(const LocalTensor& target, const Block& part) const {
        copy(data_, block_, target.data_, target.block_, part);
    }
    void pack(const Block& part, std::byte* out) const { copy(data_, block_, out, part, part); }
    void unpack(const Block& part, std::byte* in) const { copy(in, part, data_, block_, part); }
    void clear_bits() const {
        if (bits_) std::memset(data_, 0, static_cast<std::size_t>(bytes_of(DType::bits, block_.count())));
    }

private:
    // Copies `part` between two row-major buffers that hold the blocks `from` and `to`.
    void copy(std::byte* source, const Block& from, std::byte* target, const Block& to, const Block& part) const {
        const std::int64_t from_row = part.rows.begin - from.rows.begin;
        const std::int64_t from_column = part.columns.begin - from.columns.begin;
        const std::int64_t to_row = part.rows.begin - to.rows.begin;
        const std::int64_t to_column = part.columns.begin - to.columns.begin;
        const std::int64_t rows = part.rows.size();
        const std::int64_t columns = part.columns.size();
        if (bits_) {
            kernels_.copy_bits(reinterpret_cast<const std::uint8_t*>(source), from.columns.size(), from_row,
                               from_column, reinterpret_cast<std::uint8_t*>(target), to.columns.size(), to_row,
                               to_column, rows, columns);
            return;
        }
        const std::int64_t from_stride = from.columns.size();
        const std::int64_t to_stride = to.columns.size();
        kernels_.copy(
            {reinterpret_cast<const float*>(source) + from_row * from_stride + from_column, rows, columns, from_stride},
            {reinterpret_cast<float*>(target) + to_row * to_stride + to_column, rows, columns, to_stride});
    }

    const kernels::Table& kernels_;
    bool bits_;
    Block block_;
    std::byte* data_;
};

// The messages of one redistribution on this rank, and the staging they pass through.
class Messages {
public:
    Messages(const LocalTensor& source, const LocalTensor& target, std::byte* staging, std::int64_t send_bytes)
        : source_(source), target_(target), send_staging_(staging), receive_staging_(staging + send_bytes) {}

    void send(int peer, const Block& part, std::int64_t bytes) {
        if (bytes == 0) return;
        if (source_.in_place(part)) {
            sends_.push_back({peer, {source_.at(part), static_cast<std::size_t>(bytes)}});
            return;
        }
        source_.pack(part, send_staging_);
        sends_.push_back({peer, {send_staging_, static_cast<std::size_t>(bytes)}});
        send_staging_ += bytes;
    }

    void receive(int peer, const Block& part, std::int64_t bytes) {
        if (bytes == 0) return;
        if (target_.in_place(part)) {
            receives_.push_back({peer, {target_.at(part), static_cast<std::size_t>(bytes)}});
            return;
        }
        receives_.push_back({peer, {receive_staging_, static_cast<std::size_t>(bytes)}});
        staged_.push_back({part, receive_staging_});
        receive_staging_ += bytes;
    }

    void exchange(comm::Communicator& world) const {
        world.exchange(sends_, receives_);
        for (const Staged& staged : staged_) target_.unpack(staged.part, staged.bytes);
    }

private:
    struct Staged {
        Block part;
        std::byte* bytes;
    };

    const LocalTensor& source_;
    const LocalTensor& target_;
    std::byte* send_staging_;
    std::byte* receive_staging_;
    std::vector<comm::Send> sends_;
    std::vector<comm::Receive> receives_;
    std::vector<Staged> staged_;
};

}  // namespace

void run_step(const RedistributeStep& step, const StepContext& context) {
    const Store& store = context.store;
    const Schedule& schedule = store.schedule();
    const DType dtype = tensor_of(schedule, step.in).dtype;
    const LocalTensor source(context, step.in);
    const LocalTensor target(context, step.out);
    const std::int64_t send_bytes = store.send_staging_bytes(context.step);
    // Out of F a rank has all it needs.
    const bool local = same_placement(tensor_of(schedule, step.in).layout, layout_f(), schedule.grid);
    std::byte* staging = store.staging(context.step);
    if (dtype == DType::bits) std::memset(staging, 0, static_cast<std::size_t>(send_bytes));
    target.clear_bits();

    Messages messages(source, target, staging, send_bytes);
    const int first = store.rank() / schedule.grid.y * schedule.grid.y;
    for (int peer = first; peer < first + schedule.grid.y; ++peer) {
        const Block sent = intersect(source.block(), block_of(schedule, step.out, peer));
        const Block received = intersect(target.block(), block_of(schedule, step.in, peer));
        if (peer == store.rank()) {
            if (sent.count() > 0) source.copy_to(target, sent);
            continue;
        }
        if (local) continue;
        messages.send(peer, sent, bytes_of(dtype, sent.count()));
        messages.receive(peer, received, bytes_of(dtype, received.count()));
    }
    messages.exchange(context.world);
}

}  // namespace gnnplan::exec
