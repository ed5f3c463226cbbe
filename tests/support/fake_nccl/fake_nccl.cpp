// The thirteen functions of NCCL that kernels/cuda uses, for ranks whose GPUs are emulated by the host's runtime: as
// threads or as processes of one machine, which meet in a file of shared memory.
//
// A group of sends and receives is one piece of work in the stream. It is over when all of its messages have been
// received, so ranks that are to send in another order wait for each other here, as they would with NCCL. Sums are made
// in a ring. Ranks find out where their calls do not fit each other.
//
// FAKE_NCCL says what goes wrong, words apart by blanks, on the rank "rank=R" (the last one without it):
// "version=20800", "init=1" (connecting fails), "fails=7" (the seventh group or sum), "hangs=5" (the fifth never ends),
// "dies=3" (the process ends when the third begins), and "patience=20" (seconds without a message until waiting ranks
// say for what).
#include "tests/support/host_runtime/stream.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

enum Result : int { success = 0, system_error = 2, invalid_usage = 5, remote_error = 6, in_progress = 7 };
constexpr int bytes_type = 0, float_type = 7, double_type = 8;
constexpr int most_ranks = 12;
constexpr std::size_t chunk = std::size_t{1} << 16;

struct Id {
    char bytes[128];
};

// Part of a message on its way from one rank to another.
struct Slot {
    std::atomic<std::uint32_t> full;
    std::uint64_t call;  // what the sender's call is, which has to be the receiver's
    std::uint64_t message_bytes;
    std::uint64_t bytes;
    std::array<std::byte, chunk> data;
};

// Begins as zeros.
struct Shared {
    std::atomic<int> joined;
    std::atomic<int> error;
    std::array<std::array<Slot, most_ranks>, most_ranks> slots;  // by sender, then receiver
};

int setting(const char* name, int otherwise) {
    const char* all = std::getenv("FAKE_NCCL");
    const char* found = all != nullptr ? std::strstr(all, (std::string(name) + "=").c_str()) : nullptr;
    return found != nullptr ? std::atoi(found + std::strlen(name) + 1) : otherwise;
}

thread_local std::string last_error;

Result failure(Result result, const std::string& why) {
    last_error = why;
    return result;
}

}  // namespace

struct ncclComm {
    int rank = 0, ranks = 1;
    Shared* shared = nullptr;
    bool aborted = false;
    std::atomic<int> error = success;
    int calls = 0;
    std::uint64_t sums = 0;

    bool meant() const { return rank == setting("rank", ranks - 1); }
    int failed() const { return error != success ? error.load() : shared->error.load(); }
    void fail(Result result, const std::string& why) {
        std::fprintf(stderr, "fake NCCL: rank %d: %s\n", rank, why.c_str());
        error = result;
        int none = success;
        shared->error.compare_exchange_strong(none, remote_error);
    }
};

namespace {

struct Message {
    int peer;
    std::byte* data;
    std::uint64_t bytes;
    std::uint64_t call;
    std::uint64_t moved = 0;
    bool begun = false;
    bool ended() const { return begun && moved == bytes; }
};

// Messages of a rank that move at the same time.
class Round {
public:
    Round(std::vector<Message> sends, std::vector<Message> receives)
        : sends_(std::move(sends)), receives_(std::move(receives)) {}

    // Whether anything can move.
    bool ready(const ncclComm& comm) const {
        const auto& slots = comm.shared->slots;
        const auto leaves = [&](const Message& send) {
            return !send.ended() && slots[index(comm.rank)][index(send.peer)].full.load(std::memory_order_acquire) == 0;
        };
        const auto comes = [&](const Message& receive) {
            return !receive.ended() &&
                   slots[index(receive.peer)][index(comm.rank)].full.load(std::memory_order_acquire) != 0;
        };
        return std::ranges::any_of(sends_, leaves) || std::ranges::any_of(receives_, comes);
    }
    void advance(ncclComm& comm) {
        for (Message& send : sends_) put(comm, send);
        for (Message& receive : receives_) take(comm, receive);
    }
    bool ended(const ncclComm& comm) const {
        const auto taken = [&](const Message& send) {
            return send.ended() && comm.shared->slots[index(comm.rank)][index(send.peer)].full == 0;
        };
        return std::ranges::all_of(sends_, taken) && std::ranges::all_of(receives_, &Message::ended);
    }
    std::string missing() const {
        for (const Message& receive : receives_)
            if (!receive.ended()) return "waits for a send of rank " + std::to_string(receive.peer);
        return "waits for receives of what it sent";
    }

private:
    static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

