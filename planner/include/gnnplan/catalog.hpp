// Machines and graphs to plan for that come with the library.
#pragma once

#include <gnnplan/ir/machine.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan {

// The sizes of a graph that is not read; they stand for it.
struct GraphSizes {
    std::int64_t vertices = 0;
    std::int64_t nonzeros = 0;       // entries of the matrix that the model multiplies by; an undirected edge has two
    bool symmetric = true;           // every edge has its reverse
    bool counts_self_loops = false;  // `nonzeros` has a self loop of every vertex, even for models that want none
    double train_fraction = 1;       // of the vertices, those that training uses
    std::int64_t features = 0;       // of a vertex; 0: not known
    std::int64_t classes = 0;        // 0: not known
    bool several_labels = false;     // a vertex may be in several classes: then ModelRecord::loss is a sigmoid
    // How many parts of a vertex cut have edges of a vertex on average (its replication factor), where it is not
    // counted: [i] of 2^(i + 1) parts, 0 where it is not known.
    std::vector<double> replication{};
    std::string name = "sizes";    // of the graph
    std::string source = "sizes";  // of its figures
};

// The sizes of the data set that `gnnplan datasets list` shows under this name, e.g. "reddit", or "reddit:cagnet" for
// the figures of another publication. Throws Error{missing_input} that lists near names.
GraphSizes card(std::string_view selector);

// The machine that `gnnplan machines list` shows under this name, e.g. "a6000x8" or "cpu-node". Not measured: orders
// and schemes found for it can be relied on more than times. Throws Error{missing_input} that lists near names.
Machine preset(std::string_view name);

}  // namespace gnnplan
