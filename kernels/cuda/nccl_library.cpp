#include "kernels/cuda/nccl_library.hpp"

#include <gnnplan/base/error.hpp>

#include <dlfcn.h>

#include <cstdlib>

namespace gnnplan::kernels::cuda {
namespace {

constexpr const char* where = "NCCL";
constexpr const char* variable = "GNNPLAN_NCCL";
constexpr int oldest = 21300;  // the first that has all functions; versions are counted like this from 2.9 on

std::string version_of(int version) {
    const int minors = version < 10000 ? 1000 : 10000;  // the former before 2.9
    return std::to_string(version / minors) + "." + std::to_string(version % minors / 100) + "." +
           std::to_string(version % 100);
}

NcclLibrary open_library() {
    const char* named = std::getenv(variable);
    const std::string file = named != nullptr && *named != '\0' ? named : "libnccl.so.2";
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // for good
    if (library == nullptr) {
        throw Error(ErrorCode::unavailable, std::string("NCCL cannot be opened: ") + dlerror(), where,
                    std::string(variable) +
                        " names its file, LD_LIBRARY_PATH its folder; `exchange staged` "
                        "needs none");
    }
    const auto find = [&]<class Function>(Function*& function, const char* name) {
        function = reinterpret_cast<Function*>(dlsym(library, name));
        if (function == nullptr)
            throw Error(ErrorCode::unavailable, file + " has no " + name, where,
                        "use NCCL " + version_of(oldest) + " or later");
    };
    NcclLibrary nccl{};
    find(nccl.get_version, "ncclGetVersion");
    if (nccl.get_version(&nccl.version) != nccl_success || nccl.version < oldest) {
        throw Error(ErrorCode::unavailable, file + " is NCCL " + version_of(nccl.version), where,
                    "use NCCL " + version_of(oldest) + " or later");
    }
    find(nccl.error_string, "ncclGetErrorString");
    find(nccl.last_error, "ncclGetLastError");
    find(nccl.unique_id, "ncclGetUniqueId");
    find(nccl.init_rank, "ncclCommInitRank");
    find(nccl.async_error, "ncclCommGetAsyncError");
    find(nccl.abort, "ncclCommAbort");
    find(nccl.destroy, "ncclCommDestroy");
    find(nccl.group_start, "ncclGroupStart");
    find(nccl.group_end, "ncclGroupEnd");
    find(nccl.send, "ncclSend");
    find(nccl.receive, "ncclRecv");
    find(nccl.all_reduce, "ncclAllReduce");
    // So that the algorithm does not change with the size of a message.
    setenv("NCCL_ALGO", "Ring", 0);
    return nccl;
}

}  // namespace

std::string NcclLibrary::name() const { return "NCCL " + version_of(version); }

void NcclLibrary::check(NcclResult result, const std::string& what, NcclCommunicator comm) const {
    if (result == nccl_success) return;
    const char* more = last_error(comm);
    const bool says = more != nullptr && *more != '\0';
    throw Error(ErrorCode::unavailable,
                what + " failed: " + error_string(result) + (says ? std::string(" (") + more + ")" : ""), where,
                "run again with NCCL_DEBUG=INFO, which says more; `exchange staged` needs no NCCL");
}

const NcclLibrary& nccl_library() {
    static const NcclLibrary library = open_library();
    return library;
}

}  // namespace gnnplan::kernels::cuda
