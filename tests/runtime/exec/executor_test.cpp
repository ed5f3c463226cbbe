#include "runtime/exec/executor.hpp"

#include "tests/runtime/exec/harness.hpp"
#include "tests/support/tiny_graphs.hpp"

namespace gnnplan::exec {
namespace {

using testing::add;
using testing::add_step;

// Advances by one second with every look.
class TickingClock final : public measure::Clock {
public:
    double now() override { return time_ += 1; }

private:
    double time_ = 0;
};

Schedule aggregate_and_score(const Grid& grid, const data::Dataset& dataset) {
    const std::int64_t n = dataset.vertices();
    Schedule schedule;
    schedule.grid = grid;
    const TensorId matrix = add(schedule, "A^T", Role::adjacency, DType::f32, n, n, testing::matrix_layout("z"));
    const TensorId h = add(schedule, "H0.C", Role::features, DType::f32, n, dataset.features(), layout_c());
    const TensorId t = add(schedule, "T1.C", Role::transient, DType::f32, n, dataset.features(), layout_c());
    const TensorId rows = add(schedule, "T1.R", Role::transient, DType::f32, n, dataset.features(), layout_r());
    const TensorId labels = add(schedule, "labels", Role::labels, DType::i32, n, 1, layout_r());
    const TensorId subset = add(schedule, "subset", Role::subset, DType::u8, n, 1, layout_r());
    const TensorId counts = add(schedule, "correct", Role::transient, DType::f64, 1, 3, layout_partial());
    add_step(schedule, "spmm", SpmmStep{matrix, {h}, {t}, grid.x > 1 ? Exchange::panels : Exchange::none, false});
    add_step(schedule, "redistribute", RedistributeStep{t, rows});
    add_step(schedule, "score", ScoreStep{rows, labels, subset, counts});
    add_step(schedule, "reduce", AllReduceStep{counts});
    schedule.steps.push_back({"again", Phase::evaluation, RedistributeStep{t, rows}});
    return schedule;
}

TEST(Executor, RunsOnePhaseAndSamplesItsSteps) {
    const gnnplan::testing::TemporaryFolder folder;
    write_ogb(gnnplan::testing::random_symmetric(13, 3, 4, 4, 1), folder.path() / "graph");
    const data::Dataset dataset = data::open_dataset(folder.path() / "graph");
    for (const Grid& grid : testing::grids_of(4)) {
        const Schedule schedule = aggregate_and_score(grid, dataset);
        comm::run_ranks(4, [&](comm::Communicator& comm) {
            const auto counts = std::make_shared<const GraphCounts>(dataset.graph());
            TickingClock clock;
            const testing::TestedDevice on(comm);
            MemoryTracker tracker(on.device->memory().accelerator);
            const ModelState state(schedule, 1, *on.device, tracker);
            Executor executor(schedule, counts, on.comm, *on.device, tracker, clock);
            executor.build_blocks(dataset.graph(), data::compute_scales(dataset.graph(), Normalisation::none));
            executor.allocate(state);
            executor.fill(dataset);

            std::vector<std::string> seen;
            const auto samples = executor.run(Phase::epoch, {}, [&](const Step& step, const Executor& self) {
                seen.push_back(step.name);
                EXPECT_EQ(&self, &executor);
            });
            EXPECT_EQ(seen, (std::vector<std::string>{"spmm", "redistribute", "score", "reduce"}));
            const bool has_clock = on.wanted && on.wanted->name == "cuda";
            for (std::size_t i = 0; i < 4 && !has_clock; ++i) EXPECT_EQ(samples[i].seconds, 1) << i;
            EXPECT_EQ(samples[4].seconds, 0);
            EXPECT_EQ(samples[1].sent_bytes > 0, grid.y > 1);

            const Block block = executor.block("H0.C");
            std::vector<float> expected(static_cast<std::size_t>(block.count()));
            dataset.read_features(block.rows, block.columns, expected.data(), block.columns.size());
            EXPECT_EQ(executor.values("H0.C"), expected);
            const auto width = block.columns.size();
            if (block.rows.size() > 2) {
                EXPECT_EQ(executor.values("H0.C", {1, 3}),
                          std::vector<float>(expected.begin() + width, expected.begin() + 3 * width));
            }
            double total = 0;
            for (const double correct : executor.counts()) total += correct;
            EXPECT_LE(total, 13);
            EXPECT_THROW(static_cast<void>(executor.values("H7.C")), Error);
        });
    }
}

TEST(Executor, RefusesAnotherNumberOfRanks) {
    Schedule schedule;
    schedule.grid = {1, 2, 1};
    add(schedule, "A^T", Role::adjacency, DType::f32, 5, 5, testing::matrix_layout("z"));
    const data::Graph graph = testing::ring_graph(5);
    comm::run_ranks(3, [&](comm::Communicator& comm) {
        MemoryTracker tracker;
        TickingClock clock;
        try {
            const auto device = kernels::host_device(kernels::reference_table());
            const Executor executor(schedule, testing::numbered_counts(graph, {}), comm, *device, tracker, clock);
            ADD_FAILURE() << "no error";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::mismatch);
        }
    });
}

}  // namespace
}  // namespace gnnplan::exec
