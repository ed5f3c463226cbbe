// A plain name is the graph that people download: as OGB, PyTorch Geometric or SNAP's text gives it, prepared as
// gnnplan prepares data (listed self loops and duplicates dropped, one self loop a vertex). Figures of papers are
// variants.
//
// Why an edge count is taken as nonzeros or as off-diagonal entries:
// - CAGNET says that nnz(A) is "the number of edges in the graph with self loops added"; GNN-RDM builds on its code.
//   114,848,857 for Reddit is 114,615,892 (DistGNN's count, without loops) + 232,965 vertices, so loops are in it.
// - GNN-RDM's Table X grows by 12 bytes per printed edge and replica for the graphs of Table V: the printed counts
//   are the stored entries, also where the name's usual graph has more.
// - DistGNN prints directed edges and adds each vertex's own features in the aggregation: loops come on top.
// - MG-GCN rounds; 115M and 126M agree with Reddit and Products with loops, 1.16M and 1.61B with the graphs without.
#include "planner/catalog/card_table.hpp"

#include <gnnplan/base/checked.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace gnnplan::catalog {
namespace {

struct Publication {
    const char* variant;
    const char* source;
    bool rounded;  // prints two or three digits
};

constexpr Publication rdm{"rdm", "GNN-RDM Table V", false};
constexpr Publication cagnet{"cagnet", "CAGNET Table 3", false};
constexpr Publication mg_gcn{"mg-gcn", "MG-GCN Table 1", true};
constexpr Publication distgnn{"distgnn", "DistGNN Table 2", false};
constexpr Publication deal{"deal", "DEAL Table 4; features from section 4.1", true};
constexpr Publication planetoid{
    "planetoid", "Planetoid (Yang et al. 2016, Kipf and Welling 2017) as PyTorch Geometric and DGL load it", false};
constexpr Publication ogb{"ogb", "as OGB loads it; Hu et al. 2020", false};
constexpr Publication pyg{"pyg", "as PyG loads it; Hamilton et al. 2017", false};
constexpr Publication saint{"pyg", "as PyG loads it; Zeng et al. 2020", false};
constexpr Publication snap{"snap", "as SNAP has it; features and classes of GNN-RDM Table V", false};
constexpr Publication undirected{"undirected", "as OGB loads it; with every reverse edge, duplicates dropped", false};

constexpr auto stored = EdgeCount::nonzeros;
constexpr auto no_loops = EdgeCount::off_diagonal;
constexpr bool both_ways = true;  // symmetric
constexpr bool one_way = false;

struct Row {
    const char* name;
    const Publication& publication;
    std::int64_t vertices;
    std::int64_t edges;
    EdgeCount edge_count;
    bool symmetric;
    std::int64_t features;
    std::int64_t classes;
    std::int64_t training_vertices = 0;  // 0: not said
    const char* note = "";
};

// Data whose vertices may have several labels.
constexpr std::string_view several_labels[] = {"ogbn-proteins", "yelp", "amazon-products"};

// clang-format off
constexpr Row rows[] = {
    {"cora", planetoid, 2'708, 10'556, no_loops, both_ways, 1'433, 7, 140,
     "none of the five papers prints these figures"},
    {"cora", mg_gcn, 3'300, 9'200, no_loops, one_way, 3'700, 6, 0,
     "printed under the name Cora, but the sizes are those of CiteSeer"},

    {"ogbn-arxiv", ogb, 169'343, 1'166'243, no_loops, one_way, 128, 40, 90'941,
     "citations in one direction; loading the data with `symmetrise` gives ogbn-arxiv:undirected"},
    {"ogbn-arxiv", undirected, 169'343, 2'315'598, no_loops, both_ways, 128, 40, 90'941,
     "none of the five papers prints these figures"},
    {"ogbn-arxiv", rdm, 169'343, 1'166'243, stored, one_way, 128, 40, 0,
     "citations in one direction, without self loops"},
    {"ogbn-arxiv", mg_gcn, 169'000, 1'160'000, no_loops, one_way, 128, 40},

    {"ogbn-mag", ogb, 736'389, 5'416'271, no_loops, one_way, 128, 349, 629'571,
     "papers and the relation paper-cites-paper alone"},
    {"ogbn-mag", rdm, 1'939'743, 21'111'007, stored, one_way, 128, 349, 0,
     "the text says paper-cites-paper, but the sizes are those of all vertex and edge types together"},

    {"ogbn-products", ogb, 2'449'029, 123'718'024, no_loops, both_ways, 100, 47, 196'615,
     "OGB lists 123,718,280 edges, 256 of them self loops"},
    {"ogbn-products", rdm, 2'449'029, 61'859'140, stored, both_ways, 100, 47, 0,
     "each undirected edge counted once; loaded data has twice as many entries"},
    {"ogbn-products", distgnn, 2'449'029, 123'718'280, no_loops, both_ways, 100, 47, 196'615},
    {"ogbn-products", mg_gcn, 2'500'000, 126'000'000, stored, both_ways, 104, 47, 0,
     "the data has 100 features; the table prints 104"},
    {"ogbn-products", deal, 2'400'000, 123'000'000, no_loops, both_ways, 100, 0, 0, "classes not given"},

    {"reddit", pyg, 232'965, 114'615'892, no_loops, both_ways, 602, 41, 153'431},
    {"reddit", rdm, 232'965, 114'848'857, stored, both_ways, 602, 41},
    {"reddit", cagnet, 232'965, 114'848'857, stored, both_ways, 602, 41},
    {"reddit", mg_gcn, 233'000, 115'000'000, stored, both_ways, 602, 41},
    {"reddit", distgnn, 232'965, 114'615'892, no_loops, both_ways, 602, 41},

    {"ogbn-proteins", ogb, 132'534, 79'122'504, no_loops, both_ways, 8, 112, 86'619,
     "OGB lists each of 39,561,252 edges once; features are means of the edges', as OGB's GCN and GraphSAGE make them"},

    {"flickr", saint, 89'250, 899'756, no_loops, both_ways, 500, 7},

    {"yelp", saint, 716'847, 13'954'819, no_loops, both_ways, 300, 100, 0,
     "the number of edges is odd, so that some are self loops"},

    {"amazon-products", saint, 1'569'960, 264'339'468, no_loops, both_ways, 200, 107},

    {"web-google", snap, 875'713, 5'105'039, no_loops, one_way, 256, 100, 0,
     "hyperlinks in one direction; the data has no features and labels"},
    {"web-google", rdm, 875'713, 5'105'039, stored, one_way, 256, 100, 0,
     "hyperlinks in one direction; the data has no features and labels, the paper's are random"},

    {"com-orkut", snap, 3'072'441, 234'370'166, no_loops, both_ways, 128, 100, 0,
     "SNAP lists each of 117,185,083 friendships once; the data has no features and labels"},
    {"com-orkut", rdm, 3'072'441, 117'185'083, stored, both_ways, 128, 100, 0,
     "each friendship counted once; the paper's features and labels are random"},

    {"cami-airways", rdm, 1'000'000, 22'901'745, stored, both_ways, 256, 25, 0,
     "the paper does not say whether an overlap is counted once or twice"},
    {"cami-oral", rdm, 1'000'000, 20'734'972, stored, both_ways, 256, 32, 0,
     "the paper does not say whether an overlap is counted once or twice"},

    {"amazon", cagnet, 14'249'639, 230'788'269, stored, both_ways, 300, 24, 14'249'639,
     "the paper does not say whether it is directed, taken as undirected; features are random, all vertices train"},

    {"protein", cagnet, 8'745'542, 2'116'240'124, stored, both_ways, 128, 256, 8'745'542,
     "an eighth of HipMCL's isolate genomes network; features are random, all vertices train"},
    {"protein", distgnn, 8'745'542, 1'309'240'502, no_loops, both_ways, 128, 256, 0,
     "the vertices of CAGNET's graph with fewer edges; features are random"},
    {"protein", mg_gcn, 8'740'000, 1'300'000'000, no_loops, both_ways, 128, 256, 0,
     "the text calls it OGBN-Proteins, but the sizes are those of HipMCL's network"},

    {"ogbn-papers100m", ogb, 111'059'956, 1'615'685'872, no_loops, one_way, 128, 172, 1'207'179},
    {"ogbn-papers100m", distgnn, 111'059'956, 1'615'685'872, no_loops, one_way, 128, 172, 1'207'179},
    {"ogbn-papers100m", mg_gcn, 111'000'000, 1'610'000'000, no_loops, one_way, 128, 172},
    {"ogbn-papers100m", deal, 111'000'000, 1'600'000'000, no_loops, one_way, 128, 0, 0, "classes not given"},

    {"am", distgnn, 881'680, 5'668'682, no_loops, one_way, 1, 11, 0,
     "the data has no features: the vertex id is the feature"},

    {"social-spammer", deal, 5'600'000, 858'000'000, no_loops, one_way, 128, 0, 0, "classes not given"},
};
// clang-format on

// Replication factors of Libra's cuts, as DistGNN's Table 4 prints them, in 2, 4, ... parts; 0 where it does not. They
// are of all variants of a name, which are one graph, counted otherwise.
struct PublishedCuts {
    const char* name;
    std::vector<double> replication;
};
const std::vector<PublishedCuts>& published_cuts() {
    static const std::vector<PublishedCuts> cuts{{"reddit", {1.75, 2.94, 4.66, 6.93}},
                                                 {"ogbn-products", {1.49, 2.16, 2.98, 3.90, 4.85, 5.74}},
                                                 {"protein", {1.33, 1.65, 1.91, 2.11, 2.27, 2.37}},
                                                 {"ogbn-papers100m", {0, 0, 0, 0, 4.63, 5.63, 6.62}}};
    return cuts;
}

Card card_of(const Row& row) {
    Card card;
    card.name = row.name;
    card.variant = row.publication.variant;
    card.vertices = row.vertices;
    card.edges = row.edges;
    card.edge_count = row.edge_count;
    card.nonzeros = row.edge_count == EdgeCount::nonzeros ? row.edges : checked_add(row.edges, row.vertices);
    card.symmetric = row.symmetric;
    card.rounded = row.publication.rounded;
    card.features = row.features;
    card.classes = row.classes;
    if (row.training_vertices > 0) card.training_vertices = row.training_vertices;
    card.several_labels = std::ranges::find(several_labels, card.name) != std::end(several_labels);
    card.source = row.publication.source;
    card.note = row.note;
    for (const PublishedCuts& cuts : published_cuts()) {
        if (card.name == cuts.name) card.replication = cuts.replication;
    }
    return card;
}

}  // namespace

std::vector<Card> make_card_table() {
    std::vector<Card> table;
    for (const Row& row : rows) table.push_back(card_of(row));
    return table;
}

}  // namespace gnnplan::catalog
