#include "runtime/deploy/match.hpp"

#include "tests/runtime/train/fixture.hpp"

#include <algorithm>

namespace gnnplan::deploy {
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
    data::Dataset dataset_ = train::testing::open(gnnplan::testing::random_symmetric(17, 3, 5, 3, 2));
    Plan plan_ = train::testing::make_plan(dataset_, 4, false, 2, {{2, 10}, {1, 3}});

    std::optional<ErrorCode> mismatch() {
        return failure([&] { static_cast<void>(match_data(plan_, dataset_)); });
    }
};

TEST_F(Match, TakesTheGraphItWasMadeFor) { EXPECT_EQ(mismatch(), std::nullopt); }

TEST_F(Match, ReadsIdsAsThePlanDid) {
    EXPECT_EQ(dataset_options(plan_, FeatureNorm::none).index_base, data::IndexBase::zero);
    plan_.problem.graph.index_base = 1;
    EXPECT_EQ(dataset_options(plan_, FeatureNorm::none).index_base, data::IndexBase::one);
}

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
    const data::Dataset directed = train::testing::open(gnnplan::testing::random_directed(17, 3, 5, 3, 2));
    plan_.fingerprints.graph.clear();
    EXPECT_EQ(failure([&] { static_cast<void>(match_data(plan_, directed)); }), ErrorCode::mismatch);
}

TEST_F(Match, RefusesOtherWeightsOfEdges) {
    gnnplan::testing::TinyGraph graph = gnnplan::testing::weighted_tiny_graphs()[1];
    const auto load = [&](bool edge_weights) {
        const gnnplan::testing::TemporaryFolder folder;
        gnnplan::testing::write_ogb(graph, folder.path() / "graph");
        return data::open_dataset(folder.path() / "graph", {.preparation = {.edge_weights = edge_weights}});
    };
    const data::Dataset weighted = load(true);
    Plan plan = train::testing::make_plan(weighted, 2, false, 2, {{2, 10}});
    EXPECT_TRUE(dataset_options(plan, FeatureNorm::none).preparation.edge_weights);
    const auto mismatch_of = [&](const data::Dataset& dataset) {
        return failure([&] { static_cast<void>(match_data(plan, dataset)); });
    };
    EXPECT_EQ(mismatch_of(weighted), std::nullopt);
    EXPECT_EQ(mismatch_of(load(false)), ErrorCode::mismatch);
    graph.weights.front() += 1;  // of one direction, so that the graph is directed now
    EXPECT_EQ(mismatch_of(load(true)), ErrorCode::mismatch);
    plan.fingerprints.graph.clear();
    EXPECT_EQ(mismatch_of(load(true)), ErrorCode::mismatch);
}

TEST_F(Match, UsesOnlyCandidatesThatAllowDropoutOnTheInput) {
    train::TrainOptions options;
    plan_.candidates[0].configuration.constant_input = true;
    EXPECT_EQ(usable_candidates(plan_, options.features_dropout()), (std::vector<int>{0, 1}));
    options.dropout = 0.5;
    EXPECT_EQ(usable_candidates(plan_, options.features_dropout()), (std::vector<int>{1}));
    options.input_dropout = 0;
    EXPECT_EQ(usable_candidates(plan_, options.features_dropout()), (std::vector<int>{0, 1}));
    options.input_dropout = 0.1;
    plan_.candidates[1].configuration.constant_input = true;
    EXPECT_EQ(failure([&] { static_cast<void>(usable_candidates(plan_, options.features_dropout())); }),
              ErrorCode::mismatch);
}

