// Configurations of the full space, run and compared with the serial reference and with what is predicted.
#pragma once

#include "planner/search/full_space.hpp"
#include "tests/integration/expectations.hpp"

namespace gnnplan::testing {

search::Space space_of(const TestProblem& problem, const GraphStats& graph, int ranks);

// Switches by turns: every bit of the index decides one.
search::ConfigurationFrame frame_of(const Distribution& on, int turn);

// Runs one configuration of a problem, with source panels or without, and compares everything.
void check_configuration(const TestProblem& problem, const Expected& expected, const search::ConfigurationFrame& frame,
                         const search::Choices& choices, bool paneled);

}  // namespace gnnplan::testing
