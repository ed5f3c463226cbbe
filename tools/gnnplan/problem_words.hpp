// The words that the flags of `plan` and `sweep` hold about problem, machine and search, and their meaning. Words are
// read when the command runs, and not while arguments are parsed, so that files that would be overwritten are spoken of
// first.
#pragma once

#include "tools/ask/machine.hpp"
#include "tools/ask/problem.hpp"

#include <gnnplan/select.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace gnnplan::tools {

struct PreparationFlags {
    std::string index_base;  // "": not said
    bool symmetrise = false;
    std::string split;
    std::string normalisation;  // "": the model's
    bool edge_weights = false;
    std::int64_t seed = 1;
    bool generate = false;
};

// ModelFlags describe the network, apart from its widths.
struct ModelFlags {
    std::string task = "train";
    std::string load;                    // "": by the task
    std::string fanout = "full";         // or a number for all layers, or one for each
    std::optional<std::string> sampler;  // of the batches that updates are of
    std::int64_t batches_per_update = 1;
    std::int64_t coverage = 50;
    std::string coefficients = "on";
    std::string sampled_graph = "all";
    std::string name = "gcn";
    std::string aggregator;  // "": the model's default
    bool bias = false;
    std::string activation;  // "": the model's
    std::vector<std::int64_t> pre, post;
    bool pre_activation = false;
    std::string residual;  // "": none
    std::string norm, norm_after = "sum";
    std::optional<std::int64_t> heads, output_heads;
    bool average_heads = false;
    std::optional<double> slope;
    std::optional<std::int64_t> hops;
    std::optional<double> teleport, theta;
    std::string jk;       // "": none
    std::string epsilon;  // "": 0; a number, or "train"
    std::string loss;     // "": the one that fits the labels
    bool rocauc = false;
};

// The space that is searched; unset: everything.
struct SearchFlags {
    std::string space = "full";
    std::optional<std::string> scheme, forward, backward, grid;
    std::optional<std::int64_t> replication;
    std::string extras = "on";
    std::map<std::string, std::string> switches;  // by key, as flags spell their values (switch_words.hpp)
    std::int64_t memory = 0;                      // bytes per rank; 0: the machine's
    std::int64_t buffer = 0;                      // bytes of a product's buffers; 0: any
};

struct ProblemFlags {
    Shape shape;
    PreparationFlags preparation;
    ModelFlags model;
    std::string machine;                         // "": the default, default_machine()
    std::optional<std::int64_t> ranks_per_node;  // unset: the machine's
    SearchFlags search;
};

data::IndexBase parse_index_base(const std::string& value);  // of --index-base
SearchSpace parse_space(const std::string& name);
std::optional<Loading> parse_loading(const std::string& name);  // of --load
Task parse_task(const std::string& name);

// These throw Error{usage} of words that mean nothing.
GraphReading reading_of(const PreparationFlags& flags);
Network network_of(const ModelFlags& flags);
SelectOptions select_options(const SearchFlags& flags);

// The machine to plan so many ranks for, with what there is to say of it: this one is probed where none is named and
// none was calibrated.
ChosenMachine chosen_machine(const ProblemFlags& flags, std::int64_t ranks);
// The same; says it.
Machine machine_and_say(const ProblemFlags& flags, std::int64_t ranks);

// Reads the graph where there is one to read, and says what was found.
LoadedProblem load_and_say(const Shape& shape, const GraphReading& reading, const Network& network);
// The same with what is searched in the plan's record. Throws Error{usage} when --partition has no graph to partition.
LoadedProblem load_and_say(const ProblemFlags& flags);
// The same; says nothing, as what was found is in the notes.
LoadedProblem load_problem(const ProblemFlags& flags);

}  // namespace gnnplan::tools
