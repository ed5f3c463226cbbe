#include <gnnplan/ir/schedule.hpp>

#include <gtest/gtest.h>

namespace gnnplan {
namespace {

// Two matrices of 12 rows, their bits, a weight, and an adjacency whose nonzeros are sharded over y.
Schedule schedule_on(const Grid& grid) {
    Schedule schedule;
    schedule.grid = grid;
    const auto dense = [](const char* name) { return Tensor{name, Role::transient, DType::f32, 12, 8, layout_c()}; };
    Tensor matrix{"A", Role::adjacency, DType::f32, 12, 12, {Axes::parse("x"), Axes::parse("zy"), {}}};
    schedule.tensors = {dense("a"), dense("b"), Tensor{"bits", Role::transient, DType::bits, 12, 8, layout_c()},
                        Tensor{"W", Role::weight, DType::f32, 8, 8, layout_replicated()}, matrix};
    return schedule;
}

constexpr TensorId a = 0, b = 1, bits = 2, weight = 3, adjacency = 4;

const MapStep activation{MapOp::activate, a, {}, bits, 2, Activation::relu, true};
const SpmmStep product{adjacency, {a}, {b}, Exchange::panels, false};

std::string signature(const Operation& operation, const Grid& grid = {2, 2, 1}) {
    return signature_of(schedule_on(grid), operation);
}

TEST(Signature, HasEverySwitch) {
    MapStep other = activation;
    other.activation = Activation::none;
    EXPECT_NE(signature(other), signature(activation));
    other = activation;
    other.dropout = false;
    EXPECT_NE(signature(other), signature(activation));
    other = activation;
    other.out = std::nullopt;
    EXPECT_NE(signature(other), signature(activation));
    other = activation;
    other.op = MapOp::apply_mask;
    EXPECT_NE(signature(other), signature(activation));

    SpmmStep switched = product;
    switched.exchange = Exchange::rows;
    EXPECT_NE(signature(switched), signature(product));
    switched = product;
    switched.overlap = true;
    EXPECT_NE(signature(switched), signature(product));
    switched = product;
    switched.bf16 = true;
    EXPECT_NE(signature(switched), signature(product));

    EXPECT_NE(signature(GemmStep{a, weight, b, false}), signature(GemmStep{a, weight, b, true}));
    EXPECT_NE(signature(RedistributeStep{a, b}), signature(ReduceScatterStep{a, b}));

    other = activation;
    other.done_before = true;
    EXPECT_NE(signature(other), signature(activation));
}

TEST(Signature, HasTheGridAndHowTensorsAreStored) {
    EXPECT_NE(signature(product, {4, 1, 1}), signature(product, {2, 2, 1}));
    const auto changed = [](auto change) {
        Schedule schedule = schedule_on({2, 2, 1});
        change(schedule.tensors[adjacency]);
        return signature_of(schedule, product);
    };
    EXPECT_NE(changed([](Tensor& t) { t.storage.factored = true; }), signature(product));
    EXPECT_NE(changed([](Tensor& t) { t.storage.panel_columns = 5; }), signature(product));
    EXPECT_NE(changed([](Tensor& t) { t.storage.splits = 3; }), signature(product));
    EXPECT_NE(changed([](Tensor& t) { t.transposed = true; }), signature(product));
    EXPECT_NE(changed([](Tensor& t) { t.rows = 11; }), signature(product));
    EXPECT_EQ(changed([](Tensor& t) { t.name = "other"; }), signature(product));
}

// The layer of a map says which dropout probability applies: what tells steps apart, not what they cost.
TEST(Signature, EqualStepsOfDifferentLayersShareIt) {
    MapStep other = activation;
    other.layer = 7;
    EXPECT_EQ(signature(other), signature(activation));
}

TEST(ExchangeGroup, IsWhoTakesPart) {
    const Schedule schedule = schedule_on({2, 2, 1});
    // Rank 0 gets dense rows of rank 2, along x, and nonzeros of rank 1, along y.
    EXPECT_EQ(exchange_group(schedule, product, 0), (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(exchange_group(schedule, RedistributeStep{a, b}, 3), (std::vector<int>{2, 3}));
    Schedule sums = schedule;
    sums.tensors[a].layout = layout_partial();
    EXPECT_EQ(exchange_group(sums, AllReduceStep{a}, 1), (std::vector<int>{0, 1, 2, 3}));
    sums.tensors[a].layout.partial = Axes::parse("y");
    EXPECT_EQ(exchange_group(sums, AllReduceStep{a}, 1), (std::vector<int>{0, 1}));
    EXPECT_EQ(exchange_group(schedule, activation, 2), (std::vector<int>{2}));
}

TEST(Questions, HaveAnAnswerForEveryKind) {
    EXPECT_EQ(requested_rows(RowRequestStep{adjacency}), adjacency);
    EXPECT_EQ(requested_rows(product), std::nullopt);
    EXPECT_EQ(summed(AllReduceStep{a}), a);
    EXPECT_EQ(summed(activation), std::nullopt);
    EXPECT_EQ(dropped_features(MapStep{MapOp::dropout, a, {}, b, 1, Activation::none, true}), b);
    EXPECT_EQ(dropped_features(activation), std::nullopt);
    EXPECT_EQ(redistributed(RedistributeStep{a, b}), b);
    EXPECT_EQ(redistributed(ReduceScatterStep{a, b}), std::nullopt);
    EXPECT_TRUE(varies_with_rank(AllReduceStep{a}));
    EXPECT_FALSE(varies_with_rank(ReduceScatterStep{a, b}));
    EXPECT_NE(product_of(Operation(product)), nullptr);
    EXPECT_EQ(product_of(Operation(activation)), nullptr);
}

}  // namespace
}  // namespace gnnplan
