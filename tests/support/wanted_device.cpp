#include "kernels/backend.hpp"
#include "runtime/comm/staged.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/emulated_device.hpp"

#include <gnnplan/base/error.hpp>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace gnnplan::testing {
namespace {

DeviceKind on_gpu() {
    try {
        const kernels::Backend backend = kernels::open_backend("cuda");
        return {"cuda", [open = backend.open] { return open(0); }, 1, comm::through_hosts};
    } catch (const Error& error) {
        std::printf("skipped: %s\n", error.what());
        std::fflush(stdout);
        std::_Exit(77);  // as SKIP_RETURN_CODE in cmake/gnnplan.cmake
    }
}

}  // namespace

std::optional<DeviceKind> wanted_device() {
    const char* wanted = std::getenv("GNNPLAN_TEST_DEVICE");
    const std::string_view name = wanted == nullptr ? "" : wanted;
    const auto emulated = [] { return emulated_device(); };
    if (name == "emulated") return DeviceKind{"emulated", emulated, 1, on_emulated_device};
    if (name == "staged") return DeviceKind{"staged", emulated, 1, comm::through_hosts};
    if (name == "cuda") return on_gpu();
    ensure(name.empty() || name == "host", "GNNPLAN_TEST_DEVICE names no device that tests know");
    return std::nullopt;
}

Blocking wanted_blocking() {
    if (!wanted_device()) return {};
    Blocking blocking = gpu_blocking(3 << 10);
    blocking.least_slice_columns = 8;
    return blocking;
}

void describe_wanted_device(Machine& machine) {
    const auto wanted = wanted_device();
    if (!wanted) return;
    const TensorMemory memory = wanted->open()->memory();
    machine.accelerators = memory.accelerator;
    machine.workspace_bytes = memory.workspace_bytes;
    machine.blocking = wanted_blocking();
}

}  // namespace gnnplan::testing
