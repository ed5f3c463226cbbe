// How the ranks of a schedule load a graph: what the file lists, which rows each rank makes and keeps, and what it
// sends for that.
#pragma once

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/plan.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan {

// How files hold features of which a row is not found without those before it.
struct FeatureListing {
    std::int64_t columns = 0;  // 0: rows are found in place, or nothing is known
    bool text = true;          // numbers are parsed
    int most_readers = 0;      // so many ranks can read a part at most; 0: any number
    bool operator==(const FeatureListing&) const = default;
};

// How a file lists the edges of a graph, as far as that is known: a text in which ranks may begin to read anywhere.
struct Listing {
    std::int64_t edges = 0;  // entries; 0: as many as the graph lets expect
    bool text = true;        // numbers are parsed
    bool divisible = true;   // ranks can read parts of it; else one of them reads it for all
    FeatureListing features = {};
    bool operator==(const Listing&) const = default;
};

// As many edges as the listing has, or as are expected of a file of the graph: its nonzeros without self loops that the
// loader adds, and half of them where it adds the reverse of each edge.
std::int64_t listed_edges(const Listing& listing, const GraphRecord& graph);

// The demands of a schedule and its problem on loading in shares.
struct LoadingNeeds {
    bool backward = false;  // rows of A
    // Edges are dealt to their sources' rows, too: where these are wanted, or the degrees out of vertices, and are not
    // those of A^T.
    bool targets = false;

    LoadingNeeds(const Schedule& schedule, Normalisation normalisation, bool symmetrise, bool symmetric);
};

// The rows that a rank keeps of the matrices, those of its adjacencies, and the part of them that it makes out of
// edges. Rows count as the schedule numbers them.
struct RowShare {
    Range kept, made;
    std::vector<int> group;  // the ranks that keep the same, in the order of what they make; this rank is one of them
};
RowShare row_share_of(const Schedule& schedule, int rank);

// The matrices of which a rank keeps rows.
std::vector<MatrixId> kept_matrices(const LoadingNeeds& needs, const GraphStats& graph);

// The bytes that a rank sends to each other rank of its group while they share rows: 8 for each row that it made, and 4
// for each nonzero, or 8 with weights. `graph` answers in the schedule's numbering.
std::int64_t shared_row_bytes(const LoadingNeeds& needs, const GraphStats& graph, Range made);

// Ranks tell each other so much before they deal, in each round.
inline constexpr std::int64_t deal_header_bytes = 24;
// How many edges of a rank are dealt in one round: all ranks together deal about 65,536 edges, so that one that is
// dealt everything has room for that; of very many ranks each deals enough for messages that are worth sending.
std::int64_t edges_dealt_in_round(int ranks);

// The same for rows of so many features: ranks deal about 8 MiB of them together, but at least 64 rows each.
std::int64_t rows_dealt_in_round(int ranks, std::int64_t columns);
// A rank sends its number with each row of features, and so much to each other rank in each round, of features that lie
// in so many tensors.
inline constexpr std::int64_t row_number_bytes = 4;
constexpr std::int64_t feature_header_bytes(std::int64_t tensors) { return 8 * (tensors + 1); }

}  // namespace gnnplan
