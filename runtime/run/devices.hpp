// The devices of a run's ranks, where their memory is not the hosts': which they are, and how they exchange.
#pragma once

#include "kernels/device.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/place/place.hpp"
#include "runtime/run/rank.hpp"

#include <memory>
#include <optional>
#include <string>

namespace gnnplan::run {

// Collective. Tells the observer of rank 0 on which device each rank computes.
void name_devices(const Shared& shared, comm::Communicator& hosts, int local_rank);

// Collective. Connects the devices as the settings say, and tells the observer of rank 0 how; `name` is what the report
// calls it, where there are several ranks.
std::unique_ptr<comm::Communicator> connect_devices(const Shared& shared, comm::Communicator& hosts,
                                                    kernels::Device& device, const place::Placement& placement,
                                                    std::optional<std::string>& name);

}  // namespace gnnplan::run
