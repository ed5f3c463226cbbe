// One exchange as non-blocking MPI messages. Needs MPI's own header.
#pragma once

#include "runtime/comm/mpi_comm.hpp"
#include "runtime/comm/ordered_exchange.hpp"

namespace gnnplan::comm {

// Messages above `largest` bytes travel in pieces. All messages have the same tag: MPI keeps the order between a pair
// of ranks, of the pieces of a message as of several exchanges.
class MpiExchange : public OrderedExchange {
public:
    MpiExchange(ExchangesUnderWay& under_way, MPI_Comm comm, int rank, std::size_t largest)
        : OrderedExchange(under_way), comm_(comm), rank_(rank), largest_(largest) {}
    // After an error, requests may be left. They must not write to buffers that their owner may free: receives still
    // under way are cancelled, after which waiting for them is local. Sends only read, and MPI libraries do not cancel
    // them: they are let go.
    ~MpiExchange() override;

    // All receives first, then all sends.
    void start(const Receive& receive);
    void start(const Send& send);

    void progress() override;

private:
    void finish() override;

    MPI_Comm comm_;
    int rank_;
    std::size_t largest_;
    std::vector<MPI_Request> requests_;          // the receives come first; MPI nulls those that are complete
    std::vector<std::pair<int, int>> expected_;  // peer and bytes of each receive
    std::vector<MPI_Status> statuses_;           // of each request, once complete_
    bool complete_ = false;                      // all messages have been sent and received
};

}  // namespace gnnplan::comm
