// RelayRows has the messages between the ranks of a product that relays panels.
#pragma once

#include <gnnplan/ir/panel_relay.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/row_relay.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace gnnplan {

struct PeerRows {
    int peer = 0;
    SentRows sent;
};

class RelayRows {
public:
    // Both outlive the object.
    RelayRows(const Schedule& schedule, const SpmmStep& product);

    // These are the rows that a rank gets from each other rank, and gives to each; a rank may be listed twice.
    std::vector<PeerRows> received(int rank) const;
    std::vector<PeerRows> sent(int rank) const;
    SentRows between(int from, int to) const;
    // The rows that a rank sends and receives in all.
    std::pair<std::int64_t, std::int64_t> totals(int rank);

private:
    SentRows block_of(int rank) const;
    SentRows slice_without(int rank) const;
    bool heads(int rank) const { return !relay_.to(rank); }
    bool straight(int to, std::size_t stage) const;
    std::vector<PeerRows> straight_to(int rank) const;
    void add_straight(int rank, std::vector<PeerRows>& peers) const;
    SentRows passed_to(int rank, const PanelRelay::Passing& how) const;

    const Schedule& schedule_;
    const Tensor& matrix_;
    PanelRelay relay_;
    bool whole_;  // whether every rank has all blocks of its slice, its own one whole
    std::map<std::pair<int, int>, std::int64_t> heads_of_group_;  // of the x-group at these coordinates, once counted
};

// Adds the ranks that pass rows on to `rank`, and that it passes them on to.
void add_relay_neighbours(const Schedule& schedule, const SpmmStep& product, int rank, std::vector<int>& peers);

}  // namespace gnnplan