    static void put(ncclComm& comm, Message& send) {
        Slot& slot = comm.shared->slots[index(comm.rank)][index(send.peer)];
        if (send.ended() || slot.full.load(std::memory_order_acquire) != 0) return;
        slot.bytes = std::min<std::uint64_t>(chunk, send.bytes - send.moved);
        slot.call = send.call;
        slot.message_bytes = send.bytes;
        std::memcpy(slot.data.data(), send.data + send.moved, slot.bytes);
        send.moved += slot.bytes;
        send.begun = true;
        slot.full.store(1, std::memory_order_release);
    }
    static void take(ncclComm& comm, Message& receive) {
        Slot& slot = comm.shared->slots[index(receive.peer)][index(comm.rank)];
        if (receive.ended() || slot.full.load(std::memory_order_acquire) == 0) return;
        if (slot.message_bytes != receive.bytes || slot.call != receive.call) {
            comm.fail(invalid_usage, "a call of rank " + std::to_string(receive.peer) + " is another one, of " +
                                         std::to_string(slot.message_bytes) + " bytes, not " +
                                         std::to_string(receive.bytes));
            return;
        }
        std::memcpy(receive.data + receive.moved, slot.data.data(), slot.bytes);
        receive.moved += slot.bytes;
        receive.begun = true;
        slot.full.store(0, std::memory_order_release);
    }

    std::vector<Message> sends_, receives_;
};

// A call does rounds in the stream, one after the other, each with something to do at its end.
class Call {
public:
    explicit Call(ncclComm& comm) : comm_(comm), number_(++comm.calls) {}

    void add(
        Round round, std::function<void()> end = [] {}) {
        rounds_.push_back({std::move(round), std::move(end)});
    }

    // After an error nothing goes on until somebody gives up.
    bool ready() {
        if (comm_.aborted) return true;
        if (comm_.failed() != success) return false;
        if (comm_.meant()) {
            if (number_ == setting("dies", 0)) std::_Exit(1);
            if (number_ == setting("hangs", 0)) return false;
            if (number_ == setting("fails", 0)) {
                comm_.fail(system_error, "this call was told to fail");
                return false;
            }
        }
        const auto now = std::chrono::steady_clock::now();
        if (rounds_.empty() || rounds_.front().messages.ended(comm_) || rounds_.front().messages.ready(comm_)) {
            last_ = now;
            return true;
        }
        if (last_ == std::chrono::steady_clock::time_point{}) last_ = now;
        if (now - last_ > std::chrono::seconds(setting("patience", 20)))
            comm_.fail(remote_error, rounds_.front().messages.missing());
        return false;
    }
    cudaError_t advance() {
        if (comm_.aborted) return cudaSuccess;
        while (!rounds_.empty()) {
            rounds_.front().messages.advance(comm_);
            if (!rounds_.front().messages.ended(comm_)) return cudaErrorNotReady;
            rounds_.front().end();
            rounds_.erase(rounds_.begin());
        }
        return cudaSuccess;
    }

private:
    struct Step {
        Round messages;
        std::function<void()> end;
    };

    ncclComm& comm_;
    int number_;
    std::vector<Step> rounds_;
    std::chrono::steady_clock::time_point last_{};
};

// The sends and receives of a group that is open.
struct Group {
    int depth = 0;
    ncclComm* comm = nullptr;
    cudaStream_t stream = nullptr;
    std::vector<Message> sends, receives;
};
thread_local Group group;

Result enqueue(cudaStream_t stream, const std::shared_ptr<Call>& call) {
    auto* queue = reinterpret_cast<gnnplan::testing::host_runtime::Stream*>(stream);
    return queue->enqueue({[call] { return call->advance(); }, [call] { return call->ready(); }}) == cudaSuccess
               ? success
               : system_error;
}

Result close_group() {
    if (--group.depth > 0) return success;
    Group closed = std::exchange(group, {});
    if (closed.comm == nullptr) return success;
    auto call = std::make_shared<Call>(*closed.comm);
    call->add(Round(std::move(closed.sends), std::move(closed.receives)));
    return enqueue(closed.stream, call);
}

Result add(std::vector<Message> Group::*messages, void* data, std::size_t count, int type, int peer, ncclComm* comm,
           cudaStream_t stream) {
    if (type != bytes_type || peer < 0 || peer >= comm->ranks || peer == comm->rank)
        return failure(invalid_usage, "a message that this NCCL does not send");
    ++group.depth;
    if (group.comm != nullptr && (group.comm != comm || group.stream != stream))
        return failure(invalid_usage, "a group of several communicators or streams");
    group.comm = comm, group.stream = stream;
    for (const Message& other : group.*messages)
        if (other.peer == peer) return failure(invalid_usage, "two messages to one rank in a group");
    (group.*messages).push_back({peer, static_cast<std::byte*>(data), count, 0});
    return close_group();
}

// Sums in a ring: the rank at index r ends with block r + 1, which then goes round.
template <class T>
std::shared_ptr<Call> ring(ncclComm& comm, T* values, std::size_t count, std::uint64_t number) {
    auto call = std::make_shared<Call>(comm);
    const std::size_t ranks = static_cast<std::size_t>(comm.ranks), me = static_cast<std::size_t>(comm.rank);
    const auto begin = [=](std::size_t block) {
        return block % ranks * (count / ranks) + std::min(block % ranks, count % ranks);
    };
    const auto size = [=](std::size_t block) { return count / ranks + (block % ranks < count % ranks ? 1 : 0); };
    const auto terms = std::make_shared<std::vector<T>>(count / ranks + 1);
    const auto right = static_cast<int>((me + 1) % ranks), left = static_cast<int>((me + ranks - 1) % ranks);
    const auto step = [&](std::size_t out, std::size_t in, bool adds) {
        T* target = values + begin(in);
        auto* bytes = reinterpret_cast<std::byte*>(adds ? terms->data() : target);
        std::vector<Message> sends, receives;
        if (size(out) > 0)
            sends.push_back({right, reinterpret_cast<std::byte*>(values + begin(out)), size(out) * sizeof(T), number});
        if (size(in) > 0) receives.push_back({left, bytes, size(in) * sizeof(T), number});
        call->add(Round(std::move(sends), std::move(receives)), [=, length = size(in)] {
            for (std::size_t i = 0; adds && i < length; ++i) target[i] += (*terms)[i];
        });
    };
    for (std::size_t k = 0; k + 1 < ranks; ++k) step(me + ranks - k, me + 2 * ranks - k - 1, true);
    for (std::size_t k = 0; k + 1 < ranks; ++k) step(me + ranks + 1 - k, me + ranks - k, false);
    return call;
}

// The memory of a communicator stays, as work in a stream may still look at it.
ncclComm* stays(std::unique_ptr<ncclComm> made) {
    static std::mutex mutex;
    static auto* all = new std::vector<std::unique_ptr<ncclComm>>;
    const std::lock_guard lock(mutex);
    return all->emplace_back(std::move(made)).get();
}

std::string file_of(const Id& id) { return "/dev/shm/" + std::string(id.bytes); }

}  // namespace

