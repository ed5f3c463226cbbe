// Every run must equal the serial reference, the predicted bytes, the predicted memory.
#pragma once

#include "tests/integration/run_schedule.hpp"

#include <gtest/gtest.h>

namespace gnnplan::testing {

// The serial training that a run of a problem must equal, and how closely.
//
// A value of the product is a float that went through at most 3 L + 1 matrix products of inner dimension k <= 32 after
// at most L + 1 roundings of stored operands. The relative error of such a product is at most k u of the sum of the
// absolute values of its terms, u = 2^-24; so the errors add up to (3 L + 1) 32 u < L 8e-6 of sums without
// cancellation. Values are compared relative to the largest one of their matrix, which cancels less than its sum of
// absolute values by a factor below 5 at these sizes: the tolerance is L 4e-5 of the largest element. It holds while no
// pre-activation changes its sign by rounding, which the distance to the kink guarantees.
//
// An Adam update changes by at most lr 3 d / (sqrt(v) + eps) when gradients change by d, and never by more than 2.5 lr:
// m and sqrt(v) are weighted means of the gradients and of their absolute values, so each moves by at most d.
struct Expected {
    std::vector<SerialEpoch> epochs;
    std::vector<double> found{};
    double valid_loss = 0;
    // Sums of ranks, where logits that are as near as rounding leaves them may be in any order.
    std::vector<double> least_ranks{}, most_ranks{};
    double relative = 0;
    double enlarged = 1;  // how much larger a norm makes the errors: it divides them by a deviation, which may be small
    std::vector<bool> running{};  // by vector of the model, whether no gradient but the rows themselves move it
};

// Trains the serial reference. Fails the test when a pre-activation is too near to 0 to compare gradients.
Expected expect_of(const TestProblem& problem, int epochs);
// The same of a run that trains on something else, and evaluates the problem.
Expected expect_of(const TestProblem& problem, const SerialProblem& trains, int epochs);

// Loss, gradients and weights of every epoch on every rank, and the counts of the evaluation.
void check_values(const TestProblem& problem, const std::vector<RankRun>& runs, const Expected& expected);

// The same for one rank.
void check_rank(const TestProblem& problem, const RankRun& run, const Expected& expected);

// The outputs of an inference with the weights that training begins with: every vertex is on one rank, and has the
// logits that the serial reference makes without dropout.
void check_outputs(const TestProblem& problem, const std::vector<RankRun>& runs);

// Bytes sent and received in each step of each epoch and of the evaluation, on each rank, exactly.
::testing::AssertionResult bytes_as_predicted(const Schedule& schedule, const std::vector<RankRun>& runs);

::testing::AssertionResult bytes_as_predicted(const Schedule& schedule, int rank, const RankRun& run);

// Allocated peak equals predicted peak on each rank, exactly.
::testing::AssertionResult peaks_as_predicted(const std::vector<RankRun>& runs);

}  // namespace gnnplan::testing
