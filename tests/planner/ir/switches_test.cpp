// Every switch has a row, and says by what it is felt.
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

}  // namespace
}  // namespace gnnplan
