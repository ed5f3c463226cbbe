#include "runtime/comm/mpi.hpp"

#include "runtime/comm/messages.hpp"
#include "runtime/comm/mpi_comm.hpp"
#include "runtime/comm/mpi_exchange.hpp"
#include "runtime/comm/mpi_greeting.hpp"
#include "runtime/comm/node_rings.hpp"
#include "runtime/comm/packed_exchange.hpp"
#include "runtime/comm/room.hpp"

#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/known_error.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>

namespace gnnplan::comm {
namespace {

constexpr const char* data_name = "gnnplan data";
constexpr const char* control_name = "gnnplan control";

// Open MPI over TCP sends messages of at most this many bytes unasked, larger ones when the receiver says so, and all
// on the one connection of a pair. With the library's 64 KiB, permission to send waits behind a quarter of a megabyte
// of such messages when the pieces of an overlapped product go one way and its larger pieces the other. Any value that
// the user has given stays.
void keep_unasked_messages_short() { setenv("OMPI_MCA_btl_tcp_eager_limit", "16384", 0); }

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

class MpiCommunicator : public Communicator {
public:
    // `rings` may be null; then no other rank sees `own`, the heartbeat of this rank.
    MpiCommunicator(OwnedComm data, OwnedComm control, std::size_t largest, std::shared_ptr<NodeRings> rings,
                    Heartbeat& own)
        : data_(std::move(data)),
          control_(std::move(control)),
          largest_(largest),
          rank_(data_.rank()),
          size_(data_.size()),
          rings_(std::move(rings)),
          own_heartbeat_(rings_ ? *rings_->own_heartbeat() : own) {
        if (rings_) node_ranks_ = rings_->node_ranks_in(data_);
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    std::unique_ptr<PendingExchange> start_exchange(std::span<const Send> sends,
                                                    std::span<const Receive> receives) override;
    void exchange_blocks(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives) override;
    void broadcast(int root, std::span<std::byte> bytes) override;
    void all_reduce(std::span<float> values) override { reduce(values); }
    void all_reduce(std::span<double> values) override { reduce(values); }
    void all_reduce(std::span<kernels::SquareSum> values) override { reduce(values); }
    std::unique_ptr<Communicator> split(int colour, int key) override;
    void barrier() override {
        const Waiting waiting(own_heartbeat_);
        check_mpi(MPI_Barrier(control_.get()), "MPI_Barrier");
    }
    std::vector<std::string> control_all_gather(const std::string& text) override;
    std::vector<Heartbeat*> heartbeats() override;

private:
    template <class T>
    void reduce(std::span<T> values);

    // Whether blocks to and from this rank go through a ring.
    bool has_ring(int peer) const { return rings_ && node_ranks_[static_cast<std::size_t>(peer)] >= 0; }

    OwnedComm data_;
    OwnedComm control_;
    std::size_t largest_;  // bytes
    int rank_;
    int size_;
    std::shared_ptr<NodeRings> rings_;  // of all ranks on this node, whatever communicators they form
    std::vector<int> node_ranks_;       // by rank: its number in the rings, -1 on another node
    Heartbeat& own_heartbeat_;
    ExchangesUnderWay under_way_;
};

std::vector<Heartbeat*> MpiCommunicator::heartbeats() {
    std::vector<Heartbeat*> all(static_cast<std::size_t>(size_), nullptr);
    for (std::size_t rank = 0; rings_ && rank < all.size(); ++rank) {
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
    if (rings_)
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

// Same bits every run: the standard only recommends it, but Open MPI picks its algorithm from the number of ranks and
// the length alone and combines in an order that depends on ranks, not on arrival. Same bits on every rank: each of its
// algorithms either computes an element once and copies it, or combines the same two terms on both sides of a pair, and
// adding two terms is commutative in floating point, also for sums of squares. Pieces have equal bounds on all ranks.
template <class T>
void MpiCommunicator::reduce(std::span<T> values) {
    const Waiting waiting(own_heartbeat_);
    const Addition<T> addition;
    in_pieces(values, largest_ / sizeof(T), [&](std::span<T> part, int count) {
        check_mpi(MPI_Allreduce(MPI_IN_PLACE, part.data(), count, datatype(T{}), addition.get(), data_.get()),
                  "MPI_Allreduce");
    });
}

// Both new communicators come from the control one, so that making them leaves no trace on the data channel.
std::unique_ptr<Communicator> MpiCommunicator::split(int colour, int key) {
    check_colour(colour);
    const Waiting waiting(own_heartbeat_);
    OwnedComm data = OwnedComm::split(control_.get(), colour, key, data_name);
    OwnedComm control = OwnedComm::split(control_.get(), colour, key, control_name);
    return std::make_unique<MpiCommunicator>(std::move(data), std::move(control), largest_, rings_, own_heartbeat_);
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

}  // namespace

MpiEnvironment::MpiEnvironment(std::int64_t largest_message_bytes, std::shared_ptr<MpiStart> start)
    : start_(start ? std::move(start) : std::make_shared<MpiStart>()) {
    ensure(largest_message_bytes >= 8 && largest_message_bytes <= std::numeric_limits<int>::max(),
           "MPI messages: the largest must have 8 to 2^31 - 1 bytes");
    // With less than about 200 MiB of addresses Open MPI fails, crashes or hangs while it starts.
    require_room(std::size_t{256} << 20);
    keep_unasked_messages_short();
    const Waiting waiting(start_->heartbeat());
    start_->heartbeat().enter(Heartbeat::starting);
    int provided = MPI_THREAD_SINGLE;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    if (provided < MPI_THREAD_FUNNELED)
        throw Error(ErrorCode::unavailable, "the library does not support threads inside a rank", "MPI",
                    "MPI_THREAD_FUNNELED is needed");
    check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    greet_others(*start_);
    start_->heartbeat().enter(Heartbeat::joining);
    OwnedComm data = OwnedComm::duplicate(MPI_COMM_WORLD, data_name);
    OwnedComm control = OwnedComm::duplicate(MPI_COMM_WORLD, control_name);
    std::shared_ptr<NodeRings> rings = NodeRings::create(control, note_);
    world_ = std::make_unique<MpiCommunicator>(std::move(data), std::move(control),
                                               static_cast<std::size_t>(largest_message_bytes), std::move(rings),
                                               start_->heartbeat());
}

MpiEnvironment::~MpiEnvironment() {
    const Waiting waiting(start_->heartbeat());
    start_->heartbeat().enter(Heartbeat::leaving);
    world_.reset();
    MPI_Finalize();
}

void MpiEnvironment::abort(int code) {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::abort();  // MPI_Abort does not return; the compiler cannot know
}

int MpiEnvironment::run_or_abort(const std::function<int()>& work) {
    const auto say = [](int rank, const char* what) noexcept {
        std::fprintf(stderr, "error: rank %d: %s\n", rank, what);
    };
    return run_or_abort(say, work);
}

int MpiEnvironment::run_or_abort(Say* say, const std::function<int()>& work) {
    const auto fail = [&](const char* what, ErrorCode code) {
        say(world_->rank(), what);
        abort(static_cast<int>(code));
    };
    try {
        return work();
    } catch (const AgreedError&) {
        throw;
    } catch (const Error& error) {
        fail(error.what(), error.code());
    } catch (const std::exception& failure) {
        const std::optional<Error> known = known_error(failure);
        fail(known ? known->what() : failure.what(), known ? known->code() : ErrorCode::internal);
    } catch (...) {
        fail("unknown exception", ErrorCode::internal);
    }
    std::abort();  // fail() does not return; the compiler cannot know
}

std::string MpiEnvironment::library_version() {
    std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
    int length = 0;
    check_mpi(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
    return text.substr(0, std::min(text.find_first_of(",\n"), static_cast<std::size_t>(length)));
}

}  // namespace gnnplan::comm
