#include "runtime/comm/mpi_communicator.hpp"

#include "runtime/comm/messages.hpp"
#include "runtime/comm/packed_exchange.hpp"

#include <gnnplan/base/checked.hpp>

#include <algorithm>
#include <utility>

namespace gnnplan::comm {
namespace {

MPI_Datatype datatype(float /*of*/) { return MPI_FLOAT; }
MPI_Datatype datatype(double /*of*/) { return MPI_DOUBLE; }
MPI_Datatype datatype(kernels::SquareSum /*of*/) { return MPI_FLOAT; }

// MPI's addition of numbers of type T.
template <class T>
class Addition {
public:
    MPI_Op get() const { return MPI_SUM; }
};
template <>
class Addition<kernels::SquareSum> {
public:
    Addition() { check_mpi(MPI_Op_create(add, 1, &op_), "MPI_Op_create"); }
    ~Addition() { MPI_Op_free(&op_); }
    Addition(const Addition&) = delete;
    Addition& operator=(const Addition&) = delete;
    MPI_Op get() const { return op_; }

private:
    static void add(void* terms, void* sums, int* count, MPI_Datatype* /*type*/) {
        const auto* term = static_cast<const kernels::SquareSum*>(terms);
        auto* sum = static_cast<kernels::SquareSum*>(sums);
        for (int i = 0; i < *count; ++i) sum[i] += term[i];
    }

    MPI_Op op_ = MPI_OP_NULL;
};

// Same bits every run: the standard only recommends it, but Open MPI picks its algorithm from the number of ranks and
// the length alone and combines in an order that depends on ranks, not on arrival. Same bits on every rank: each of its
// algorithms either computes an element once and copies it, or combines the same two terms on both sides of a pair, and
// adding two terms is commutative in floating point, also for sums of squares. Pieces have equal bounds on all ranks.
template <class T>
void reduce(std::span<T> values, const OwnedComm& data, std::size_t largest, Heartbeat& heartbeat) {
    const Waiting waiting(heartbeat);
    const Addition<T> addition;
    in_pieces(values, largest / sizeof(T), [&](std::span<T> part, int count) {
        check_mpi(MPI_Allreduce(MPI_IN_PLACE, part.data(), count, datatype(T{}), addition.get(), data.get()),
                  "MPI_Allreduce");
    });
}

}  // namespace

std::vector<int> MpiCommunicator::lowest_of_each(const std::vector<int>& numbers) {
    std::vector<int> lowest;
    lowest.reserve(numbers.size());
    for (const int number : numbers)
        lowest.push_back(checked_cast<int>(std::ranges::find(numbers, number) - numbers.begin()));
    return lowest;
}

std::vector<Heartbeat*> MpiCommunicator::heartbeats() {
    std::vector<Heartbeat*> all(static_cast<std::size_t>(size_), nullptr);
    for (std::size_t rank = 0; rings_ != nullptr && rank < all.size(); ++rank) {
        if (node_ranks_[rank] >= 0) all[rank] = rings_->heartbeat(node_ranks_[rank]);
    }
    all[static_cast<std::size_t>(rank_)] = &own_heartbeat_;
    return all;
}

std::unique_ptr<PendingExchange> MpiCommunicator::start_exchange(std::span<const Send> sends,
                                                                 std::span<const Receive> receives) {
    check_messages(sends, receives, size_);
    copy_to_self(own_message(sends, receives, rank_));
    auto pending = std::make_unique<MpiExchange>(under_way_, data_.get(), rank_, largest_, own_heartbeat_);
    for (const Send& send : sends)
        if (send.peer != rank_) pending->start(send);
    for (const Receive& receive : receives)
        if (receive.peer != rank_) pending->start(receive);
    return pending;
}

void MpiCommunicator::exchange_blocks(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives) {
    check_messages(sends, receives, size_);
    check_none_under_way(under_way_);
    std::vector<SendBlock> near_sends;
    std::vector<SendBlock> far_sends;
    for (const SendBlock& send : sends) {
        if (send.peer == rank_ || send.rows.bytes() == 0) continue;
        (has_ring(send.peer) ? near_sends : far_sends).push_back(send);
    }
    std::vector<ReceiveBlock> near_receives;
    std::vector<ReceiveBlock> far_receives;
    for (const ReceiveBlock& receive : receives) {
        if (receive.peer == rank_ || receive.rows.bytes() == 0) continue;
        (has_ring(receive.peer) ? near_receives : far_receives).push_back(receive);
    }
    const OwnMessage own = own_message(sends, receives, rank_);
    const Waiting waiting(own_heartbeat_);
    PackedExchange far(*this, far_sends, far_receives);
    if (rings_ != nullptr)
        rings_->transfer(near_sends, near_receives, own, {node_ranks_, rank_});
    else
        copy_to_self(own);
    far.wait();
}

void MpiCommunicator::broadcast(int root, std::span<std::byte> bytes) {
    check_rank(root, size_);
    const Waiting waiting(own_heartbeat_);
    in_pieces(bytes, largest_, [&](std::span<std::byte> part, int count) {
        check_mpi(MPI_Bcast(part.data(), count, MPI_BYTE, root, data_.get()), "MPI_Bcast");
    });
}

void MpiCommunicator::all_reduce(std::span<float> values) { reduce(values, data_, largest_, own_heartbeat_); }
void MpiCommunicator::all_reduce(std::span<double> values) { reduce(values, data_, largest_, own_heartbeat_); }
void MpiCommunicator::all_reduce(std::span<kernels::SquareSum> values) {
    reduce(values, data_, largest_, own_heartbeat_);
}

// Both new communicators come from the control one, so that making them leaves no trace on the data channel.
std::unique_ptr<Communicator> MpiCommunicator::split(int colour, int key) {
    check_colour(colour);
    const Waiting waiting(own_heartbeat_);
    OwnedComm data = OwnedComm::split(control_.get(), colour, key, data_name);
    OwnedComm control = OwnedComm::split(control_.get(), colour, key, control_name);
    return std::make_unique<MpiCommunicator>(std::move(data), std::move(control), largest_, node_, own_heartbeat_);
}

std::vector<std::string> MpiCommunicator::control_all_gather(const std::string& text) {
    const int length = checked_cast<int>(text.size());
    const Waiting waiting(own_heartbeat_);
    std::vector<int> lengths(static_cast<std::size_t>(size_));
    check_mpi(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, control_.get()), "MPI_Allgather");
    std::vector<int> starts;
    std::int64_t total = 0;
    for (const int other : lengths) {
        starts.push_back(checked_cast<int>(total));
        total += other;
    }
    std::string all(static_cast<std::size_t>(total), '\0');
    check_mpi(MPI_Allgatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR,
                             control_.get()),
              "MPI_Allgatherv");
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < lengths.size(); ++i)
        texts.push_back(all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
    return texts;
}

}  // namespace gnnplan::comm
