#include "runtime/comm/host_room.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <utility>

namespace gnnplan::comm {
namespace {

constexpr std::size_t piece_unit = 64;

std::size_t piece_for(int ranks, std::size_t slot) {
    if (ranks < 2) return 0;
    return std::max(slot / static_cast<std::size_t>(ranks - 1) / piece_unit, std::size_t{1}) * piece_unit;
}

// Returns the bytes of one half of a slot: a piece for each other rank.
std::size_t half_for(int ranks, std::size_t slot) {
    return piece_for(ranks, slot) * static_cast<std::size_t>(ranks - 1);
}

}  // namespace

std::int64_t HostRoom::bytes_for(int ranks, std::size_t slot) {
    return static_cast<std::int64_t>(2 * slots * half_for(ranks, slot));
}

HostRoom::HostRoom(kernels::TransferQueue& transfers, int ranks, std::size_t slot)
    : transfers_(transfers), piece_(piece_for(ranks, slot)) {
    const std::size_t half = half_for(ranks, slot);
    if (half == 0) return;
    leaving_ = transfers.host_memory(slots * half);
    arriving_ = transfers.host_memory(slots * half);
    for (std::size_t i = 0; i < slots; ++i)
        slots_[i] = {leaving_->data() + i * half, arriving_->data() + i * half, nullptr};
}

std::int64_t HostRoom::bytes() const {
    return leaving_ == nullptr ? 0 : static_cast<std::int64_t>(leaving_->size() + arriving_->size());
}

std::size_t HostRoom::number(std::size_t rounds) { return std::exchange(numbered_, numbered_ + rounds); }

HostRoom::Slot& HostRoom::take(std::size_t round) {
    ensure(can_take(round), "rounds of messages take slots in turn");
    ++taken_;
    return slot(round);
}

void HostRoom::give_back(std::shared_ptr<const kernels::Fence> used) { slot(given_back_++).used = std::move(used); }

std::span<std::byte> HostRoom::whole() {
    for (Slot& slot : slots_) {
        if (slot.used != nullptr) transfers_.wait_for(*slot.used);
        slot.used = nullptr;
    }
    return arriving_ == nullptr ? std::span<std::byte>() : std::span(arriving_->data(), arriving_->size());
}

void HostRoom::use_until(const std::shared_ptr<const kernels::Fence>& used) {
    for (Slot& slot : slots_) slot.used = used;
}

}  // namespace gnnplan::comm
