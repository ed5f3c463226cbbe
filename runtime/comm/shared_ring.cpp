#include "runtime/comm/shared_ring.hpp"

#include <cstring>
#include <new>

namespace gnnplan::comm {
namespace {

constexpr std::size_t to_lines(std::size_t bytes) {
    return (bytes + SharedRing::line - 1) / SharedRing::line * SharedRing::line;
}

}  // namespace

void SharedRing::initialise(std::byte* memory) { new (memory) Counts; }

SharedRing::SharedRing(std::byte* memory, std::size_t capacity)
    : counts_(std::launder(reinterpret_cast<Counts*>(memory))), data_(memory + sizeof(Counts)), capacity_(capacity) {}

// How many of `bytes` from `position` on lie in one piece.
std::size_t SharedRing::turn(std::uint64_t position, std::uint64_t bytes) const {
    return std::min(
        {static_cast<std::size_t>(bytes), capacity_ - static_cast<std::size_t>(position % capacity_), largest_turn});
}

std::span<std::byte> SharedRing::room() const {
    const std::uint64_t filled = counts_->filled.load(std::memory_order_relaxed);
    const std::uint64_t used = filled - counts_->emptied.load(std::memory_order_acquire);
    return {data_ + filled % capacity_, turn(filled, capacity_ - used)};
}

void SharedRing::filled(std::size_t bytes) {
    const std::uint64_t filled = counts_->filled.load(std::memory_order_relaxed);
    counts_->filled.store(filled + to_lines(bytes), std::memory_order_release);
}

std::span<const std::byte> SharedRing::stored() const {
    const std::uint64_t emptied = counts_->emptied.load(std::memory_order_relaxed);
    const std::uint64_t used = counts_->filled.load(std::memory_order_acquire) - emptied;
    return {data_ + emptied % capacity_, turn(emptied, used)};
}

void SharedRing::emptied(std::size_t bytes) {
    const std::uint64_t emptied = counts_->emptied.load(std::memory_order_relaxed);
    counts_->emptied.store(emptied + to_lines(bytes), std::memory_order_release);
}

bool RingSend::step() {
    std::span<std::byte> room = ring_.room();
    if (done() || room.empty()) return false;
    if (!announced_) {
        const std::uint64_t bytes = rows_.left();
        std::memcpy(room.data(), &bytes, sizeof bytes);
        ring_.filled(SharedRing::line);
        announced_ = true;
        return true;
    }
    const std::size_t bytes = std::min(room.size(), rows_.left());
    if (rows_.run().size() >= bytes) {
        std::memcpy(room.data(), rows_.run().data(), bytes);
        rows_.advance(1, bytes);
    } else {
        RowCursor<std::byte> gathered(one_row(scratch_));
        copy_rows(rows_, gathered, bytes, Stores::cached);
        std::memcpy(room.data(), scratch_.data(), bytes);
    }
    ring_.filled(bytes);
    return true;
}

bool RingReceive::step() {
    const std::span<const std::byte> stored = ring_.stored();
    if (done() || stored.empty()) return false;
    if (!announced_) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, stored.data(), sizeof bytes);
        ring_.emptied(SharedRing::line);
        announced_ = true;
        sent_ = left_ = static_cast<std::size_t>(bytes);
        return true;
    }
    const std::size_t bytes = std::min(stored.size(), left_);
    if (sent_ == expected()) {
        RowCursor<const std::byte> source(one_row(stored));
        copy_rows(source, rows_, bytes, stores_);
    }
    ring_.emptied(bytes);
    left_ -= bytes;
    return true;
}

}  // namespace gnnplan::comm
