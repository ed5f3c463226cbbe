// Messages in bfloat16, of every scheme, of inferences with rings and of clones that get sums: bytes and memory are
// predicted as exactly as without, losses move a little, and what is rounded is what a communicator rounds that is told
// when.
#include "planner/lower/rules.hpp"
#include "runtime/comm/forwarding.hpp"
#include "runtime/comm/threads.hpp"
#include "tests/integration/full_space_runs.hpp"
#include "tests/support/rounding.hpp"
#include "tests/support/sampled.hpp"

#include <gnnplan/ir/traffic.hpp>
#include <gnnplan/ir/work.hpp>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::testing {
namespace {

using comm::Communicator;

void round_floats(std::span<std::byte> bytes) {
    for (std::size_t at = 0; at + sizeof(float) <= bytes.size(); at += sizeof(float)) {
        float value = 0;
        std::memcpy(&value, &bytes[at], sizeof(float));
        value = as_bf16(value);
        std::memcpy(&bytes[at], &value, sizeof(float));
    }
}

// Sends float32 of which, while it rounds, all that leaves the rank is rounded before. Those that are split off it
// round when it does.
class RoundingCommunicator final : public comm::ForwardingCommunicator {
public:
    struct Now {
        bool rounds = false;
        bool rounds_own = false;
    };

    RoundingCommunicator(Communicator& inner, const Now& now) : ForwardingCommunicator(inner), now_(now) {}
    RoundingCommunicator(std::unique_ptr<Communicator> inner, const Now& now)
        : ForwardingCommunicator(std::move(inner)), now_(now) {}

    std::unique_ptr<comm::PendingExchange> start_exchange(std::span<const comm::Send> sends,
                                                          std::span<const comm::Receive> receives) override {
        if (!now_.rounds) return inner().start_exchange(sends, receives);
        auto kept = std::make_unique<Kept>();
        std::vector<comm::Send> rounded;
        for (const comm::Send& send : sends) {
            auto& copy = kept->copies.emplace_back(send.bytes.begin(), send.bytes.end());
            if (send.peer != rank()) round_floats(copy);
            rounded.push_back({send.peer, copy});
        }
        kept->exchange = inner().start_exchange(rounded, receives);
        return kept;
    }
    void exchange_blocks(std::span<const comm::SendBlock> sends,
                         std::span<const comm::ReceiveBlock> receives) override {
        if (!now_.rounds) return inner().exchange_blocks(sends, receives);
        std::list<std::vector<std::byte>> copies;
        std::vector<comm::SendBlock> rounded;
        for (const comm::SendBlock& send : sends) {
            const comm::ConstRows& rows = send.rows;
            auto& copy = copies.emplace_back();
            for (std::size_t i = 0; i < rows.rows; ++i) {
                const std::byte* row = rows.data + i * rows.stride_bytes;
                copy.insert(copy.end(), row, row + rows.row_bytes);
            }
            if (send.peer != rank() || now_.rounds_own) round_floats(copy);
            rounded.push_back({send.peer, {copy.data(), rows.rows, rows.row_bytes, rows.row_bytes}, {}});
        }
        inner().exchange_blocks(rounded, receives);
    }
    bool needs_progress() const override { return inner().needs_progress(); }
    void broadcast(int root, std::span<std::byte> bytes) override { inner().broadcast(root, bytes); }
    void all_reduce(std::span<float> values) override { inner().all_reduce(values); }
    void all_reduce(std::span<double> values) override { inner().all_reduce(values); }
    void all_reduce(std::span<kernels::SquareSum> values) override { inner().all_reduce(values); }
    std::unique_ptr<Communicator> split(int colour, int key) override {
        return std::make_unique<RoundingCommunicator>(inner().split(colour, key), now_);
    }

private:
    struct Kept final : comm::PendingExchange {
        void progress() override { exchange->progress(); }
        void wait() override { exchange->wait(); }
        std::list<std::vector<std::byte>> copies;
        std::unique_ptr<comm::PendingExchange> exchange;
    };

