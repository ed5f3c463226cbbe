// Configurations of the full space, run and compared with the serial reference and with what is predicted.
#pragma once

#include "planner/search/full_space.hpp"
#include "tests/integration/expectations.hpp"

#include <deque>
#include <vector>

namespace gnnplan::testing {

// Problems with what two epochs of them must give.
class ExpectedProblems {
public:
    void add(const TinyGraph& graph, const Network& network);

    const TestProblem& problem(std::size_t i) const { return problems_[i]; }
    const Expected& expected(std::size_t i) const { return expected_[i]; }

    // The index-th problem, in turns, or the next one that `fits`.
    template <class Fits>
    std::size_t pick(std::size_t index, const Fits& fits) const {
        while (!fits(problems_[index % problems_.size()])) ++index;
        return index % problems_.size();
    }

private:
    std::deque<TestProblem> problems_;
    std::vector<Expected> expected_;
};

// Whether a configuration fits a problem: one that relies on constant features, where none is dropped.
inline bool fits_input(const TestProblem& problem, const search::Choices& choices) {
    return !choices.front().constant_input || problem.network().input_dropout == 0;
}

search::Space space_of(const TestProblem& problem, const GraphStats& graph, int ranks);

// Switches by turns: every bit of the index decides one.
search::ConfigurationFrame frame_of(const Distribution& on, int turn);

// Runs one configuration of a problem, with source panels or without, and compares everything.
void check_configuration(const TestProblem& problem, const Expected& expected, const search::ConfigurationFrame& frame,
                         const search::Choices& choices, bool paneled);

}  // namespace gnnplan::testing
