// The communicator of MPI's ranks: messages between nodes go through MPI, blocks within a node through shared rings.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/comm/mpi_comm.hpp"
#include "runtime/comm/mpi_exchange.hpp"
#include "runtime/comm/node_rings.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gnnplan::comm {

// Names of the two communicators of MPI that a rank talks on: for tensors, and for everything that counts as no
// traffic.
inline constexpr const char* data_name = "gnnplan data";
inline constexpr const char* control_name = "gnnplan control";

// The node of a rank, in whatever communicators it is.
struct MpiNode {
    int number = 0;                    // different on each node
    std::shared_ptr<NodeRings> rings;  // of all ranks on it; may be null
};

class MpiCommunicator : public Communicator {
public:
    // Collective. Where `node` has no rings, no other rank sees `own`, the heartbeat of this rank.
    MpiCommunicator(OwnedComm data, OwnedComm control, std::size_t largest, MpiNode node, Heartbeat& own)
        : data_(std::move(data)),
          control_(std::move(control)),
          largest_(largest),
          rank_(data_.rank()),
          size_(data_.size()),
          node_(std::move(node)),
          nodes_(lowest_of_each(control_.gather(node_.number))),
          rings_(node_.rings.get()),
          own_heartbeat_(rings_ != nullptr ? *rings_->own_heartbeat() : own) {
        if (rings_ != nullptr) node_ranks_ = rings_->node_ranks_in(data_);
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    std::vector<int> nodes() const override { return nodes_; }
    std::unique_ptr<PendingExchange> start_exchange(std::span<const Send> sends,
                                                    std::span<const Receive> receives) override;
    void exchange_blocks(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives) override;
    void broadcast(int root, std::span<std::byte> bytes) override;
    void all_reduce(std::span<float> values) override;
    void all_reduce(std::span<double> values) override;
    void all_reduce(std::span<kernels::SquareSum> values) override;
    std::unique_ptr<Communicator> split(int colour, int key) override;
    void barrier() override {
        const Waiting waiting(own_heartbeat_);
        check_mpi(MPI_Barrier(control_.get()), "MPI_Barrier");
    }
    std::vector<std::string> control_all_gather(const std::string& text) override;
    std::vector<Heartbeat*> heartbeats() override;

private:
    // For each rank, the lowest one with the same number.
    static std::vector<int> lowest_of_each(const std::vector<int>& numbers);
    // Whether blocks to and from this rank go through a ring.
    bool has_ring(int peer) const { return rings_ != nullptr && node_ranks_[static_cast<std::size_t>(peer)] >= 0; }

    OwnedComm data_;
    OwnedComm control_;
    std::size_t largest_;  // bytes
    int rank_;
    int size_;
    MpiNode node_;
    std::vector<int> nodes_;
    NodeRings* rings_;             // those of the node
    std::vector<int> node_ranks_;  // by rank: its number in the rings, -1 on another node
    Heartbeat& own_heartbeat_;
    ExchangesUnderWay under_way_;
};

}  // namespace gnnplan::comm
