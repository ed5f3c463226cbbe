#include "runtime/comm/mpi.hpp"

#include "runtime/comm/messages.hpp"
#include "runtime/comm/mpi_comm.hpp"

#include <gnnplan/base/checked.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace gnnplan::comm {
namespace {

constexpr int tag = 0;  // an exchange has one message per pair, and MPI keeps the order of its pieces
constexpr const char* data_name = "gnnplan data";
constexpr const char* control_name = "gnnplan control";

MPI_Datatype datatype(float /*of*/) { return MPI_FLOAT; }
MPI_Datatype datatype(double /*of*/) { return MPI_DOUBLE; }

// Calls piece(part, count) for consecutive parts of at most `largest` items.
template <class T, class Piece>
void in_pieces(std::span<T> items, std::size_t largest, Piece piece) {
    while (!items.empty()) {
        const std::span<T> part = items.first(std::min(largest, items.size()));
        piece(part, checked_cast<int>(part.size()));
        items = items.subspan(part.size());
    }
}

class MpiCommunicator : public Communicator {
public:
    MpiCommunicator(OwnedComm data, OwnedComm control, std::size_t largest)
        : data_(std::move(data)),
          control_(std::move(control)),
          largest_(largest),
          rank_(data_.rank()),
          size_(data_.size()) {}

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    void exchange(std::span<const Send> sends, std::span<const Receive> receives) override;
    void broadcast(int root, std::span<std::byte> bytes) override;
    void all_reduce(std::span<float> values) override { reduce(values); }
    void all_reduce(std::span<double> values) override { reduce(values); }
    std::unique_ptr<Communicator> split(int colour, int key) override;
    void barrier() override { check_mpi(MPI_Barrier(control_.get()), "MPI_Barrier"); }
    std::vector<std::string> control_all_gather(const std::string& text) override;

private:
    // The requests of one exchange. MPI nulls those that are complete. After an error the others must not write to
    // buffers that their owner may free: receives still under way are cancelled, after which waiting for them is local.
    // Sends only read, and MPI libraries do not cancel them: they are let go.
    struct Pending {
        Pending() = default;
        Pending(const Pending&) = delete;
        Pending& operator=(const Pending&) = delete;
        ~Pending();

        std::vector<MPI_Request> requests;          // the receives come first
        std::vector<std::pair<int, int>> expected;  // peer and bytes of each receive
    };
    void start(const Receive& receive, Pending& pending);
    void start(const Send& send, Pending& pending);
    void finish(Pending& pending) const;
    template <class T>
    void reduce(std::span<T> values);

    OwnedComm data_;
    OwnedComm control_;
    std::size_t largest_;  // bytes
    int rank_;
    int size_;
};

MpiCommunicator::Pending::~Pending() {
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (requests[i] == MPI_REQUEST_NULL) continue;
        if (i >= expected.size()) {
            MPI_Request_free(&requests[i]);
        } else if (MPI_Cancel(&requests[i]) == MPI_SUCCESS) {
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        }
    }
}

void MpiCommunicator::start(const Receive& receive, Pending& pending) {
    in_pieces(receive.bytes, largest_, [&](std::span<std::byte> part, int count) {
        pending.expected.emplace_back(receive.peer, count);
        MPI_Request& request = pending.requests.emplace_back(MPI_REQUEST_NULL);
        check_mpi(MPI_Irecv(part.data(), count, MPI_BYTE, receive.peer, tag, data_.get(), &request), "MPI_Irecv");
    });
}

void MpiCommunicator::start(const Send& send, Pending& pending) {
    in_pieces(send.bytes, largest_, [&](std::span<const std::byte> part, int count) {
        MPI_Request& request = pending.requests.emplace_back(MPI_REQUEST_NULL);
        check_mpi(MPI_Isend(part.data(), count, MPI_BYTE, send.peer, tag, data_.get(), &request), "MPI_Isend");
    });
}

