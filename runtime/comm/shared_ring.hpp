// A stream of messages from one process to another through a little memory that both of them see.
//
// The sender copies into the ring what the receiver copies out of it, in turns of a few rows, so that the ring stays in
// the caches and a message of any size costs memory traffic for its source and its target alone. A message is a line
// with its length, its bytes, and padding to a whole line; lines of 64 bytes, and the ring is a whole number of them.
#pragma once

#include "runtime/comm/rows.hpp"

#include <atomic>
#include <cstdint>

namespace gnnplan::comm {

// One end's view of the memory. Counts of bytes only grow; each is written by one side.
class SharedRing {
public:
    static constexpr std::size_t line = 64;                // bytes
    static constexpr std::size_t largest_turn = 32 << 10;  // bytes; fits the first-level cache

    // Bytes a ring of `capacity` bytes takes, a multiple of `line`, as is the capacity.
    static std::size_t bytes(std::size_t capacity) { return sizeof(Counts) + capacity; }
    // Makes memory a ring, once, before either side uses it. Aligned to lines.
    static void initialise(std::byte* memory);

    SharedRing(std::byte* memory, std::size_t capacity);

    // For the sender: the room that lies next, and that `bytes` of it are filled.
    std::span<std::byte> room() const;
    void filled(std::size_t bytes);
    // For the receiver: what lies next, and that `bytes` of it are no longer needed.
    std::span<const std::byte> stored() const;
    void emptied(std::size_t bytes);

private:
    struct Counts {
        alignas(line) std::atomic<std::uint64_t> filled{0};
        alignas(line) std::atomic<std::uint64_t> emptied{0};
    };
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "locks would not work between processes");

    std::size_t turn(std::uint64_t position, std::uint64_t bytes) const;

    Counts* counts_;
    std::byte* data_;
    std::size_t capacity_;
};

// A lane is one of the rings of a pair of processes: a long message is cut into parts, which go over lanes of their own
// at the same time. The sender says how many.
struct Lane {
    std::size_t number = 0;
    std::size_t of = 1;
};

// A message, or a part of one, on its way into a ring. Lines that the receiver has read last are slow to get back one
// by one, so rows with gaps are gathered in memory of the thread first, and go over in one piece.
class RingSend {
public:
    RingSend(SharedRing& ring, const ConstRows& rows, Lane lane = {});
    bool done() const { return announced_ && left_ == 0; }
    // Copies as much as there is room for, at most largest_turn bytes. Returns whether it did anything.
    bool step();

private:
    SharedRing& ring_;
    RowCursor<const std::byte> rows_;
    std::size_t message_bytes_;
    std::size_t lanes_;
    std::size_t left_;        // bytes of the part
    bool announced_ = false;  // the message's length is in the ring
};

// A message, or a part of one, on its way out of a ring. One of another length than expected is taken out and thrown
// away, so that the ring stays usable.
class RingReceive {
public:
    // `first` has the message's first lane, and outlives the object; null where this one has it.
    RingReceive(SharedRing& ring, const MutableRows& rows, Stores stores, std::size_t lane = 0,
                const RingReceive* first = nullptr)
        : ring_(ring), rows_(rows), target_(rows), stores_(stores), lane_(lane), first_(first) {}
    bool done() const;
    bool step();
    std::size_t expected() const { return rows_.bytes(); }
    std::size_t sent() const { return sent_; }

private:
    SharedRing& ring_;
    MutableRows rows_;
    RowCursor<std::byte> target_;
    Stores stores_;
    std::size_t lane_;
    const RingReceive* first_;
    std::atomic<std::size_t> lanes_{0};  // of the message; unknown: 0
    std::size_t sent_ = 0;
    std::size_t left_ = 0;  // bytes of the part still to come
};

}  // namespace gnnplan::comm
