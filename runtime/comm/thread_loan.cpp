// Loans between ranks that are threads of one process: they show each other addresses.
#include "runtime/comm/messages.hpp"
#include "runtime/comm/thread_group.hpp"

#include <gnnplan/base/checked.hpp>

#include <set>
#include <utility>

namespace gnnplan::comm {

class ThreadGroup::ThreadLoan : public Loan {
public:
    ThreadLoan(ThreadGroup& group, int rank) : group_(group), rank_(rank) {}
    ThreadLoan(const ThreadLoan&) = delete;
    ThreadLoan& operator=(const ThreadLoan&) = delete;
    // Messages that nobody has taken yet are withdrawn.
    ~ThreadLoan() override {
        if (ended_) return;
        std::unique_lock lock(group_.world_->mutex_);
        for (const int lender : lenders_)
            if (group_.lent(lender, rank_).state == Lent::State::taken) give_back(lender);
        for (const int borrower : borrowers_) {
            Lent& lent = group_.lent(rank_, borrower);
            group_.signal(rank_).wait(lock, [&] { return lent.state != Lent::State::taken; });
            lent = {};
        }
    }

    void begin(std::span<const Send> sends, std::span<const Receive> receives) {
        std::map<int, std::size_t> received;  // by sender
        for (const Receive& receive : receives) {
            check_other(receive.peer);
            borrowed_.push_back({receive.peer, received[receive.peer]++, receive.bytes.size()});
            lenders_.insert(receive.peer);
        }
        const std::lock_guard lock(group_.world_->mutex_);
        for (const Send& send : sends) show(send);
        for (const int borrower : borrowers_) group_.signal(borrower).notify_all();
    }

    std::span<const std::byte> received(std::size_t i) override {
        const Borrowed& message = borrowed_.at(i);
        std::unique_lock lock(group_.world_->mutex_);
        return taken(lock, message.from).at(message.place);
    }

    void end() override {
        std::unique_lock lock(group_.world_->mutex_);
        for (const int lender : lenders_) {
            taken(lock, lender);
            give_back(lender);
        }
        for (const Borrowed& message : borrowed_)
            group_.carried_by(rank_).received(checked_cast<std::int64_t>(message.bytes));
        for (const int borrower : borrowers_) {
            Lent& lent = group_.lent(rank_, borrower);
            group_.world_->wait(lock, group_.world_rank(rank_), [&] { return lent.state == Lent::State::given_back; });
            lent = {};
        }
        ended_ = true;
    }

private:
    struct Borrowed {
        int from;
        std::size_t place;  // among the messages of that rank
        std::size_t bytes;
    };

    void check_other(int peer) const {
        check_rank(peer, group_.size());
        ensure(peer != rank_, "a rank lends nothing to itself");
    }
    void show(const Send& send) {
        check_other(send.peer);
        Lent& lent = group_.lent(rank_, send.peer);
        ensure(lent.state == Lent::State::nothing || borrowers_.contains(send.peer), "two loans at a time");
        borrowers_.insert(send.peer);
        lent.messages.push_back(send.bytes);
        lent.state = Lent::State::shown;
        group_.carried_by(rank_).sent(checked_cast<std::int64_t>(send.bytes.size()));
    }
    // The messages of a rank to this one, when they are there.
    const std::vector<std::span<const std::byte>>& taken(std::unique_lock<std::mutex>& lock, int lender) {
        Lent& lent = group_.lent(lender, rank_);
        if (lent.state == Lent::State::taken) return lent.messages;
        group_.world_->wait(lock, group_.world_rank(rank_), [&] { return lent.state == Lent::State::shown; });
        check_lengths(lender, lent);
        lent.state = Lent::State::taken;
        return lent.messages;
    }
    void check_lengths(int lender, const Lent& lent) const {
        std::size_t expected = 0;
        for (const Borrowed& message : borrowed_) {
            if (message.from != lender) continue;
            const std::size_t sent = message.place < lent.messages.size() ? lent.messages[message.place].size() : 0;
            if (sent != message.bytes) throw_length_mismatch(lender, rank_, sent, message.bytes);
            ++expected;
        }
        ensure(expected == lent.messages.size(), "a rank lends more messages than another expects");
    }
    void give_back(int lender) {
        group_.lent(lender, rank_).state = Lent::State::given_back;
        group_.signal(lender).notify_all();
    }

    ThreadGroup& group_;
    int rank_;
    std::vector<Borrowed> borrowed_;
    std::set<int> lenders_, borrowers_;
    bool ended_ = false;
};

std::unique_ptr<Loan> ThreadGroup::lend(int rank, std::span<const Send> sends, std::span<const Receive> receives) {
    auto loan = std::make_unique<ThreadLoan>(*this, rank);
    loan->begin(sends, receives);  // where that fails, the object withdraws what it has shown
    return loan;
}

}  // namespace gnnplan::comm
