// The graph and the network of a question, and the problem that follows from them. Notes for the user are returned;
// nothing is printed.
#pragma once

#include "runtime/data/dataset.hpp"

#include <gnnplan/models.hpp>
#include <gnnplan/question.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

inline constexpr std::int64_t max_width = std::int64_t{1} << 24;
inline constexpr std::int64_t max_vertices = (std::int64_t{1} << 31) - 1;
inline constexpr std::int64_t max_layers = 1000;
inline constexpr std::int64_t max_nonzeros = std::int64_t{1} << 42;
inline constexpr std::int64_t max_heads = 1024;

// Sizes of graph and network.
struct Shape {
    std::string graph;  // a card, or a path where paths are taken: a card's name is the card, ./NAME the path
    std::optional<std::int64_t> vertices, nonzeros, features, classes;
    bool symmetric = false;              // of the graph that has `vertices` and `nonzeros`
    std::optional<std::int64_t> layers;  // unset: as many as the model usually has
    std::int64_t hidden = 128;
    std::vector<std::int64_t> widths;  // f_0 .. f_L, in place of features, hidden, layers and classes
    std::int64_t ranks = 1;
    std::optional<double> replication_factor;  // of a vertex cut in any number of parts, where no graph is read
    std::optional<double> train_fraction;      // of the vertices; unset: a graph that is read says, else all of them
};

// How a graph is read and prepared.
struct GraphReading {
    data::IndexBase index_base = data::IndexBase::unsaid;
    bool symmetrise = false;
    std::string split;                           // "": the only one
    std::optional<Normalisation> normalisation;  // unset: the model's
    bool edge_weights = false;
    std::uint64_t seed = 1;
    bool generate = false;  // generate what the data lacks, whatever else it holds
};

// The task on the graph, and the network. The widths of the model follow from Shape.
struct Network {
    ModelRecord model;
    Task task = Task::train;
    std::optional<Loading> loading;    // unset: in shares for inference, whole for training
    std::vector<std::int64_t> fanout;  // in-neighbours that each layer draws, or one number for all; empty: all of them
    std::optional<Batches> batches;    // that updates are of, but for their seed; unset: updates are of the graph
    std::optional<Loss> loss = {};     // unset: the one that fits the labels
};

bool is_card(const std::string& selector);
// Whether `shape` names a graph that is read: it names one, and not a card.
bool reads_graph(const Shape& shape);
// From a card, or from the numbers of vertices and nonzeros. Throws Error{usage} when neither says enough.
GraphSizes graph_sizes(const Shape& shape);
// Returns f_0 .. f_L. Throws Error{usage} when a width is not known, and names the unread data that may tell it.
std::vector<std::int64_t> widths_of(const Shape& shape, const std::string& model, std::int64_t features,
                                    std::int64_t classes, const data::Leftovers& leftovers = {});

// A graph that was read, with self loops if the model wants them, or sizes that stand for one.
struct ReadGraph {
    ProblemRecord record;  // task, model, loading and fanout
    std::optional<Loss> loss;
    models::MatrixForm form;
    std::unique_ptr<data::Dataset> dataset;  // null: sizes
    std::vector<std::string> notes;          // what was found, for the user: whole lines
};
// Throws Error{usage} of a network that there is not, and what opening a data set throws.
ReadGraph read_graph(const Shape& shape, const GraphReading& reading, const Network& network = {});

// A problem and what it points to.
struct LoadedProblem {
    Problem problem;  // its graph refers to the data set
    std::unique_ptr<data::Dataset> dataset;
    std::int64_t features = 0, classes = 0;  // of the data or the card; 0: not known
    std::vector<std::int64_t> pre, post;     // the linear maps before and behind the layers that were asked for
    std::vector<std::string> notes;          // of ReadGraph
};
// The network of `shape` on a graph that was read. Throws Error{usage} or Error{data} where the two do not go together.
LoadedProblem problem_on(ReadGraph graph, const Shape& shape, const GraphReading& reading);
// Both in one.
LoadedProblem load_problem(const Shape& shape, const GraphReading& reading, const Network& network = {});
// The same graph with the network and the ranks of `shape`; refers to the data set of `loaded`.
Problem with_shape(const LoadedProblem& loaded, const Shape& shape);

// Throws Error{usage} where a partition is asked for, and there is no graph to partition or it is loaded in shares.
void check_partition(bool partition, const Shape& shape, std::optional<Loading> loading);

}  // namespace gnnplan::tools
