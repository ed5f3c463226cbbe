#include "runtime/comm/mpi_exchange.hpp"

#include "runtime/comm/messages.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::comm {
namespace {

constexpr int tag = 0;

}  // namespace

MpiExchange::~MpiExchange() {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (requests_[i] == MPI_REQUEST_NULL) continue;
        if (i < sends()) {
            MPI_Request_free(&requests_[i]);
        } else if (MPI_Cancel(&requests_[i]) == MPI_SUCCESS) {
            MPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
        }
    }
}

void MpiExchange::start(const Send& send) {
    ensure(expected_.empty(), "exchange: a send started after a receive");
    in_pieces(send.bytes, largest_, [&](std::span<const std::byte> part, int count) {
        MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
        check_mpi(MPI_Isend(part.data(), count, MPI_BYTE, send.peer, tag, comm_, &request), "MPI_Isend");
    });
}

void MpiExchange::start(const Receive& receive) {
    in_pieces(receive.bytes, largest_, [&](std::span<std::byte> part, int count) {
        expected_.emplace_back(receive.peer, count);
        MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
        check_mpi(MPI_Irecv(part.data(), count, MPI_BYTE, receive.peer, tag, comm_, &request), "MPI_Irecv");
    });
}

// Testall, not Testsome: as long as anything is missing it leaves the requests as they are, so that the statuses of all
// of them come at once.
void MpiExchange::progress() {
    if (complete_) return;
    statuses_.resize(requests_.size());
    int flag = 0;
    check_mpi(MPI_Testall(checked_cast<int>(requests_.size()), requests_.data(), &flag, statuses_.data()),
              "MPI_Testall");
    complete_ = flag != 0;
}

// MPI reports a message that is too long; one that is too short it accepts, so the lengths are compared here.
void MpiExchange::finish() {
    if (!complete_) {
        const Waiting waiting(own_);
        statuses_.resize(requests_.size());
        check_mpi(MPI_Waitall(checked_cast<int>(requests_.size()), requests_.data(), statuses_.data()), "MPI_Waitall");
        complete_ = true;
    }
    for (std::size_t i = 0; i < expected_.size(); ++i) {
        const auto [peer, expected] = expected_[i];
        int received = 0;
        check_mpi(MPI_Get_count(&statuses_[sends() + i], MPI_BYTE, &received), "MPI_Get_count");
        if (received != expected)
            throw_length_mismatch(peer, rank_, static_cast<std::size_t>(received), static_cast<std::size_t>(expected));
    }
}

}  // namespace gnnplan::comm
