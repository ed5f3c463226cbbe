// Which graph and network to plan for, as people say it, and what that amounts to.
#pragma once

#include "runtime/data/dataset.hpp"

#include <gnnplan/select.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

inline constexpr std::int64_t max_width = std::int64_t{1} << 24;
inline constexpr std::int64_t max_layers = 1000;
inline constexpr std::int64_t max_nonzeros = std::int64_t{1} << 42;

// Sizes of graph and network.
struct ShapeFlags {
    std::string graph;  // a card, or a path where paths are taken: a card's name is the card, ./NAME the path
    std::optional<std::int64_t> vertices, nonzeros, features, classes;
    bool symmetric = false;  // of the graph that --vertices and --nonzeros describe
    std::int64_t layers = 2;
    std::int64_t hidden = 128;
    std::vector<std::int64_t> widths;  // f_0 .. f_L, in place of features, hidden, layers and classes
    std::int64_t ranks = 1;
    std::optional<double> train_fraction;  // of the vertices; unset: a graph that is read says, else all of them
};

// How a graph that is read is prepared.
struct PreparationFlags {
    std::string index_base;  // "": not said
    bool symmetrise = false;
    std::string split;
    std::string normalisation;  // "": the model's
    bool edge_weights = false;
    std::int64_t seed = 1;
    bool generate = false;  // generate what the data lacks, whatever else it holds
};

// Which network, apart from its widths.
struct ModelFlags {
    std::string task = "train";
    std::string load;             // "": by the task
    std::string fanout = "full";  // or a number for all layers, or one for each
    std::string name = "gcn";
    std::string aggregator;  // "": the model's default
    bool bias = false;
    std::string activation;  // "": the model's
    bool residual = false;
    std::optional<std::int64_t> heads, output_heads;
    bool average_heads = false;
    std::optional<double> slope;
    std::string jk;       // "": none, or "concat"
    std::string epsilon;  // "": 0; a number, or "train"
};
// What --index-base says.
data::IndexBase parse_index_base(const std::string& value);

// What the flags tell of a graph without reading one.
struct GraphSizes {
    std::string name, source;
    std::int64_t vertices = 0;
    std::int64_t nonzeros = 0;
    bool symmetric = true;
    std::int64_t features = 0;  // 0: not known
    std::int64_t classes = 0;
};
bool is_card(const std::string& selector);
// From a card, or from --vertices and --nonzeros. Throws Error{usage} when neither says enough.
GraphSizes graph_sizes(const ShapeFlags& flags);
// Returns f_0 .. f_L. Throws Error{usage} when a width is not known, and names the unread data that may tell it.
std::vector<std::int64_t> widths_of(const ShapeFlags& flags, std::int64_t features, std::int64_t classes,
                                    const data::Leftovers& leftovers = {});

// A problem and what it points to.
struct LoadedProblem {
    Problem problem;
    std::unique_ptr<data::Dataset> dataset;
    std::unique_ptr<GraphStats> graph;
    std::int64_t features = 0, classes = 0;  // of the data or the card; 0: not known
};
// Reads the graph when --graph is a path, with self loops if the model wants them; what was found goes to stderr.
LoadedProblem load_problem(const ShapeFlags& shape, const PreparationFlags& preparation, const ModelFlags& model = {});
// The same graph with the network and the ranks of `shape`; refers to `loaded`.
Problem with_shape(const LoadedProblem& loaded, const ShapeFlags& shape);

// A preset's name or the file of a profile.
Machine load_machine(const std::string& name_or_file);
// The same, "" for default_machine(ranks).
Machine load_machine(const std::string& name_or_file, std::int64_t ranks);

}  // namespace gnnplan::tools
