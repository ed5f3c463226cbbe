// Memory of the host through which messages between devices pass, as much of it whatever their sizes.
#pragma once

#include "kernels/device.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace gnnplan::comm {

// Messages pass in rounds: in each, one piece of every message that is not at its end. A round takes a slot, which has
// room for the pieces that leave for all other ranks and for those that arrive from them; slots are taken in turn.
// All ranks cut messages alike.
class HostRoom {
public:
    static constexpr std::size_t slots = 4;
    static constexpr std::size_t slot_bytes = std::size_t{4} << 20;

    struct Slot {
        std::byte* leaving = nullptr;
        std::byte* arriving = nullptr;
        std::shared_ptr<const kernels::Fence> used;  // null, or what has to be passed before more may arrive
    };

    // Returns the bytes that one of `ranks` ranks needs for all slots, both halves of each; 0 for one rank. Pieces are
    // multiples of 64 bytes, and 64 bytes at least.
    static std::int64_t bytes_for(int ranks, std::size_t slot = slot_bytes);

    // Takes the memory. Throws OutOfMemory.
    HostRoom(kernels::TransferQueue& transfers, int ranks, std::size_t slot = slot_bytes);

    std::int64_t bytes() const;                         // that it holds
    std::size_t piece_bytes() const { return piece_; }  // of a message that is not shorter

    // Numbers of the next `rounds` rounds, of which this is the first.
    std::size_t number(std::size_t rounds);
    // Whether the round is the next to take a slot, and one is free; then takes it.
    bool can_take(std::size_t round) const { return round == taken_ && round < given_back_ + slots; }
    Slot& take(std::size_t round);
    Slot& slot(std::size_t round) { return slots_[round % slots]; }
    // The oldest round that has a slot is over, but for copies to the device, until the fence.
    void give_back(std::shared_ptr<const kernels::Fence> used);

    // Where all pieces arrive, when none is on its way. Waits for copies from there. What is copied from it afterwards
    // needs it until the fence.
    std::span<std::byte> whole();
    void use_until(const std::shared_ptr<const kernels::Fence>& used);

private:
    kernels::TransferQueue& transfers_;
    std::size_t piece_ = 0;
    std::unique_ptr<kernels::DeviceMemory> leaving_, arriving_;
    std::array<Slot, slots> slots_;
    std::size_t numbered_ = 0, taken_ = 0, given_back_ = 0;
};

}  // namespace gnnplan::comm
