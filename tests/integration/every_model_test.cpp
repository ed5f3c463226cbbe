// Every model but GCN in the full space: every scheme on every grid of 1 to 12 ranks with combinations of layer choices,
// the dominated ones included, in turns with graphs and switches. Values equal the serial reference, bytes and memory
// equal the prediction.
#include "tests/integration/full_space_runs.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <deque>
#include <tuple>

namespace gnnplan::testing {
namespace {

struct Variant {
    const char* name;
    const char* model;
    models::MatrixForm matrix;
};

std::vector<Variant> variants() {
    return {{"SageMean", "sage", {false, Normalisation::row_mean}},
            {"SageSum", "sage", {false, Normalisation::none}},
            {"Gin", "gin", {true, Normalisation::none}}};
}

// The tiny graphs under one model. Inner widths differ from each other and from those at both ends; every other network
// has dropout, on the features too for some, and some have three layers.
class Problems {
public:
    explicit Problems(const Variant& variant) {
        const std::vector<TinyGraph> graphs = tiny_graphs();
        for (std::size_t i = 0; i < graphs.size(); ++i) {
            Network network{{i % 3 == 2 ? 2 : 6}, i % 2 == 0, 0, 0, variant.matrix, variant.model};
            if (i % 4 == 1) network.hidden.push_back(5);
            if (i % 2 == 1) network.dropout = 0.5F;
            if (i % 4 == 3) network.input_dropout = 0.25F;
            const TestProblem& problem = problems_.emplace_back(graphs[i], network);
            expected_.push_back(expect_of(problem, 2));
        }
    }

    // The index-th problem with so many layers that allows a constant input, or any.
    std::size_t pick(std::size_t index, std::size_t layers, bool constant_input) const {
        const auto fits = [&](const TestProblem& problem) {
            return problem.widths().size() == layers + 1 && !(constant_input && problem.network().input_dropout > 0);
        };
        while (!fits(problems_[index % problems_.size()])) ++index;
        return index % problems_.size();
    }
    const TestProblem& problem(std::size_t i) const { return problems_[i]; }
    const Expected& expected(std::size_t i) const { return expected_[i]; }

private:
    std::deque<TestProblem> problems_;
    std::vector<Expected> expected_;
};

class EveryModel : public ::testing::TestWithParam<std::tuple<std::size_t, int>> {
protected:
    static const Problems& problems() {
        static std::deque<Problems> of_variants = [] {
            std::deque<Problems> all;
            for (const Variant& variant : variants()) all.emplace_back(variant);
            return all;
        }();
        return of_variants[std::get<0>(GetParam())];
    }
};

TEST_P(EveryModel, EqualsReferenceAndPrediction) {
    const int ranks = std::get<1>(GetParam());
    std::size_t index = 0;
    int run = 0;
    for (const std::size_t layers : {2U, 3U}) {
        const TestProblem& first = problems().problem(problems().pick(0, layers, false));
        const exec::GraphCounts counts(first.dataset().graph());
        const search::Space space = space_of(first, counts, ranks);
        for (const Distribution& on : space.grids) {
            const std::size_t every = (ranks > 4 ? 12 : 4) * (layers == 3 ? 40 : 1);
            for (const search::Choices& choices : search::all_choices(space, on, false)) {
                if (++index % every != 0 || !sampled(run++)) continue;
                const int turn = static_cast<int>(index * 2654435761U >> 7U & 255U);
                const std::size_t which = problems().pick(index / every, layers, choices.front().constant_input);
                check_configuration(problems().problem(which), problems().expected(which), frame_of(on, turn), choices,
                                    turn / 128 % 2 == 1);
                if (HasFailure()) return;  // the first failure says enough
            }
        }
    }
    EXPECT_GT(run, 10);
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModel,
                         ::testing::Combine(::testing::Range<std::size_t>(0, variants().size()),
                                            ::testing::Values(1, 2, 3, 4, 6, 8, 9, 12)),
                         [](const auto& instance) {
                             return fmt::format("{}P{}", variants()[std::get<0>(instance.param)].name,
                                                std::get<1>(instance.param));
                         });

}  // namespace
}  // namespace gnnplan::testing
