#include "runtime/comm/thread_group.hpp"

#include "runtime/comm/messages.hpp"

#include <gnnplan/base/checked.hpp>

namespace gnnplan::comm {

ThreadWorld::ThreadWorld(int ranks)
    : signals_(static_cast<std::size_t>(ranks)),
      carried_(static_cast<std::size_t>(ranks)),
      heartbeats_(static_cast<std::size_t>(ranks)) {}

void ThreadWorld::abort() {
    const std::lock_guard lock(mutex_);
    aborted_ = true;
    for (std::condition_variable& signal : signals_) signal.notify_all();
}

void ThreadWorld::check() {
    const std::lock_guard lock(mutex_);
    if (aborted_) throw RanksAborted();
}

Traffic ThreadWorld::carried(int world_rank) {
    const std::lock_guard lock(mutex_);
    return carried_[static_cast<std::size_t>(world_rank)];
}

Movement::Ticket Movement::move(const ConstRows& from, const Ticket& /*ready*/, const MutableRows& to) {
    copy_rows(from, to, stores_for(to.bytes()));
    return nullptr;
}

// Shows a rank's messages to their receivers for as long as it lives. A receiver may be in the middle of a copy when
// the sender gives up, so the destructor waits for that: the sender's memory is its own again afterwards.
class ThreadGroup::Posting {
public:
    Posting(ThreadGroup& group, int rank, std::span<const SendBlock> sends, const Movement::Ticket& ready)
        : group_(group), rank_(rank), sends_(sends) {
        const std::lock_guard lock(group_.world_->mutex_);
        for (const SendBlock& send : sends_) {
            if (send.peer == rank_ || send.rows.bytes() == 0) continue;
            group_.mailbox(rank_, send.peer) = {State::posted, send.rows, ready};
            group_.carried_by(rank_).sent(checked_cast<std::int64_t>(send.rows.bytes()));
            group_.signal(send.peer).notify_all();
        }
    }
    Posting(const Posting&) = delete;
    Posting& operator=(const Posting&) = delete;
    ~Posting() {
        std::unique_lock lock(group_.world_->mutex_);
        for (const SendBlock& send : sends_) {
            Mailbox& mailbox = group_.mailbox(rank_, send.peer);
            group_.signal(rank_).wait(lock, [&] { return mailbox.state != State::copying; });
            mailbox = {};
        }
    }

private:
    ThreadGroup& group_;
    int rank_;
    std::span<const SendBlock> sends_;
};

ThreadGroup::ThreadGroup(std::shared_ptr<ThreadWorld> world, std::vector<int> world_ranks)
    : world_(std::move(world)),
      world_ranks_(std::move(world_ranks)),
      mailboxes_(world_ranks_.size() * world_ranks_.size()),
      lent_(world_ranks_.size() * world_ranks_.size()),
      texts_(world_ranks_.size()) {}

std::vector<Heartbeat*> ThreadGroup::heartbeats() {
    std::vector<Heartbeat*> all;
    for (const int world_rank : world_ranks_) all.push_back(&world_->heartbeat(world_rank));
    return all;
}

void ThreadGroup::transfer(int rank, std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives,
                           Movement& movement) {
    const Posting posting(*this, rank, sends, movement.ready());
    for (const ReceiveBlock& message : receives)
        if (message.peer != rank && message.rows.bytes() > 0) receive(rank, message, movement);
    wait_until_copied(rank, sends, movement);
}

void ThreadGroup::receive(int rank, const ReceiveBlock& message, Movement& movement) {
    std::unique_lock lock(world_->mutex_);
    Mailbox& from = mailbox(message.peer, rank);
    world_->wait(lock, world_rank(rank), [&] { return from.state == State::posted; });
    if (from.rows.bytes() != message.rows.bytes())
        throw_length_mismatch(message.peer, rank, from.rows.bytes(), message.rows.bytes());
    from.state = State::copying;
    lock.unlock();
    Movement::Ticket ticket;
    std::exception_ptr failure;
    try {
        ticket = movement.move(from.rows, from.ticket, message.rows);
    } catch (...) {
        failure = std::current_exception();
    }
    lock.lock();
    from.state = State::copied;  // the sender is not to wait for what failed
    from.ticket = ticket;
    if (failure) {
        signal(message.peer).notify_all();
        std::rethrow_exception(failure);
    }
    carried_by(rank).received(checked_cast<std::int64_t>(message.rows.bytes()));
    signal(message.peer).notify_all();
}

void ThreadGroup::wait_until_copied(int rank, std::span<const SendBlock> sends, Movement& movement) {
    std::unique_lock lock(world_->mutex_);
    for (const SendBlock& send : sends) {
        if (send.peer == rank || send.rows.bytes() == 0) continue;
        const Mailbox& to = mailbox(rank, send.peer);
        world_->wait(lock, world_rank(rank), [&] { return to.state == State::copied; });
        movement.moved(to.ticket);
    }
}

std::vector<std::string> ThreadGroup::all_gather(int rank, const std::string& text) {
    std::unique_lock lock(world_->mutex_);
    texts_[static_cast<std::size_t>(rank)] = text;
    if (++arrived_ < size()) {
        world_->wait(lock, world_rank(rank), [this, round = rounds_] { return rounds_ != round; });
        return gathered_;
    }
    gathered_ = texts_;
    arrived_ = 0;
    ++rounds_;
    for (int peer = 0; peer < size(); ++peer) signal(peer).notify_all();
    return gathered_;
}

std::shared_ptr<ThreadGroup> ThreadGroup::subgroup(std::int64_t split, int colour, std::span<const int> ranks) {
    const std::lock_guard lock(world_->mutex_);
    Subgroup& subgroup = subgroups_[{split, colour}];
    if (!subgroup.group) {
        std::vector<int> world_ranks;
        for (const int rank : ranks) world_ranks.push_back(world_rank(rank));
        subgroup.group = std::make_shared<ThreadGroup>(world_, std::move(world_ranks));
    }
    std::shared_ptr<ThreadGroup> group = subgroup.group;
    if (++subgroup.collected == ranks.size()) subgroups_.erase({split, colour});
    return group;
}

}  // namespace gnnplan::comm
