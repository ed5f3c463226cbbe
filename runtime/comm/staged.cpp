#include "runtime/comm/staged.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace gnnplan::comm {
namespace {

// A message travels in pieces of this size: one is sent while the next comes from the device.
constexpr std::size_t piece_bytes = std::size_t{4} << 20;

template <class Message>
std::size_t pieces_of(const std::vector<Message>& messages) {
    std::size_t pieces = 0;
    for (const Message& message : messages)
        pieces = std::max(pieces, (message.bytes.size() + piece_bytes - 1) / piece_bytes);
    return pieces;
}

// Piece number `piece` of a message, or of its copy; empty behind its end.
template <class Byte>
std::span<Byte> piece_of(std::span<Byte> message, std::size_t piece) {
    const std::size_t begin = std::min(piece * piece_bytes, message.size());
    return message.subspan(begin, std::min(piece_bytes, message.size() - begin));
}

}  // namespace

HostRoom::Piece HostRoom::take(std::size_t bytes) {
    auto best = free_.end();
    const auto rank = [](const Piece& piece) { return std::pair(piece.used != nullptr, piece.memory->size()); };
    for (auto piece = free_.begin(); piece != free_.end(); ++piece) {
        if (piece->memory->size() >= bytes && (best == free_.end() || rank(*piece) < rank(*best))) best = piece;
    }
    if (best == free_.end()) return {transfers_.host_memory(std::bit_ceil(bytes)), nullptr};
    Piece found = std::move(*best);
    free_.erase(best);
    if (found.used != nullptr) transfers_.wait_for(*found.used);
    return found;
}

class StagedCommunicator::Staged final : public Moving {
public:
    Staged(StagedCommunicator& ranks, std::vector<Send> sends, std::vector<Receive> receives)
        : ranks_(ranks),
          transfers_(*ranks.device().transfers()),
          sends_(std::move(sends)),
          receives_(std::move(receives)) {
        for (const Send& send : sends_) leaving_.push_back(ranks_.room_.take(send.bytes.size()));
        for (const Receive& receive : receives_) arriving_.push_back(ranks_.room_.take(receive.bytes.size()));
        transfers_.transfer_after(*transfers_.computed());
        for (std::size_t piece = 0; piece < pieces_of(sends_); ++piece) {
            for (std::size_t i = 0; i < sends_.size(); ++i) {
                const auto from = piece_of(sends_[i].bytes, piece);
                if (!from.empty()) transfers_.copy(from, leaving_[i].memory->data() + piece * piece_bytes);
            }
            downloaded_.push_back(transfers_.transferred());
        }
    }
    void finish() override {
        const std::size_t pieces = std::max(pieces_of(sends_), pieces_of(receives_));
        std::vector<std::unique_ptr<PendingExchange>> under_way;
        for (std::size_t piece = 0; piece < pieces; ++piece) under_way.push_back(send(piece));
        for (std::size_t piece = 0; piece < pieces; ++piece) {
            under_way[piece]->wait();
            upload(piece);
        }
        const auto done = transfers_.transferred();
        transfers_.compute_after(*done);
        for (auto& piece : leaving_) ranks_.room_.give_back({std::move(piece.memory), nullptr});
        for (auto& piece : arriving_) ranks_.room_.give_back({std::move(piece.memory), done});
    }

private:
    std::unique_ptr<PendingExchange> send(std::size_t piece) {
        std::vector<Send> sends;
        std::vector<Receive> receives;
        for (std::size_t i = 0; i < sends_.size(); ++i) {
            const std::span<const std::byte> copy(leaving_[i].memory->data(), sends_[i].bytes.size());
            if (const auto part = piece_of(copy, piece); !part.empty()) sends.push_back({sends_[i].peer, part});
        }
        for (std::size_t i = 0; i < receives_.size(); ++i) {
            const std::span<std::byte> copy(arriving_[i].memory->data(), receives_[i].bytes.size());
            if (const auto part = piece_of(copy, piece); !part.empty()) receives.push_back({receives_[i].peer, part});
        }
        if (!sends.empty()) transfers_.wait_for(*downloaded_[piece]);
        return ranks_.inner().start_exchange(sends, receives);
    }
    void upload(std::size_t piece) {
        for (std::size_t i = 0; i < receives_.size(); ++i) {
            const std::span<const std::byte> copy(arriving_[i].memory->data(), receives_[i].bytes.size());
            const auto part = piece_of(copy, piece);
            if (!part.empty()) transfers_.copy(part, receives_[i].bytes.data() + piece * piece_bytes);
        }
    }

    StagedCommunicator& ranks_;
    kernels::TransferQueue& transfers_;
    std::vector<Send> sends_;
    std::vector<Receive> receives_;
    std::vector<HostRoom::Piece> leaving_, arriving_;
    std::vector<std::shared_ptr<const kernels::Fence>> downloaded_;  // by piece
};

std::unique_ptr<DeviceCommunicator::Moving> StagedCommunicator::move(std::vector<Send> sends,
                                                                     std::vector<Receive> receives) {
    return std::make_unique<Staged>(*this, std::move(sends), std::move(receives));
}

std::unique_ptr<Communicator> StagedCommunicator::split(int colour, int key) {
    return std::make_unique<StagedCommunicator>(inner().split(colour, key), device());
}

std::unique_ptr<Communicator> through_hosts(Communicator& hosts, kernels::Device& device) {
    return std::make_unique<StagedCommunicator>(hosts, device);
}

}  // namespace gnnplan::comm
