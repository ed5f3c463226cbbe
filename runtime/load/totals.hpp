// Facts about a whole graph, added up over the ranks that each know a part of it.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/data/report.hpp"
#include "runtime/load/make_rows.hpp"
#include "runtime/read/parsed_graph.hpp"

#include <cstdint>
#include <string>

namespace gnnplan::load {

struct Totals {
    // Sums:
    std::int64_t edges_read = 0;
    std::int64_t edge_values_ignored = 0;
    std::int64_t self_loops_dropped = 0;
    std::int64_t duplicates_dropped = 0;
    std::int64_t nonzeros = 0;
    std::int64_t rows_with_edges = 0;  // rows with an edge to or from another vertex, as far as their ranks know
    std::int64_t by_one = 0;
    std::uint64_t hash = 0;
    std::uint64_t listed = 0;  // see hash_of_listed()
    std::uint64_t imbalance = 0;
    std::uint64_t pattern_imbalance = 0;
    // The largest:
    std::int64_t vertices = 0;
    std::int64_t edges_declared = -1;
    std::int64_t largest_id = -1;  // of the edges
    data::SaidSizes said = {};
    // The lines of all shares, in their order:
    data::EdgeLines lines = {};

    // Throws ErrorCode::data where a file declares more or fewer entries than it has, and where it has another form
    // than that which it was read as.
    void check_file(const std::string& where) const;
    void fill(data::LoadReport& report, const data::Preparation& preparation) const;
};

Totals totals_of(const data::ParsedGraph& found, const MadeRows& made, std::uint64_t hash);
// Collective, on the control channel.
Totals sum_over_ranks(comm::Communicator& comm, const Totals& mine);

}  // namespace gnnplan::load