// MPI reports a message that is too long; one that is too short it accepts, so the lengths are compared here.
void MpiCommunicator::finish(Pending& pending) const {
    std::vector<MPI_Status> statuses(pending.requests.size());
    check_mpi(MPI_Waitall(checked_cast<int>(statuses.size()), pending.requests.data(), statuses.data()), "MPI_Waitall");
    for (std::size_t i = 0; i < pending.expected.size(); ++i) {
        const auto [peer, expected] = pending.expected[i];
        int received = 0;
        check_mpi(MPI_Get_count(&statuses[i], MPI_BYTE, &received), "MPI_Get_count");
        if (received != expected)
            throw_length_mismatch(peer, rank_, static_cast<std::size_t>(received), static_cast<std::size_t>(expected));
    }
}

void MpiCommunicator::exchange(std::span<const Send> sends, std::span<const Receive> receives) {
    check_messages(sends, receives, size_);
    copy_to_self(sends, receives, rank_);
    Pending pending;
    for (const Receive& receive : receives)
        if (receive.peer != rank_) start(receive, pending);
    for (const Send& send : sends)
        if (send.peer != rank_) start(send, pending);
    finish(pending);
}

void MpiCommunicator::broadcast(int root, std::span<std::byte> bytes) {
    check_rank(root, size_);
    in_pieces(bytes, largest_, [&](std::span<std::byte> part, int count) {
        check_mpi(MPI_Bcast(part.data(), count, MPI_BYTE, root, data_.get()), "MPI_Bcast");
    });
}

// Same bits every run: the standard only recommends it, but Open MPI picks its algorithm from the number of ranks and
// the length alone and combines in an order that depends on ranks, not on arrival. Same bits on every rank: each of its
// algorithms either computes an element once and copies it, or combines the same two terms on both sides of a pair, and
// the addition of two terms is commutative in floating point. Pieces have the same bounds on every rank.
template <class T>
void MpiCommunicator::reduce(std::span<T> values) {
    in_pieces(values, largest_ / sizeof(T), [&](std::span<T> part, int count) {
        check_mpi(MPI_Allreduce(MPI_IN_PLACE, part.data(), count, datatype(T{}), MPI_SUM, data_.get()),
                  "MPI_Allreduce");
    });
}

// Both new communicators come from the control one, so that making them leaves no trace on the data channel.
std::unique_ptr<Communicator> MpiCommunicator::split(int colour, int key) {
    check_colour(colour);
    OwnedComm data = OwnedComm::split(control_.get(), colour, key, data_name);
    OwnedComm control = OwnedComm::split(control_.get(), colour, key, control_name);
    return std::make_unique<MpiCommunicator>(std::move(data), std::move(control), largest_);
}

std::vector<std::string> MpiCommunicator::control_all_gather(const std::string& text) {
    const int length = checked_cast<int>(text.size());
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

MpiEnvironment::MpiEnvironment(std::int64_t largest_message_bytes) {
    ensure(largest_message_bytes >= 8 && largest_message_bytes <= std::numeric_limits<int>::max(),
           "MPI messages: the largest must have 8 to 2^31 - 1 bytes");
    int provided = MPI_THREAD_SINGLE;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    if (provided < MPI_THREAD_FUNNELED)
        throw Error(ErrorCode::unavailable, "the library does not support threads inside a rank", "MPI",
                    "MPI_THREAD_FUNNELED is needed");
    check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    world_ = std::make_unique<MpiCommunicator>(OwnedComm::duplicate(MPI_COMM_WORLD, data_name),
                                               OwnedComm::duplicate(MPI_COMM_WORLD, control_name),
                                               static_cast<std::size_t>(largest_message_bytes));
}

MpiEnvironment::~MpiEnvironment() {
    world_.reset();
    MPI_Finalize();
}

void MpiEnvironment::abort(int code) {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::abort();  // MPI_Abort does not return; the compiler cannot know
}

int MpiEnvironment::run_or_abort(const std::function<int()>& work) {
    const auto fail = [&](const char* what, ErrorCode code) {
        std::fprintf(stderr, "error: rank %d: %s\n", world_->rank(), what);
        abort(static_cast<int>(code));
    };
    try {
        return work();
    } catch (const AgreedError&) {
        throw;
    } catch (const Error& error) {
        fail(error.what(), error.code());
    } catch (const std::exception& error) {
        fail(error.what(), ErrorCode::internal);
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
