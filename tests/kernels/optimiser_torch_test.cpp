// The reference's optimisers against PyTorch's (golden/optimisers_torch.txt).
#include "kernels/reference/reference.hpp"
#include "tests/support/golden.hpp"

#include <gnnplan/base/optimiser.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan::kernels {
namespace {

TEST(Optimisers, TakeTheStepsOfPyTorch) {
    auto golden = gnnplan::testing::read_golden(GNNPLAN_GOLDEN_DIR "/optimisers_torch.txt");
    const std::size_t elements = golden["first"].size(), steps = golden["gradients"].size() / elements;
    ASSERT_EQ(steps, 10U);
    UpdateSettings settings;
    settings.learning_rate = static_cast<float>(golden["learning_rate"].at(0));
    settings.weight_decay = static_cast<float>(golden["weight_decay"].at(0));
    settings.momentum = static_cast<float>(golden["momentum_rate"].at(0));
    for (std::size_t r = 0; r < optimiser_rules.size(); ++r) {
        if (optimiser_rules[r].torch.empty()) continue;
        const std::vector<double>& wanted = golden[std::string(optimiser_rules[r].name)];
        ASSERT_EQ(wanted.size(), steps * elements) << optimiser_rules[r].name;
        std::vector<double> w = golden["first"], m1(elements, 0), m2(elements, 0);
        for (std::size_t step = 0; step < steps; ++step) {
            const PassValues pass = pass_values(static_cast<std::uint32_t>(step + 1));
            settings.pass = &pass;
            reference::update<double>(static_cast<Optimiser>(r), w.data(), &golden["gradients"][step * elements],
                                      m1.data(), m2.data(), static_cast<std::int64_t>(elements), settings);
            // Rates that are floats here are doubles there: beta2, alpha and epsilon differ by 2^-25 of themselves.
            for (std::size_t i = 0; i < elements; ++i)
                EXPECT_NEAR(w[i], wanted[step * elements + i], 2e-5)
                    << optimiser_rules[r].name << ", step " << step + 1;
        }
    }
}

}  // namespace
}  // namespace gnnplan::kernels
