// Bytes are watched pass after pass, in every phase, on ranks that do communicate.
#include "runtime/deploy/match.hpp"
#include "runtime/deploy/report.hpp"
#include "tests/runtime/train/fixture.hpp"

#include <algorithm>

namespace gnnplan::deploy {
namespace {

constexpr int ranks = 2;
constexpr std::int64_t stray_bytes = 4;

measure::StepSample& some_step_that_sends(std::vector<measure::StepSample>& pass) {
    const auto found = std::find_if(pass.begin(), pass.end(), [](const auto& sample) { return sample.sent_bytes > 0; });
    ensure(found != pass.end(), "the phase does not communicate");
    return *found;
}

class BytesOfPasses : public ::testing::TestWithParam<Phase> {
protected:
    BytesOfPasses() { take_row_starts(plan_, {}); }

    // Four passes of the phase on every rank; rank 1 counts `stray` bytes too many in one step of the third. Returns
    // what rank 0 reports.
    RunReport report_after_passes(std::int64_t stray) const {
        RunReport report;
        comm::run_ranks(ranks, [&](comm::Communicator& comm) {
            exec::MemoryTracker tracker;
            train::testing::FakeClock clock;
            const auto counts = std::make_shared<const exec::GraphCounts>(dataset_.graph());
            const auto device = kernels::host_device(kernels::reference_table());  // wherever else tests run
            const exec::ModelState state(schedule(), 1, *device, tracker);
            exec::Executor executor(schedule(), counts, comm, *device, tracker, clock);
            executor.build_blocks(dataset_.graph(), data::compute_scales(dataset_.graph(), Normalisation::none));
            executor.allocate(state);
            executor.fill(dataset_);

            measure::StepLog log(expected_bytes(schedule(), GetParam(), *counts, comm.rank()));
            for (int pass = 1; pass <= 4; ++pass) {
                auto samples = executor.run(GetParam(), {});
                if (pass == 3 && comm.rank() == 1) some_step_that_sends(samples).sent_bytes += stray;
                log.add(samples);
            }
            const auto records = step_records(plan_.candidates.front(), GetParam(), gather_logs(comm, log));
            if (comm.rank() == 0) report.steps = records;
        });
        return report;
    }

    const Schedule& schedule() const { return plan_.candidates.front().schedule; }

    data::Dataset dataset_ = train::testing::open(gnnplan::testing::random_symmetric(19, 3, 6, 3, 2));
    Plan plan_ = train::testing::make_plan(dataset_, 5, true, ranks, {{1, 6}});
};

TEST_P(BytesOfPasses, AreThePredictedOnes) { EXPECT_EQ(byte_mismatch(report_after_passes(0)), std::nullopt); }

TEST_P(BytesOfPasses, OfALatePassThatDiffersAreKeptAndReported) {
    const RunReport report = report_after_passes(stray_bytes);
    const auto mismatch = byte_mismatch(report);
    ASSERT_TRUE(mismatch);
    EXPECT_NE(mismatch->find("on rank 1: predicted"), std::string::npos) << *mismatch;
    std::int64_t difference = 0;
    for (const StepRecord& step : report.steps) difference += step.counted_bytes - step.predicted_bytes;
    EXPECT_EQ(difference, stray_bytes);
}

INSTANTIATE_TEST_SUITE_P(Phases, BytesOfPasses, ::testing::Values(Phase::epoch, Phase::evaluation),
                         [](const auto& phase) { return phase.param == Phase::epoch ? "Epoch" : "Evaluation"; });

}  // namespace
}  // namespace gnnplan::deploy
