#include "runtime/comm/self.hpp"

#include "runtime/comm/messages.hpp"

namespace gnnplan::comm {
namespace {

// There is nobody else to wait for; it only keeps its place in the order.
class SelfExchange : public OrderedExchange {
public:
    using OrderedExchange::OrderedExchange;
    void progress() override {}

private:
    void finish() override {}
};

}  // namespace

std::unique_ptr<PendingExchange> SelfCommunicator::start_exchange(std::span<const Send> sends,
                                                                  std::span<const Receive> receives) {
    check_messages(sends, receives, size());
    copy_to_self(own_message(sends, receives, rank()));
    return std::make_unique<SelfExchange>(under_way_);
}

void SelfCommunicator::exchange_blocks(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives) {
    check_messages(sends, receives, size());
    check_none_under_way(under_way_);
    copy_to_self(own_message(sends, receives, rank()));
}

void SelfCommunicator::broadcast(int root, std::span<std::byte> /*bytes*/) { check_rank(root, size()); }

void SelfCommunicator::all_reduce(std::span<float> /*values*/) {}

void SelfCommunicator::all_reduce(std::span<double> /*values*/) {}

void SelfCommunicator::all_reduce(std::span<kernels::SquareSum> /*values*/) {}

std::unique_ptr<Communicator> SelfCommunicator::split(int colour, int /*key*/) {
    check_colour(colour);
    return std::make_unique<SelfCommunicator>();
}

}  // namespace gnnplan::comm
