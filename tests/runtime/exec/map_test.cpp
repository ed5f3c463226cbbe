#include "tests/runtime/exec/harness.hpp"

#include <cmath>

namespace gnnplan::exec {
namespace {

using testing::add;
using testing::add_step;

constexpr std::int64_t rows = 11;
constexpr std::int64_t columns = 10;
constexpr float dropped_share = 0.5F;

float element(std::int64_t i, std::int64_t j) { return static_cast<float>((i * 3 + j * 5) % 7 - 3); }
float positive(std::int64_t i, std::int64_t j) { return static_cast<float>(1 + i + j); }
float bias(std::int64_t j) { return static_cast<float>(j % 3) - 1; }

PassSettings with_dropout(bool training) {
    PassSettings settings;
    settings.seed = 5;
    settings.epoch = 3;
    settings.training = training;
    settings.dropout = dropped_share;
    return settings;
}

// The whole matrix of positive(i, j) after dropout, row by row.
std::vector<float> dropped_whole() {
    std::vector<float> whole(static_cast<std::size_t>(rows * columns));
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) whole[static_cast<std::size_t>(i * columns + j)] = positive(i, j);
    }
    std::vector<float> expected(whole.size());
    const kernels::PassValues pass = kernels::pass_values(3);
    kernels::reference_table().dropout({whole.data(), rows, columns, columns},
                                       {expected.data(), rows, columns, columns}, {5, &pass, 2, dropped_share, 0, 0});
    return expected;
}

class Map : public ::testing::TestWithParam<int> {
protected:
    std::vector<Layout> layouts = {layout_c(), layout_r(), layout_f()};

    // Runs `body` on every rank of every grid, for a schedule of tensors made by `make`.
    void on_every_grid(const std::function<void(Schedule&, const Layout&)>& make,
                       const std::function<void(testing::Rank&)>& body) const {
        const data::Graph graph = testing::ring_graph(rows);
        for (const Grid& grid : testing::all_grids_of(GetParam())) {
            for (const Layout& layout : layouts) {
                Schedule schedule;
                schedule.grid = grid;
                make(schedule, layout);
                comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
                    testing::Rank rank(schedule, graph, comm);
                    body(rank);
                });
            }
        }
    }
};

TEST_P(Map, ActivateAddsTheBiasOfItsColumnsAndCutsAtZero) {
    on_every_grid(
        [](Schedule& schedule, const Layout& layout) {
            const TensorId z = add(schedule, "Z", Role::transient, DType::f32, rows, columns, layout);
            const TensorId b = add(schedule, "b1", Role::bias, DType::f32, 1, columns, layout_replicated());
            add_step(schedule, "activate", MapStep{MapOp::activate, z, b, {}, 2, Activation::relu, false});
            add_step(schedule, "linear", MapStep{MapOp::activate, z, b, {}, 2, Activation::none, false});
        },
        [](testing::Rank& rank) {
            rank.fill(0, element);
            rank.fill(1, [](auto, auto j) { return bias(j); });
            rank.run(0, with_dropout(true));  // the step takes no part in dropout
            rank.expect(0, [](auto i, auto j) { return std::max(0.0F, element(i, j) + bias(j)); });
            rank.run(1);
            rank.expect(0, [](auto i, auto j) { return std::max(0.0F, element(i, j) + bias(j)) + bias(j); });
        });
}

// The mask that comes with an activation is the one that is taken from its result.
TEST_P(Map, ActivateMakesItsMask) {
    on_every_grid(
        [](Schedule& schedule, const Layout& layout) {
            const TensorId z = add(schedule, "Z", Role::transient, DType::f32, rows, columns, layout);
            const TensorId mask = add(schedule, "mask", Role::transient, DType::bits, rows, columns, layout);
            const TensorId kept = add(schedule, "kept", Role::transient, DType::bits, rows, columns, layout);
            add_step(schedule, "activate", MapStep{MapOp::activate, z, {}, mask, 2, Activation::relu, true});
            add_step(schedule, "positive", MapStep{MapOp::positive_mask, z, {}, kept, 0, Activation::none, false});
        },
        [](testing::Rank& rank) {
            rank.fill(0, element);
            rank.run(0, with_dropout(true));
            rank.run(1);
            EXPECT_EQ(rank.read<std::byte>(1), rank.read<std::byte>(2));
        });
}

