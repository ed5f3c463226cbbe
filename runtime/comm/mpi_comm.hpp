// MPI's statuses as errors, its communicator handles as owners, and lengths beyond its counts. With mpi_exchange.hpp,
// the only header here that needs MPI's own.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <gnnplan/base/checked.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace gnnplan::comm {

// Throws ErrorCode::unavailable unless `status` is MPI_SUCCESS; `call` names the function.
void check_mpi(int status, const char* call);

// MPI counts in int. Calls piece(part, count) for consecutive parts of at most `largest` items.
template <class T, class Piece>
void in_pieces(std::span<T> items, std::size_t largest, Piece piece) {
    while (!items.empty()) {
        const std::span<T> part = items.first(std::min(largest, items.size()));
        piece(part, checked_cast<int>(part.size()));
        items = items.subspan(part.size());
    }
}

// Owns a communicator and frees it.
class OwnedComm {
public:
    static OwnedComm duplicate(MPI_Comm comm, const char* name);
    static OwnedComm split(MPI_Comm comm, int colour, int key, const char* name);
    // The ranks of `comm` that can share memory with this one, in their order.
    static OwnedComm split_by_node(MPI_Comm comm, const char* name);

    OwnedComm(OwnedComm&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
    OwnedComm(const OwnedComm&) = delete;
    OwnedComm& operator=(const OwnedComm&) = delete;
    ~OwnedComm();

    MPI_Comm get() const { return comm_; }
    int rank() const;
    int size() const;

    // Collective: every rank's number, in rank order.
    std::vector<int> gather(int number) const;

private:
    OwnedComm(MPI_Comm comm, const char* name);

    MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace gnnplan::comm
