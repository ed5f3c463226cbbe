#include "runtime/comm/messages.hpp"

#include <gnnplan/base/error.hpp>

#include <cstring>

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

template <class Bytes, class Message>
Bytes bytes_for(std::span<const Message> messages, int peer) {
    for (const Message& message : messages)
        if (message.peer == peer) return message.bytes;
    return {};
}

}  // namespace

void check_rank(int peer, int ranks) { ensure(0 <= peer && peer < ranks, "communicator: no such rank"); }

void check_colour(int colour) { ensure(colour >= 0, "split: colours must not be negative"); }

void check_messages(std::span<const Send> sends, std::span<const Receive> receives, int ranks) {
    check_side(sends, ranks);
    check_side(receives, ranks);
}

void copy_to_self(std::span<const Send> sends, std::span<const Receive> receives, int rank) {
    const auto from = bytes_for<std::span<const std::byte>>(sends, rank);
    const auto to = bytes_for<std::span<std::byte>>(receives, rank);
    if (from.size() != to.size()) throw_length_mismatch(rank, rank, from.size(), to.size());
    if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

void throw_length_mismatch(int from, int to, std::size_t sent, std::size_t expected) {
    throw Error(ErrorCode::internal, "internal error: rank " + std::to_string(from) + " sends rank " +
                                         std::to_string(to) + " " + std::to_string(sent) + " bytes, but " +
                                         std::to_string(expected) + " are expected");
}

}  // namespace gnnplan::comm