    const Now& now_;
};

const TestProblem& problem() {
    static const ExpectedProblems all = [] {
        ExpectedProblems made;
        made.add(tiny_graphs().front(), {{6}, false, 0, 0, {true, Normalisation::symmetric}});
        return made;
    }();
    return all.problem(0);
}

// A frame of the distribution whose turn decides how rows are exchanged.
search::ConfigurationFrame frame_in_turn(const Distribution& on, std::size_t turn) {
    Switches switches;
    switches.needed_rows = turn % 3 == 1, switches.relayed = turn % 3 == 2;
    switches.overlap = turn / 3 % 2 == 1;
    return frame_of(on, switches);
}

search::Choices choices_in_turn(const search::Space& space, const Distribution& on, std::size_t turn) {
    const auto all = search::all_choices(space, on, false);
    return all[7 * turn % all.size()];
}

struct BothWires {
    BothWires(const search::Space& space, search::ConfigurationFrame frame, const search::Choices& choices) {
        exact = lower::lower(space.model, search::configuration_of(frame, choices), space.shape);
        frame.switches.wire = Wire::bfloat16;
        configuration = search::configuration_of(frame, choices);
        rounded = lower::lower(space.model, configuration, space.shape);
    }
    BothWires(const search::Space& space, const Distribution& on, std::size_t turn)
        : BothWires(space, frame_in_turn(on, turn), choices_in_turn(space, on, turn)) {}
    std::string text() const {
        return fmt::format("{} on {}, exchange {}{}{}", scheme_of(configuration), configuration.grid.text(),
                           static_cast<int>(configuration.exchange), configuration.overlap ? ", overlap" : "",
                           configuration.delay ? fmt::format(", delay {}", *configuration.delay) : "");
    }
    // Whether anything that is sent is rounded.
    bool differ() const {
        return std::ranges::any_of(rounded.steps, [&](const Step& step) {
            return step.phase == Phase::epoch && may_narrow(rounded, step) && wire_of(step.operation) == Wire::bfloat16;
        });
    }
    Configuration configuration;
    Schedule exact, rounded;
};

class RoundedWire : public ::testing::TestWithParam<int> {
protected:
    RoundedWire() : counts_(problem().dataset().graph(), problem().dataset().subset()) {}
    search::Space space(Task task = Task::train) const { return space_of(problem(), counts_, GetParam(), task); }
    exec::GraphCounts counts_;
};

TEST_P(RoundedWire, MovesLossesALittleAndBytesAsPredicted) {
    const search::Space space = this->space();
    std::size_t turn = 0;
    for (const Distribution& on : space.grids) {
        for (int times = 0; times < (GetParam() > 6 ? 1 : 3); ++times) {
            const BothWires wires(space, on, turn++);
            SCOPED_TRACE(wires.text());
            ASSERT_NO_THROW(validate(wires.rounded));
            EXPECT_FALSE(exact(wires.configuration));
            const auto runs = run_schedule(problem(), wires.rounded, 2);
            const auto as_always = run_schedule(problem(), wires.exact, 2);
            for (std::size_t epoch = 0; epoch < 2; ++epoch) {
                const double loss = as_always[0].epochs[epoch].loss;
                EXPECT_NEAR(runs[0].epochs[epoch].loss, loss, 0.01 * loss);
            }
            const bool same = runs[0].epochs[1].weight == as_always[0].epochs[1].weight;
            EXPECT_FALSE(wires.differ() && same);
            EXPECT_TRUE(bytes_as_predicted(wires.rounded, runs));
            EXPECT_TRUE(peaks_as_predicted(runs));
            if (HasFailure()) return;
        }
    }
}

std::vector<RankRun> run_and_round(const Schedule& schedule, const Schedule& rounded, int epochs) {
    std::vector<RankRun> runs(static_cast<std::size_t>(schedule.grid.size()));
    comm::run_ranks(schedule.grid.size(), [&](Communicator& threads) {
        RoundingCommunicator::Now now;
        RoundingCommunicator comm(threads, now);
        const StepAhead ahead = [&](const Step* step) {
            const auto at = step == nullptr ? 0 : static_cast<std::size_t>(step - schedule.steps.data());
            now.rounds = step != nullptr && wire_of(rounded.steps[at].operation) == Wire::bfloat16;
            const auto* moved = step == nullptr ? nullptr : std::get_if<RedistributeStep>(&rounded.steps[at].operation);
            now.rounds_own = moved != nullptr && moved->rounds_own(rounded);
        };
        runs[static_cast<std::size_t>(comm.rank())] =
            run_rank(problem(), schedule, epochs, kernels::cpu_table(), comm, std::nullopt, ahead);
    });
    return runs;
}

// Runs both, and compares bit by bit.
void check_rounding(const BothWires& wires, int epochs) {
    ASSERT_EQ(wires.exact.steps.size(), wires.rounded.steps.size());
    const auto runs = run_schedule(problem(), wires.rounded, epochs, kernels::cpu_table(), std::nullopt);
    const auto expected = run_and_round(wires.exact, wires.rounded, epochs);
    for (std::size_t rank = 0; rank < runs.size(); ++rank) {
        ASSERT_EQ(runs[rank].epochs.size(), expected[rank].epochs.size());
        for (std::size_t epoch = 0; epoch < runs[rank].epochs.size(); ++epoch) {
            EXPECT_EQ(runs[rank].epochs[epoch].loss, expected[rank].epochs[epoch].loss) << rank;
            EXPECT_EQ(runs[rank].epochs[epoch].weight, expected[rank].epochs[epoch].weight) << rank;
        }
        EXPECT_EQ(runs[rank].outputs, expected[rank].outputs) << rank;
    }
    EXPECT_TRUE(bytes_as_predicted(wires.rounded, runs));
    EXPECT_TRUE(peaks_as_predicted(runs));
}

// Sums of parts are made in another order, and nonzeros travel beside rows where they are shared.
bool told_by_messages(const Distribution& on) {
    return on.sharing == Sharing::cut || (on.sharing == Sharing::replicated && on.grid.z == 1);
}

TEST_P(RoundedWire, RoundsWhatLeavesARankAndNothingElse) {
    if (wanted_device()) GTEST_SKIP() << "the communicator that rounds is one of processors";
    const search::Space space = this->space();
    std::size_t turn = 0;
    int compared = 0;
    for (const Distribution& on : space.grids) {
        if (!told_by_messages(on)) continue;
        for (int times = 0; times < 6; ++times) {
            const BothWires wires(space, on, turn++);
            SCOPED_TRACE(wires.text());
            check_rounding(wires, 2);
            ++compared;
            if (HasFailure()) return;
        }
    }
    EXPECT_GT(compared, 0);
}

// Behind the setup, rings and sums of clones round all that they send, and make floats of all that they get, or add it
// to some.
void check_work(const Schedule& schedule) {
    const auto counts = numbered_counts(problem(), schedule);
    for (const Step& step : schedule.steps) {
        const auto* sync = std::get_if<SyncRowsStep>(&step.operation);
        if (step.phase == Phase::setup || (sync == nullptr && kind_of(step.operation) != RingGemmStep::kind)) continue;
        const bool adds = sync != nullptr && sync->part == SyncPart::to_owners;
        for (int rank = 0; rank < schedule.grid.size(); ++rank) {
            const RankTraffic traffic = traffic_of(schedule, step, *counts, rank);
            const RankWork work = work_of(schedule, step, *counts, rank);
            EXPECT_EQ(work.narrowed_bytes, rounded_bytes(traffic.sent_bytes)) << step.name;
            EXPECT_EQ(work.widened_bytes,
                      adds ? added_bytes(traffic.received_bytes) : rounded_bytes(traffic.received_bytes))
                << step.name;
        }
    }
}

// Rings of inferences, of two layers' dense products the second's.
TEST_P(RoundedWire, RoundsTheTilesOfRings) {
    const search::Space space = this->space(Task::infer);
    std::size_t turn = 0;
    int rings = 0;
    for (const Distribution& on : space.grids) {
        if (!on.splits_columns()) continue;
        for (const search::Choices& choices : search::all_choices(space, on, false)) {
            search::ConfigurationFrame frame = frame_in_turn(on, turn++);
            frame.trains = false, frame.switches.ring = true;
            if (!lower::Rules(space.model, search::configuration_of(frame, choices)).any_rings()) continue;
            const BothWires wires(space, frame, choices);
            SCOPED_TRACE(wires.text());
            ASSERT_NO_THROW(validate(wires.rounded));
            for (const Step& step : wires.rounded.steps) {
                const bool exact =
                    kind_of(step.operation) == RingGemmStep::kind && wire_of(step.operation) == Wire::fp32;
                EXPECT_FALSE(exact) << step.name;
            }
            check_work(wires.rounded);
            const auto runs = run_schedule(problem(), wires.rounded, 1);
            EXPECT_TRUE(bytes_as_predicted(wires.rounded, runs));
            EXPECT_TRUE(peaks_as_predicted(runs));
            if (told_by_messages(on) && !wanted_device()) check_rounding(wires, 1);
            ++rings;
            if (HasFailure()) return;
        }
    }
    EXPECT_EQ(rings > 0, GetParam() > 1);
}

INSTANTIATE_TEST_SUITE_P(Ranks, RoundedWire, ::testing::Values(2, 3, 4, 6, 8),
                         [](const auto& instance) { return fmt::format("P{}", instance.param); });

search::ConfigurationFrame frame_of_clones(const Distribution& on, int delay) {
    search::ConfigurationFrame frame{on};
    frame.switches.exchange = Exchange::rows;
    frame.switches.parts = on.grid.x;
    frame.switches.cut_rule = CutRule::libra;
    frame.switches.clones = CloneLoss::owners, frame.switches.delay = delay;
    return frame;
}

// Values in flight have half the bytes, in whole floats.
void check_in_flight(const BothWires& wires) {
    const auto counts = numbered_counts(problem(), wires.rounded);
    for (int rank = 0; rank < wires.rounded.grid.size(); ++rank) {
        for (std::size_t i = 0; i < wires.exact.tensors.size(); ++i) {
            if (wires.exact.tensors[i].role != Role::in_flight) continue;
            const auto id = static_cast<TensorId>(i);
            const std::int64_t elements = elements_of(wires.exact, id, *counts, rank);
            EXPECT_EQ(elements_of(wires.rounded, id, *counts, rank), (elements + 1) / 2);
        }
    }
}

// Clones that get sums at once, and late ones until all of them are of earlier epochs.
TEST(RoundedSums, OfClonesAreThoseThatLeaveARankAndNothingElse) {
    const exec::GraphCounts counts(problem().dataset().graph(), problem().dataset().subset());
    for (const Grid& grid : {Grid{2, 1, 1}, Grid{3, 2, 1}, Grid{4, 1, 1}, Grid{2, 3, 1}}) {
        for (const int delay : {0, 1, 2, 5}) {
            SelectOptions options;
            options.clones = CloneLoss::owners, options.delay = delay;
            options.grid = grid, options.cut_rule = CutRule::libra;
            const search::Space space =
                search::make_space(problem().planner_problem(counts, grid.size()), test_machine(), options);
            const Distribution& on = space.grids.front();
            const auto all = search::all_choices(space, on, false);
            for (std::size_t i = 0; i < all.size(); i += all.size() / 4 + 1) {
                const BothWires wires(space, frame_of_clones(on, delay), all[i]);
                SCOPED_TRACE(wires.text());
                ASSERT_NO_THROW(validate(wires.rounded));
                const int epochs = 3 * delay + 2;
                const auto runs = run_schedule(problem(), wires.rounded, epochs);
                const auto as_always = run_schedule(problem(), wires.exact, epochs);
                EXPECT_NE(runs[0].epochs.back().weight, as_always[0].epochs.back().weight);
                EXPECT_NEAR(runs[0].epochs.back().loss, as_always[0].epochs.back().loss, 0.02);
                EXPECT_TRUE(bytes_as_predicted(wires.rounded, runs));
                EXPECT_TRUE(peaks_as_predicted(runs));
                check_in_flight(wires);
                check_work(wires.rounded);
                if (!wanted_device()) check_rounding(wires, epochs);
                if (HasFailure()) return;
            }
        }
    }
}

}  // namespace
}  // namespace gnnplan::testing
