// Every switch has a row, and says by what it is felt.
#include <gnnplan/ir/schedule.hpp>
#include <gnnplan/ir/switches.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>

namespace gnnplan {
namespace {

struct Anything {
    template <class T>
    operator T() const;
};

template <class... Values>
constexpr int members() {
    if constexpr (requires { Switches{Values()..., Anything()}; }) {
        return members<Values..., Anything>();
    } else {
        return sizeof...(Values);
    }
}

// Turns every switch on, or the n-th alone.
struct TurnOn {
    std::optional<int> only;
    int rows = 0;
    std::set<std::string> keys = {};

    template <class T>
    void value(const char* key, T& member, const FeltBy&) {
        keys.insert(key);
        if (!only || *only == rows) member = static_cast<T>(1);
        ++rows;
    }
    template <class T>
    void optional(const char* key, T& member, const FeltBy& felt) {
        value(key, member, felt);
    }
};

TEST(Switches, EachHasARow) {
    Switches switches;
    TurnOn all{};
    Switches::fields(switches, all);
    EXPECT_EQ(all.rows, members());
    EXPECT_EQ(all.keys.size(), static_cast<std::size_t>(members()));
    Switches none;
    for (int row = 0; row < all.rows; ++row) {
        Switches one;
        TurnOn only{row};
        Switches::fields(one, only);
        EXPECT_NE(one, none) << row;
        EXPECT_NE(one, switches) << row;
    }
}

TEST(Switches, AreResetWhereNobodyFeelsThem) {
    Switches on;
    TurnOn all{};
    Switches::fields(on, all);
    const Switches lowered = as_felt(on, &FeltBy::lowering);
    EXPECT_EQ(lowered.exchange, Exchange::none);
    EXPECT_FALSE(lowered.overlap || lowered.bf16);
    EXPECT_TRUE(lowered.permutation && lowered.loss_rows && lowered.factored_values && lowered.ring);
    const Switches in_memory = as_felt(on, &FeltBy::memory);
    EXPECT_FALSE(in_memory.overlap || in_memory.permutation || in_memory.bf16);
    EXPECT_EQ(in_memory.parts, 0);
    EXPECT_EQ(in_memory.attention, AttentionScores::stored);
    EXPECT_LT(in_memory, on);
}

// The matrix of a product on a grid, whose contraction side is split over these axes.
Tensor matrix_over(const char* columns) {
    return {"A", Role::adjacency, DType::f32, 20, 20, {Axes::parse("x"), Axes::parse(columns), {}}};
}

TEST(Switches, ProductsFollowThemWhereThereIsSomethingToGet) {
    const Switches rows{.exchange = Exchange::rows, .overlap = true};
    SpmmStep product{0, {1}, {2}, Exchange::panels, false, true};
    product.follow(rows, {4, 1, 1}, matrix_over("z"));
    EXPECT_TRUE(product.exchange == Exchange::rows && product.overlap && !product.bf16);
    product.follow(rows, {1, 4, 1}, matrix_over("z"));
    EXPECT_TRUE(product.exchange == Exchange::none && !product.overlap) << "every rank has all rows and nonzeros";
    product.follow(rows, {1, 4, 1}, matrix_over("zy"));
    EXPECT_TRUE(product.exchange == Exchange::none && product.overlap) << "nonzeros are gathered";
}

TEST(Switches, ProductsRoundWhereTheyPackPanelsOfASum) {
    const Switches panels{.exchange = Exchange::panels, .bf16 = true};
    SpmmStep product{0, {1}, {2}, Exchange::panels, false};
    product.follow(panels, {4, 1, 1}, matrix_over("z"));
    EXPECT_TRUE(product.bf16);
    product.set(SumOperands<TensorId>{1, 2});
    EXPECT_TRUE(product.bf16);
    product.set(MaxOperands<TensorId>{1, 2, 3});
    EXPECT_FALSE(product.bf16);
    product.follow(panels, {4, 1, 1}, matrix_over("z"));
    EXPECT_FALSE(product.bf16) << "maxima are no sum";
}

TEST(Switches, ThePapersSpaceSearchesNone) {
    EXPECT_EQ(Pins().unsearched(1), Switches());
    EXPECT_EQ(Pins().unsearched(4), Switches{.exchange = Exchange::panels});
    Pins pins;
    pins.exchange = Exchange::rows;
    pins.permutation = pins.factored_values = true;
    pins.bf16 = pins.partition = true;
    const Switches pinned{.exchange = Exchange::rows, .permutation = true, .parts = 4, .factored_values = true};
    EXPECT_EQ(pins.unsearched(4), pinned) << "needed rows are not packed in panels, so nothing rounds";
}

}  // namespace
}  // namespace gnnplan
