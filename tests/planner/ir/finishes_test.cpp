// A dense product does some elementwise steps itself.
#include <gnnplan/ir/finishes.hpp>

#include <gnnplan/ir/work.hpp>

#include <gtest/gtest.h>

namespace gnnplan {
namespace {

enum : TensorId { x, w, z, mask, other, v };

const GemmStep product{x, w, z, false};
const MapStep activation{MapOp::activate, z, {}, mask, 1, Activation::relu, true};
const MapStep masking{MapOp::apply_mask, z, mask, {}, 1, Activation::none, false};
const MapStep made_mask{MapOp::positive_mask, other, {}, mask, 1, Activation::none, false};
const WeightGradStep gradient{x, other, v};

// The product of a schedule of these steps does this besides; the step that it spares says so, and no other.
std::optional<MapOp> done_by_product(const std::vector<Operation>& operations, const Blocking& blocking = {},
                                     std::optional<std::size_t> in_evaluation = {}) {
    Schedule schedule;
    schedule.blocking = blocking;
    for (std::size_t i = 0; i < operations.size(); ++i)
        schedule.steps.push_back({"", i == in_evaluation ? Phase::evaluation : Phase::epoch, operations[i]});
    mark_finishes(schedule);
    std::optional<MapOp> done;
    int spared = 0;
    for (const Step& step : schedule.steps) {
        if (const auto* gemm = std::get_if<GemmStep>(&step.operation); gemm != nullptr && gemm->then)
            done = gemm->then->op;
        if (const auto* map = std::get_if<MapStep>(&step.operation)) spared += map->done_before ? 1 : 0;
    }
    EXPECT_EQ(spared, done ? 1 : 0);
    return done;
}

TEST(Finishes, AreWhatFollowsInPlace) {
    EXPECT_EQ(done_by_product({product, activation, gradient}), MapOp::activate);
    EXPECT_EQ(done_by_product({product, masking}), MapOp::apply_mask);
    EXPECT_EQ(done_by_product({product, MapStep{MapOp::activation_gradient, z, other, {}, 1, Activation::elu, false}}),
              MapOp::activation_gradient);
    EXPECT_EQ(done_by_product({product, gradient, AllReduceStep{v}, masking}), MapOp::apply_mask) << "not used between";
    EXPECT_EQ(done_by_product({product, activation, gradient, masking}), MapOp::activate) << "the first one";
}

TEST(Finishes, AreNoOtherSteps) {
    EXPECT_EQ(done_by_product({product, MapStep{MapOp::column_sum, z, {}, v, 1, Activation::none, false}}),
              std::nullopt);
    EXPECT_EQ(done_by_product({product, MapStep{MapOp::add, z, other, {}, 1, Activation::none, false}}), std::nullopt);
    EXPECT_EQ(done_by_product({GemmStep{x, w, z, false, true}, masking}), std::nullopt) << "added to what was there";
    EXPECT_EQ(done_by_product({product, RedistributeStep{z, other}, masking}), std::nullopt) << "used before";
    EXPECT_EQ(done_by_product({product, made_mask, masking}), std::nullopt) << "its mask is made between";
    EXPECT_EQ(done_by_product({product, masking}, {}, 1), std::nullopt) << "of another phase";
    EXPECT_EQ(done_by_product({product, masking}, gpu_blocking(1 << 20)), std::nullopt) << "of a GPU";
}

// A mask that is made may lie where the product's operand lay, unless that is used later.
TEST(Finishes, MakeNoMaskOverTheOperand) {
    EXPECT_EQ(done_by_product({product, activation}), std::nullopt);
    EXPECT_EQ(done_by_product({product, gradient, activation}), std::nullopt);
    EXPECT_EQ(done_by_product({product, AllReduceStep{v}, activation, gradient}), std::nullopt) << "or another's place";
    MapStep without = activation;
    without.out = std::nullopt;
    EXPECT_EQ(done_by_product({product, without}), MapOp::activate);
}

}  // namespace
}  // namespace gnnplan
