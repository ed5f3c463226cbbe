// A tiny graph and a network on it, once for the product and once for the serial reference.
#pragma once

#include "runtime/data/dataset.hpp"
#include "tests/support/tiny_graphs.hpp"

#include <gnnplan/ir/plan.hpp>
#include <gnnplan/select.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan::testing {

struct Network {
    std::vector<std::int64_t> hidden;  // widths between the features and the classes
    bool bias = false;
    float dropout = 0;
    float input_dropout = 0;
    models::MatrixForm matrix = {};
    ModelRecord model = {};  // apart from widths and bias
    float attention_dropout = 0;
    std::vector<std::int64_t> fanout = {};  // of an inference: what its layers draw
};

class TestProblem {
public:
    // Writes the graph to a folder and loads it with the product's reader.
    TestProblem(const TinyGraph& graph, Network network);

    std::string name() const;  // for test messages
    const data::Dataset& dataset() const { return dataset_; }
    const SerialProblem& serial() const { return serial_; }
    SerialSettings serial_settings(double weight_decay) const;
    const Network& network() const { return network_; }
    const std::vector<std::int64_t>& widths() const { return serial_.widths; }

    // The problem that the planner is asked to solve; `graph` must answer for dataset().graph().
    Problem planner_problem(const GraphStats& graph, int ranks) const;

private:
    std::string name_;
    Network network_;
    SerialProblem serial_;
    TemporaryFolder folder_;
    data::Dataset dataset_;
};

// A machine with plausible figures; no test depends on them.
Machine test_machine();

// Every configuration of `problem` on `ranks` ranks with R_A = `replication`, lowered and costed, by paper id.
std::vector<Candidate> configurations(const TestProblem& problem, const GraphStats& graph, int ranks, int replication);

// Divisors of the ranks.
std::vector<int> replications(int ranks);

}  // namespace gnnplan::testing