TEST_P(Map, DropoutFallsOnTheSameElementsInEveryLayout) {
    const std::vector<float> expected = dropped_whole();
    const auto dropped = [&](std::int64_t i, std::int64_t j) {
        return expected[static_cast<std::size_t>(i * columns + j)];
    };
    on_every_grid(
        [](Schedule& schedule, const Layout& layout) {
            const TensorId z = add(schedule, "Z", Role::transient, DType::f32, rows, columns, layout);
            const TensorId out = add(schedule, "out", Role::transient, DType::f32, rows, columns, layout);
            add_step(schedule, "dropout", MapStep{MapOp::dropout, z, {}, out, 2, Activation::none, true});
            add_step(schedule, "activate", MapStep{MapOp::activate, z, {}, {}, 2, Activation::relu, true});
        },
        [&](testing::Rank& rank) {
            rank.fill(0, positive);
            rank.run(0, with_dropout(true));
            rank.expect(1, dropped);
            rank.run(1, with_dropout(true));
            rank.expect(0, dropped);
        });
}

// Vertices in another order: each keeps its draws.
TEST_P(Map, DropoutOfRenumberedVerticesFollowsTheirNumbers) {
    const std::vector<float> expected = dropped_whole();
    const auto vertex = [](std::int64_t row) { return (row * 4 + 3) % rows; };
    const auto renumbered = [&](std::int64_t i, std::int64_t j) { return positive(vertex(i), j); };
    const auto dropped = [&](std::int64_t i, std::int64_t j) {
        return expected[static_cast<std::size_t>(vertex(i) * columns + j)];
    };
    on_every_grid(
        [](Schedule& schedule, const Layout& layout) {
            const TensorId z = add(schedule, "Z", Role::transient, DType::f32, rows, columns, layout);
            const TensorId out = add(schedule, "out", Role::transient, DType::f32, rows, columns, layout);
            const TensorId ids = add(schedule, "vertices", Role::vertices, DType::i32, rows, 1, {layout.rows, {}, {}});
            add_step(schedule, "dropout", MapStep{MapOp::dropout, z, {}, out, 2, Activation::none, true, ids});
            add_step(schedule, "activate", MapStep{MapOp::activate, z, {}, {}, 2, Activation::relu, true, ids});
        },
        [&](testing::Rank& rank) {
            const Range local = rank.store.block(2).rows;
            std::vector<std::int32_t> ids;
            for (std::int64_t row = local.begin; row < local.end; ++row)
                ids.push_back(static_cast<std::int32_t>(vertex(row)));
            rank.write(2, ids);
            rank.fill(0, renumbered);
            rank.run(0, with_dropout(true));
            rank.expect(1, dropped);
            rank.run(1, with_dropout(true));
            rank.expect(0, dropped);
        });
}

TEST_P(Map, WithoutDropoutTheOutputIsTheTensorItself) {
    on_every_grid(
        [](Schedule& schedule, const Layout& layout) {
            const TensorId z = add(schedule, "Z", Role::transient, DType::f32, rows, columns, layout);
            const TensorId out = add(schedule, "out", Role::transient, DType::f32, rows, columns, layout);
            add_step(schedule, "dropout", MapStep{MapOp::dropout, z, {}, out, 2, Activation::none, true});
        },
        [](testing::Rank& rank) {
            rank.fill(0, positive);
            rank.run(0, with_dropout(true));
            EXPECT_NE(rank.store.bytes(1), rank.store.bytes(0));
            rank.run(0, with_dropout(false));
            EXPECT_EQ(rank.store.bytes(1), rank.store.bytes(0));
            rank.run(0, with_dropout(true));
            EXPECT_NE(rank.store.bytes(1), rank.store.bytes(0));
        });
}

