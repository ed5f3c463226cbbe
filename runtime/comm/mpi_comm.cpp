#include "runtime/comm/mpi_comm.hpp"

#include <gnnplan/base/error.hpp>

#include <array>

namespace gnnplan::comm {

void check_mpi(int status, const char* call) {
    if (status == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    int initialised = 0;
    MPI_Initialized(&initialised);
    // Before MPI_Init has succeeded, asking for the text would itself end the process.
    if (initialised != 0) MPI_Error_string(status, text.data(), &length);
    throw Error(ErrorCode::unavailable,
                std::string(call) + " failed: " + (length > 0 ? text.data() : "error " + std::to_string(status)),
                "MPI");
}

OwnedComm::OwnedComm(MPI_Comm comm, const char* name) : comm_(comm) {
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_set_name(comm_, name), "MPI_Comm_set_name");
}

OwnedComm OwnedComm::duplicate(MPI_Comm comm, const char* name) {
    MPI_Comm made = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(comm, &made), "MPI_Comm_dup");
    return {made, name};
}

OwnedComm OwnedComm::split(MPI_Comm comm, int colour, int key, const char* name) {
    MPI_Comm made = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(comm, colour, key, &made), "MPI_Comm_split");
    return {made, name};
}

OwnedComm OwnedComm::split_by_node(MPI_Comm comm, const char* name) {
    MPI_Comm made = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made), "MPI_Comm_split_type");
    return {made, name};
}

OwnedComm::~OwnedComm() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

int OwnedComm::rank() const {
    int rank = 0;
    check_mpi(MPI_Comm_rank(comm_, &rank), "MPI_Comm_rank");
    return rank;
}

std::vector<int> OwnedComm::gather(int number) const {
    std::vector<int> all(static_cast<std::size_t>(size()));
    check_mpi(MPI_Allgather(&number, 1, MPI_INT, all.data(), 1, MPI_INT, comm_), "MPI_Allgather");
    return all;
}

int OwnedComm::size() const {
    int size = 0;
    check_mpi(MPI_Comm_size(comm_, &size), "MPI_Comm_size");
    return size;
}

}  // namespace gnnplan::comm
