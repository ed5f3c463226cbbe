// MPI's statuses as errors and its communicator handles as owners. The only header here that needs MPI's own.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <utility>

namespace gnnplan::comm {

// Throws ErrorCode::unavailable unless `status` is MPI_SUCCESS; `call` names the function.
void check_mpi(int status, const char* call);

// Owns a communicator and frees it.
class OwnedComm {
public:
    static OwnedComm duplicate(MPI_Comm comm, const char* name);
    static OwnedComm split(MPI_Comm comm, int colour, int key, const char* name);

    OwnedComm(OwnedComm&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
    OwnedComm(const OwnedComm&) = delete;
    OwnedComm& operator=(const OwnedComm&) = delete;
    ~OwnedComm();

    MPI_Comm get() const { return comm_; }
    int rank() const;
    int size() const;

private:
    OwnedComm(MPI_Comm comm, const char* name);

    MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace gnnplan::comm
