// One exchange as non-blocking MPI messages. Needs MPI's own header.
#pragma once

#include "runtime/comm/mpi_comm.hpp"
#include "runtime/comm/ordered_exchange.hpp"

namespace gnnplan::comm {

// Messages above `largest` bytes travel in pieces. All messages have the same tag: MPI keeps the order between a pair
// of ranks, of the pieces of a message as of several exchanges.
//
// Sends are started before receives, so that large messages use both directions of a link. A library announces such a
// message and sends it when the receiver says so, all on the one connection of a pair. A receive that finds its message
// announced says so at once. Had it been started before the own send, the peer would read that first, be busy sending
// when the announcement arrives, and its answer would wait behind megabytes: the directions would take turns.
class MpiExchange : public OrderedExchange {
public:
    MpiExchange(ExchangesUnderWay& under_way, MPI_Comm comm, int rank, std::size_t largest, Heartbeat& own)
        : OrderedExchange(under_way), comm_(comm), rank_(rank), largest_(largest), own_(own) {}
    // After an error, requests may be left. They must not write to buffers that their owner may free: receives still
    // under way are cancelled, after which waiting for them is local. Sends only read, and MPI libraries do not cancel
    // them: they are let go.
    ~MpiExchange() override;

    // All sends first, then all receives.
    void start(const Send& send);
    void start(const Receive& receive);

    void progress() override;

private:
    void finish() override;
    std::size_t sends() const { return requests_.size() - expected_.size(); }

    MPI_Comm comm_;
    int rank_;
    std::size_t largest_;
    Heartbeat& own_;                             // of this rank
    std::vector<MPI_Request> requests_;          // the sends come first; MPI nulls those that are complete
    std::vector<std::pair<int, int>> expected_;  // peer and bytes of each receive
    std::vector<MPI_Status> statuses_;           // of each request, once complete_
    bool complete_ = false;                      // all messages have been sent and received
};

}  // namespace gnnplan::comm
