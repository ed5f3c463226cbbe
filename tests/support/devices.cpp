#include "tests/support/devices.hpp"

#include "tests/support/emulated_device.hpp"
#include "tests/support/host_cuda/device.hpp"

namespace gnnplan::testing {

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr int every_on_fibres = 37;
#else
constexpr int every_on_fibres = 7;
#endif

}  // namespace

const std::vector<DeviceKind>& devices() {
    static const std::vector<DeviceKind> all = [] {
        std::vector<DeviceKind> kinds = {
            {"reference", [] { return kernels::host_device(kernels::reference_table()); }, 13},
            {"cpu", [] { return kernels::host_device(kernels::cpu_table()); }, 1},
            {"fibres", fibre_device, every_on_fibres},
            {"emulated", [] { return emulated_device(); }, 13},
        };
        if (const auto wanted = wanted_device(); wanted && wanted->name == "cuda") kinds.push_back(*wanted);
        return kinds;
    }();
    return all;
}

}  // namespace gnnplan::testing
