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

}  // namespace

void ThreadCommunicator::exchange(std::span<const Send> sends, std::span<const Receive> receives) {
    check_messages(sends, receives, size());
    copy_to_self(sends, receives, rank_);
    group_->transfer(rank_, sends, receives);
}

void ThreadCommunicator::broadcast(int root, std::span<std::byte> bytes) {
    check_rank(root, size());
    std::vector<Send> sends;
    std::vector<Receive> receives;
    if (rank_ == root)
        for (int peer = 0; peer < size(); ++peer) sends.push_back({peer, bytes});
    else
        receives.push_back({root, bytes});
    group_->transfer(rank_, sends, receives);
}

void ThreadCommunicator::all_reduce(std::span<float> values) { ring_all_reduce(*group_, rank_, values); }

void ThreadCommunicator::all_reduce(std::span<double> values) { ring_all_reduce(*group_, rank_, values); }

std::unique_ptr<Communicator> ThreadCommunicator::split(int colour, int key) {
    check_colour(colour);
    const std::vector<int> members = members_of(colour, control_all_gather(to_text(colour, key)));
    const auto mine = std::find(members.begin(), members.end(), rank_);
    return std::make_unique<ThreadCommunicator>(group_->subgroup(splits_++, colour, members),
                                                static_cast<int>(mine - members.begin()));
}

}  // namespace gnnplan::comm
