// The interface of a backend that is opened on demand. Both have to be of the same build.
#pragma once

#include "kernels/device.hpp"

#include <memory>
#include <string>

namespace gnnplan::kernels {

struct BackendModule {
    const char* interface;  // GNNPLAN_DEVICE_INTERFACE of the module's build
    // Both throw Error{unavailable} where there is no device. `local_rank` counts the ranks of this machine from 0.
    std::string (*device_name)(int local_rank);
    std::unique_ptr<Device> (*open)(int local_rank);  // called by the rank's thread
};

// The one function that a module exports, with C linkage.
inline constexpr const char* backend_module_entry = "gnnplan_backend_module";
using BackendModuleEntry = const BackendModule* (*)();

}  // namespace gnnplan::kernels
