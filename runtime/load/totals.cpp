#include "runtime/load/totals.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace gnnplan::load {

void Totals::check_file(const std::string& where) const {
    lines.refuse_other_forms(where);
    if (edges_declared < 0 || edges_read == edges_declared) return;
    throw Error(
        ErrorCode::data,
        "the file has " + std::to_string(edges_read) + " entries, and declares " + std::to_string(edges_declared),
        where);
}

void Totals::fill(data::LoadReport& report, const data::Preparation& preparation) const {
    report.vertices = vertices;
    report.edges_read = edges_read;
    report.edge_values_ignored = edge_values_ignored;
    report.self_loops_dropped = self_loops_dropped;
    report.duplicates_dropped = duplicates_dropped;
    report.nonzeros = nonzeros;
    report.directed = imbalance != 0;
    report.weights_only_directed = imbalance != 0 && pattern_imbalance == 0;
    report.symmetrised = preparation.symmetrise && report.directed;
    report.self_loops_added = preparation.add_self_loops;
    report.weighted = preparation.edge_weights;
    for (std::string& remark : lines.remarks()) report.remarks.push_back(std::move(remark));
}

Totals totals_of(const data::ParsedGraph& found, const MadeRows& made, std::uint64_t hash) {
    Totals mine;
    mine.edges_read = found.edges_read;
    mine.edge_values_ignored = found.edge_values_ignored;
    mine.self_loops_dropped = made.counts.self_loops_dropped;
    mine.duplicates_dropped = made.counts.duplicates_dropped;
    mine.nonzeros = made.sources.nonzeros();
    mine.rows_with_edges = made.rows_with_edges;
    mine.by_one = found.by_one ? 1 : 0;
    mine.hash = hash;
    mine.imbalance = made.imbalance;
    mine.pattern_imbalance = made.pattern_imbalance;
    mine.vertices = found.vertices;
    mine.edges_declared = found.edges_declared;
    mine.said = found.said;
    mine.lines = found.lines;
    return mine;
}

Totals sum_over_ranks(comm::Communicator& comm, const Totals& mine) {
    std::string own(sizeof mine, '\0');
    std::memcpy(own.data(), &mine, sizeof mine);
    Totals all;
    for (const std::string& text : comm.control_all_gather(own)) {
        Totals one;
        ensure(text.size() == sizeof one, "ranks add up the same numbers");
        std::memcpy(&one, text.data(), sizeof one);
        all.edges_read += one.edges_read;
        all.edge_values_ignored += one.edge_values_ignored;
        all.self_loops_dropped += one.self_loops_dropped;
        all.duplicates_dropped += one.duplicates_dropped;
        all.nonzeros += one.nonzeros;
        all.rows_with_edges += one.rows_with_edges;
        all.by_one += one.by_one;
        all.hash += one.hash;
        all.listed += one.listed;
        all.imbalance += one.imbalance;
        all.pattern_imbalance += one.pattern_imbalance;
        all.vertices = std::max(all.vertices, one.vertices);
        all.edges_declared = std::max(all.edges_declared, one.edges_declared);
        all.largest_id = std::max(all.largest_id, one.largest_id);
        all.said.from_ids = all.said.from_ids || one.said.from_ids;
        all.said.nodes = std::max(all.said.nodes, one.said.nodes);
        all.said.edges = std::max(all.said.edges, one.said.edges);
        all.lines.append(one.lines);
    }
    return all;
}

}  // namespace gnnplan::load
