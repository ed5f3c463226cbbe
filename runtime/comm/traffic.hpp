// Bytes and messages of one rank.
#pragma once

#include <cstdint>

namespace gnnplan::comm {

// Messages to oneself and empty ones count nothing. `messages` counts those sent.
struct Traffic {
    std::int64_t sent_bytes = 0;
    std::int64_t received_bytes = 0;
    std::int64_t messages = 0;

    void sent(std::int64_t bytes) {
        sent_bytes += bytes;
        messages += bytes > 0 ? 1 : 0;
    }
    void received(std::int64_t bytes) { received_bytes += bytes; }
    void reset() { *this = {}; }

    Traffic& operator+=(const Traffic& other) {
        sent_bytes += other.sent_bytes;
        received_bytes += other.received_bytes;
        messages += other.messages;
        return *this;
    }
    bool operator==(const Traffic&) const = default;
};

}  // namespace gnnplan::comm
