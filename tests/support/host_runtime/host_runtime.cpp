#include "tests/support/host_runtime/cublas_v2.h"
#include "tests/support/host_runtime/cuda_runtime.h"
#include "tests/support/host_runtime/stream.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace gnnplan::testing::host_runtime {
namespace {
struct Runtime;
// How often an event was recorded in a queue, and how often that has come to its turn.
struct Record {
    int recorded = 0, done = 0;
    std::chrono::steady_clock::time_point moment;
};
}  // namespace
}  // namespace gnnplan::testing::host_runtime

struct CUstream_st final : gnnplan::testing::host_runtime::Stream {
    explicit CUstream_st(gnnplan::testing::host_runtime::Runtime& of) : owner(&of) {}
    cudaError_t enqueue(gnnplan::testing::host_runtime::Work next) override;

    gnnplan::testing::host_runtime::Runtime* owner;
    std::deque<gnnplan::testing::host_runtime::Work> work;
};
struct CUevent_st {
    cudaStream_t stream;
    std::shared_ptr<gnnplan::testing::host_runtime::Record> record;
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
        live_bytes_ += live_[place] = whole;
        touch(true);
        std::memset(place, 0xff, std::min(bytes, poisoned));
        touch(false);
        return place;
    }
    void free(const void* place) {
        const auto found = live_.find(place);
        if (found == live_.end()) return;
        live_bytes_ -= found->second;
        live_.erase(found);
        if (live_.empty()) used_ = 0;
    }
    static std::size_t size() { return static_cast<std::size_t>(setting("memory", 512)) * 1024 * 1024; }
    std::size_t live_bytes() const { return live_bytes_; }
    bool has(const void* address, std::size_t bytes) const {
        const auto* byte = static_cast<const std::byte*>(address);
        return byte >= begin_ && byte + bytes <= begin_ + used_;
    }
    // Calls may nest.
    void touch(bool allowed) {
        if ((allowed ? open_++ : --open_) != 0) return;
        if (mprotect(begin_, capacity, allowed ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) std::abort();
    }

private:
    static constexpr std::size_t capacity = std::size_t{1} << 29;
    static constexpr std::size_t poisoned = std::size_t{1} << 20;  // of each allocation, at most

    std::byte* begin_ = nullptr;
    std::size_t used_ = 0;
    std::map<const void*, std::size_t> live_;  // bytes by address
    std::size_t live_bytes_ = 0;
    int open_ = 0;
};

// A thread's state of CUDA: each has its own GPU.
struct Runtime {
    Runtime();
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;
    ~Runtime();

    Memory memory;
    std::map<const std::byte*, std::size_t> pinned;
    std::vector<cudaStream_t> streams;
    cudaError_t failed = cudaSuccess;  // once it has, nothing works any more
    cudaError_t last = cudaSuccess;    // of a call, until somebody asks for it
    int done = 0;
    std::mt19937 random{1};
};

// All GPUs of the process. Work runs under the lock, whoever's it is.
struct AllRuntimes {
    std::recursive_mutex mutex;
    std::vector<Runtime*> runtimes;
};
AllRuntimes& all_runtimes() {
    static auto* all = new AllRuntimes;  // threads may end after the program's objects are gone
    return *all;
}

Runtime::Runtime() {
    const std::lock_guard lock(all_runtimes().mutex);
    all_runtimes().runtimes.push_back(this);
}
Runtime::~Runtime() {
    const std::lock_guard lock(all_runtimes().mutex);
    std::erase(all_runtimes().runtimes, this);
}

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

// The GPU whose memory it is, or null.
Runtime* owner_of(const void* address, std::size_t bytes) {
    for (Runtime* each : all_runtimes().runtimes)
        if (each->memory.has(address, bytes)) return each;
    return nullptr;
}

// Memory of GPUs that work touches, for as long as one thread works.
class Opened {
public:
    Opened() = default;
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    ~Opened() {
        for (Runtime* gpu : gpus_) gpu->memory.touch(false);
    }
    void open(Runtime* gpu) {
        if (gpu == nullptr || std::ranges::find(gpus_, gpu) != gpus_.end()) return;
        gpu->memory.touch(true);
        gpus_.push_back(gpu);
    }

private:
    std::vector<Runtime*> gpus_;
};

// Does what comes next in a stream. False where there is nothing, or it cannot go on yet.
bool work_once(cudaStream_t stream, Opened& memory) {
    if (stream->work.empty()) return false;
    const Work& next = stream->work.front();
    Runtime& owner = *stream->owner;
    if (owner.failed == cudaSuccess && next.ready && !next.ready()) return false;
    memory.open(&owner);
    if (owner.done + 1 == setting("fails", 0)) owner.failed = cudaErrorIllegalAddress;
    const cudaError_t result = owner.failed == cudaSuccess ? next.run() : owner.failed;
    if (result == cudaErrorNotReady) return true;  // it has done a part
    stream->work.pop_front();
    ++owner.done;
    if (owner.failed == cudaSuccess) owner.failed = result;
    return true;
}

// Some work of a GPU's streams, in any order.
bool work_on(Runtime& of, Opened& memory) {
    const std::size_t streams = of.streams.size();
    const std::size_t first = streams > 1 ? of.random() % streams : 0;
    for (std::size_t i = 0; i < streams; ++i)
        if (work_once(of.streams[(first + i) % streams], memory)) return true;
    return false;
}

