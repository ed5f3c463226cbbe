// The messages of ranks to each other. The data channel carries tensors and is counted; the control channel carries
// agreement (errors, votes, clocks) and is not.
#pragma once

#include "kernels/links.hpp"
#include "kernels/square_sum.hpp"
#include "runtime/comm/heartbeat.hpp"
#include "runtime/comm/rows.hpp"

#include <gnnplan/base/error.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::kernels {
class Device;
}

namespace gnnplan::comm {

using kernels::Receive;
using kernels::Send;

// A message that lies in memory as rows, in their order, and room to pack it, used where rows with gaps cannot travel:
// as many bytes as the rows have, or none for rows without gaps, which are never packed.
struct SendBlock {
    int peer = 0;
    ConstRows rows;
    std::span<std::byte> staging;
};

struct ReceiveBlock {
    int peer = 0;
    MutableRows rows;
    std::span<std::byte> staging;
};

// An exchange under way; it must not outlive its communicator. Its buffers belong to it until wait() has returned.
// Destroying it before that gives up on messages still to come: nothing is written to its buffers afterwards, but the
// ranks no longer agree on what is under way, so that is for the way out after an error.
class PendingExchange {
public:
    virtual ~PendingExchange() = default;
    // Lets the library move bytes, without waiting. Local.
    virtual void progress() = 0;
    // Returns when all messages have been sent and received. To be called once. A communicator's exchanges are waited
    // for in the order they were started, on every rank: ErrorCode::internal otherwise.
    virtual void wait() = 0;
};

// Messages that lie with their senders, where their receivers read them. Senders leave the bytes as they are until
// end() has returned. Destroying it before that is for the way out after an error: it waits for those that read from
// this rank's memory.
class Loan {
public:
    virtual ~Loan() = default;
    // The i-th message to this rank. Waits until its sender lends it.
    virtual std::span<const std::byte> received(std::size_t i) = 0;
    // Gives all messages back, and returns when the others have given back what this rank has lent. To be called once.
    virtual void end() = 0;
};

// All calls are collective over the communicator, in the same order on every rank, unless said otherwise.
// Lengths agree between sender and receiver; empty messages and messages to oneself are allowed where a peer is named.
class Communicator {
public:
    virtual ~Communicator() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;

    // Local. By rank: the lowest rank on its node. Ranks of a node share its memory, cores and devices, whatever
    // containers call their hosts; where MPI cannot share memory between two ranks, they are on two nodes.
    virtual std::vector<int> nodes() const { return std::vector<int>(static_cast<std::size_t>(size()), 0); }

    // Local. Whether bytes may move only in PendingExchange::progress() and wait(), as those in a host's memory do:
    // work that is to hide an exchange then looks after it in between.
    virtual bool needs_progress() const { return true; }

    // Local. Memory of the host that it holds for messages between devices, as much as long as it lives.
    virtual std::int64_t host_bytes() const { return 0; }

    // Personalised exchange (all-to-all-v): at most one message for each ordered pair of ranks. A message of k bytes
    // from r to s has a Receive of k bytes for r on s. Pairwise algorithm: each message travels once. A rank that has
    // no messages may stay away. Not while another exchange is under way on this communicator.
    void exchange(std::span<const Send> sends, std::span<const Receive> receives) {
        start_exchange(sends, receives)->wait();
    }

    // The same, begun: several may be under way at once, begun in the same order on every rank. The lists need not
    // outlive the call. Messages to oneself are copied here; ranks as threads move all others in wait().
    virtual std::unique_ptr<PendingExchange> start_exchange(std::span<const Send> sends,
                                                            std::span<const Receive> receives) = 0;

    // An exchange() of blocks, by its rules: as many bytes from r to s as s expects, though their rows may differ in
    // length. Ranks of one node copy from rows to rows; between others, blocks with gaps are packed and unpacked in
    // their staging. The blocks' bytes are counted either way. Two ranks that are in several communicators call
    // it on them in the same order.
    virtual void exchange_blocks(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives) = 0;

    // Messages by the rules of exchange(), but for two: a rank may lend several to another, which that one has in the
    // same order, and none to itself. The receives' buffers are not used. Null, on every rank, where ranks do not share
    // memory. A rank that has no messages may stay away; one loan at a time.
    virtual std::unique_ptr<Loan> lend(std::span<const Send> /*sends*/, std::span<const Receive> /*receives*/) {
        return nullptr;
    }

    // Copies root's bytes to all. Flat convention: (g - 1) messages of `bytes`.
    virtual void broadcast(int root, std::span<std::byte> bytes) = 0;

    // In-place sum over all ranks; bitwise the same result on every rank, and for the same P in every run. Ring
    // convention.
    virtual void all_reduce(std::span<float> values) = 0;
    virtual void all_reduce(std::span<double> values) = 0;
    virtual void all_reduce(std::span<kernels::SquareSum> values) = 0;

    // Sub-communicators: ranks of equal colour (not negative), ordered by (key, rank).
    virtual std::unique_ptr<Communicator> split(int colour, int key) = 0;

    // --- control channel ---
    virtual void barrier() = 0;
    // Every rank's text, in rank order, on every rank. Small messages only.
    virtual std::vector<std::string> control_all_gather(const std::string& text) = 0;

    // Local. Throws where another rank is known to have failed, so that nobody waits for it.
    virtual void check_others() {}

    // Local. By rank, as long as the communicator lives; null for those that cannot be seen from here: on another node,
    // or where ranks share no memory. One's own is always there.
    virtual std::vector<Heartbeat*> heartbeats() = 0;
};

// Makes a communicator between the memories of devices out of one between their hosts; both outlive it. Collective.
using OpenCommunicator = std::function<std::unique_ptr<Communicator>(Communicator& hosts, kernels::Device& device)>;

// Ranks of `comm` on this rank's node, and those of them with a lower rank. Local.
struct RanksHere {
    int count = 1;
    int before_this = 0;
};
RanksHere ranks_here(const Communicator& comm);

// The largest value over all ranks, on the control channel; of several values, each by itself.
double control_max(Communicator& comm, double value);
std::vector<double> control_max(Communicator& comm, std::vector<double> values);

// An error that every rank throws at the same point: agreed on, or computed from values that are the same bits on all
// of them. Any other exception may be this rank's alone, while others wait for it in a collective.
class AgreedError : public Error {
public:
    using Error::Error;
};

// Collective: `failure` is this rank's exception, or null. Throws AgreedError on every rank when it is set on any (see
// agree).
void agree_on(Communicator& comm, const std::exception_ptr& failure);

// Runs `work` on this rank and then agrees over the control channel: if it threw on any rank, every rank throws the
// error of the lowest such rank as an AgreedError (same code, message, where and hint; an exception that is no Error
// becomes ErrorCode::internal). Use it around work without communication inside (loading, validating).
template <class Work>
void agree(Communicator& comm, Work&& work) {
    std::exception_ptr failure;
    try {
        std::forward<Work>(work)();
    } catch (...) {
        failure = std::current_exception();
    }
    agree_on(comm, failure);
}

}  // namespace gnnplan::comm
