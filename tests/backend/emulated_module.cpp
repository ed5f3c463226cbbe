// A module as gnnrun opens one, whose device is emulated: its memory is not the host's, and no GPU is needed.
#include "kernels/backend_module.hpp"
#include "tests/support/emulated_device.hpp"

namespace {

constexpr gnnplan::kernels::BackendModule offered = {
    .interface = GNNPLAN_DEVICE_INTERFACE,
    .device_name = [](int local_rank) { return "an emulated device for rank " + std::to_string(local_rank); },
    .open = [](int) { return gnnplan::testing::emulated_device(); },
};

}  // namespace

extern "C" const gnnplan::kernels::BackendModule* gnnplan_backend_module() { return &offered; }
