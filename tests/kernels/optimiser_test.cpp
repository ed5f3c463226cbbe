#include "tests/kernels/on_device.hpp"

namespace gnnplan::kernels::testing {
namespace {

// Rules with a mean of squares.
class Adam : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Adam, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

// Both take the same float operations, but FMA may leave out roundings: a few units of 2^-24 of the largest term, which
// is at most 4 here.
TEST_P(Adam, EqualsReference) {
    std::mt19937 random(4);
    for (const Optimiser rule : {Optimiser::adam, Optimiser::adamw, Optimiser::rmsprop}) {
        for (const std::int64_t count : {0, 1, 7, 8, 63, 1000}) {
            Owned w = Owned(1, count).fill(random, 3);
            const Owned gradient = Owned(1, count).fill(random, 3);
            Owned m1 = Owned(1, count).fill(random, 1), m2(1, count);
            const bool two = rule != Optimiser::rmsprop;
            std::fill_n((two ? m2 : m1).view().data, count, 0.5F);
            Owned w_want = w, m1_want = m1, m2_want = m2;
            UpdateSettings settings;
            settings.weight_decay = 0.01F;
            for (std::uint32_t epoch = 1; epoch <= 3; ++epoch) {
                const PassValues pass = pass_values(epoch);
                settings.pass = &pass;
                run(&Table::update, rule, w.span(), gradient.span(), m1.span(), two ? m2.span() : std::span<float>(),
                    count, settings);
                reference_table().update(rule, w_want.view().data, gradient.view().data, m1_want.view().data,
                                         two ? m2_want.view().data : nullptr, count, settings);
            }
            EXPECT_EQ(difference(w, w_want, 2e-6), "") << count;
            EXPECT_EQ(difference(m1, m1_want, 2e-6), "") << count;
            EXPECT_EQ(difference(m2, m2_want, 2e-6), "") << count;
        }
    }
}

class Sgd : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Sgd, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

TEST_P(Sgd, EqualsReference) {
    std::mt19937 random(7);
    for (const Optimiser rule : {Optimiser::sgd, Optimiser::momentum}) {
        for (const std::int64_t count : {0, 1, 7, 8, 63, 1000}) {
            Owned w = Owned(1, count).fill(random, 3);
            const Owned gradient = Owned(1, count).fill(random, 3);
            Owned m = Owned(1, count).fill(random, 1);
            Owned w_want = w;
            Owned m_want = m;
            UpdateSettings settings;
            settings.weight_decay = 0.01F;
            settings.momentum = 0.9F;
            const PassValues pass = pass_values(1, {}, 0.5F);
            settings.pass = &pass;
            float* no_state = nullptr;
            const bool remembers = rule == Optimiser::momentum;
            for (int step = 1; step <= 3; ++step) {
                run(&Table::update, rule, w.span(), gradient.span(), remembers ? m.span() : std::span<float>(), nullptr,
                    count, settings);
                reference_table().update(rule, w_want.view().data, gradient.view().data,
                                         remembers ? m_want.view().data : no_state, nullptr, count, settings);
            }
            EXPECT_EQ(difference(w, w_want, 2e-6), "") << count;
            EXPECT_EQ(difference(m, m_want, 2e-6), "") << count;
        }
    }
}

}  // namespace
}  // namespace gnnplan::kernels::testing