// Does work of this thread's GPU until `enough`. Where none of it can go on, it does that of others, and then, if this
// is to `wait` for them, gives them time to queue more. False where it does not wait and nothing goes on.
template <class Enough>
bool work_off(bool wait, const Enough& enough) {
    for (;;) {
        {
            const std::lock_guard lock(all_runtimes().mutex);
            Runtime& own = runtime();
            Opened memory;
            bool goes_on = true;
            while (goes_on) {
                if (enough()) return true;
                goes_on = work_on(own, memory);
                for (Runtime* other : all_runtimes().runtimes)
                    if (!goes_on && other != &own) goes_on = work_on(*other, memory);
            }
        }
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        if (!wait) return false;
    }
}

}  // namespace

cudaError_t enqueue(cudaStream_t stream, std::function<cudaError_t()> work) {
    return stream == nullptr ? cudaErrorInvalidValue : stream->enqueue({std::move(work), {}});
}

cudaStream_t stream_of(cublasHandle_t handle) { return handle->stream; }
bool products_fail() { return setting("products", 1) == 0; }
bool sparse_products_fail() { return setting("sparse_products", 1) == 0; }

}  // namespace gnnplan::testing::host_runtime

using namespace gnnplan::testing::host_runtime;

cudaError_t CUstream_st::enqueue(Work next) {
    const std::lock_guard lock(all_runtimes().mutex);
    work.push_back(std::move(next));
    return owner->failed;
}

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
cudaError_t cudaGetDevice(int* device) {
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return device < setting("gpus", 1) ? cudaSuccess : cudaErrorInvalidValue; }

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* all) {
    *all = runtime().memory.size();
    *free = setting("free", -1) < 0 ? *all - runtime().memory.live_bytes() : std::size_t{1024} * setting("free", 0);
    return cudaSuccess;
}
cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
    const std::lock_guard lock(all_runtimes().mutex);
    *memory = runtime().memory.allocate(bytes);
    if (*memory == nullptr) runtime().last = cudaErrorMemoryAllocation;
    return *memory != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
// Waits for the GPU, as CUDA does.
cudaError_t cudaFree(void* memory) {
    work_off(true,
             [] { return std::ranges::all_of(runtime().streams, [](auto* stream) { return stream->work.empty(); }); });
    const std::lock_guard lock(all_runtimes().mutex);
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

// Memory of the host that is not pinned would be copied otherwise, and has no business here. Between GPUs, `kind` is
// cudaMemcpyDefault.
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    const std::lock_guard lock(all_runtimes().mutex);
    const bool from_host = kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && is_pinned(from, bytes);
    const bool to_host = kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && is_pinned(to, bytes);
    Runtime* source = from_host ? nullptr : owner_of(from, bytes);
    Runtime* target = to_host ? nullptr : owner_of(to, bytes);
    const auto foreign = [](Runtime* gpu) { return gpu != nullptr && gpu != &runtime(); };
    if ((!from_host && source == nullptr) || (!to_host && target == nullptr) || (from_host && to_host) ||
        (kind != cudaMemcpyDefault && (foreign(source) || foreign(target))))
        return cudaErrorInvalidValue;
    return enqueue(stream, [=] {
        for (Runtime* gpu : {source, target})
            if (gpu != nullptr) gpu->memory.touch(true);
        std::memcpy(to, from, bytes);
        for (Runtime* gpu : {source, target})
            if (gpu != nullptr) gpu->memory.touch(false);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    *least = 0, *greatest = -5;
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned /*flags*/, int priority) {
    if (priority > 0 || priority < -5) return cudaErrorInvalidValue;
    const std::lock_guard lock(all_runtimes().mutex);
    *stream = new CUstream_st(runtime());
    runtime().streams.push_back(*stream);
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    const std::lock_guard lock(all_runtimes().mutex);
    std::erase(stream->owner->streams, stream);
    delete stream;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    work_off(true, [stream] { return stream->work.empty(); });
    return runtime().failed;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    const bool all = work_off(false, [stream] { return stream->work.empty(); });
    if (!all) runtime().last = cudaErrorNotReady;
    return runtime().failed != cudaSuccess ? runtime().failed : all ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
    const std::lock_guard lock(all_runtimes().mutex);
    return stream->enqueue(
        {[] { return cudaSuccess; },
         [record = event->record, times = event->record->recorded] { return record->done >= times; }});
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/) {
    *event = new CUevent_st{nullptr, std::make_shared<Record>()};
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    const std::lock_guard lock(all_runtimes().mutex);
    event->stream = stream;
    ++event->record->recorded;
    return enqueue(stream, [record = event->record] {
        ++record->done;
        record->moment = std::chrono::steady_clock::now();
        return cudaSuccess;
    });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    work_off(true, [record = event->record] { return record->recorded == record->done; });
    return runtime().failed;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    const bool come = work_off(false, [record = event->record] { return record->recorded == record->done; });
    if (!come) runtime().last = cudaErrorNotReady;
    return runtime().failed != cudaSuccess ? runtime().failed : come ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
    if (from->record->done == 0 || to->record->done == 0) return cudaErrorInvalidValue;
    *milliseconds = std::chrono::duration<float, std::milli>(to->record->moment - from->record->moment).count();
    return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int /*device*/, int /*peer*/) {
    *can = 1;
    return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int /*peer*/, unsigned /*flags*/) { return cudaSuccess; }

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
