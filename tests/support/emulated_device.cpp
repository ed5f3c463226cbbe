#include "tests/support/emulated_device.hpp"

#include "runtime/measure/clock.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/out_of_memory.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace gnnplan::testing {
namespace {

using kernels::ConstMatrix;
using kernels::Csr;
using kernels::Matrix;
using kernels::Table;

// Bytes that have two addresses: one is not to be touched, the other may be. Pages that nobody touches take no memory.
class TwofoldMemory {
public:
    TwofoldMemory() : file_(memfd_create("emulated device", 0)) {
        ensure(file_ >= 0 && ftruncate(file_, capacity) == 0, "the emulated device gets no memory");
        closed_ = map(PROT_NONE);
        open_ = map(PROT_READ | PROT_WRITE);
    }
    TwofoldMemory(const TwofoldMemory&) = delete;
    TwofoldMemory& operator=(const TwofoldMemory&) = delete;
    ~TwofoldMemory() {
        munmap(closed_, capacity);
        munmap(open_, capacity);
        close(file_);
    }

    // Never given back, so that a dangling address does not become another buffer's.
    std::byte* allocate(std::size_t bytes) {
        std::byte* place = closed_ + used_;
        used_ += (bytes + alignment) / alignment * alignment;
        if (used_ > capacity) throw OutOfMemory(bytes);
        std::memset(opened(place), 0xff, bytes);
        return place;
    }
    template <class T>
    T* opened(T* address) const {
        if (address == nullptr) return nullptr;
        const auto* byte = reinterpret_cast<const std::byte*>(address);
        ensure(byte >= closed_ && byte <= closed_ + used_, "an address that is not of the device reached a kernel");
        return reinterpret_cast<T*>(open_ + (byte - closed_));
    }

private:
    static constexpr std::size_t capacity = std::size_t{1} << 28;
    static constexpr std::size_t alignment = 64;

    std::byte* map(int protection) const {
        void* address = mmap(nullptr, capacity, protection, MAP_SHARED, file_, 0);
        ensure(address != MAP_FAILED, "the emulated device gets no address");
        return static_cast<std::byte*>(address);
    }

    int file_;
    std::byte* closed_ = nullptr;
    std::byte* open_ = nullptr;
    std::size_t used_ = 0;
};

class EmulatedDevice : public kernels::Device {
public:
    EmulatedDevice();
    ~EmulatedDevice() override { current = nullptr; }

    const Table& table() const override;
    std::unique_ptr<kernels::DeviceMemory> allocate(std::size_t bytes) override {
        return std::make_unique<Allocation>(memory_.allocate(bytes), bytes);
    }
    std::unique_ptr<kernels::DeviceMemory> take(std::shared_ptr<const void> owner,
                                                std::span<const std::byte> bytes) override {
        auto copy = allocate(bytes.size());
        kernels::upload(*this, bytes, copy->data());
        owner.reset();
        return copy;
    }
    std::span<std::byte> stage(std::byte* to, std::size_t bytes) override {
        staged_for_ = to;
        staged_.assign(std::min(bytes, most_staged), std::byte{0xff});
        return staged_;
    }
    void send(std::size_t bytes) override {
        staged_.resize(bytes);
        queue([place = memory_.opened(staged_for_), copy = staged_] { std::ranges::copy(copy, place); });
    }
    void download(const std::byte* from, std::span<std::byte> to) override {
        queue([source = memory_.opened(from), to] { std::copy_n(source, to.size(), to.data()); });
    }
    const kernels::PassValues* begin_pass(const kernels::PassValues& values) override {
        if (pass_ == nullptr) pass_ = reinterpret_cast<kernels::PassValues*>(memory_.allocate(sizeof values));
        queue([place = opened(pass_), values] { *place = values; });
        return pass_;
    }
    void mark(std::size_t moment, double /*now*/) override {
        queue([this, moment] {
            if (moment >= moments_.size()) moments_.resize(moment + 1);
            moments_[moment] = clock_.now();
        });
    }
    double seconds(std::size_t from, std::size_t to) const override { return moments_[to] - moments_[from]; }
    void finish() override {
        for (const auto& work : queue_) work();
        queue_.clear();
    }

