// An example of a binding: it links one library, plans for data of its own, and trains on ranks as threads.
#include "runtime/comm/self.hpp"
#include "runtime/run/run.hpp"

#include <gnnplan/catalog.hpp>
#include <gnnplan/models.hpp>
#include <gnnplan/select.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace gnnplan::run {
namespace {

constexpr std::int64_t vertices = 60;
const std::vector<std::int64_t> widths{8, 4, 3};

// A plan for a circle, whose features and labels are generated.
Plan plan_for_ranks(int ranks) {
    const std::int64_t nonzeros = 3 * vertices;
    const UniformStats graph(vertices, nonzeros, true);
    Problem problem;
    problem.graph = &graph;
    problem.ops = models::gcn(widths, false);
    ProblemRecord& record = problem.record;
    record.ranks = ranks;
    record.model.widths = widths;
    record.graph.name = record.graph.source = "circle";
    record.graph.vertices = vertices;
    record.graph.nonzeros = nonzeros;
    record.graph.symmetrised = true;
    record.graph.generated_features = widths.front();
    record.graph.generated_classes = widths.back();
    record.graph.generate = true;
    const SelectResult result = select(problem, preset("a6000x8"));
    EXPECT_TRUE(static_cast<bool>(result)) << result.message;
    return result.selection->plan;
}

// Keeps what it hears.
class Listener : public Observer {
public:
    void epoch(const EpochRecord& record) override { losses.push_back(record.loss); }
    std::vector<double> losses;
};

class Library : public ::testing::Test {
protected:
    Library() {
        std::string name = (std::filesystem::temp_directory_path() / "gnnplan-library-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
        settings_.data = folder_ + "/circle.txt";
        std::ofstream edges(settings_.data);
        for (std::int64_t i = 0; i < vertices; ++i) edges << i << ' ' << (i + 1) % vertices << '\n';
        settings_.plan = folder_ + "/plan.json";
        settings_.training.epochs = 5;
        settings_.training.autotune = 0;
    }
    ~Library() override { std::filesystem::remove_all(folder_); }

    Outcome train(int ranks, Listener& listener) const {
        run::Run run(settings_, plan_for_ranks(ranks), listener);
        comm::SelfCommunicator self;
        Ranks here{.processes = self, .communicator = ranks == 1 ? "self" : "threads"};
        return *run.go(here);
    }

    std::string folder_;
    Settings settings_;
};

TEST_F(Library, TrainsOnRanksAsThreads) {
    Listener alone, together;
    EXPECT_EQ(train(1, alone).report.communicator, "self");
    const Outcome outcome = train(2, together);
    EXPECT_TRUE(outcome.failures.empty());
    EXPECT_EQ(outcome.report.ranks, 2);
    ASSERT_EQ(outcome.report.epochs.size(), 5U);
    ASSERT_EQ(together.losses.size(), 5U);
    for (std::size_t i = 0; i < alone.losses.size(); ++i) EXPECT_NEAR(alone.losses[i], together.losses[i], 1e-5);
}

TEST_F(Library, ThrowsWhatGnnrunWouldSay) {
    settings_.data += ".not-there";
    Listener listener;
    try {
        train(1, listener);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::missing_input);
    }
}

TEST_F(Library, ADryRunChecksAndComputesNothing) {
    settings_.dry_run = true;
    Listener listener;
    run::Run run(settings_, plan_for_ranks(2), listener);
    comm::SelfCommunicator self;
    Ranks here{.processes = self, .communicator = "threads"};
    EXPECT_FALSE(run.go(here).has_value());
    EXPECT_TRUE(listener.losses.empty());
}

}  // namespace
}  // namespace gnnplan::run
