#include "runtime/train/match.hpp"

#include "tests/runtime/train/fixture.hpp"

namespace gnnplan::train {
namespace {

// The code of the error `work` throws, or nothing.
template <class Work>
std::optional<ErrorCode> failure(Work&& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.code();
    }
    return std::nullopt;
}

class Match : public ::testing::Test {
protected:
    data::Dataset dataset_ = testing::open(gnnplan::testing::random_symmetric(17, 3, 5, 3, 2));
    Plan plan_ = testing::make_plan(dataset_, 4, false, 2, {{2, 10}, {1, 3}});

    std::optional<ErrorCode> mismatch() {
        return failure([&] { static_cast<void>(match_data(plan_, dataset_)); });
    }
};

TEST_F(Match, TakesTheGraphItWasMadeFor) { EXPECT_EQ(mismatch(), std::nullopt); }

TEST_F(Match, RefusesAnotherFingerprint) {
    plan_.fingerprints.graph = "0123456789abcdef";
    EXPECT_EQ(mismatch(), ErrorCode::mismatch);
}

TEST_F(Match, RefusesOtherSizes) {
    plan_.fingerprints.graph.clear();
    EXPECT_EQ(mismatch(), std::nullopt);
    const Plan original = plan_;
    plan_.problem.graph.vertices += 1;
    EXPECT_EQ(mismatch(), ErrorCode::mismatch);
    plan_ = original;
    plan_.problem.model.widths.front() += 1;
    EXPECT_EQ(mismatch(), ErrorCode::mismatch);
    plan_ = original;
    plan_.problem.model.widths.back() += 1;
    EXPECT_EQ(mismatch(), ErrorCode::mismatch);
}

TEST_F(Match, NonzerosOfASizesPlanMayDifferALittle) {
    plan_.fingerprints.graph.clear();
    plan_.problem.graph.nonzeros += 1;
    EXPECT_EQ(match_data(plan_, dataset_).size(), 1U);
    plan_.problem.graph.nonzeros *= 3;
    EXPECT_EQ(mismatch(), ErrorCode::mismatch);
}

TEST_F(Match, RefusesADirectedGraphForASymmetricPlan) {
    const data::Dataset directed = testing::open(gnnplan::testing::random_directed(17, 3, 5, 3, 2));
    plan_.fingerprints.graph.clear();
    EXPECT_EQ(failure([&] { static_cast<void>(match_data(plan_, directed)); }), ErrorCode::mismatch);
}

TEST_F(Match, UsesOnlyCandidatesThatAllowDropoutOnTheInput) {
    TrainOptions options;
    plan_.candidates[0].configuration.constant_input = true;
    EXPECT_EQ(usable_candidates(plan_, options), (std::vector<int>{0, 1}));
    options.dropout = 0.5;
    EXPECT_EQ(usable_candidates(plan_, options), (std::vector<int>{1}));
    options.input_dropout = 0;
    EXPECT_EQ(usable_candidates(plan_, options), (std::vector<int>{0, 1}));
    options.input_dropout = 0.1;
    plan_.candidates[1].configuration.constant_input = true;
    EXPECT_EQ(failure([&] { static_cast<void>(usable_candidates(plan_, options)); }), ErrorCode::mismatch);
}

TEST_F(Match, PredictionsMustFollowFromTheSchedule) {
    EXPECT_EQ(failure([&] { check_predicted_bytes(plan_); }), std::nullopt);
    for (Tensor& tensor : plan_.candidates[0].schedule.tensors) {
        if (tensor.name.starts_with("T2.")) tensor.columns += 1;
    }
    EXPECT_EQ(failure([&] { check_predicted_bytes(plan_); }), ErrorCode::data);
}

}  // namespace
}  // namespace gnnplan::train
