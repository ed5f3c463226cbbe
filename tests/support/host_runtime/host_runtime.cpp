#include "tests/support/host_runtime/cublas_v2.h"
#include "tests/support/host_runtime/cuda_runtime.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string>

struct CUstream_st {
    std::deque<std::function<cudaError_t()>> work;
};
struct CUevent_st {
    cudaStream_t stream;
    int recorded, done;  // how often
    std::chrono::steady_clock::time_point moment;
};
struct cublasContext {
    cudaStream_t stream;
};

namespace gnnplan::testing::host_runtime {
namespace {

// A setting of GNNPLAN_HOST_CUDA, or `otherwise`.
int setting(const char* name, int otherwise) {
    const char* all = std::getenv("GNNPLAN_HOST_CUDA");
    const char* found = all != nullptr ? std::strstr(all, (std::string(name) + "=").c_str()) : nullptr;
    return found != nullptr ? std::atoi(found + std::strlen(name) + 1) : otherwise;
}

// Addresses are given once while anything is allocated, so that a dangling one does not become another's.
class Memory {
public:
    Memory() {
        void* address = mmap(nullptr, capacity, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (address == MAP_FAILED) std::abort();
        begin_ = static_cast<std::byte*>(address);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { munmap(begin_, capacity); }

    void* allocate(std::size_t bytes) {
        constexpr std::size_t alignment = 256;
        const std::size_t whole = (bytes + alignment) / alignment * alignment;
        if (whole > size() - used_) return nullptr;
        std::byte* place = begin_ + used_;
        used_ += whole;
        ++live_;
        touch(true);
        std::memset(place, 0xff, std::min(bytes, poisoned));
        touch(false);
        return place;
    }
    void free(const void* place) {
        if (place != nullptr && --live_ == 0) used_ = 0;
    }
    static std::size_t size() { return static_cast<std::size_t>(setting("memory", 512)) * 1024 * 1024; }
    std::size_t used() const { return used_; }
    bool has(const void* address, std::size_t bytes) const {
        const auto* byte = static_cast<const std::byte*>(address);
        return byte >= begin_ && byte + bytes <= begin_ + used_;
    }
    void touch(bool allowed) const {
        if (mprotect(begin_, capacity, allowed ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) std::abort();
    }

private:
    static constexpr std::size_t capacity = std::size_t{1} << 29;
    static constexpr std::size_t poisoned = std::size_t{1} << 20;  // of each allocation, at most

    std::byte* begin_ = nullptr;
    std::size_t used_ = 0;
    int live_ = 0;
};

// A thread's state of CUDA: each has its own GPU.
struct Runtime {
    Memory memory;
    std::map<const std::byte*, std::size_t> pinned;
    cudaError_t failed = cudaSuccess;  // once it has, nothing works any more
    cudaError_t last = cudaSuccess;    // of a call, until somebody asks for it
    int done = 0;
};

Runtime& runtime() {
    static thread_local Runtime own;
    return own;
}

bool is_pinned(const void* address, std::size_t bytes) {
    const auto* byte = static_cast<const std::byte*>(address);
    auto after = runtime().pinned.upper_bound(byte);
    if (after == runtime().pinned.begin()) return false;
    --after;
    return byte + bytes <= after->first + after->second;
}

// Does the work of the stream until `enough`.
template <class Enough>
cudaError_t work_off(cudaStream_t stream, const Enough& enough) {
    Runtime& all = runtime();
    all.memory.touch(true);
    while (!stream->work.empty() && !enough()) {
        const auto work = std::move(stream->work.front());
        stream->work.pop_front();
        if (++all.done == setting("fails", 0)) all.failed = cudaErrorIllegalAddress;
        const cudaError_t result = all.failed == cudaSuccess ? work() : all.failed;
        if (all.failed == cudaSuccess) all.failed = result;
    }
    all.memory.touch(false);
    return all.failed;
}

}  // namespace

cudaError_t enqueue(cudaStream_t stream, std::function<cudaError_t()> work) {
    if (stream == nullptr) return cudaErrorInvalidValue;
    stream->work.push_back(std::move(work));
    return runtime().failed;
}

cudaStream_t stream_of(cublasHandle_t handle) { return handle->stream; }
bool products_fail() { return setting("products", 1) == 0; }
bool sparse_products_fail() { return setting("sparse_products", 1) == 0; }

}  // namespace gnnplan::testing::host_runtime

using namespace gnnplan::testing::host_runtime;

const char* cudaGetErrorString(cudaError_t error) {
    return error == cudaErrorIllegalAddress     ? "an illegal memory access was encountered"
           : error == cudaErrorMemoryAllocation ? "out of memory"
                                                : "an error of the host's runtime";
}
cudaError_t cudaGetLastError() {
    const cudaError_t last = std::exchange(runtime().last, cudaSuccess);
    return runtime().failed != cudaSuccess ? runtime().failed : last;
}
cudaError_t cudaDriverGetVersion(int* version) {
    *version = setting("driver", CUDART_VERSION);
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
    if (setting("driver", CUDART_VERSION) < CUDART_VERSION) return cudaErrorInsufficientDriver;
    if (const int failure = setting("count", 0); failure != 0) return static_cast<cudaError_t>(failure);
    *count = setting("gpus", 1);
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    const std::string name = "GPU " + std::to_string(device) + " on fibres";
    std::copy_n(name.c_str(), name.size() + 1, properties->name);
    properties->uuid = {};
    properties->uuid.bytes[0] = static_cast<char>(device);
    properties->major = setting("capability", 90) / 10;
    properties->minor = setting("capability", 90) % 10;
    properties->multiProcessorCount = 2;
    properties->l2CacheSize = setting("l2", 24 << 10);
    properties->totalGlobalMem = static_cast<std::size_t>(setting("memory", 512)) << 20;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr /*attribute*/, int /*device*/) {
    *value = 1'000'000;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return device < setting("gpus", 1) ? cudaSuccess : cudaErrorInvalidValue; }

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* all) {
    *all = runtime().memory.size();
    *free = setting("free", -1) < 0 ? *all - runtime().memory.used() : std::size_t{1024} * setting("free", 0);
    return cudaSuccess;
}
cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
    *memory = runtime().memory.allocate(bytes);
    if (*memory == nullptr) runtime().last = cudaErrorMemoryAllocation;
    return *memory != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void* memory) {
    runtime().memory.free(memory);
    return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned /*flags*/) {
    *memory = std::malloc(bytes);
    runtime().pinned[static_cast<std::byte*>(*memory)] = bytes;
    return cudaSuccess;
}
cudaError_t cudaFreeHost(void* memory) {
    runtime().pinned.erase(static_cast<std::byte*>(memory));
    std::free(memory);
    return cudaSuccess;
}

// Memory of the host that is not pinned would be copied otherwise, and has no business here.
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    const bool from_host = kind == cudaMemcpyHostToDevice, to_host = kind == cudaMemcpyDeviceToHost;
    if (!(from_host ? is_pinned(from, bytes) : runtime().memory.has(from, bytes)) ||
        !(to_host ? is_pinned(to, bytes) : runtime().memory.has(to, bytes)))
        return cudaErrorInvalidValue;
    return enqueue(stream, [=] {
        std::memcpy(to, from, bytes);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
    *stream = new CUstream_st;
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    delete stream;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return work_off(stream, [] { return false; });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/) {
    *event = new CUevent_st{};
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    event->stream = stream;
    ++event->recorded;
    return enqueue(stream, [event] {
        ++event->done;
        event->moment = std::chrono::steady_clock::now();
        return cudaSuccess;
    });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    if (event->recorded == event->done) return runtime().failed;
    return work_off(event->stream, [event] { return event->recorded == event->done; });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
    if (from->done == 0 || to->done == 0) return cudaErrorInvalidValue;
    *milliseconds = std::chrono::duration<float, std::milli>(to->moment - from->moment).count();
    return cudaSuccess;
}

cublasStatus_t cublasGetProperty(libraryPropertyType /*part*/, int* number) {
    *number = 0;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasCreate(cublasHandle_t* handle) {
    *handle = new cublasContext{};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, std::size_t bytes) {
    const bool right = handle->stream != nullptr && runtime().memory.has(workspace, bytes);
    return right ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t /*handle*/, cublasMath_t /*mode*/) { return CUBLAS_STATUS_SUCCESS; }
