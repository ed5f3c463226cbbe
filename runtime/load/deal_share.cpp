#include "runtime/load/deal_share.hpp"

#include "runtime/graph/fingerprint.hpp"
#include "runtime/load/threaded_read.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <vector>

namespace gnnplan::load {
namespace {

// May be called by several threads at a time.
void note_largest(std::atomic<std::int32_t>& noted, std::span<const data::Edge> edges) {
    std::int32_t largest = -1;
    for (const data::Edge& edge : edges) largest = std::max({largest, edge.from, edge.to});
    std::int32_t known = noted;
    while (known < largest && !noted.compare_exchange_weak(known, largest)) {
    }
}

// No rank makes rows of vertices that the plan does not know. The error that names them waits until the file is
// known to have the form that it was read as.
void deal(Dealer& dealer, std::int64_t vertices, std::int32_t largest, std::span<const data::Edge> edges,
          std::span<const float> weights) {
    if (largest < vertices) return dealer.deal(edges, weights);
    std::vector<data::Edge> known;
    std::vector<float> of_known;
    for (std::size_t i = 0; i < edges.size(); ++i) {
        if (std::max(edges[i].from, edges[i].to) >= vertices) continue;
        known.push_back(edges[i]);
        if (!weights.empty()) of_known.push_back(weights[i]);
    }
    dealer.deal(known, of_known);
}

}  // namespace

DealtShare deal_share(comm::Communicator& comm, const data::Dataset& dataset, const RowShares& shares,
                      const data::VertexOrder& order, bool with_targets) {
    Dealer dealer(comm, shares, order, dataset.options().preparation.edge_weights, with_targets);
    DealtShare share;
    std::atomic<std::uint64_t> listed = 0;   // threads add to it
    std::atomic<std::int32_t> largest = -1;  // id
    std::exception_ptr failure;
    bool stopped = false;
    bool dealing = false;  // what is thrown is not of the file
    try {
        share.found = read_with_threads(dataset, comm.rank(), comm.size(),
                                        {[&](auto edges) {
                                             note_largest(largest, edges);
                                             listed += data::hash_of_listed(edges, comm.rank());
                                         },
                                         [&](auto edges, auto weights) {
                                             dealing = true;
                                             deal(dealer, dataset.vertices(), largest, edges, weights);
                                             dealing = false;
                                         }});
        dealing = true;
        share.edges = dealer.finish();
        share.found.edges = {};
    } catch (const Stopped&) {
        stopped = true;
    } catch (...) {
        if (dealing) throw;
        failure = std::current_exception();
        dealer.fail();
    }
    comm::agree_on(comm, failure);
    ensure(!stopped, "a rank that stops the others says why");
    share.listed = listed;
    share.largest_id = largest;
    return share;
}

}  // namespace gnnplan::load
