#include "runtime/comm/mpi_greeting.hpp"

#include "runtime/comm/mpi_comm.hpp"

#include <sched.h>

namespace gnnplan::comm {
namespace {

constexpr int greeting_tag = 0;
constexpr int few = 64;  // ranks; a connection is made to each that is greeted

MPI_Request send_to(int rank) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(nullptr, 0, MPI_BYTE, rank, greeting_tag, MPI_COMM_WORLD, &request), "MPI_Isend");
    return request;
}

MPI_Request receive_from(int rank) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Irecv(nullptr, 0, MPI_BYTE, rank, greeting_tag, MPI_COMM_WORLD, &request), "MPI_Irecv");
    return request;
}

// Whether a request is complete now; MPI is not asked again about one that was complete before.
bool completes(MPI_Request& request) {
    if (request == MPI_REQUEST_NULL) return false;
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
}

}  // namespace

void greet_others(MpiStart& start) {
    int rank = 0;
    int size = 0;
    check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
    std::vector<int> from;
    std::vector<MPI_Request> sends;
    std::vector<MPI_Request> receives;
    for (int distance = 1; distance < size; distance = size <= few ? distance + 1 : 2 * distance)
        from.push_back((rank - distance + size) % size);
    start.waits_for(from);
    for (const int peer : from) {
        receives.push_back(receive_from(peer));
        sends.push_back(send_to((2 * rank - peer + size) % size));  // as far away on the other side
    }
    for (std::size_t left = sends.size() + receives.size(); left > 0; sched_yield()) {
        for (MPI_Request& send : sends) left -= completes(send) ? 1 : 0;
        for (std::size_t i = 0; i < receives.size(); ++i) {
            if (!completes(receives[i])) continue;
            --left;
            start.has_answered(i);
        }
    }
}

}  // namespace gnnplan::comm
