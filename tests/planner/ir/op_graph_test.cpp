#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>
#include <gnnplan/models.hpp>

namespace gnnplan {
namespace {

TEST(ProductChain, ReadsAGcn) {
    const auto layers = product_chain(models::gcn({602, 128, 41}, true));
    ASSERT_EQ(layers.size(), 2U);
    EXPECT_EQ(layers[0].in_width, 602);
    EXPECT_EQ(layers[0].out_width, 128);
    EXPECT_TRUE(layers[0].dropout && layers[0].bias && layers[0].relu);
    EXPECT_EQ(layers[1].out_width, 41);
    EXPECT_TRUE(layers[1].dropout && layers[1].bias);
    EXPECT_FALSE(layers[1].relu);
}

TEST(ProductChain, RefusesWhatIsNoChain) {
    OpGraph skip = models::gcn({8, 4, 2}, false);
    skip.ops[3].inputs = {0};
    EXPECT_THROW(product_chain(skip), Error);
    OpGraph unfinished = models::gcn({8, 4, 2}, false);
    unfinished.ops.pop_back();
    EXPECT_THROW(product_chain(unfinished), Error);
    EXPECT_THROW(product_chain(OpGraph{}), Error);
}

TEST(Models, RegistryBuildsByNameAndRefusesTheRest) {
    EXPECT_EQ(models::build("gcn", {8, 4, 2}, false).model, "gcn");
    EXPECT_THROW(models::build("gnc", {8, 4, 2}, false), Error);
    EXPECT_THROW(models::build("gcn", {8}, false), Error);
    EXPECT_THROW(models::build("gcn", {8, 0, 2}, false), Error);
}

}  // namespace
}  // namespace gnnplan
