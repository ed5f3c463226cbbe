#include "runtime/comm/packed_exchange.hpp"

#include "runtime/comm/messages.hpp"

namespace gnnplan::comm {

PackedExchange::PackedExchange(Communicator& comm, std::span<const SendBlock> sends,
                               std::span<const ReceiveBlock> receives) {
    std::vector<Send> plain_sends;
    std::vector<Receive> plain_receives;
    plain_sends.reserve(sends.size());
    plain_receives.reserve(receives.size());
    for (const SendBlock& block : sends) {
        plain_sends.push_back({block.peer, message_of<const std::byte>(block)});
        if (!block.rows.contiguous())
            copy_rows(block.rows, one_row(block.staging.first(block.rows.bytes())), Stores::cached);
    }
    for (const ReceiveBlock& block : receives) {
        plain_receives.push_back({block.peer, message_of<std::byte>(block)});
        if (!block.rows.contiguous()) staged_.push_back(block);
    }
    pending_ = comm.start_exchange(plain_sends, plain_receives);
}

void PackedExchange::wait() {
    pending_->wait();
    for (const ReceiveBlock& block : staged_)
        copy_rows(one_row(std::span<const std::byte>(block.staging.first(block.rows.bytes()))), block.rows,
                  stores_for(block.rows.bytes()));
}

}  // namespace gnnplan::comm
