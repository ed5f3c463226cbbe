// Blocks as plain messages: what has gaps is packed into its staging and unpacked out of it.
#pragma once

#include "runtime/comm/communicator.hpp"

namespace gnnplan::comm {

class PackedExchange {
public:
    // Packs, and starts an exchange of `comm`. Throws ErrorCode::internal if a block's staging is too small for it.
    PackedExchange(Communicator& comm, std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives);
    // Returns when all has been sent, received and unpacked.
    void wait();

private:
    std::vector<ReceiveBlock> staged_;  // to be unpacked
    std::unique_ptr<PendingExchange> pending_;
};

}  // namespace gnnplan::comm
