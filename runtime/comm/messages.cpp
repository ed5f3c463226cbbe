#include "runtime/comm/messages.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::comm {
namespace {

template <class Message>
void check_side(std::span<const Message> messages, int ranks) {
    std::vector<bool> named(static_cast<std::size_t>(ranks));
    for (const Message& message : messages) {
        check_rank(message.peer, ranks);
        ensure(!named[static_cast<std::size_t>(message.peer)], "exchange: a peer is named twice");
        named[static_cast<std::size_t>(message.peer)] = true;
    }
}

ConstRows rows_of(const Send& send) { return one_row(send.bytes); }
MutableRows rows_of(const Receive& receive) { return one_row(receive.bytes); }
ConstRows rows_of(const SendBlock& block) { return block.rows; }
MutableRows rows_of(const ReceiveBlock& block) { return block.rows; }

template <class AnyRows, class Message>
AnyRows rows_for(std::span<const Message> messages, int peer) {
    for (const Message& message : messages)
        if (message.peer == peer) return rows_of(message);
    return {};
}

template <class AnySend, class AnyReceive>
OwnMessage own_of(std::span<const AnySend> sends, std::span<const AnyReceive> receives, int rank) {
    const OwnMessage own{rows_for<ConstRows>(sends, rank), rows_for<MutableRows>(receives, rank)};
    if (own.from.bytes() != own.to.bytes()) throw_length_mismatch(rank, rank, own.from.bytes(), own.to.bytes());
    return own;
}

}  // namespace

void check_rank(int peer, int ranks) { ensure(0 <= peer && peer < ranks, "communicator: no such rank"); }

void check_colour(int colour) { ensure(colour >= 0, "split: colours must not be negative"); }

void check_messages(std::span<const Send> sends, std::span<const Receive> receives, int ranks) {
    check_side(sends, ranks);
    check_side(receives, ranks);
}

void check_messages(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives, int ranks) {
    check_side(sends, ranks);
    check_side(receives, ranks);
}

OwnMessage own_message(std::span<const Send> sends, std::span<const Receive> receives, int rank) {
    return own_of(sends, receives, rank);
}

OwnMessage own_message(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives, int rank) {
    return own_of(sends, receives, rank);
}

void copy_to_self(const OwnMessage& own) { copy_rows(own.from, own.to, stores_for(own.to.bytes())); }

void throw_length_mismatch(int from, int to, std::size_t sent, std::size_t expected) {
    throw Error(ErrorCode::internal, "internal error: rank " + std::to_string(from) + " sends rank " +
                                         std::to_string(to) + " " + std::to_string(sent) + " bytes, but " +
                                         std::to_string(expected) + " are expected");
}

}  // namespace gnnplan::comm
