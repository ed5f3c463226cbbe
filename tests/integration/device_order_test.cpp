// Computations of a device and exchanges of ranks run in any order that nothing forbids. With every ordering
// in place the result is always the same; without one of them it is not, so each of them is needed and would be missed.
#include "planner/search/full_space.hpp"
#include "runtime/comm/peers.hpp"
#include "tests/integration/expectations.hpp"
#include "tests/integration/full_space_runs.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/emulated_device.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

namespace gnnplan::testing {
namespace {

constexpr int ranks = 4;
constexpr int epochs = 2;
constexpr unsigned orders = 12;

const TestProblem& problem() {
    static const TestProblem made(random_directed(37, 5, 9, 4, 3), {{7}, true, 0.25F, 0});
    return made;
}

// Products on 4 x 1 ranks whose transfers hide behind them.
Schedule overlapped(Exchange exchange) {
    const exec::GraphCounts counts(problem().dataset().graph(), problem().dataset().subset());
    const search::Space space = space_of(problem(), counts, ranks);
    for (const Distribution& on : space.grids) {
        if (on.grid != Grid{ranks, 1, 1}) continue;
        search::ConfigurationFrame frame{on};
        frame.switches.exchange = exchange;
        frame.switches.overlap = true;
        const auto choices = search::all_choices(space, on, false).front();
        return lower::lower(space.model, search::configuration_of(frame, choices), space.shape);
    }
    ensure(false, "no grid of 4 x 1 ranks");
    return {};
}

bool equal(const RankRun& a, const RankRun& b) {
    for (std::size_t epoch = 0; epoch < epochs; ++epoch) {
        if (a.epochs[epoch].loss != b.epochs[epoch].loss || a.epochs[epoch].weight != b.epochs[epoch].weight)
            return false;
    }
    return a.found == b.found;
}

// A way of exchanging, and the orderings that it needs.
struct Way {
    std::string name;
    comm::OpenCommunicator communicator;
    std::vector<Ordering> needed;
};

const std::vector<Way>& ways() {
    static const std::vector<Way> all{
        {"Links",
         on_emulated_device,
         {Ordering::transfer_after_compute, Ordering::reuse_after_compute, Ordering::compute_after_transfer}},
        {"Peers",
         comm::between_peers,
         {Ordering::transfer_after_compute, Ordering::reuse_after_compute, Ordering::compute_after_transfer,
          Ordering::read_after_peer}},
        {"Staged", through_little_room, {Ordering::transfer_after_compute, Ordering::compute_after_transfer}},
    };
    return all;
}

// In how many of the orders every rank has the result of a host that computes with the same kernels.
unsigned right_orders(const Schedule& schedule, const Way& way, Ordering missing) {
    const auto expected = run_schedule(problem(), schedule, epochs, kernels::reference_table(), std::nullopt);
    unsigned right = 0;
    for (unsigned order = 1; order <= orders; ++order) {
        const DeviceKind emulated{"emulated", [&] { return emulated_device({order, missing}); }, 1, way.communicator};
        const auto runs = run_schedule(problem(), schedule, epochs, kernels::reference_table(), emulated);
        right += std::ranges::equal(runs, expected, equal) ? 1U : 0U;
    }
    return right;
}

class DeviceOrder : public ::testing::TestWithParam<std::tuple<Exchange, std::size_t>> {
protected:
    Schedule schedule() const { return overlapped(std::get<0>(GetParam())); }
    const Way& way() const { return ways()[std::get<1>(GetParam())]; }
};

TEST_P(DeviceOrder, EveryOrderThatIsAllowedIsRight) {
    EXPECT_EQ(right_orders(schedule(), way(), Ordering::all), orders);
}

TEST_P(DeviceOrder, EveryOrderingIsNeeded) {
    for (const Ordering missing : way().needed)
        EXPECT_LT(right_orders(schedule(), way(), missing), orders) << way().name << " " << static_cast<int>(missing);
}

INSTANTIATE_TEST_SUITE_P(Exchanges, DeviceOrder,
                         ::testing::Combine(::testing::Values(Exchange::panels, Exchange::rows, Exchange::relay,
                                                              Exchange::relayed_rows),
                                            ::testing::Range(std::size_t{0}, std::size_t{3})));

}  // namespace
}  // namespace gnnplan::testing
