// Products, loss, scores and updates on small integers, so that sums are exact in any order.
#include "runtime/data/dataset.hpp"
#include "tests/runtime/exec/harness.hpp"

#include <cmath>

namespace gnnplan::exec {
namespace {

using testing::add;
using testing::add_step;

float left(std::int64_t i, std::int64_t j) { return static_cast<float>((i + 2 * j) % 5 - 2); }
float right(std::int64_t i, std::int64_t j) { return static_cast<float>((2 * i + j) % 3 - 1); }

template <class Element>
float product(std::int64_t n, Element&& element) {
    float sum = 0;
    for (std::int64_t k = 0; k < n; ++k) sum += element(k);
    return sum;
}

class Dense : public ::testing::TestWithParam<int> {};

TEST_P(Dense, GemmMultipliesRowsByTheWeightOrItsTranspose) {
    constexpr std::int64_t rows = 5;
    Schedule schedule;
    schedule.grid = {1, GetParam(), 1};
    const TensorId in = add(schedule, "H", Role::transient, DType::f32, rows, 3, layout_r());
    const TensorId weight = add(schedule, "W1", Role::weight, DType::f32, 3, 4, layout_replicated());
    const TensorId out = add(schedule, "B", Role::transient, DType::f32, rows, 4, layout_r());
    const TensorId back = add(schedule, "U", Role::transient, DType::f32, rows, 3, layout_r());
    add_step(schedule, "gemm", GemmStep{in, weight, out, false});
    add_step(schedule, "transposed", GemmStep{out, weight, back, true});
    const auto b = [](std::int64_t i, std::int64_t j) {
        return product(3, [&](auto k) { return left(i, k) * right(k, j); });
    };
    const data::Graph graph = testing::ring_graph(rows);
    comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
        testing::Rank rank(schedule, graph, comm);
        rank.fill(in, left);
        rank.fill(weight, right);
        rank.run(0);
        rank.expect(out, b);
        rank.run(1);
        rank.expect(back, [&](auto i, auto j) { return product(4, [&](auto k) { return b(i, k) * right(j, k); }); });
    });
}

// More ranks than rows included: a rank without rows adds zeros.
TEST_P(Dense, WeightGradientsAddUpOverRanks) {
    for (const std::int64_t rows : {3, 17}) {
        Schedule schedule;
        schedule.grid = {1, GetParam(), 1};
        const TensorId h = add(schedule, "H", Role::transient, DType::f32, rows, 3, layout_r());
        const TensorId g = add(schedule, "G", Role::transient, DType::f32, rows, 5, layout_r());
        const TensorId y = add(schedule, "Y1", Role::transient, DType::f32, 3, 5, layout_partial());
        add_step(schedule, "weight_grad", WeightGradStep{h, g, y});
        add_step(schedule, "all_reduce", AllReduceStep{y});
        const data::Graph graph = testing::ring_graph(rows);
        comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
            testing::Rank rank(schedule, graph, comm);
            rank.fill(h, left);
            rank.fill(g, right);
            rank.fill(y, [](auto, auto) { return std::nanf(""); });
            rank.run(0);
            rank.run(1);
            rank.expect(
                y, [&](auto i, auto j) { return product(rows, [&](auto k) { return left(k, i) * right(k, j); }); });
        });
    }
}

