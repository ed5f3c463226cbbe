#include "runtime/load/rounds.hpp"

#include <gnnplan/base/at.hpp>

#include <span>

namespace gnnplan::load {

bool exchange_counts(comm::Communicator& comm, RoundState state, std::vector<std::int64_t>& counts) {
    const std::size_t peers = at(comm.size()), width = counts.size() / peers;
    std::vector<std::int64_t> sent, received(peers * (width + 1));
    for (std::size_t p = 0; p < peers; ++p) {
        const auto of_peer = std::span(counts).subspan(p * width, width);
        sent.insert(sent.end(), of_peer.begin(), of_peer.end());
        sent.push_back(static_cast<std::int64_t>(state));
    }
    std::vector<comm::Send> sends;
    std::vector<comm::Receive> receives;
    const auto header_of = [&](auto& headers, std::size_t p) {
        return std::span(headers).subspan(p * (width + 1), width + 1);
    };
    for (std::size_t p = 0; p < peers; ++p) {
        sends.push_back({static_cast<int>(p), std::as_bytes(header_of(sent, p))});
        receives.push_back({static_cast<int>(p), std::as_writable_bytes(header_of(received, p))});
    }
    comm.exchange(sends, receives);
    bool finished = true;
    for (std::size_t p = 0; p < peers; ++p) {
        const auto header = header_of(received, p);
        const auto of_peer = static_cast<RoundState>(header.back());
        if (of_peer == RoundState::failed && state != RoundState::failed) throw Stopped();
        finished = finished && of_peer == RoundState::finished;
        for (std::size_t i = 0; i < width; ++i) counts[p * width + i] = header[i];
    }
    return finished;
}

}  // namespace gnnplan::load
