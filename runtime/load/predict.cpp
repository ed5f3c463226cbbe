#include "runtime/load/predict.hpp"

#include "runtime/graph/fingerprint.hpp"
#include "runtime/load/threaded_read.hpp"

#include <gnnplan/base/at.hpp>

#include <algorithm>
#include <atomic>
#include <memory>

namespace gnnplan::load {
namespace {

// Counts what one schedule's ranks send each other.
class DealtTo {
public:
    DealtTo(const Schedule& schedule, std::int64_t vertices, const LoadingNeeds& needs)
        : shares_(schedule),
          order_(data::make_order(vertices, schedule.numbering)),
          targets_(needs.targets),
          edges_(at(shares_.ranks()), 0) {}

    void count(int reader, std::span<const data::Edge> edges) {
        const auto send = [&](std::int32_t vertex) {
            const std::int64_t row = order_.position_of(vertex);
            if (shares_.maker(row) != reader) ++edges_[at(reader)];
        };
        for (const data::Edge& edge : edges) {
            send(edge.to);
            if (targets_) send(edge.from);
        }
    }
    const std::vector<std::int64_t>& edges() const { return edges_; }

private:
    RowShares shares_;
    data::VertexOrder order_;
    bool targets_;
    std::vector<std::int64_t> edges_;  // by rank, those that it sends
};

}  // namespace

Dealing predict_dealing(const data::Dataset& dataset, const std::vector<const Schedule*>& schedules,
                        Normalisation normalisation, bool symmetric) {
    if (schedules.empty()) return {};
    const data::Preparation& preparation = dataset.options().preparation;
    const int ranks = schedules.front()->grid.size();
    std::vector<std::unique_ptr<DealtTo>> counts;
    for (const Schedule* schedule : schedules) {
        const LoadingNeeds needs(*schedule, normalisation, preparation.symmetrise, symmetric);
        counts.push_back(std::make_unique<DealtTo>(*schedule, dataset.vertices(), needs));
    }
    std::int64_t rounds = 0;  // of the rank that has most
    std::atomic<std::uint64_t> listed = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        std::int64_t own = 0;
        const data::ParsedGraph part =
            read_with_threads(dataset, rank, ranks,
                              {[&](std::span<const data::Edge> edges) { listed += data::hash_of_listed(edges, rank); },
                               [&](std::span<const data::Edge> edges, std::span<const float>) {
                                   const std::int64_t most = edges_dealt_in_round(ranks);
                                   own += (std::ssize(edges) + most - 1) / most;
                                   for (const auto& count : counts) count->count(rank, edges);
                               }});
        rounds = std::max(rounds, own);
        if (part.by_one) break;  // the others read nothing, and need not open the file for it
    }
    // The last round finds all ranks finished.
    const std::int64_t headers = deal_header_bytes * (ranks - 1) * (rounds + 1);
    const std::int64_t edge_bytes = preparation.edge_weights ? 12 : 8;
    Dealing dealing;
    dealing.listing = data::listing_fingerprint(listed);
    for (const auto& count : counts) {
        std::vector<std::int64_t>& of_schedule = dealing.bytes.emplace_back();
        of_schedule.reserve(count->edges().size());
        for (const std::int64_t edges : count->edges()) of_schedule.push_back(headers + edge_bytes * edges);
    }
    return dealing;
}

std::int64_t shared_bytes(const RowShares& shares, const LoadingNeeds& needs, const GraphStats& graph, int rank) {
    const auto others = static_cast<std::int64_t>(shares.group(rank).size()) - 1;
    if (others == 0) return 0;
    return others * shared_row_bytes(needs, graph, shares.made(rank));
}

std::int64_t degree_bytes(const RowShares& shares, const LoadingNeeds& needs, Normalisation normalisation,
                          const GraphStats& graph, int rank) {
    const auto others = static_cast<std::int64_t>(shares.group(rank).size()) - 1;
    std::int64_t bytes = 16 * others * shares.made(rank).size();
    if (normalisation == Normalisation::none) return bytes;
    // Columns that one rank meets in another's rows, outside those that it keeps.
    const auto met = [&](bool transposed, int of, int maker) {
        const Range kept = shares.kept(of), made = shares.made(maker);
        if (made.begin >= kept.begin && made.end <= kept.end) return std::int64_t{0};
        return graph.columns_met(transposed, kept, made);
    };
    for (int pass = 0; pass < (needs.backward ? 2 : 1); ++pass) {
        const bool transposed = pass == 0 || graph.symmetric();
        for (int peer = 0; peer < shares.ranks(); ++peer) {
            if (peer == rank) continue;
            bytes += 8 + 4 * met(transposed, rank, peer) + 8 * met(transposed, peer, rank);
        }
    }
    return bytes;
}

}  // namespace gnnplan::load
