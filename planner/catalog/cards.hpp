// Data set cards: the sizes of every data set of the five papers, and of others that many train on, enough to plan
// without the data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::catalog {

// The meaning of a printed edge count; it decides the nonzeros of the propagation matrix.
enum class EdgeCount : std::uint8_t {
    nonzeros,      // the stored entries, self loops included: nonzeros = edges
    off_diagonal,  // the stored entries (an undirected edge twice) without self loops: nonzeros = edges + vertices
};

struct Card {
    std::string name;           // "reddit"
    std::string variant;        // the publication the figures are from: "rdm", "cagnet", ...
    std::int64_t vertices = 0;  // as printed
    std::int64_t edges = 0;     // as printed
    EdgeCount edge_count = EdgeCount::nonzeros;
    std::int64_t nonzeros = 0;    // of the propagation matrix, self loops included, by the rule of `edge_count`
    bool symmetric = true;        // every edge is stored in both directions
    bool rounded = false;         // printed in thousands, millions or billions: sizes are good to two or three digits
    std::int64_t features = 0;    // 0: the publication does not say
    std::int64_t classes = 0;     // 0: the publication does not say
    bool several_labels = false;  // a vertex may be in several classes
    std::optional<std::int64_t> training_vertices;  // where the publication says
    std::vector<double> replication;  // factors of vertex cuts in 2, 4, ... parts: DistGNN Table 4; 0: not printed
    std::string source;               // "GNN-RDM Table V"
    std::string note;                 // what a reader of the figures should know; may be empty
};

// Every card; the variants of a data set stand together, the default one first.
std::span<const Card> cards();

// The names of the data sets, each once.
std::vector<std::string> card_names();

// The variants of one data set, the default first; empty when there is no such data set.
std::span<const Card> variants_of(std::string_view name);

// The card for "NAME" (its default variant) or "NAME:VARIANT".
// Throws Error{missing_input} that lists near names, or the variants there are.
const Card& find_card(std::string_view selector);

// The name that selects this card: "reddit" for a default variant, else "reddit:cagnet".
std::string selector_of(const Card& card);

}  // namespace gnnplan::catalog