// Enough rows for several portions of training flags on one rank.
TEST_P(Dense, LossAndScoresCountTheRightVertices) {
    constexpr std::int64_t rows = 40000;
    Schedule schedule;
    schedule.grid = {1, GetParam(), 1};
    const TensorId logits = add(schedule, "Z", Role::transient, DType::f32, rows, 2, layout_r());
    const TensorId labels = add(schedule, "labels", Role::labels, DType::i32, rows, 1, layout_r());
    const TensorId subset = add(schedule, "subset", Role::subset, DType::u8, rows, 1, layout_r());
    const TensorId counts = add(schedule, "correct", Role::transient, DType::f64, 1, 3, layout_partial());
    const TensorId loss = add(schedule, "loss", Role::transient, DType::f64, 1, 1, layout_partial());
    add_step(schedule, "score", ScoreStep{logits, labels, subset, counts});
    add_step(schedule, "score.all_reduce", AllReduceStep{counts});
    add_step(schedule, "loss", LossStep{logits, labels, subset, loss});
    add_step(schedule, "loss.all_reduce", AllReduceStep{loss});
    const data::Graph graph = testing::ring_graph(rows);
    PassSettings settings;
    settings.inverse_training_count = 1.0 / (rows / 4);

    comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
        testing::Rank rank(schedule, graph, comm);
        rank.fill(logits, [](auto, auto) { return 0.0F; });  // both classes alike: the first wins
        constexpr std::uint8_t subsets[] = {data::train, data::valid, data::test, data::unused};
        std::vector<std::int32_t> label;
        std::vector<std::uint8_t> split;
        const Range local = rank.store.block(labels).rows;
        for (std::int64_t v = local.begin; v < local.end; ++v) {
            label.push_back(static_cast<std::int32_t>(v / 4 % 2));
            split.push_back(subsets[v % 4]);
        }
        rank.write(labels, label), rank.write(subset, split);
        rank.run(0);
        rank.run(1);
        for (const double correct : rank.read<double>(counts)) EXPECT_EQ(correct, rows / 8);
        rank.run(2, settings);
        rank.run(3, settings);
        EXPECT_NEAR(rank.read<double>(loss).front(), rows / 4 * std::log(2.0), 1e-2);
        rank.expect(logits, [&](auto i, auto j) {
            if (i % 4 != 0) return 0.0F;
            const float sign = i / 4 % 2 == j ? -1.0F : 1.0F;
            return static_cast<float>(sign * 0.5 * settings.inverse_training_count);
        });
    });
}

TEST(Update, DecaysWhatThePlanSaysOrAllWeightsButNoOtherBiases) {
    Schedule schedule;
    for (const int layer : {1, 2}) {
        const std::string l = std::to_string(layer);
        for (const Role role : {Role::weight, Role::bias}) {
            const std::string name = (role == Role::weight ? "W" : "b") + l;
            const TensorId weight = add(schedule, name, role, DType::f32, 1, 3, layout_replicated());
            const TensorId g = add(schedule, "grad." + name, Role::transient, DType::f32, 1, 3, layout_partial());
            const TensorId m1 = add(schedule, name + ".m1", Role::moment, DType::f32, 1, 3, layout_replicated());
            const TensorId m2 = add(schedule, name + ".m2", Role::moment, DType::f32, 1, 3, layout_replicated());
            add_step(schedule, "update." + name,
                     UpdateStep{weight, g, m1, m2, Optimiser::adam, layer == 1 && role == Role::weight});
        }
    }
    const data::Graph graph = testing::ring_graph(3);
    const auto moved = [&](const std::string& decay) {
        std::vector<bool> changed;
        comm::run_ranks(1, [&](comm::Communicator& comm) {
            testing::Rank rank(schedule, graph, comm);
            PassSettings settings;
            settings.update.weight_decay = 0.1F;
            settings.decay = read_decay(decay);
            for (std::size_t step = 0; step < 4; ++step) {
                const auto weight = static_cast<TensorId>(4 * step);
                rank.fill(weight, [](auto, auto) { return 1.0F; });
                rank.fill(weight + 1, [](auto, auto) { return 0.0F; });  // no gradient: only decay moves it
                rank.run(step, settings);
                changed.push_back(rank.read<float>(weight).front() != 1.0F);
            }
        });
        return changed;
    };
    EXPECT_EQ(moved("first"), (std::vector<bool>{true, false, false, false}));
    EXPECT_EQ(moved("weights"), (std::vector<bool>{true, false, true, false}));
    EXPECT_EQ(moved("all"), (std::vector<bool>{true, true, true, true}));
    EXPECT_EQ(moved("2=0.5"), (std::vector<bool>{false, false, true, true}));
    EXPECT_EQ(moved("2=0.5,W2=0,b1=0.25"), (std::vector<bool>{false, true, false, true}));
}

INSTANTIATE_TEST_SUITE_P(Ranks, Dense, ::testing::Values(1, 2, 3, 4, 7));

}  // namespace
}  // namespace gnnplan::exec
