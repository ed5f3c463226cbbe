// The part of CUDA's runtime that kernels/cuda's device uses, on the processor: one GPU's memory, which the host cannot
// touch, and streams whose work is done when somebody waits for some of it: in order within a stream, otherwise in any
// order that events allow. Each thread has a GPU of its own; where one waits for an event of another's, it does the
// other's work, too. Kernels run on fibres, in the stream as all else.
//
// GNNPLAN_HOST_CUDA says what GPU there is, words apart by blanks: "driver=12000" (0: none), "gpus=2", "capability=70",
// "memory=100" (MiB), "free=64" (KiB: what it says is free of it), "fails=250" (the 250th piece of work in the stream
// fails), "count=802" (looking for GPUs fails like that), "products=0" (every one fails), "sparse_products=0"
// (every one of cuSPARSE fails).
#pragma once

#include "tests/support/host_cuda/cuda_runtime.h"

#include <cstddef>
#include <functional>
#include <tuple>
#include <utility>

#define CUDART_VERSION 13000

inline constexpr auto cudaErrorInvalidValue = static_cast<cudaError_t>(1);
inline constexpr auto cudaErrorMemoryAllocation = static_cast<cudaError_t>(2);
inline constexpr auto cudaErrorInsufficientDriver = static_cast<cudaError_t>(35);
inline constexpr auto cudaErrorDevicesUnavailable = static_cast<cudaError_t>(46);
inline constexpr auto cudaErrorInvalidDeviceFunction = static_cast<cudaError_t>(98);
inline constexpr auto cudaErrorNoDevice = static_cast<cudaError_t>(100);
inline constexpr auto cudaErrorNoKernelImageForDevice = static_cast<cudaError_t>(209);
inline constexpr auto cudaErrorECCUncorrectable = static_cast<cudaError_t>(214);
inline constexpr auto cudaErrorUnsupportedPtxVersion = static_cast<cudaError_t>(222);
inline constexpr auto cudaErrorNotReady = static_cast<cudaError_t>(600);
inline constexpr auto cudaErrorPeerAccessAlreadyEnabled = static_cast<cudaError_t>(704);
inline constexpr auto cudaErrorIllegalAddress = static_cast<cudaError_t>(700);
inline constexpr auto cudaErrorHardwareStackError = static_cast<cudaError_t>(714);
inline constexpr auto cudaErrorSystemNotReady = static_cast<cudaError_t>(802);
inline constexpr auto cudaErrorSystemDriverMismatch = static_cast<cudaError_t>(803);
inline constexpr auto cudaErrorCompatNotSupportedOnDevice = static_cast<cudaError_t>(804);
inline constexpr auto cudaErrorMpsConnectionFailed = static_cast<cudaError_t>(805);

using cudaEvent_t = struct CUevent_st*;
struct cudaUUID_t {
    char bytes[16];
};
struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    int major, minor, multiProcessorCount, l2CacheSize;
    std::size_t totalGlobalMem;
};
enum cudaDeviceAttr { cudaDevAttrClockRate = 13 };
enum libraryPropertyType { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL };
enum cudaMemcpyKind {
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};
inline constexpr unsigned cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaHostAllocDefault = 0;
inline constexpr unsigned cudaEventDefault = 0;
inline constexpr unsigned cudaEventDisableTiming = 2;

const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* all);
cudaError_t cudaMalloc(void** memory, std::size_t bytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void* memory);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to);

namespace gnnplan::testing::host_runtime {

cudaError_t enqueue(cudaStream_t stream, std::function<cudaError_t()> work);

template <class... Parameters, class... Arguments>
cudaError_t launch(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...), const Arguments&... arguments) {
    return enqueue(config->stream, [config = *config, kernel, values = std::tuple<Arguments...>(arguments...)] {
        return std::apply([&](auto... each) { return cudaLaunchKernelEx(&config, kernel, each...); }, values);
    });
}
inline cudaError_t fill(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
    return enqueue(stream, [=] { return cudaMemsetAsync(memory, value, bytes, stream); });
}
inline cudaError_t fill_rows(void* memory, std::size_t stride, int value, std::size_t width, std::size_t rows,
                             cudaStream_t stream) {
    return enqueue(stream, [=] { return cudaMemset2DAsync(memory, stride, value, width, rows, stream); });
}

}  // namespace gnnplan::testing::host_runtime

// Those of host_cuda are done at once.
#define cudaLaunchKernelEx gnnplan::testing::host_runtime::launch
#define cudaMemsetAsync gnnplan::testing::host_runtime::fill
#define cudaMemset2DAsync gnnplan::testing::host_runtime::fill_rows