TEST_P(Map, MaskKeepsWhatWasPositiveAndScalesWhatSurvivedDropout) {
    for (const bool dropout : {false, true}) {
        const float scale = dropout ? 1 / (1 - dropped_share) : 1;
        on_every_grid(
            [&](Schedule& schedule, const Layout& layout) {
                const TensorId h = add(schedule, "H", Role::transient, DType::f32, rows, columns, layout);
                const TensorId g = add(schedule, "G", Role::transient, DType::f32, rows, columns, layout);
                const TensorId mask = add(schedule, "mask", Role::transient, DType::bits, rows, columns, layout);
                add_step(schedule, "mask", MapStep{MapOp::positive_mask, h, {}, mask, 0, Activation::none, false});
                add_step(schedule, "apply", MapStep{MapOp::apply_mask, g, mask, {}, 2, Activation::none, dropout});
            },
            [&](testing::Rank& rank) {
                rank.fill(0, element);
                rank.run(0);
                rank.fill(1, positive);  // H is dead, G may take its place
                rank.run(1, with_dropout(true));
                rank.expect(1, [&](auto i, auto j) { return element(i, j) > 0 ? scale * positive(i, j) : 0.0F; });
            });
    }
}

TEST_P(Map, ColumnSumsAddUpOverRanks) {
    layouts = {layout_c(), layout_r()};  // rows on several ranks would count twice
    on_every_grid(
        [](Schedule& schedule, const Layout& layout) {
            const TensorId g = add(schedule, "G", Role::transient, DType::f32, rows, columns, layout);
            const TensorId sum = add(schedule, "sum", Role::transient, DType::f32, 1, columns, layout_partial());
            add_step(schedule, "sum", MapStep{MapOp::column_sum, g, {}, sum, 1, Activation::none, false});
            add_step(schedule, "reduce", AllReduceStep{sum});
        },
        [](testing::Rank& rank) {
            rank.fill(0, element);
            rank.fill(1, [](auto, auto) { return std::nanf(""); });
            rank.run(0);
            rank.run(1);
            rank.expect(1, [](auto, auto j) {
                float sum = 0;
                for (std::int64_t i = 0; i < rows; ++i) sum += element(i, j);
                return sum;
            });
        });
}

// The epsilon is a parameter, which every rank has, and a sum over all ranks makes its gradient.
TEST_P(Map, AddsScaledAndSumsProducts) {
    layouts = {layout_c(), layout_r()};
    on_every_grid(
        [](Schedule& schedule, const Layout& layout) {
            const TensorId z = add(schedule, "Z", Role::transient, DType::f32, rows, columns, layout);
            const TensorId x = add(schedule, "X", Role::transient, DType::f32, rows, columns, layout);
            const TensorId e = add(schedule, "e1", Role::bias, DType::f32, 1, 1, layout_replicated());
            const TensorId sum = add(schedule, "sum", Role::transient, DType::f32, 1, 1, layout_partial());
            MapStep scaled{MapOp::add_scaled, z, x, {}, 0, Activation::none, false};
            scaled.scale = 1.5;
            scaled.epsilon = e;
            add_step(schedule, "scaled", scaled);
            add_step(schedule, "dot", MapStep{MapOp::dot, z, x, sum, 0, Activation::none, false});
            add_step(schedule, "reduce", AllReduceStep{sum});
        },
        [](testing::Rank& rank) {
            rank.fill(0, element);
            rank.fill(1, [](auto i, auto j) { return static_cast<float>(i - j); });
            rank.fill(2, [](auto, auto) { return 0.5F; });
            rank.run(0);
            const auto expected = [](auto i, auto j) { return element(i, j) + 2 * static_cast<float>(i - j); };
            rank.expect(0, expected);
            rank.run(1);
            rank.run(2);
            rank.expect(3, [&](auto, auto) {
                float sum = 0;
                for (std::int64_t i = 0; i < rows; ++i) {
                    for (std::int64_t j = 0; j < columns; ++j) sum += expected(i, j) * static_cast<float>(i - j);
                }
                return sum;
            });
        });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Map, ::testing::Values(1, 2, 3, 4, 6, 8));

}  // namespace
}  // namespace gnnplan::exec
