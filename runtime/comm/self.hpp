// The communicator of one rank: every collective is a local copy or nothing.
#pragma once

#include "runtime/comm/ordered_exchange.hpp"

namespace gnnplan::comm {

class SelfCommunicator : public Communicator {
public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    std::unique_ptr<PendingExchange> start_exchange(std::span<const Send> sends,
                                                    std::span<const Receive> receives) override;
    void exchange_blocks(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives) override;
    void broadcast(int root, std::span<std::byte> bytes) override;
    void all_reduce(std::span<float> values) override;
    void all_reduce(std::span<double> values) override;
    void all_reduce(std::span<kernels::SquareSum> values) override;
    std::unique_ptr<Communicator> split(int colour, int key) override;
    void barrier() override {}
    std::vector<std::string> control_all_gather(const std::string& text) override { return {text}; }
    std::vector<Heartbeat*> heartbeats() override { return {&heartbeat_}; }

private:
    ExchangesUnderWay under_way_;
    Heartbeat heartbeat_;
};

}  // namespace gnnplan::comm
