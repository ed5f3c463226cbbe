#include "runtime/deploy/device_room.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace gnnplan::deploy {

std::optional<DeviceRoom> device_room(comm::Communicator& comm, const kernels::Device& device) {
    if (!device.memory().accelerator) return std::nullopt;
    std::optional<kernels::FreeMemory> free;
    comm::agree(comm, [&] { free = device.free_memory(); });

    struct Shared {
        std::int64_t free_bytes = 0;
        int ranks = 0;
    };
    std::map<std::string, Shared> devices;
    for (const std::string& text :
         comm.control_all_gather(free ? std::to_string(free->bytes) + " " + free->device : std::string())) {
        if (text.empty()) return std::nullopt;
        Shared& shared = devices[text.substr(text.find(' '))];
        const std::int64_t bytes = std::stoll(text);
        shared.free_bytes = shared.ranks == 0 ? bytes : std::min(shared.free_bytes, bytes);
        ++shared.ranks;
    }

    std::optional<DeviceRoom> least;
    for (const auto& [name, shared] : devices) {
        const DeviceRoom room{shared.free_bytes / shared.ranks + free->held_bytes, shared.ranks};
        if (!least || room.bytes_per_rank < least->bytes_per_rank) least = room;
    }
    return least;
}

}  // namespace gnnplan::deploy
