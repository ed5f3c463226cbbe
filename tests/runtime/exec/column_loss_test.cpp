// The column-parallel loss equals the loss of whole rows by the reference kernel.
#include "runtime/data/dataset.hpp"
#include "tests/runtime/exec/harness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gnnplan::exec {
namespace {

using testing::add;
using testing::add_step;

constexpr std::int64_t rows = 23;
constexpr double inverse_training_count = 1.0 / 8;

struct Logits {
    const char* name;
    std::function<float(std::int64_t, std::int64_t)> value;
};

// Logits are moderate, or too large for exp without the row's maximum, which is another rank's for most columns, or all
// alike.
std::vector<Logits> logits() {
    const auto moderate = [](std::int64_t i, std::int64_t j) {
        return static_cast<float>((i * 7 + j * 5) % 11) / 3 - 2;
    };
    return {{"moderate", moderate},
            {"large", [=](auto i, auto j) { return 60 * moderate(i, j); }},
            {"alike", [](auto, auto) { return 0.5F; }}};
}

std::int32_t label(std::int64_t v, std::int64_t classes) { return static_cast<std::int32_t>((v * 5 + 1) % classes); }
std::uint8_t subset(std::int64_t v) {
    constexpr std::uint8_t all[] = {data::train, data::valid, data::unused};
    return all[v % 3];
}

// The results from whole rows: the gradient, and the sum of the cross-entropies.
struct Expected {
    std::vector<float> gradient;
    double loss = 0;
};

Expected of_whole_rows(const Logits& logits, std::int64_t classes) {
    Expected expected;
    std::vector<std::int32_t> labels;
    std::vector<std::uint8_t> split;
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < classes; ++j) expected.gradient.push_back(logits.value(i, j));
        labels.push_back(label(i, classes));
        split.push_back(subset(i));
    }
    kernels::reference_table().softmax_cross_entropy({expected.gradient.data(), rows, classes, classes},
                                                     {labels.data(), split.data(), inverse_training_count},
                                                     &expected.loss);
    return expected;
}

Schedule schedule_on(const Grid& grid, std::int64_t classes) {
    Schedule schedule;
    schedule.grid = grid;
    const TensorId z = add(schedule, "Z", Role::transient, DType::f32, rows, classes, layout_c());
    const TensorId labels = add(schedule, "labels", Role::labels, DType::i32, rows, 1, layout_f());
    const TensorId part = add(schedule, "subset", Role::subset, DType::u8, rows, 1, layout_f());
    const TensorId loss = add(schedule, "loss", Role::transient, DType::f64, 1, 1, layout_partial());
    add_step(schedule, "loss", LossStep{z, labels, part, loss});
    add_step(schedule, "loss.all_reduce", AllReduceStep{loss});
    return schedule;
}

void expect_gradient(const testing::Rank& rank, const std::vector<float>& gradient, std::int64_t classes) {
    const Block block = rank.store.block(0);
    const std::vector<float> local = rank.read<float>(0);
    const float* value = local.data();
    for (std::int64_t i = block.rows.begin; i < block.rows.end; ++i) {
        for (std::int64_t j = block.columns.begin; j < block.columns.end; ++j) {
            const std::int64_t at = i * classes + j;
            // A few roundings of softmax, whose values are at most 1 / |T|.
            ASSERT_NEAR(*value++, gradient[static_cast<std::size_t>(at)], 1e-6 * inverse_training_count);
        }
    }
}

class ColumnLoss : public ::testing::TestWithParam<int> {};

// Fewer classes than ranks included: some ranks have no column.
TEST_P(ColumnLoss, IsTheLossOfWholeRows) {
    PassSettings settings;
    settings.inverse_training_count = inverse_training_count;
    const data::Graph graph = testing::ring_graph(rows);
    for (const Logits& of : logits()) {
        for (const std::int64_t classes : {1, 3, 10}) {
            const Expected expected = of_whole_rows(of, classes);
            for (const Grid& grid : testing::all_grids_of(GetParam())) {
                SCOPED_TRACE(fmt::format("{} logits of {} classes on {}", of.name, classes, grid.text()));
                const Schedule schedule = schedule_on(grid, classes);
                comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
                    testing::Rank rank(schedule, graph, comm);
                    rank.fill(0, of.value);
                    const Range local = rank.store.block(1).rows;
                    std::vector<std::int32_t> labels;
                    std::vector<std::uint8_t> splits;
                    for (std::int64_t v = local.begin; v < local.end; ++v) {
                        labels.push_back(label(v, classes));
                        splits.push_back(subset(v));
                    }
                    rank.write(1, labels), rank.write(2, splits);
                    rank.run(0, settings);
                    rank.expect_predicted_bytes(0);
                    EXPECT_EQ(rank.traffic.sent_bytes, 8 * local.size() * (grid.y - 1));
                    expect_gradient(rank, expected.gradient, classes);
                    rank.run(1, settings);
                    EXPECT_NEAR(rank.read<double>(3).front(), expected.loss, 1e-6 * std::max(1.0, expected.loss));
                });
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, ColumnLoss, ::testing::Values(1, 2, 3, 4, 6, 8));

}  // namespace
}  // namespace gnnplan::exec
