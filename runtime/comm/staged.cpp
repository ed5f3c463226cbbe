#include "runtime/comm/staged.hpp"

#include <algorithm>
#include <deque>
#include <utility>

namespace gnnplan::comm {

class StagedCommunicator::Staged final : public Moving {
public:
    Staged(StagedCommunicator& ranks, std::vector<Send> sends, std::vector<Receive> receives)
        : ranks_(ranks),
          transfers_(*ranks.device().transfers()),
          sends_(std::move(sends)),
          receives_(std::move(receives)),
          rounds_(std::max(rounds_of(sends_), rounds_of(receives_))),
          first_(ranks.room_.number(rounds_)) {
        if (rounds_ == 0) return;
        transfers_.transfer_after(*transfers_.computed());
        download();
    }
    void finish() override {
        std::deque<std::unique_ptr<PendingExchange>> under_way;
        for (std::size_t round = 0, posted = 0; round < rounds_; ++round) {
            download();
            for (; posted < downloaded_.size() && posted < round + 2; ++posted) under_way.push_back(post(posted));
            under_way.front()->wait();
            under_way.pop_front();
            upload(round);
            ranks_.room_.give_back(transfers_.transferred());
        }
        if (rounds_ > 0) transfers_.compute_after(*transfers_.transferred());
    }

private:
    std::size_t piece_bytes() const { return ranks_.room_.piece_bytes(); }

    template <class Message>
    std::size_t rounds_of(const std::vector<Message>& messages) const {
        std::size_t rounds = 0;
        for (const Message& message : messages)
            rounds = std::max(rounds, (message.bytes.size() + piece_bytes() - 1) / piece_bytes());
        return rounds;
    }
    // The part of a message that travels in a round; empty behind its end.
    template <class Byte>
    std::span<Byte> piece_of(std::span<Byte> message, std::size_t round) const {
        const std::size_t begin = std::min(round * piece_bytes(), message.size());
        return message.subspan(begin, std::min(piece_bytes(), message.size() - begin));
    }

    // Takes the next rounds to the host, as long as they find slots; rounds of exchanges that were started before this
    // one come first.
    void download() {
        while (downloaded_.size() < rounds_ && ranks_.room_.can_take(first_ + downloaded_.size())) {
            const std::size_t round = downloaded_.size();
            std::byte* to = ranks_.room_.take(first_ + round).leaving;
            for (std::size_t i = 0; i < sends_.size(); ++i, to += piece_bytes()) {
                const auto piece = piece_of(sends_[i].bytes, round);
                if (!piece.empty()) transfers_.copy(piece, to);
            }
            downloaded_.push_back(transfers_.transferred());
        }
    }
    // Begins to send a round, and to receive.
    std::unique_ptr<PendingExchange> post(std::size_t round) {
        const HostRoom::Slot& slot = ranks_.room_.slot(first_ + round);
        std::vector<Send> sends;
        std::vector<Receive> receives;
        for (std::size_t i = 0; i < sends_.size(); ++i) {
            const auto piece = piece_of(sends_[i].bytes, round);
            if (!piece.empty()) sends.push_back({sends_[i].peer, {slot.leaving + i * piece_bytes(), piece.size()}});
        }
        for (std::size_t i = 0; i < receives_.size(); ++i) {
            const auto piece = piece_of(receives_[i].bytes, round);
            if (!piece.empty())
                receives.push_back({receives_[i].peer, {slot.arriving + i * piece_bytes(), piece.size()}});
        }
        if (!sends.empty()) transfers_.wait_for(*downloaded_[round]);
        if (!receives.empty() && slot.used != nullptr) transfers_.wait_for(*slot.used);
        return ranks_.inner().start_exchange(sends, receives);
    }
    void upload(std::size_t round) {
        const std::byte* from = ranks_.room_.slot(first_ + round).arriving;
        for (std::size_t i = 0; i < receives_.size(); ++i, from += piece_bytes()) {
            const auto piece = piece_of(receives_[i].bytes, round);
            if (!piece.empty()) transfers_.copy({from, piece.size()}, piece.data());
        }
    }

    StagedCommunicator& ranks_;
    kernels::TransferQueue& transfers_;
    std::vector<Send> sends_;
    std::vector<Receive> receives_;
    std::size_t rounds_;
    std::size_t first_;                                              // the number of its first round
    std::vector<std::shared_ptr<const kernels::Fence>> downloaded_;  // by round
};

std::unique_ptr<DeviceCommunicator::Moving> StagedCommunicator::move(std::vector<Send> sends,
                                                                     std::vector<Receive> receives) {
    return std::make_unique<Staged>(*this, std::move(sends), std::move(receives));
}

template <class T>
void StagedCommunicator::sum_in_room(std::span<T> values) {
    const auto bytes = std::as_writable_bytes(values);
    const std::span<std::byte> room = room_.whole();
    if (bytes.size() > room.size()) return DeviceCommunicator::sum(values);
    kernels::TransferQueue& transfers = *device().transfers();
    transfers.transfer_after(*transfers.computed());
    transfers.copy(bytes, room.data());
    transfers.wait_for(*transfers.transferred());
    inner().all_reduce(std::span(reinterpret_cast<T*>(room.data()), values.size()));
    transfers.copy(room.first(bytes.size()), bytes.data());
    const auto done = transfers.transferred();
    room_.use_until(done);
    transfers.compute_after(*done);
}

std::unique_ptr<Communicator> StagedCommunicator::split(int colour, int key) {
    return std::make_unique<StagedCommunicator>(inner().split(colour, key), device(), slot_);
}

std::unique_ptr<Communicator> through_hosts(Communicator& hosts, kernels::Device& device) {
    return std::make_unique<StagedCommunicator>(hosts, device);
}

}  // namespace gnnplan::comm