    void queue(std::function<void()> work) { queue_.push_back(std::move(work)); }
    template <class T>
    T* opened(T* address) const {
        return memory_.opened(address);
    }

    static inline thread_local EmulatedDevice* current = nullptr;

private:
    class Allocation : public kernels::DeviceMemory {
    public:
        Allocation(std::byte* data, std::size_t size) : data_(data), size_(size) {}
        std::byte* data() const override { return data_; }
        std::size_t size() const override { return size_; }

    private:
        std::byte* data_;
        std::size_t size_;
    };

    static constexpr std::size_t most_staged = 1 << 14;

    TwofoldMemory memory_;
    std::vector<std::function<void()>> queue_;
    kernels::PassValues* pass_ = nullptr;
    measure::SteadyClock clock_;
    std::vector<double> moments_;
    std::byte* staged_for_ = nullptr;
    std::vector<std::byte> staged_;
};

// What a kernel is given, with addresses that it may touch.
template <class T>
T opened(const T& value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>, "what has addresses needs an overload");
    return value;
}
template <class T>
T* opened(T* address) {
    return EmulatedDevice::current->opened(address);
}
template <class T>
kernels::Dense<T> opened(kernels::Dense<T> matrix) {
    matrix.data = opened(matrix.data);
    return matrix;
}
Csr opened(Csr matrix) {
    matrix.row_start = opened(matrix.row_start);
    matrix.column = opened(matrix.column);
    matrix.value = opened(matrix.value);
    matrix.row_scale = opened(matrix.row_scale);
    matrix.column_scale = opened(matrix.column_scale);
    return matrix;
}
std::span<std::byte> opened(std::span<std::byte> memory) { return {opened(memory.data()), memory.size()}; }
kernels::PanelRoom opened(kernels::PanelRoom room) {
    room.memory = opened(room.memory);
    return room;
}
kernels::LossInput opened(kernels::LossInput input) {
    input.label = opened(input.label);
    input.split = opened(input.split);
    return input;
}
kernels::DropoutKey opened(kernels::DropoutKey key) {
    key.row_ids = opened(key.row_ids);
    key.pass = opened(key.pass);
    return key;
}
kernels::UpdateSettings opened(kernels::UpdateSettings settings) {
    settings.pass = opened(settings.pass);
    return settings;
}

// A kernel of the reference table that is queued.
template <auto member>
struct Queued;
template <class... Arguments, void (*Table::*member)(Arguments...)>
struct Queued<member> {
    static void call(Arguments... arguments) {
        EmulatedDevice::current->queue([values = std::tuple<std::decay_t<Arguments>...>(opened(arguments)...)] {
            std::apply(kernels::reference_table().*member, values);
        });
    }
};

constexpr Table queued_table = {
    .name = "emulated",
    .spmm = Queued<&Table::spmm>::call,
    .spmm_max = Queued<&Table::spmm_max>::call,
    .spmm_max_back = Queued<&Table::spmm_max_back>::call,
    .gemm = Queued<&Table::gemm>::call,
    .add = Queued<&Table::add>::call,
    .add_scaled = Queued<&Table::add_scaled>::call,
    .dot = Queued<&Table::dot>::call,
    .activate = Queued<&Table::activate>::call,
    .activation_gradient = Queued<&Table::activation_gradient>::call,
    .dropout = Queued<&Table::dropout>::call,
    .positive_mask = Queued<&Table::positive_mask>::call,
    .apply_mask = Queued<&Table::apply_mask>::call,
    .softmax_cross_entropy = Queued<&Table::softmax_cross_entropy>::call,
    .softmax_parts = Queued<&Table::softmax_parts>::call,
    .softmax_totals = Queued<&Table::softmax_totals>::call,
    .softmax_gradient = Queued<&Table::softmax_gradient>::call,
    .count_correct = Queued<&Table::count_correct>::call,
    .column_sum = Queued<&Table::column_sum>::call,
    .update = Queued<&Table::update>::call,
    .divide = Queued<&Table::divide>::call,
    .copy = Queued<&Table::copy>::call,
    .gather_rows = Queued<&Table::gather_rows>::call,
    .zero = Queued<&Table::zero>::call,
    .copy_bits = Queued<&Table::copy_bits>::call,
};

