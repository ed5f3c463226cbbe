#include "runtime/comm/thread_communicator.hpp"

#include "runtime/comm/messages.hpp"
#include "runtime/comm/ring.hpp"

#include <algorithm>
#include <tuple>

namespace gnnplan::comm {
namespace {

struct Place {
    int colour = 0;
    int key = 0;
    int rank = 0;
};

std::string to_text(int colour, int key) { return std::to_string(colour) + " " + std::to_string(key); }

Place to_place(const std::string& text, int rank) {
    std::size_t end = 0;
    const int colour = std::stoi(text, &end);
    return {colour, std::stoi(text.substr(end)), rank};
}

// The parent's ranks of this colour, in their order in the new group.
std::vector<int> members_of(int colour, const std::vector<std::string>& texts) {
    std::vector<Place> places;
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
        const Place place = to_place(texts[rank], static_cast<int>(rank));
        if (place.colour == colour) places.push_back(place);
    }
    std::sort(places.begin(), places.end(),
              [](const Place& a, const Place& b) { return std::tie(a.key, a.rank) < std::tie(b.key, b.rank); });
    std::vector<int> ranks(places.size());
    std::transform(places.begin(), places.end(), ranks.begin(), [](const Place& place) { return place.rank; });
    return ranks;
}

// Shows its messages to the others only in wait(): before, nobody reads from its buffers or writes to them, and a
// mailbox never has to hold more than one message.
class ThreadExchange : public OrderedExchange {
public:
    ThreadExchange(ExchangesUnderWay& under_way, ThreadGroup& group, int rank, std::span<const Send> sends,
                   std::span<const Receive> receives)
        : OrderedExchange(under_way), group_(group), rank_(rank) {
        sends_.reserve(sends.size());
        receives_.reserve(receives.size());
        for (const Send& send : sends) sends_.push_back({send.peer, one_row(send.bytes), {}});
        for (const Receive& receive : receives) receives_.push_back({receive.peer, one_row(receive.bytes), {}});
    }
    void progress() override {}

private:
    void finish() override { group_.transfer(rank_, sends_, receives_); }

    ThreadGroup& group_;
    int rank_;
    std::vector<SendBlock> sends_;
    std::vector<ReceiveBlock> receives_;
};

}  // namespace

std::unique_ptr<PendingExchange> ThreadCommunicator::start_exchange(std::span<const Send> sends,
                                                                    std::span<const Receive> receives) {
    check_messages(sends, receives, size());
    copy_to_self(own_message(sends, receives, rank_));
    return std::make_unique<ThreadExchange>(under_way_, *group_, rank_, sends, receives);
}

void ThreadCommunicator::exchange_blocks(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives) {
    check_messages(sends, receives, size());
    check_none_under_way(under_way_);
    copy_to_self(own_message(sends, receives, rank_));
    group_->transfer(rank_, sends, receives);
}

void ThreadCommunicator::broadcast(int root, std::span<std::byte> bytes) {
    check_rank(root, size());
    std::vector<SendBlock> sends;
    std::vector<ReceiveBlock> receives;
    if (rank_ == root)
        for (int peer = 0; peer < size(); ++peer)
            sends.push_back({peer, one_row(std::span<const std::byte>(bytes)), {}});
    else
        receives.push_back({root, one_row(bytes), {}});
    group_->transfer(rank_, sends, receives);
}

void ThreadCommunicator::all_reduce(std::span<float> values) { ring_all_reduce(*group_, rank_, values); }

void ThreadCommunicator::all_reduce(std::span<double> values) { ring_all_reduce(*group_, rank_, values); }

void ThreadCommunicator::all_reduce(std::span<kernels::SquareSum> values) { ring_all_reduce(*group_, rank_, values); }

std::unique_ptr<Communicator> ThreadCommunicator::split(int colour, int key) {
    check_colour(colour);
    const std::vector<int> members = members_of(colour, control_all_gather(to_text(colour, key)));
    const auto mine = std::find(members.begin(), members.end(), rank_);
    return std::make_unique<ThreadCommunicator>(group_->subgroup(splits_++, colour, members),
                                                static_cast<int>(mine - members.begin()));
}

}  // namespace gnnplan::comm
