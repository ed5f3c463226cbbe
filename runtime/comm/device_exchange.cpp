#include "runtime/comm/device_exchange.hpp"

#include "runtime/comm/linked.hpp"
#include "runtime/comm/peers.hpp"
#include "runtime/comm/staged.hpp"

#include <map>

namespace gnnplan::comm {
namespace {

// Why NCCL cannot connect the ranks; the same text on every rank, empty where nothing speaks against it. Collective.
std::string no_nccl(Communicator& hosts, const kernels::Device& device) {
    const std::vector<std::string> reasons = hosts.control_all_gather(device.cannot_connect());
    for (std::size_t rank = 0; rank < reasons.size(); ++rank)
        if (!reasons[rank].empty()) return "on rank " + std::to_string(rank) + ": " + reasons[rank];
    const auto free = device.free_memory();
    std::map<std::string, int> ranks;
    for (const std::string& name : hosts.control_all_gather(free ? free->device : "")) {
        if (++ranks[name] > 1 && !name.empty())
            return "NCCL wants a GPU for each rank, and ranks share one: " + std::to_string(hosts.size()) +
                   " ranks have fewer GPUs";
    }
    return {};
}

bool are_threads(const Communicator& hosts) { return dynamic_cast<const ThreadCommunicator*>(&hosts) != nullptr; }

DeviceExchange by_nccl(Communicator& hosts, kernels::Device& device) {
    std::shared_ptr<kernels::Links> links = device.connect(
        {hosts.rank(), hosts.size(), [&hosts](const std::string& text) { return hosts.control_all_gather(text); }});
    std::string name = links->name();
    return {std::make_unique<LinkedCommunicator>(hosts, device, std::move(links)), std::move(name), {}};
}

}  // namespace

const std::vector<std::string>& device_exchanges() {
    static const std::vector<std::string> names{"auto", "nccl", "peers", "staged"};
    return names;
}

std::int64_t message_bytes(std::string_view exchange, int ranks) {
    return exchange == "staged" ? HostRoom::bytes_for(ranks) : 0;
}

DeviceExchange open_device_exchange(std::string_view wanted, Communicator& hosts, kernels::Device& device) {
    std::string reason;
    if (hosts.size() > 1 && (wanted == "auto" || wanted == "nccl")) {
        reason = no_nccl(hosts, device);
        if (reason.empty()) return by_nccl(hosts, device);
        if (wanted == "nccl")
            throw AgreedError(ErrorCode::unavailable, reason, "`exchange nccl`",
                              "`exchange auto` takes the fastest way that is there");
    }
    if (wanted == "peers" && !are_threads(hosts)) {
        throw AgreedError(ErrorCode::unavailable, "ranks that are processes do not see each other's memory",
                          "`exchange peers`", "use `in-process`, or `exchange auto`");
    }
    if (wanted != "staged" && hosts.size() > 1 && are_threads(hosts))
        return {between_peers(hosts, device), "peers", std::move(reason)};
    DeviceExchange staged{nullptr, "staged", std::move(reason)};
    agree(hosts, [&] { staged.communicator = through_hosts(hosts, device); });
    return staged;
}

}  // namespace gnnplan::comm
