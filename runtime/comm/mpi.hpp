// Ranks as MPI processes. No MPI header is needed to include this.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/comm/mpi_start.hpp"

#include <functional>
#include <memory>
#include <string>

namespace gnnplan::comm {

// MPI from construction to destruction; one object per process, made and used by the main thread. Collective.
//
// Data and control travel on two duplicates of MPI_COMM_WORLD, named "gnnplan data" and "gnnplan control", as do those
// of every split, so that tools can tell their traffic apart. Every MPI status is checked: a failure is an Error with
// ErrorCode::unavailable. It leaves requests and peers in an unknown state, so the process should call abort().
class MpiEnvironment {
public:
    static constexpr std::int64_t largest_message = std::int64_t{1} << 30;

    // Messages above `largest_message_bytes` (at most 2^31 - 1, at least 8) are split. `start` learns how far the start
    // of MPI has come, and that it is over; it may be null.
    explicit MpiEnvironment(std::int64_t largest_message_bytes = largest_message,
                            std::shared_ptr<MpiStart> start = nullptr);
    MpiEnvironment(const MpiEnvironment&) = delete;
    MpiEnvironment& operator=(const MpiEnvironment&) = delete;
    // Finalises MPI, which waits for the other ranks: communicators from split() must be gone.
    ~MpiEnvironment();

    Communicator& world() { return *world_; }

    // A sentence on why ranks are slower here than they could be, else empty. Each rank's own.
    const std::string& note() const { return note_; }

    // Ends all ranks; the launcher reports `code`. The only safe way out when one rank fails and others may be waiting.
    [[noreturn]] void abort(int code);

    // Runs `work` on this rank. An AgreedError comes out of it, as it does on every rank; after any other exception
    // this rank tells `say` its number and what went wrong, and ends all ranks with the error's code,
    // ErrorCode::internal's if it has none. Without a `say`, it goes to stderr.
    using Say = void(int rank, const char* what) noexcept;
    int run_or_abort(Say* say, const std::function<int()>& work);
    int run_or_abort(const std::function<int()>& work);

    // The MPI library's own name, e.g. "Open MPI v4.1.4".
    static std::string library_version();

private:
    std::shared_ptr<MpiStart> start_;
    std::string note_;
    std::unique_ptr<Communicator> world_;
};

}  // namespace gnnplan::comm
