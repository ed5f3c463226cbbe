#include "kernels/cuda/device.hpp"

#include "kernels/cuda/error.hpp"
#include "kernels/cuda/nccl_links.hpp"
#include "kernels/cuda/prepared.hpp"
#include "kernels/cuda/queue.hpp"
#include "kernels/cuda/table.hpp"
#include "kernels/cuda/transfer_queue.hpp"
#include "kernels/cuda/transfers.hpp"

#include <gnnplan/base/blocking.hpp>
#include <gnnplan/base/cuda_workspace.hpp>
#include <gnnplan/base/error.hpp>
#include <gnnplan/base/out_of_memory.hpp>

#include <cusparse.h>

#include <algorithm>
#include <vector>

namespace gnnplan::kernels::cuda {
namespace {

constexpr std::size_t alignment = 256;  // cudaMalloc's
constexpr auto scratch_bytes = static_cast<std::size_t>(cuda_scratch_bytes);

thread_local Queue* queue_of_thread = nullptr;

struct FreeOnDevice {
    void operator()(std::byte* memory) const { cudaFree(memory); }
};
struct DestroyBlas {
    void operator()(cublasHandle_t blas) const { cublasDestroy(blas); }
};
using Allocation = std::unique_ptr<std::byte, FreeOnDevice>;
using Blas = std::unique_ptr<cublasContext, DestroyBlas>;

Allocation allocate_on_device(std::size_t bytes) {
    void* memory = nullptr;
    const cudaError_t result = cudaMalloc(&memory, std::max(bytes, alignment));
    if (result == cudaErrorMemoryAllocation) {
        cudaGetLastError();  // it is told here, and not once more by finish()
        throw OutOfMemory(bytes, "the GPU's memory");
    }
    check(result, "allocating memory of the GPU");
    return Allocation(static_cast<std::byte*>(memory));
}

class Memory : public DeviceMemory {
public:
    explicit Memory(std::size_t bytes) : memory_(allocate_on_device(bytes)), size_(bytes) {}
    std::byte* data() const override { return memory_.get(); }
    std::size_t size() const override { return size_; }

private:
    Allocation memory_;
    std::size_t size_;
};

Stream open_stream(const Gpu& gpu) {
    check(cudaSetDevice(gpu.index), "opening the GPU");
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "opening the GPU");
    return Stream(stream);
}

// Products are in fp32 throughout: cuBLAS rounds nothing to TF32 unless it is told to.
Blas open_blas(cudaStream_t stream, std::span<std::byte> workspace) {
    cublasHandle_t handle = nullptr;
    check(cublasCreate(&handle), "opening cuBLAS");
    Blas blas(handle);
    check(cublasSetStream(handle, stream), "giving cuBLAS its stream");  // before its workspace, which it resets
    check(cublasSetWorkspace(handle, workspace.data(), workspace.size()), "giving cuBLAS its workspace");
    check(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH), "telling cuBLAS to compute in fp32");
    return blas;
}

class CudaDevice : public Device {
public:
    explicit CudaDevice(const Gpu& gpu);
    ~CudaDevice() override;
    CudaDevice(const CudaDevice&) = delete;
    CudaDevice& operator=(const CudaDevice&) = delete;

    const Table& table() const override { return cuda_table(); }
    TensorMemory memory() const override { return cuda_tensor_memory; }
    std::string name() const override;
    Blocking blocking() const override { return queue_.blocking; }
    std::optional<FreeMemory> free_memory() const override;
    std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) override { return std::make_unique<Memory>(bytes); }
    std::unique_ptr<DeviceMemory> take(std::shared_ptr<const void> owner, std::span<const std::byte> bytes) override {
        auto copy = allocate(bytes.size());
        upload(*this, bytes, copy->data());
        owner.reset();
        return copy;
    }
    std::span<std::byte> stage(std::byte* to, std::size_t bytes) override { return uploads_.stage(to, bytes); }
    void send(std::size_t bytes) override { uploads_.send(bytes); }
    std::unique_ptr<Prepared> prepare(const Csr& a) override;
    std::vector<ProductKernel> choose(const Csr& a, ConstMatrix b, Matrix c, PanelRoom room,
                                      std::string_view wanted) override {
        if (a.prepared == nullptr) return {};
        return choose_kernel(*this, prepared_, a, b, c, room, wanted);
    }
    void download(const std::byte* from, std::span<std::byte> to) override { downloads_.add(from, to); }
    const PassValues* begin_pass(const PassValues& values) override;
    void mark(std::size_t moment, double now) override;
    bool has_come(std::size_t moment) override;
    double seconds(std::size_t from, std::size_t to) const override;
    void finish() override;
    TransferQueue* transfers() override { return &transfers_; }
    std::string cannot_connect() const override { return cannot_use_nccl(); }
    std::shared_ptr<Links> connect(const Peers& peers) override {
        auto links = nccl_links(*this, queue_, transfers_, peers);
        links_ = links;
        return links;
    }
    void give_up() override {
        if (const auto links = links_.lock()) links->give_up();
    }

