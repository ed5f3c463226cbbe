// Configurations of the full space, run and compared with the serial reference and with what is predicted.
#pragma once

#include "planner/search/full_space.hpp"
#include "tests/integration/expectations.hpp"

#include <array>
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

search::Space space_of(const TestProblem& problem, const GraphStats& graph, int ranks, Task task = Task::train);

// Switches that can be on or off in any configuration.
struct Switches {
    bool needed_rows = false;  // exchanged, else panels
    bool overlap = false;
    bool loss_rows = false;
    bool permutation = false;
    bool parts = false;
    bool factored = false;
    bool source_panels = false;
    std::int64_t buffer_bytes =
        0;                 // that products may have of what others send; as few as they can where these are too few
    bool relayed = false;  // panels, or rows, that are exchanged
    NodeAxis node_axis = NodeAxis::y;
    int recompute = 0;
};

// Every two switches are off and off, off and on, on and off, and on and on together in some of the rows (an orthogonal
// array of strength 2: three switches are free, the others are sums of these modulo 2).
inline constexpr std::array<Switches, 8> pairwise_switches = {{
    {false, false, false, false, false, false, false},
    {true, false, false, true, true, false, true},
    {false, true, false, true, false, true, true},
    {true, true, false, false, true, true, false},
    {false, false, true, false, true, true, true},
    {true, false, true, true, false, true, false},
    {false, true, true, true, true, false, false},
    {true, true, true, false, false, false, true},
}};

// The rows in turns that do not keep step with choices, which come in powers of two; two runs in five with buffers of
// any size, and each row with each of the others.
inline Switches switches_in_turn(std::size_t run) {
    constexpr std::array<std::int64_t, 5> buffers{0, 1, 0, 1024, 192};
    Switches switches = pairwise_switches[(run + run / 8 + run / 64) % pairwise_switches.size()];
    switches.buffer_bytes = buffers[run % buffers.size()];
    switches.relayed = run / 16 % 2 == 1;
    switches.node_axis = static_cast<NodeAxis>((run + run / 3 + run / 9) % 3);
    switches.recompute = remade_from_norms + static_cast<int>((run / 2 + run / 7) % 4);
    return switches;
}

// Each way of making scores of edges in turn.
inline Scores scores_in_turn(int run) { return static_cast<Scores>(run % 3); }

// Deals edges to the ranks of a frame whose ranks share them by a cut.
void cut_by(CutRule rule, search::ConfigurationFrame& frame);

// The switches where they apply on a grid.
search::ConfigurationFrame frame_of(const Distribution& on, const Switches& switches);

// Runs one configuration of a problem and compares everything.
void check_configuration(const TestProblem& problem, const Expected& expected, const Distribution& on,
                         const Switches& switches, const search::Choices& choices, Scores scores = Scores::columns);

// The same of an inference: the outputs of every vertex, by exactly one rank, are those of an evaluation of the model.
// Where dense products may be rings, once more with these.
void check_inference(const TestProblem& problem, const Distribution& on, const Switches& switches,
                     const search::Choices& choices, Scores scores = Scores::columns);

}  // namespace gnnplan::testing
