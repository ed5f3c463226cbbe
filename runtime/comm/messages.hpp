// Checks and copies of every exchange, whatever carries the bytes.
#pragma once

#include "runtime/comm/communicator.hpp"

namespace gnnplan::comm {

// Throws ErrorCode::internal unless 0 <= peer < ranks.
void check_rank(int peer, int ranks);

// Throws ErrorCode::internal if a colour of split() is negative, which MPI reserves.
void check_colour(int colour);

// Throws ErrorCode::internal if a peer is out of range or named twice on one side.
void check_messages(std::span<const Send> sends, std::span<const Receive> receives, int ranks);
void check_messages(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives, int ranks);

// The message a rank sends to itself, empty if there is none.
struct OwnMessage {
    ConstRows from;
    MutableRows to;
};

// That of `rank`. Throws ErrorCode::internal if the two lengths differ.
OwnMessage own_message(std::span<const Send> sends, std::span<const Receive> receives, int rank);
OwnMessage own_message(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives, int rank);

// Copies what a rank sends to itself.
void copy_to_self(const OwnMessage& own);

// A block as one message: its rows where they have no gaps, or as much of its staging as they take. Throws
// ErrorCode::internal where the staging is too short.
template <class Byte, class Block>
std::span<Byte> message_of(const Block& block) {
    if (block.rows.contiguous()) return {block.rows.data, block.rows.bytes()};
    ensure(block.staging.size() >= block.rows.bytes(), "exchange: a block does not fit its staging");
    return block.staging.first(block.rows.bytes());
}

// Throws ErrorCode::internal: the sender's and the receiver's idea of a message differ.
[[noreturn]] void throw_length_mismatch(int from, int to, std::size_t sent, std::size_t expected);

}  // namespace gnnplan::comm
