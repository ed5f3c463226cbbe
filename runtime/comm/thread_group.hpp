// Mailboxes between threads. A message is copied once, from the sender's rows into the receiver's, when both are there;
// the sender stays until that has happened. Messages that are lent are not copied.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/comm/traffic.hpp"

#include <gnnplan/base/error.hpp>

#include <condition_variable>
#include <map>
#include <mutex>

namespace gnnplan::comm {

// Thrown where a rank waits for others after one of them has failed: a consequence, not a cause.
class RanksAborted : public Error {
public:
    RanksAborted() : Error(ErrorCode::interrupted, "stopped because another rank failed") {}
};

// The state that all ranks of one run share, whatever groups they form.
class ThreadWorld {
public:
    explicit ThreadWorld(int ranks);

    // Releases every rank that waits, now or later, with RanksAborted. Any thread.
    void abort();

    // Bytes and messages the mailboxes have carried for a rank; call from that rank's thread.
    Traffic carried(int world_rank);

    // Throws RanksAborted after abort(). Any thread.
    void check();

    Heartbeat& heartbeat(int world_rank) { return heartbeats_[static_cast<std::size_t>(world_rank)]; }

private:
    friend class ThreadGroup;

    // Waits until ready(); throws RanksAborted if the world is aborted first.
    template <class Ready>
    void wait(std::unique_lock<std::mutex>& lock, int world_rank, Ready ready) {
        signal(world_rank).wait(lock, [&] { return ready() || aborted_; });
        if (!ready()) throw RanksAborted();
    }
    std::condition_variable& signal(int world_rank) { return signals_[static_cast<std::size_t>(world_rank)]; }

    std::mutex mutex_;  // guards all members here and in every group; never held while bytes are copied
    std::vector<std::condition_variable> signals_;
    std::vector<Traffic> carried_;
    std::vector<Heartbeat> heartbeats_;
    bool aborted_ = false;
};

// How messages get from their senders' rows into their receivers': the host copies them.
class Movement {
public:
    virtual ~Movement() = default;
    // By the sender: what has to be passed before its rows can be read. By the receiver: moves a message, and returns
    // what has to be passed before the sender's rows may be written again. By the sender, then: waits for that. Null
    // where nothing has to be.
    using Ticket = std::shared_ptr<const kernels::Fence>;
    virtual Ticket ready() { return nullptr; }
    virtual Ticket move(const ConstRows& from, const Ticket& ready, const MutableRows& to);
    virtual void moved(const Ticket& /*ticket*/) {}
};

// The mailboxes of one group of ranks. Each rank calls from its own thread, with its rank in the group.
class ThreadGroup {
public:
    ThreadGroup(std::shared_ptr<ThreadWorld> world, std::vector<int> world_ranks);

    int size() const { return static_cast<int>(world_ranks_.size()); }
    Traffic carried(int rank) { return world_->carried(world_rank(rank)); }

    std::vector<Heartbeat*> heartbeats();

    // Sends and receives, at most one message for each ordered pair of ranks; returns when all have been copied.
    // Messages to oneself and empty ones are left out. All move them alike. Throws ErrorCode::internal if a sender's
    // and a receiver's lengths differ.
    void transfer(int rank, std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives,
                  Movement& movement);
    void transfer(int rank, std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives) {
        Movement copying;
        transfer(rank, sends, receives, copying);
    }
    void check() { world_->check(); }

    // Communicator::lend() of a rank.
    std::unique_ptr<Loan> lend(int rank, std::span<const Send> sends, std::span<const Receive> receives);

    // Every rank's text in rank order; not counted.
    std::vector<std::string> all_gather(int rank, const std::string& text);

    // The group made by this group's `split`-th split for `colour`: the same object for each of its members.
    std::shared_ptr<ThreadGroup> subgroup(std::int64_t split, int colour, std::span<const int> ranks);

private:
    enum class State { empty, posted, copying, copied };
    struct Mailbox {
        State state = State::empty;
        ConstRows rows;
        Movement::Ticket ticket;  // the sender's, then the receiver's
    };
    struct Subgroup {
        std::shared_ptr<ThreadGroup> group;
        std::size_t collected = 0;  // members that have fetched it
    };
    class Posting;
    // The messages that one rank lends to another, which takes their addresses and gives all of them back at once.
    struct Lent {
        enum class State { nothing, shown, taken, given_back };
        State state = State::nothing;
        std::vector<std::span<const std::byte>> messages;
    };
    class ThreadLoan;

    void receive(int rank, const ReceiveBlock& message, Movement& movement);
    void wait_until_copied(int rank, std::span<const SendBlock> sends, Movement& movement);
    int world_rank(int rank) const { return world_ranks_[static_cast<std::size_t>(rank)]; }
    Mailbox& mailbox(int from, int to) {
        return mailboxes_[static_cast<std::size_t>(from) * world_ranks_.size() + static_cast<std::size_t>(to)];
    }
    Lent& lent(int from, int to) {
        return lent_[static_cast<std::size_t>(from) * world_ranks_.size() + static_cast<std::size_t>(to)];
    }
    std::condition_variable& signal(int rank) { return world_->signal(world_rank(rank)); }
    Traffic& carried_by(int rank) { return world_->carried_[static_cast<std::size_t>(world_rank(rank))]; }

    std::shared_ptr<ThreadWorld> world_;
    std::vector<int> world_ranks_;
    std::vector<Mailbox> mailboxes_;  // size() x size(), by sender then receiver
    std::vector<Lent> lent_;          // likewise
    std::map<std::pair<std::int64_t, int>, Subgroup> subgroups_;
    // The all-gather under way, and the last one finished: nobody can finish the next before all have read it.
    std::vector<std::string> texts_;
    std::vector<std::string> gathered_;
    int arrived_ = 0;
    std::int64_t rounds_ = 0;
};

}  // namespace gnnplan::comm