private:
    std::string unique_id_, gpu_name_;
    // Later members use earlier ones, and are destroyed first.
    Stream stream_;
    Allocation scratch_ = allocate_on_device(scratch_bytes);
    Blas blas_ = open_blas(stream_.get(), {scratch_.get(), scratch_bytes});
    Queue queue_;
    GpuTransfers transfers_{queue_};
    Uploads uploads_{queue_};
    Downloads downloads_{queue_};
    PinnedMemory pass_here_ = allocate_pinned(sizeof(PassValues));
    Allocation pass_there_ = allocate_on_device(sizeof(PassValues));
    Event pass_copied_ = make_event(cudaEventDisableTiming);
    std::vector<Event> moments_;
    std::weak_ptr<NcclLinks> links_;
    PreparedRoom prepared_{*this, cuda_prepared_bytes};
};

CudaDevice::CudaDevice(const Gpu& gpu) : unique_id_(gpu.unique_id), gpu_name_(gpu.name), stream_(open_stream(gpu)) {
    ensure(queue_of_thread == nullptr, "a thread has one CUDA device at a time");
    queue_.stream = stream_.get();
    queue_.scratch = {scratch_.get(), scratch_bytes};
    queue_.processors = gpu.processors;
    queue_.blocking = gpu_blocking(gpu.l2_bytes);
    queue_.blas = blas_.get();
    queue_.look = [this] { look(); };
    queue_of_thread = &queue_;
}

CudaDevice::~CudaDevice() {
    cudaStreamSynchronize(stream_.get());  // nothing may use what goes now
    cudaStreamSynchronize(transfers_.stream());
    if (queue_.sparse != nullptr) cusparseDestroy(static_cast<cusparseHandle_t>(queue_.sparse));
    queue_of_thread = nullptr;
}

std::unique_ptr<Prepared> CudaDevice::prepare(const Csr& a) {
    auto rows = prepared_.take(PreparedMatrix::bytes(a));
    if (rows == nullptr) return nullptr;
    return std::make_unique<PreparedMatrix>(*this, a, std::move(rows));
}

std::string CudaDevice::name() const {
    int driver = 0;
    check(cudaDriverGetVersion(&driver), "asking for the version of the driver");
    return gpu_name_ + ", driver for CUDA " + version_text(driver) + ", built with CUDA " +
           version_text(CUDART_VERSION);
}

std::optional<FreeMemory> CudaDevice::free_memory() const {
    std::size_t free = 0, all = 0;
    check(cudaMemGetInfo(&free, &all), "asking how much of the GPU's memory is free");
    return FreeMemory{unique_id_, static_cast<std::int64_t>(free), cuda_scratch_bytes, static_cast<std::int64_t>(all)};
}

const PassValues* CudaDevice::begin_pass(const PassValues& values) {
    queue_.note(cudaEventSynchronize(pass_copied_.get()), "beginning a pass");
    *reinterpret_cast<PassValues*>(pass_here_.get()) = values;
    queue_.note(
        cudaMemcpyAsync(pass_there_.get(), pass_here_.get(), sizeof values, cudaMemcpyHostToDevice, queue_.stream),
        "beginning a pass");
    queue_.note(cudaEventRecord(pass_copied_.get(), queue_.stream), "beginning a pass");
    return reinterpret_cast<const PassValues*>(pass_there_.get());
}

void CudaDevice::mark(std::size_t moment, double /*now*/) {
    if (moment >= moments_.size()) moments_.resize(moment + 1);
    if (moments_[moment] == nullptr) moments_[moment] = make_event(cudaEventDefault);
    queue_.note(cudaEventRecord(moments_[moment].get(), queue_.stream), "marking a moment");
}

bool CudaDevice::has_come(std::size_t moment) { return is_done(queue_, cudaEventQuery(moments_[moment].get())); }

double CudaDevice::seconds(std::size_t from, std::size_t to) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, moments_[from].get(), moments_[to].get()), "reading the GPU's clock");
    return static_cast<double>(milliseconds) / 1000;
}

void CudaDevice::finish() {
    downloads_.collect();
    queue_.note(cudaGetLastError(), "a kernel");
    if (queue_.failed != cudaSuccess) fail(queue_.failed, queue_.failed_in, queue_.failed_status);
}

}  // namespace

Queue& queue() {
    ensure(queue_of_thread != nullptr, "a kernel was called from a thread without a CUDA device");
    return *queue_of_thread;
}

void* sparse_library() {
    Queue& on = queue();
    if (on.sparse != nullptr) return on.sparse;
    cusparseHandle_t handle = nullptr;
    check(cusparseCreate(&handle), "opening cuSPARSE");
    if (const cusparseStatus_t status = cusparseSetStream(handle, on.stream); status != CUSPARSE_STATUS_SUCCESS) {
        cusparseDestroy(handle);
        check(status, "giving cuSPARSE its stream");
    }
    on.sparse = handle;
    return on.sparse;
}

std::unique_ptr<Device> cuda_device(const Gpu& gpu) { return std::make_unique<CudaDevice>(gpu); }

}  // namespace gnnplan::kernels::cuda
