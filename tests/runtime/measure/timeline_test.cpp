// When steps ran: the device's times, the last epochs, the ranks' clocks.
#include "runtime/measure/timeline.hpp"

#include "tests/runtime/train/fixture.hpp"

#include <map>

namespace gnnplan::measure {
namespace {

// The processor as a device whose own clock shows ten seconds more at each moment that is marked.
class OwnClock final : public kernels::Device {
public:
    const kernels::Table& table() const override { return host_->table(); }
    TensorMemory memory() const override { return host_->memory(); }
    std::unique_ptr<kernels::DeviceMemory> allocate(std::size_t bytes) override { return host_->allocate(bytes); }
    std::unique_ptr<kernels::DeviceMemory> take(std::shared_ptr<const void> owner,
                                                std::span<const std::byte> bytes) override {
        return host_->take(std::move(owner), bytes);
    }
    std::span<std::byte> stage(std::byte* to, std::size_t bytes) override { return host_->stage(to, bytes); }
    void send(std::size_t bytes) override { host_->send(bytes); }
    void download(const std::byte* from, std::span<std::byte> to) override { host_->download(from, to); }
    const kernels::PassValues* begin_pass(const kernels::PassValues& values) override {
        return host_->begin_pass(values);
    }
    void mark(std::size_t moment, double /*now*/) override { moments_[moment] = 10 * static_cast<double>(++marked_); }
    double seconds(std::size_t from, std::size_t to) const override { return moments_.at(to) - moments_.at(from); }
    void finish() override { host_->finish(); }

private:
    std::unique_ptr<kernels::Device> host_ = kernels::host_device(kernels::reference_table());
    std::map<std::size_t, double> moments_;
    int marked_ = 0;
};

// Work of a GPU is queued long before it is done: when it is done counts.
TEST(StepTimes, AreThoseOfTheDevice) {
    const data::Dataset dataset = train::testing::open(gnnplan::testing::random_symmetric(19, 3, 6, 3, 2));
    const Plan plan = train::testing::make_plan(dataset, 5, true, 1, {{1, 6}});
    const Schedule& schedule = plan.candidates.front().schedule;
    measure::SteadyClock clock;
    comm::run_ranks(1, [&](comm::Communicator& comm) {
        exec::MemoryTracker tracker;
        const auto counts = std::make_shared<const exec::GraphCounts>(dataset.graph());
        OwnClock device;
        const exec::ModelState state(schedule, 1, device, tracker);
        exec::Executor executor(schedule, counts, comm, device, tracker, clock);
        executor.build_blocks(dataset.graph(), data::compute_scales(dataset.graph(), Normalisation::none));
        executor.allocate(state);
        executor.fill(dataset);
        const double before = clock.now();
        const auto samples = executor.run(Phase::epoch, {});
        const double after = clock.now();
        double begin = 0;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            if (schedule.steps[i].phase != Phase::epoch) continue;
            if (begin == 0) {
                EXPECT_GE(samples[i].begin, before);
                EXPECT_LE(samples[i].begin, after);
                begin = samples[i].begin;
            }
            EXPECT_DOUBLE_EQ(samples[i].begin, begin) << "where the one before ended";
            EXPECT_EQ(samples[i].seconds, 10);
            begin += 10;
        }
        EXPECT_GT(begin, after);
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
