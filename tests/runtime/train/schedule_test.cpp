// Schedules of learning rates against PyTorch's (golden/optimisers_torch.txt).
#include "runtime/train/schedule.hpp"

#include "tests/support/golden.hpp"

#include <gnnplan/base/error.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace gnnplan::train {
namespace {

TEST(RateSchedule, IsPyTorchs) {
    auto golden = gnnplan::testing::read_golden(GNNPLAN_GOLDEN_DIR "/optimisers_torch.txt");
    const std::vector<double>& losses = golden["losses"];
    ASSERT_EQ(losses.size(), 16U);
    for (const std::string text : {"warmup:5", "step:3:0.5", "cosine:16", "plateau:0.5:1", "plateau:0.25:0"}) {
        const std::vector<double>& wanted = golden[text];
        ASSERT_EQ(wanted.size(), losses.size()) << text;
        RateCourse course(read_schedule(text), golden["learning_rate"].at(0));
        for (std::size_t epoch = 0; epoch < losses.size(); ++epoch) {
            EXPECT_NEAR(course.factor(), wanted[epoch], 1e-12) << text << ", epoch " << epoch + 1;
            course.add(losses[epoch]);
        }
    }
}

TEST(RateSchedule, StopsReducingWhereRatesNoLongerMatter) {
    RateCourse course(read_schedule("plateau:0.5:0"), 1e-7);
    for (int epoch = 0; epoch < 100; ++epoch) course.add(1);
    EXPECT_GE(1e-7 * course.factor(), 1e-8);
    EXPECT_LT(course.factor(), 1);
}

TEST(RateSchedule, IsReadAsItIsWritten) {
    for (const std::string text : {"", "warmup:50", "step:100:0.5", "cosine:200", "plateau:0.1:0"})
        EXPECT_EQ(text_of(read_schedule(text)), text);
    EXPECT_EQ(RateCourse(read_schedule(""), 0.01).factor(), 1);
    for (const std::string text : {"linear:5", "warmup", "warmup:0", "warmup:x", "warmup:5:5", "step:5", "step:0:0.5",
                                   "step:5:1", "step:5:0", "step:5:nan", "cosine:", "cosine:1.5", "plateau:5:0.5",
                                   "plateau:0.5:-1", ":", "step:99999999999999999999:0.5"})
        EXPECT_THROW(read_schedule(text), Error) << text;
}

}  // namespace
}  // namespace gnnplan::train
