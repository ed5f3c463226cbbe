#include "runtime/run/devices.hpp"

#include "runtime/comm/device_exchange.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace gnnplan::run {

void name_devices(const Shared& shared, comm::Communicator& hosts, int local_rank) {
    if (shared.backend.host_memory) return;
    const std::vector<std::string> names = hosts.control_all_gather(shared.backend.device_name(local_rank));
    for (std::size_t rank = 0; hosts.rank() == 0 && rank < names.size(); ++rank)
        shared.observer.detail(fmt::format("rank {} computes on {}", rank, names[rank]));
}

// Libraries that connect devices start threads, which are not to share the cores that this rank's are bound to.
std::unique_ptr<comm::Communicator> connect_devices(const Shared& shared, comm::Communicator& hosts,
                                                    kernels::Device& device, const place::Placement& placement,
                                                    std::optional<std::string>& name) {
    const place::Unbound unbound(placement);
    const comm::Waiting waiting(*hosts.heartbeats()[static_cast<std::size_t>(hosts.rank())]);
    comm::DeviceExchange opened = comm::open_device_exchange(shared.settings.device_exchange, hosts, device);
    if (hosts.size() == 1) return std::move(opened.communicator);
    name = opened.name;
    if (hosts.rank() != 0) return std::move(opened.communicator);
    const std::string how = "devices exchange by: " + opened.name;
    if (opened.reason.empty())
        shared.observer.detail(how);
    else
        shared.observer.note(how + ", because " + opened.reason);
    return std::move(opened.communicator);
}

}  // namespace gnnplan::run
