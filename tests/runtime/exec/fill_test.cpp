// The executor's reading of data under a numbering: rows of features, labels, subset and vertices are those of the
// vertices in that order.
#include "runtime/exec/executor.hpp"

#include "tests/runtime/exec/harness.hpp"
#include "tests/support/tiny_graphs.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace gnnplan::exec {
namespace {

using testing::add;
using testing::add_step;

constexpr float dropped_share = 0.5F;

// Features in every layout. Steps tell of the rest: dropout of the vertices' numbers, scores and loss of labels and
// subset.
Schedule schedule_on(const Grid& grid, const Numbering& numbering, const data::Dataset& dataset) {
    const std::int64_t n = dataset.vertices();
    const std::int64_t width = dataset.features();
    Schedule schedule;
    schedule.grid = grid;
    schedule.numbering = numbering;
    const auto resident = [&](const char* name, Role role, DType dtype, std::int64_t columns, const Layout& layout) {
        return add(schedule, name, role, dtype, n, columns, layout);
    };
    const TensorId hc = resident("H0.C", Role::features, DType::f32, width, layout_c());
    const TensorId hr = resident("H0.R", Role::features, DType::f32, width, layout_r());
    resident("H0.F", Role::features, DType::f32, width, layout_f());
    const TensorId labels = resident("labels", Role::labels, DType::i32, 1, layout_r());
    const TensorId labels_f = resident("labels.F", Role::labels, DType::i32, 1, layout_f());
    const TensorId subset = resident("subset", Role::subset, DType::u8, 1, layout_r());
    const TensorId subset_f = resident("subset.F", Role::subset, DType::u8, 1, layout_f());
    const TensorId ids = resident("vertices", Role::vertices, DType::i32, 1, layout_r());
    const TensorId ids_f = resident("vertices.F", Role::vertices, DType::i32, 1, layout_f());
    const TensorId out_c = resident("out.C", Role::transient, DType::f32, width, layout_c());
    const TensorId out_r = resident("out.R", Role::transient, DType::f32, width, layout_r());
    const TensorId correct = add(schedule, "correct", Role::transient, DType::f64, 1, 3, layout_partial());
    const TensorId loss = add(schedule, "loss", Role::transient, DType::f64, 1, 1, layout_partial());
    add_step(schedule, "out.C", MapStep{MapOp::dropout, hc, {}, out_c, 1, Activation::none, true, ids_f});
    add_step(schedule, "out.R", MapStep{MapOp::dropout, hr, {}, out_r, 1, Activation::none, true, ids});
    add_step(schedule, "score", ScoreStep{hr, labels, subset, correct});
    add_step(schedule, "score.sum", AllReduceStep{correct});
    add_step(schedule, "loss", LossStep{out_c, labels_f, subset_f, loss});
    add_step(schedule, "loss.sum", AllReduceStep{loss});
    return schedule;
}

// By the user's vertices, whoever had them.
struct Seen {
    std::map<std::string, std::vector<float>> matrices;
    std::vector<double> correct;
    double loss = 0;
};

class Reader {
public:
    Reader(const data::Dataset& dataset, const data::VertexOrder& order) : dataset_(dataset), order_(order) {
        for (const char* name : {"H0.C", "H0.R", "H0.F", "out.C", "out.R"}) {
            seen.matrices[name].resize(static_cast<std::size_t>(dataset.vertices() * dataset.features()));
        }
    }

    // Ranks write what differs, or the same values: one after the other.
    void read(const std::string& name, const Executor& executor) {
        const std::scoped_lock lock(mutex_);
        const Block block = executor.block(name);
        const auto values = executor.values(name);
        std::size_t at = 0;
        for (std::int64_t i = block.rows.begin; i < block.rows.end; ++i) {
            const std::int64_t v = order_.identity() ? i : order_.vertex[static_cast<std::size_t>(i)];
            for (std::int64_t j = block.columns.begin; j < block.columns.end; ++j) {
                seen.matrices[name][static_cast<std::size_t>(v * dataset_.features() + j)] = values[at++];
            }
        }
    }

    Seen seen;

private:
    const data::Dataset& dataset_;
    const data::VertexOrder& order_;
    std::mutex mutex_;
};

void run_rank(const Schedule& schedule, const data::Dataset& dataset, comm::Communicator& comm, Reader& reader) {
    const auto counts = testing::numbered_counts(dataset.graph(), schedule.numbering, dataset.subset());
    const std::int64_t order_bytes = counts->order().bytes();
    measure::SteadyClock clock;
    const testing::TestedDevice on(comm);
    MemoryTracker tracker(on.device->memory().accelerator);
    const ModelState state(schedule, 1, *on.device, tracker);
    Executor executor(schedule, counts, on.comm, *on.device, tracker, clock);
    executor.build_blocks(dataset.graph(), testing::no_scales(dataset.graph()));
    executor.allocate(state);
    const std::int64_t before = tracker.current();
    executor.fill(dataset);
    EXPECT_EQ(before - tracker.current(), on.wanted ? 0 : order_bytes);  // nobody needs the order any more
    for (const char* name : {"H0.C", "H0.R", "H0.F"}) reader.read(name, executor);
    PassSettings settings;
    settings.input_dropout = dropped_share;
    settings.inverse_training_count = 1;
    executor.run(Phase::epoch, settings, [&](const Step& step, const Executor& self) {
        if (step.name.starts_with("out")) reader.read(step.name, self);
    });
    if (comm.rank() != 0) return;
    reader.seen.correct.assign(executor.counts().begin(), executor.counts().end());
    reader.seen.loss = executor.loss_sum();
}

Seen see(const data::Dataset& dataset, const Grid& grid, const Numbering& numbering) {
    const Schedule schedule = schedule_on(grid, numbering, dataset);
    const auto counts = testing::numbered_counts(dataset.graph(), numbering, dataset.subset());
    EXPECT_EQ(counts->order().identity(), numbering.identity());
    Reader reader(dataset, counts->order());
    comm::run_ranks(grid.size(), [&](comm::Communicator& comm) { run_rank(schedule, dataset, comm, reader); });
    return reader.seen;
}

TEST(Fill, GivesEveryVertexItsOwnWhateverTheNumbering) {
    const gnnplan::testing::TemporaryFolder folder;
    write_ogb(gnnplan::testing::random_directed(23, 3, 6, 4, 1), folder.path() / "graph");
    const data::Dataset dataset = data::open_dataset(folder.path() / "graph");
    const Seen plain = see(dataset, {1, 1, 1}, {});
    std::vector<float> features(plain.matrices.at("H0.R").size());
    dataset.read_features({0, dataset.vertices()}, {0, dataset.features()}, features.data(), dataset.features());
    EXPECT_EQ(plain.matrices.at("H0.R"), features);
    EXPECT_NE(plain.matrices.at("out.R"), features);
    for (const Numbering& numbering :
         {Numbering{}, Numbering{0, 0, true, 5}, Numbering{2, 0, false, 0}, Numbering{2, 0, true, 5}}) {
        for (const Grid& grid : testing::all_grids_of(6)) {
            SCOPED_TRACE(fmt::format("{}, loss layers {}{}", grid.text(), numbering.loss_layers,
                                     numbering.permuted ? ", permuted" : ""));
            const Seen seen = see(dataset, grid, numbering);
            EXPECT_EQ(seen.matrices, plain.matrices);
            EXPECT_EQ(seen.correct, plain.correct);
            EXPECT_NEAR(seen.loss, plain.loss, 1e-5 * plain.loss);
        }
    }
}

}  // namespace
}  // namespace gnnplan::exec
