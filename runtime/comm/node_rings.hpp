// Rings for each ordered pair of the ranks of a node, in one MPI-3 shared window. Needs MPI's own header.
#pragma once

#include "runtime/comm/heartbeat.hpp"
#include "runtime/comm/messages.hpp"
#include "runtime/comm/mpi_comm.hpp"
#include "runtime/comm/shared_ring.hpp"

#include <string>

namespace gnnplan::comm {

class NodeRings {
public:
    // Collective over `node`, the ranks that can share memory with this one. Null on all of them where there is no
    // shared memory to be had, or one rank only. `note` then says why, as a sentence, where the user can change it.
    static std::shared_ptr<NodeRings> create(OwnedComm node, std::string& note);

    NodeRings(const NodeRings&) = delete;
    NodeRings& operator=(const NodeRings&) = delete;
    // Collective over the node.
    ~NodeRings();

    // For each rank of `comm`, which may have ranks of other nodes: its rank on this node, -1 if it is on another one.
    // Local.
    std::vector<int> node_ranks_in(const OwnedComm& comm) const;

    // The heartbeat of a rank of this node.
    Heartbeat* heartbeat(int node_rank) const { return heartbeats_[static_cast<std::size_t>(node_rank)]; }
    Heartbeat* own_heartbeat() const { return heartbeat(rank_); }

    // Peers are ranks of a communicator, which Members gives as ranks on this node, with the caller's rank in it.
    struct Members {
        std::span<const int> node_ranks;
        int rank = 0;
    };

    // Sends and receives; all peers are other ranks on this node, and no block is empty. The caller's message to itself
    // takes its turns, because its rows may lie between those that are sent. Returns when all blocks have been received
    // and all bytes sent are out of the caller's memory; while it waits it lets MPI make progress. All threads of the
    // rank copy, if there is much to do. Throws
    // ErrorCode::internal, when all is done, if a sender's and a receiver's lengths differ.
    void transfer(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives, const OwnMessage& own,
                  const Members& members);

private:
    explicit NodeRings(OwnedComm node);

    // Bytes of this rank's part of the window.
    std::size_t part_bytes() const;
    void add_rings(int peer, std::byte* mine, std::byte* theirs);
    // Allocates the window and makes the rings. False if MPI does not give it, or there is no memory behind it.
    bool open();

    OwnedComm node_;
    int rank_;
    int size_;
    MPI_Win window_ = MPI_WIN_NULL;
    bool locked_ = false;               // for as long as the rings are used, so that loads and stores are allowed
    std::size_t lanes_;                 // rings of a pair
    std::vector<SharedRing> outgoing_;  // by receiver, then by lane
    std::vector<SharedRing> incoming_;  // by sender, likewise
    std::vector<Heartbeat*> heartbeats_;
};

}  // namespace gnnplan::comm
