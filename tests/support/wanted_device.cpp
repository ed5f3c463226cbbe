#include "kernels/backend.hpp"
#include "runtime/comm/device_exchange.hpp"
#include "runtime/comm/peers.hpp"
#include "runtime/comm/staged.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/emulated_device.hpp"

#include <gnnplan/base/error.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace gnnplan::testing {
namespace {

DeviceKind on_gpu() {
    try {
        const kernels::Backend backend = kernels::open_backend("cuda");
        const char* exchange = std::getenv("GNNPLAN_TEST_EXCHANGE");
        const auto open = [open = backend.open, opened = std::make_shared<std::atomic<int>>(0)] {
            return open((*opened)++ % 64);  // the ranks of a run take the GPUs in turn
        };
        const auto connect = [how = std::string(exchange != nullptr ? exchange : "staged")](comm::Communicator& hosts,
                                                                                            kernels::Device& device) {
            return comm::open_device_exchange(how, hosts, device).communicator;
        };
        return {"cuda", open, 1, connect};
    } catch (const Error& error) {
        std::printf("skipped: %s\n", error.what());
        std::fflush(stdout);
        std::_Exit(77);  // as SKIP_RETURN_CODE in cmake/gnnplan.cmake
    }
}

}  // namespace

std::unique_ptr<comm::Communicator> through_little_room(comm::Communicator& hosts, kernels::Device& device) {
    return std::make_unique<comm::StagedCommunicator>(hosts, device, 1024);
}

std::optional<DeviceKind> wanted_device() {
    const char* wanted = std::getenv("GNNPLAN_TEST_DEVICE");
    const std::string_view name = wanted == nullptr ? "" : wanted;
    const auto emulated = [] { return emulated_device(); };
    if (name == "emulated") return DeviceKind{"emulated", emulated, 1, on_emulated_device};
    if (name == "peers") return DeviceKind{"peers", emulated, 1, comm::between_peers};
    if (name == "staged") return DeviceKind{"staged", emulated, 1, through_little_room};
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