EmulatedDevice::EmulatedDevice() {
    ensure(current == nullptr, "a thread has one emulated device at a time");
    current = this;
}

const Table& EmulatedDevice::table() const { return queued_table; }

class EmulatedCommunicator : public comm::Communicator {
public:
    EmulatedCommunicator(comm::Communicator& inner, EmulatedDevice& device) : inner_(inner), device_(device) {}
    EmulatedCommunicator(std::unique_ptr<comm::Communicator> inner, EmulatedDevice& device)
        : owned_(std::move(inner)), inner_(*owned_), device_(device) {}

    int rank() const override { return inner_.rank(); }
    int size() const override { return inner_.size(); }
    bool needs_progress() const override { return false; }
    std::unique_ptr<comm::PendingExchange> start_exchange(std::span<const comm::Send> sends,
                                                          std::span<const comm::Receive> receives) override {
        device_.finish();
        std::vector<comm::Send> sent(sends.begin(), sends.end());
        std::vector<comm::Receive> received(receives.begin(), receives.end());
        for (comm::Send& send : sent) send.bytes = {device_.opened(send.bytes.data()), send.bytes.size()};
        for (comm::Receive& receive : received)
            receive.bytes = {device_.opened(receive.bytes.data()), receive.bytes.size()};
        return inner_.start_exchange(sent, received);
    }
    void exchange_blocks(std::span<const comm::SendBlock> sends,
                         std::span<const comm::ReceiveBlock> receives) override {
        device_.finish();
        std::vector<comm::SendBlock> sent(sends.begin(), sends.end());
        std::vector<comm::ReceiveBlock> received(receives.begin(), receives.end());
        const auto open = [&](auto& blocks) {
            for (auto& block : blocks) {
                block.rows.data = device_.opened(block.rows.data);
                block.staging = {device_.opened(block.staging.data()), block.staging.size()};
            }
        };
        open(sent), open(received);
        inner_.exchange_blocks(sent, received);
    }
    void broadcast(int root, std::span<std::byte> bytes) override { inner_.broadcast(root, settled(bytes)); }
    void all_reduce(std::span<float> values) override { inner_.all_reduce(settled(values)); }
    void all_reduce(std::span<double> values) override { inner_.all_reduce(settled(values)); }
    std::unique_ptr<comm::Communicator> split(int colour, int key) override {
        return std::make_unique<EmulatedCommunicator>(inner_.split(colour, key), device_);
    }
    void barrier() override { inner_.barrier(); }
    std::vector<std::string> control_all_gather(const std::string& text) override {
        return inner_.control_all_gather(text);
    }
    std::vector<comm::Heartbeat*> heartbeats() override { return inner_.heartbeats(); }

private:
    template <class T>
    std::span<T> settled(std::span<T> values) {
        device_.finish();
        return {device_.opened(values.data()), values.size()};
    }

    std::unique_ptr<comm::Communicator> owned_;  // null when the caller keeps the inner communicator
    comm::Communicator& inner_;
    EmulatedDevice& device_;
};

}  // namespace

std::unique_ptr<kernels::Device> emulated_device() { return std::make_unique<EmulatedDevice>(); }

std::unique_ptr<comm::Communicator> on_emulated_device(comm::Communicator& comm, kernels::Device& device) {
    return std::make_unique<EmulatedCommunicator>(comm, dynamic_cast<EmulatedDevice&>(device));
}

bool emulates_devices() {
    const char* wanted = std::getenv("GNNPLAN_TEST_DEVICE");
    return wanted != nullptr && std::string_view(wanted) == "emulated";
}

}  // namespace gnnplan::testing
