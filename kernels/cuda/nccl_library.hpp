// NCCL's functions, looked up when ranks want to be connected: neither a build nor a run of one rank needs the library.
// Their types are those of every NCCL 2.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>

namespace gnnplan::kernels::cuda {

struct NcclId {
    char bytes[128];
};
using NcclCommunicator = struct ncclComm*;

enum NcclResult : int { nccl_success = 0, nccl_in_progress = 7 };
enum NcclType : int { nccl_bytes = 0, nccl_float = 7, nccl_double = 8 };
enum NcclOperation : int { nccl_sum = 0 };

struct NcclLibrary {
    int version = 0;
    NcclResult (*get_version)(int* version);
    const char* (*error_string)(NcclResult result);
    const char* (*last_error)(NcclCommunicator comm);
    NcclResult (*unique_id)(NcclId* id);
    NcclResult (*init_rank)(NcclCommunicator* comm, int ranks, NcclId id, int rank);
    NcclResult (*async_error)(NcclCommunicator comm, NcclResult* error);
    NcclResult (*abort)(NcclCommunicator comm);
    NcclResult (*destroy)(NcclCommunicator comm);
    NcclResult (*group_start)();
    NcclResult (*group_end)();
    NcclResult (*send)(const void* from, std::size_t count, NcclType type, int peer, NcclCommunicator comm,
                       cudaStream_t stream);
    NcclResult (*receive)(void* to, std::size_t count, NcclType type, int peer, NcclCommunicator comm,
                          cudaStream_t stream);
    NcclResult (*all_reduce)(const void* from, void* to, std::size_t count, NcclType type, NcclOperation operation,
                             NcclCommunicator comm, cudaStream_t stream);

    std::string name() const;  // "NCCL 2.28.9"

    // Throws Error{unavailable} unless `result` says that it went well.
    void check(NcclResult result, const std::string& what, NcclCommunicator comm = nullptr) const;
};

// Opened once: the file that the variable GNNPLAN_NCCL names, else libnccl.so.2 where the loader finds it. Throws
// Error{unavailable} with what is missing.
const NcclLibrary& nccl_library();

}  // namespace gnnplan::kernels::cuda