TEST_F(Match, PredictionsLeaveOutDropoutThatIsNotAskedFor) {
    train::TrainOptions options;
    options.dropout = 0.5;
    const auto dropped = [&](const Candidate& candidate) {
        const auto& steps = candidate.schedule.steps;
        return std::find_if(steps.begin(), steps.end(),
                            [](const Step& step) {
                                const auto* map = std::get_if<MapStep>(&step.operation);
                                return step.phase == Phase::epoch && map != nullptr && map->op == MapOp::dropout;
                            }) -
               steps.begin();
    };
    const auto at = static_cast<std::size_t>(dropped(plan_.candidates[0]));
    ASSERT_LT(at, plan_.candidates[0].schedule.steps.size());
    const double step = plan_.candidates[0].predicted.step_seconds.at(at);
    const double epoch = plan_.candidates[0].predicted.epoch_seconds;
    ASSERT_GT(step, 0);
    leave_out_idle_dropout(plan_, options.features_dropout());
    EXPECT_EQ(plan_.candidates[0].predicted.epoch_seconds, epoch);
    options.input_dropout = 0;
    leave_out_idle_dropout(plan_, options.features_dropout());
    EXPECT_EQ(plan_.candidates[0].predicted.step_seconds[at], 0);
    EXPECT_DOUBLE_EQ(plan_.candidates[0].predicted.epoch_seconds, epoch - step);
}

// Candidates that compute only the rows of the loss were made for so many of them.
class PrunedRows : public ::testing::Test {
protected:
    // A schedule of two layers that computes so many rows of H^1 and H^2 instead of all.
    Candidate pruned(std::int64_t rows_of_1, std::int64_t rows_of_2) const {
        Candidate candidate;
        candidate.schedule.numbering.loss_layers = 2;
        candidate.schedule.spaces = {
            {"vertices", dataset_.vertices(), 0}, {"needed.1", rows_of_1, 1}, {"needed.2", rows_of_2, 2}};
        return candidate;
    }
    std::vector<int> usable(std::vector<Candidate> candidates) const {
        Plan plan;
        plan.candidates = std::move(candidates);
        return usable_candidates(plan, 0, &dataset_);
    }

    data::Dataset dataset_ = train::testing::open(gnnplan::testing::random_directed(60, 1.2, 5, 3, 2));
    std::vector<std::int64_t> rows_ = data::loss_row_counts(dataset_.graph(), dataset_.subset(), 2);
};

TEST_F(PrunedRows, AreThoseOfThisGraph) {
    ASSERT_LT(rows_[2], rows_[1]);
    ASSERT_LT(rows_[1], rows_[0]);
    EXPECT_EQ(usable({pruned(rows_[1], rows_[2])}), std::vector<int>{0});
}

TEST_F(PrunedRows, OfAnEstimateAreSkipped) {
    const Candidate real = pruned(rows_[1], rows_[2]);
    EXPECT_EQ(usable({pruned(rows_[1] - 1, rows_[2]), real}), std::vector<int>{1});
    EXPECT_EQ(usable({pruned(rows_[1], rows_[2] + 1), real}), std::vector<int>{1});
    EXPECT_EQ(usable({pruned(dataset_.vertices(), rows_[2]), real}), std::vector<int>{1});
    // Each is a number of rows that some layer needs, but not this one.
    EXPECT_EQ(usable({pruned(rows_[2], rows_[2]), real}), std::vector<int>{1});
}

TEST_F(PrunedRows, OfAnEstimateAreRefusedWhenThereIsNothingElse) {
    try {
        usable({pruned(rows_[1] + 1, rows_[2])});
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::mismatch);
        const std::string what = error.what();
        EXPECT_NE(what.find("estimated to need"), std::string::npos) << what;
        EXPECT_NE(what.find("`graph`"), std::string::npos) << what;
    }
}

// Without data, options alone decide.
TEST_F(PrunedRows, AreTakenOnTrustWithoutData) {
    Plan plan;
    plan.candidates = {pruned(1, 1)};
    EXPECT_EQ(usable_candidates(plan, 0), std::vector<int>{0});
}

TEST_F(Match, PredictionsMustFollowFromTheSchedule) {
    EXPECT_EQ(failure([&] { check_predicted_bytes(plan_); }), std::nullopt);
    for (Tensor& tensor : plan_.candidates[0].schedule.tensors) {
        if (tensor.name.starts_with("T2.")) tensor.columns += 1;
    }
    EXPECT_EQ(failure([&] { check_predicted_bytes(plan_); }), ErrorCode::data);
}

}  // namespace
}  // namespace gnnplan::deploy
