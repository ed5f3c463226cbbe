// When steps ran: the clock beside the executor, the last epochs, the ranks' clocks.
#include "runtime/measure/timeline.hpp"

#include "tests/runtime/train/fixture.hpp"

#include <cmath>

namespace gnnplan::measure {
namespace {

// Readings whose gaps are all different, so that no two intervals are confused.
class UnevenClock final : public Clock {
public:
    double now() override { return time_ += std::sqrt(static_cast<double>(++looks_)); }

private:
    double time_ = 0;
    int looks_ = 0;
};

// The executor's own times are those that its observer finds on the clock.
TEST(StepClock, ShowsWhenTheStepBeganAndEnded) {
    const data::Dataset dataset = train::testing::open(gnnplan::testing::random_symmetric(19, 3, 6, 3, 2));
    const Plan plan = train::testing::make_plan(dataset, 5, true, 1, {{1, 6}});
    const Schedule& schedule = plan.candidates.front().schedule;
    UnevenClock uneven;
    StepClock clock(uneven);
    comm::run_ranks(1, [&](comm::Communicator& comm) {
        exec::MemoryTracker tracker;
        const auto counts = std::make_shared<const exec::GraphCounts>(dataset.graph());
        const auto device = kernels::host_device(kernels::reference_table());
        const exec::ModelState state(schedule, 1, *device, tracker);
        exec::Executor executor(schedule, counts, comm, *device, tracker, clock);
        executor.build_blocks(dataset.graph(), data::compute_scales(dataset.graph(), Normalisation::none));
        executor.allocate(state);
        executor.fill(dataset);
        std::vector<double> seen;
        double ended = 0;
        const auto samples = executor.run(Phase::epoch, {}, [&](const Step&, const exec::Executor&) {
            EXPECT_GE(clock.begin(), ended);
            ended = clock.end();
            seen.push_back(clock.end() - clock.begin());
        });
        std::vector<double> timed;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            if (schedule.steps[i].phase == Phase::epoch) timed.push_back(samples[i].seconds);
        }
        EXPECT_EQ(seen, timed);
    });
}

std::vector<std::int64_t> epochs_of(const Timeline& timeline) {
    std::vector<std::int64_t> epochs;
    for (const TimedStep& step : timeline.steps()) epochs.push_back(step.epoch);
    return epochs;
}

void add_epochs(Timeline& timeline, std::int64_t first, std::int64_t last, int steps) {
    for (std::int64_t epoch = first; epoch <= last; ++epoch) {
        for (int step = 0; step < steps; ++step) timeline.add({epoch, step, 0, 0});
    }
}

TEST(Timeline, KeepsTheLastEpochs) {
    Timeline timeline(2, 100);
    add_epochs(timeline, 1, 5, 2);
    EXPECT_EQ(epochs_of(timeline), (std::vector<std::int64_t>{4, 4, 5, 5}));
}

TEST(Timeline, KeepsWholeEpochsWithinItsSteps) {
    Timeline timeline(10, 5);
    add_epochs(timeline, 1, 4, 2);
    EXPECT_EQ(epochs_of(timeline), (std::vector<std::int64_t>{3, 3, 4, 4}));
    Timeline one(10, 0);
    add_epochs(one, 1, 4, 3);
    EXPECT_EQ(epochs_of(one), (std::vector<std::int64_t>{4, 4, 4}));
}

TEST(Timeline, TravelsAsText) {
    Timeline timeline(10, 10);
    timeline.add({3, 1, 0.5, 0.75});
    timeline.add({3, 2, 0.75, 2});
    timeline.shift(0.25);
    const Timeline there = Timeline::unpack(timeline.pack());
    ASSERT_EQ(there.steps().size(), 2U);
    EXPECT_EQ(there.steps()[1].epoch, 3);
    EXPECT_EQ(there.steps()[1].step, 2);
    EXPECT_EQ(there.steps()[1].begin, 1);
    EXPECT_EQ(there.steps()[1].end, 2.25);
    EXPECT_TRUE(Timeline::unpack(Timeline().pack()).steps().empty());
}

TEST(ClockOffsets, OneLateExitMisleadsNobody) {
    // Rank 1's clock is 90 s behind; it left the second barrier 7 s late.
    const std::vector<std::vector<double>> readings{{100, 200, 300}, {10.5, 117, 210.25}};
    EXPECT_EQ(clock_offsets(readings), (std::vector<double>{0, 89.5}));
}

TEST(ClockOffsets, OneClockNeedsNone) {
    const std::vector<std::vector<double>> readings{{100, 200, 300}, {100.5, 199.75, 300.125}};
    EXPECT_EQ(clock_offsets(readings), (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace gnnplan::measure
