// One rank of a group of threads. Programs use run_ranks(); tests look inside.
#pragma once

#include "runtime/comm/ordered_exchange.hpp"
#include "runtime/comm/thread_group.hpp"

namespace gnnplan::comm {

class ThreadCommunicator : public Communicator {
public:
    ThreadCommunicator(std::shared_ptr<ThreadGroup> group, int rank) : group_(std::move(group)), rank_(rank) {}

    int rank() const override { return rank_; }
    int size() const override { return group_->size(); }
    std::unique_ptr<PendingExchange> start_exchange(std::span<const Send> sends,
                                                    std::span<const Receive> receives) override;
    void exchange_blocks(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives) override;
    std::unique_ptr<Loan> lend(std::span<const Send> sends, std::span<const Receive> receives) override {
        return group_->lend(rank_, sends, receives);
    }
    void broadcast(int root, std::span<std::byte> bytes) override;
    void all_reduce(std::span<float> values) override;
    void all_reduce(std::span<double> values) override;
    void all_reduce(std::span<kernels::SquareSum> values) override;
    std::unique_ptr<Communicator> split(int colour, int key) override;
    void barrier() override { group_->all_gather(rank_, {}); }
    std::vector<std::string> control_all_gather(const std::string& text) override {
        return group_->all_gather(rank_, text);
    }
    void check_others() override { group_->check(); }
    std::vector<Heartbeat*> heartbeats() override { return group_->heartbeats(); }

    ThreadGroup& mailboxes() { return *group_; }

    // The traffic that the mailboxes have really carried for this rank since run_ranks() began, over all groups it is
    // in.
    Traffic carried() { return group_->carried(rank_); }

private:
    std::shared_ptr<ThreadGroup> group_;
    int rank_;
    std::int64_t splits_ = 0;
    ExchangesUnderWay under_way_;
};

}  // namespace gnnplan::comm
