// Messages in bfloat16, of every scheme: bytes and memory are predicted as exactly as without, losses move a little,
// and what is rounded is what a communicator rounds that is told when.
#include "runtime/comm/forwarding.hpp"
#include "runtime/comm/threads.hpp"
#include "tests/integration/full_space_runs.hpp"
#include "tests/support/rounding.hpp"
#include "tests/support/sampled.hpp"

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

// Sends float32 of which, while it rounds, all that leaves the rank is rounded before.
class RoundingCommunicator final : public comm::ForwardingCommunicator {
public:
    explicit RoundingCommunicator(Communicator& inner) : ForwardingCommunicator(inner) {}

    bool rounds = false;
    bool rounds_own = false;

    std::unique_ptr<comm::PendingExchange> start_exchange(std::span<const comm::Send> sends,
                                                          std::span<const comm::Receive> receives) override {
        if (!rounds) return inner().start_exchange(sends, receives);
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
        if (!rounds) return inner().exchange_blocks(sends, receives);
        std::list<std::vector<std::byte>> copies;
        std::vector<comm::SendBlock> rounded;
        for (const comm::SendBlock& send : sends) {
            const comm::ConstRows& rows = send.rows;
            auto& copy = copies.emplace_back();
            for (std::size_t i = 0; i < rows.rows; ++i) {
                const std::byte* row = rows.data + i * rows.stride_bytes;
                copy.insert(copy.end(), row, row + rows.row_bytes);
            }
            if (send.peer != rank() || rounds_own) round_floats(copy);
            rounded.push_back({send.peer, {copy.data(), rows.rows, rows.row_bytes, rows.row_bytes}, {}});
        }
        inner().exchange_blocks(rounded, receives);
    }
    bool needs_progress() const override { return inner().needs_progress(); }
    void broadcast(int root, std::span<std::byte> bytes) override { inner().broadcast(root, bytes); }
    void all_reduce(std::span<float> values) override { inner().all_reduce(values); }
    void all_reduce(std::span<double> values) override { inner().all_reduce(values); }
    void all_reduce(std::span<kernels::SquareSum> values) override { inner().all_reduce(values); }
    std::unique_ptr<Communicator> split(int colour, int key) override { return inner().split(colour, key); }

private:
    struct Kept final : comm::PendingExchange {
        void progress() override { exchange->progress(); }
        void wait() override { exchange->wait(); }
        std::list<std::vector<std::byte>> copies;
        std::unique_ptr<comm::PendingExchange> exchange;
    };
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

struct BothWires {
    BothWires(const search::Space& space, const Distribution& on, std::size_t turn) {
        search::ConfigurationFrame frame = frame_in_turn(on, turn);
        const auto all = search::all_choices(space, on, false);
        const search::Choices& choices = all[7 * turn % all.size()];
        exact = lower::lower(space.model, search::configuration_of(frame, choices), space.shape);
        frame.switches.wire = Wire::bfloat16;
        configuration = search::configuration_of(frame, choices);
        rounded = lower::lower(space.model, configuration, space.shape);
    }
    std::string text() const {
        return fmt::format("{} on {}, exchange {}{}", scheme_of(configuration), configuration.grid.text(),
                           static_cast<int>(configuration.exchange), configuration.overlap ? ", overlap" : "");
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
    search::Space space() const { return space_of(problem(), counts_, GetParam()); }
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

std::vector<RankRun> run_and_round(const Schedule& schedule, const Schedule& rounded) {
    std::vector<RankRun> runs(static_cast<std::size_t>(schedule.grid.size()));
    comm::run_ranks(schedule.grid.size(), [&](Communicator& threads) {
        RoundingCommunicator comm(threads);
        const StepAhead ahead = [&](const Step* step) {
            const auto at = step == nullptr ? 0 : static_cast<std::size_t>(step - schedule.steps.data());
            comm.rounds = step != nullptr && wire_of(rounded.steps[at].operation) == Wire::bfloat16;
            const auto* moved = step == nullptr ? nullptr : std::get_if<RedistributeStep>(&rounded.steps[at].operation);
            comm.rounds_own = moved != nullptr && moved->rounds_own(rounded);
        };
        runs[static_cast<std::size_t>(comm.rank())] =
            run_rank(problem(), schedule, 2, kernels::cpu_table(), comm, std::nullopt, ahead);
    });
    return runs;
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
            ASSERT_EQ(wires.exact.steps.size(), wires.rounded.steps.size());
            const auto runs = run_schedule(problem(), wires.rounded, 2, kernels::cpu_table(), std::nullopt);
            const auto expected = run_and_round(wires.exact, wires.rounded);
            for (std::size_t rank = 0; rank < runs.size(); ++rank) {
                for (std::size_t epoch = 0; epoch < 2; ++epoch) {
                    EXPECT_EQ(runs[rank].epochs[epoch].loss, expected[rank].epochs[epoch].loss) << rank;
                    EXPECT_EQ(runs[rank].epochs[epoch].weight, expected[rank].epochs[epoch].weight) << rank;
                }
            }
            ++compared;
            if (HasFailure()) return;
        }
    }
    EXPECT_GT(compared, 0);
}

INSTANTIATE_TEST_SUITE_P(Ranks, RoundedWire, ::testing::Values(2, 3, 4, 6, 8),
                         [](const auto& instance) { return fmt::format("P{}", instance.param); });

}  // namespace
}  // namespace gnnplan::testing