extern "C" {

Result ncclGetVersion(int* version) {
    *version = setting("version", 22809);
    return success;
}

const char* ncclGetErrorString(Result result) {
    switch (result) {
        case success: return "no error";
        case system_error: return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
        case invalid_usage: return "invalid usage (run with NCCL_DEBUG=WARN for details)";
        case remote_error: return "remote process exited or there was a network error";
        default: return "unknown result code";
    }
}

const char* ncclGetLastError(ncclComm* /*comm*/) { return last_error.c_str(); }

Result ncclGetUniqueId(Id* id) {
    *id = {};
    const std::string name = "fake-nccl-" + std::to_string(getpid()) + "-" + std::to_string(std::random_device()());
    std::ranges::copy(name, id->bytes);
    const int file = open(file_of(*id).c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file < 0 || ftruncate(file, sizeof(Shared)) != 0) return failure(system_error, "there is no shared memory");
    close(file);
    return success;
}

Result ncclCommInitRank(ncclComm** comm, int ranks, Id id, int rank) {
    auto made = std::make_unique<ncclComm>();
    made->rank = rank, made->ranks = ranks;
    const int file = open(file_of(id).c_str(), O_RDWR);
    if (file < 0 || ranks > most_ranks) return failure(system_error, "the ranks do not meet");
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) return failure(system_error, "there is no shared memory");
    made->shared = static_cast<Shared*>(memory);
    if (made->meant() && setting("init", 0) != 0) {
        made->fail(system_error, "connecting was told to fail");
        return failure(system_error, "connecting was told to fail");
    }
    if (++made->shared->joined == ranks) unlink(file_of(id).c_str());
    const auto begin = std::chrono::steady_clock::now();
    while (made->shared->joined < ranks) {
        if (made->shared->error != success || std::chrono::steady_clock::now() - begin > std::chrono::seconds(20))
            return failure(remote_error, "another rank does not come");
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    *comm = stays(std::move(made));
    return success;
}

Result ncclCommGetAsyncError(ncclComm* comm, Result* error) {
    *error = static_cast<Result>(comm->failed());
    return success;
}

Result ncclCommAbort(ncclComm* comm) {
    comm->aborted = true;
    int none = success;
    comm->shared->error.compare_exchange_strong(none, remote_error);
    return success;
}
Result ncclCommDestroy(ncclComm* /*comm*/) { return success; }

Result ncclGroupStart() {
    ++group.depth;
    return success;
}
Result ncclGroupEnd() { return close_group(); }

Result ncclSend(const void* from, std::size_t count, int type, int peer, ncclComm* comm, cudaStream_t stream) {
    return add(&Group::sends, const_cast<void*>(from), count, type, peer, comm, stream);
}
Result ncclRecv(void* to, std::size_t count, int type, int peer, ncclComm* comm, cudaStream_t stream) {
    return add(&Group::receives, to, count, type, peer, comm, stream);
}

Result ncclAllReduce(const void* from, void* to, std::size_t count, int type, int operation, ncclComm* comm,
                     cudaStream_t stream) {
    if (from != to || operation != 0 || (type != float_type && type != double_type))
        return failure(invalid_usage, "a sum that this NCCL does not make");
    const std::uint64_t number = (++comm->sums << 40) + (static_cast<std::uint64_t>(type) << 36) + count;
    return enqueue(stream, type == float_type ? ring(*comm, static_cast<float*>(to), count, number)
                                              : ring(*comm, static_cast<double*>(to), count, number));
}
}
