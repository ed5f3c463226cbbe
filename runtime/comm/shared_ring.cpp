#include "runtime/comm/shared_ring.hpp"

#include <gnnplan/base/range.hpp>

#include <array>
#include <cstring>
#include <new>

namespace gnnplan::comm {
namespace {

constexpr std::size_t to_lines(std::size_t bytes) {
    return (bytes + SharedRing::line - 1) / SharedRing::line * SharedRing::line;
}

// The first line of each part of a message.
struct Announcement {
    std::uint64_t bytes;  // of the message
    std::uint64_t lanes;
};
static_assert(sizeof(Announcement) <= SharedRing::line);

// The bytes of a message that go over a lane.
Range part_of(std::size_t message_bytes, Lane lane) {
    return balanced_block({0, static_cast<std::int64_t>(message_bytes)}, static_cast<std::int64_t>(lane.number),
                          static_cast<std::int64_t>(lane.of));
}

template <class Byte>
RowCursor<Byte> at_part(const Rows<Byte>& rows, Lane lane) {
    const auto begin = static_cast<std::size_t>(part_of(rows.bytes(), lane).begin);
    return begin == 0 ? RowCursor<Byte>(rows) : RowCursor<Byte>(rows, begin);
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

RingSend::RingSend(SharedRing& ring, const ConstRows& rows, Lane lane)
    : ring_(ring),
      rows_(at_part(rows, lane)),
      message_bytes_(rows.bytes()),
      lanes_(lane.of),
      left_(static_cast<std::size_t>(part_of(message_bytes_, lane).size())) {}

bool RingSend::step() {
    std::span<std::byte> room = ring_.room();
    if (done() || room.empty()) return false;
    if (!announced_) {
        const Announcement announcement{message_bytes_, lanes_};
        std::memcpy(room.data(), &announcement, sizeof announcement);
        ring_.filled(SharedRing::line);
        announced_ = true;
        return true;
    }
    const std::size_t bytes = std::min(room.size(), left_);
    if (rows_.run().size() >= bytes) {
        std::memcpy(room.data(), rows_.run().data(), bytes);
        rows_.advance(1, bytes);
    } else {
        alignas(SharedRing::line) thread_local std::array<std::byte, SharedRing::largest_turn> gathered;
        RowCursor<std::byte> target(one_row(std::span<std::byte>(gathered)));
        copy_rows(rows_, target, bytes, Stores::cached);
        std::memcpy(room.data(), gathered.data(), bytes);
    }
    ring_.filled(bytes);
    left_ -= bytes;
    return true;
}

bool RingReceive::done() const {
    if (const std::size_t lanes = lanes_.load(std::memory_order_relaxed); lanes > 0) return left_ == 0;
    const std::size_t used = first_ != nullptr ? first_->lanes_.load(std::memory_order_relaxed) : 0;
    return used > 0 && lane_ >= used;
}

bool RingReceive::step() {
    const std::span<const std::byte> stored = ring_.stored();
    // The next message's bytes may lie where this one has no part.
    if (done() || stored.empty()) return false;
    if (lanes_.load(std::memory_order_relaxed) == 0) {
        // One look decides: the first lane may become known at any time, and the bytes may be the next message's.
        const std::size_t used = first_ != nullptr ? first_->lanes_.load(std::memory_order_relaxed) : 1;
        if (lane_ >= used) return false;
        Announcement announcement{};
        std::memcpy(&announcement, stored.data(), sizeof announcement);
        ring_.emptied(SharedRing::line);
        const Lane lane{lane_, static_cast<std::size_t>(announcement.lanes)};
        sent_ = static_cast<std::size_t>(announcement.bytes);
        left_ = static_cast<std::size_t>(part_of(sent_, lane).size());
        if (sent_ == expected()) target_ = at_part(rows_, lane);
        lanes_.store(lane.of, std::memory_order_relaxed);
        return true;
    }
    const std::size_t bytes = std::min(stored.size(), left_);
    if (sent_ == expected()) {
        RowCursor<const std::byte> source(one_row(stored));
        copy_rows(source, target_, bytes, stores_);
    }
    ring_.emptied(bytes);
    left_ -= bytes;
    return true;
}

}  // namespace gnnplan::comm
