#include "tests/support/emulated_device.hpp"

#include "runtime/comm/linked.hpp"
#include "tests/support/two_queues.hpp"
#include "tests/support/twofold_memory.hpp"

#include <algorithm>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <vector>

namespace gnnplan::testing {
namespace {

using kernels::ConstMatrix;
using kernels::Csr;
using kernels::Matrix;
using kernels::Table;

struct EmulatedFence final : kernels::Fence {
    EmulatedFence(TwoQueues::Point at, bool received) : point(std::move(at)), receives(received) {}
    TwoQueues::Point point;
    bool receives;  // whether the transfer before it did
};

class EmulatedDevice;

// All that there are, to find whose memory an address is of.
struct AllDevices {
    std::mutex mutex;
    std::vector<const EmulatedDevice*> devices;
};
AllDevices& all_devices() {
    static AllDevices all;
    return all;
}

class EmulatedDevice : public kernels::Device, private kernels::TransferQueue {
public:
    explicit EmulatedDevice(const Emulation& emulation);
    ~EmulatedDevice() override {
        current = nullptr;
        const std::lock_guard lock(all_devices().mutex);
        std::erase(all_devices().devices, this);
    }

    const Table& table() const override;
    TensorMemory memory() const override {
        return {.accelerator = true, .workspace_bytes = emulated_workspace, .row_start_bytes = 4};
    }
    std::optional<kernels::FreeMemory> free_memory() const override { return free_; }
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
    // Its times are those of the host, so that tests can say what they are.
    void mark(std::size_t moment, double now) override {
        queue([this, moment, now] {
            if (moment >= moments_.size()) moments_.resize(moment + 1);
            moments_[moment] = now;
        });
    }
    double seconds(std::size_t from, std::size_t to) const override { return moments_[to] - moments_[from]; }
    void finish() override { queues_->finish(); }
    kernels::TransferQueue* transfers() override { return this; }

    void queue(std::function<void()> work) { queues_->add(TwoQueues::compute, std::move(work)); }
    void transfer(std::function<void()> work, bool receives) {
        queues_->add(TwoQueues::transfer, std::move(work));
        receives_ = receives;
    }
    template <class T>
    T* opened(T* address) const {
        return memory_.opened(address);
    }
    bool has(const std::byte* address) const { return memory_.has(address); }

    static inline thread_local EmulatedDevice* current = nullptr;

private:
    class HostMemory : public kernels::DeviceMemory {
    public:
        HostMemory(EmulatedDevice& device, std::size_t bytes) : device_(device), bytes_(bytes, std::byte{0xff}) {
            device_.host_memory_.push_back(this);
        }
        ~HostMemory() override { std::erase(device_.host_memory_, this); }
        std::byte* data() const override { return const_cast<std::byte*>(bytes_.data()); }
        std::size_t size() const override { return bytes_.size(); }

    private:
        EmulatedDevice& device_;
        std::vector<std::byte> bytes_;
    };
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

    std::shared_ptr<const kernels::Fence> computed() override {
        return std::make_shared<EmulatedFence>(queues_->end(TwoQueues::compute), true);
    }
    std::shared_ptr<const kernels::Fence> transferred() override {
        return std::make_shared<EmulatedFence>(queues_->end(TwoQueues::transfer), receives_);
    }
    void compute_after(const kernels::Fence& fence) override;
    void transfer_after(const kernels::Fence& fence) override;
    void wait_for(const kernels::Fence& fence) override {
        const TwoQueues::Point& point = dynamic_cast<const EmulatedFence&>(fence).point;
        queues_->run_until([&] { return point.passed(); });
    }
    std::unique_ptr<kernels::DeviceMemory> host_memory(std::size_t bytes) override {
        return std::make_unique<HostMemory>(*this, bytes);
    }
    void copy(std::span<const std::byte> from, std::byte* to) override;
    // An address that a transfer may touch: of host_memory(), or of a device's.
    template <class Byte>
    Byte* reachable(Byte* address) const;

    TwofoldMemory memory_;
    std::shared_ptr<TwoQueues> queues_;
    Ordering missing_;
    std::optional<kernels::FreeMemory> free_;
    std::vector<const HostMemory*> host_memory_;
    std::size_t computed_before_last_transfer_ = 0;
    bool receives_ = true;  // the last transfer
    kernels::PassValues* pass_ = nullptr;
    std::vector<double> moments_;
    std::byte* staged_for_ = nullptr;
    std::vector<std::byte> staged_;
};

// A kernel's arguments, with addresses that it may touch.
template <class T>
T opened(const T& value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>, "what has addresses needs an overload");
    return value;
}
template <class T>
T* opened(T* address) {
    return EmulatedDevice::current->opened(address);
}
kernels::LabelBits opened(kernels::LabelBits labels) { return {opened(labels.value), opened(labels.known)}; }
kernels::SigmoidInput opened(kernels::SigmoidInput input) {
    input.labels = opened(input.labels);
    input.split = opened(input.split), input.weight = opened(input.weight);
    return input;
}
template <class T>
kernels::Dense<T> opened(kernels::Dense<T> matrix) {
    matrix.data = opened(matrix.data);
    return matrix;
}
Csr opened(Csr matrix) {
    matrix.row_start = opened(matrix.row_start);
    matrix.narrow_row_start = opened(matrix.narrow_row_start);
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
    input.weight = opened(input.weight);
    return input;
}
kernels::DropoutKey opened(kernels::DropoutKey key) {
    key.row_ids = opened(key.row_ids);
    key.pass = opened(key.pass);
    return key;
}
kernels::Attention opened(kernels::Attention how) {
    how.dropout.pass = opened(how.dropout.pass);
    how.dropout.row_ids = opened(how.dropout.row_ids);
    how.dropout.column_ids = opened(how.dropout.column_ids);
    return how;
}
kernels::Heads opened(kernels::Heads heads) { return heads; }
kernels::AttendOperands opened(const kernels::AttendOperands& in) {
    return {opened(in.h), opened(in.source), opened(in.target)};
}
kernels::AttendResults opened(const kernels::AttendResults& to) {
    return {opened(to.sum),       opened(to.log_total),      opened(to.total),
            opened(to.by_target), opened(to.negative_share), opened(to.scores)};
}
kernels::AttendBackOperands opened(const kernels::AttendBackOperands& in) {
    return {opened(in.gradient), opened(in.target), opened(in.log_total), opened(in.inner),
            opened(in.h),        opened(in.source), opened(in.scores)};
}
kernels::AttendBackResults opened(const kernels::AttendBackResults& to) { return {opened(to.h), opened(to.source)}; }
kernels::UnitBackOperands opened(const kernels::UnitBackOperands& in) {
    return {opened(in.gradient), opened(in.unit), opened(in.inner), opened(in.squares)};
}
kernels::NormedRows opened(const kernels::NormedRows& of) {
    return {opened(of.z), opened(of.weight), opened(of.mean), opened(of.variance), of.share};
}
kernels::NormedColumns opened(const kernels::NormedColumns& of) {
    return {opened(of.z), opened(of.mean), opened(of.inverse), opened(of.weight)};
}
kernels::ColumnMoments opened(const kernels::ColumnMoments& of) {
    return {opened(of.sum), opened(of.squares), of.columns, of.rows};
}
kernels::EdgeTotals opened(const kernels::EdgeTotals& totals) { return {opened(totals.largest), opened(totals.total)}; }
kernels::EdgeSoftmaxBack opened(const kernels::EdgeSoftmaxBack& back) {
    return {opened(back.scores), opened(back.weights),  opened(back.inner),
            opened(back.beta),   opened(back.gradient), opened(back.of_beta)};
}
kernels::UpdateSettings opened(kernels::UpdateSettings settings) {
    settings.pass = opened(settings.pass);
    return settings;
}

// A kernel's workspace has no values that it may rely on.
template <class T>
void spoil(const T& /*argument*/) {}
void spoil(std::span<std::byte> memory) { std::ranges::fill(memory, std::byte{0xff}); }
void spoil(kernels::PanelRoom room) { spoil(room.memory); }

// An argument as the reference table reads it: matrices have row starts of 64 bits there.
template <class T>
const T& readable(const T& argument) {
    return argument;
}
class WideCsr {
public:
    explicit WideCsr(const Csr& narrow) : csr_(narrow) {
        if (narrow.narrow_row_start == nullptr) return;
        const std::int64_t last_panel = narrow.panels > 1 ? (narrow.panels - 1) * narrow.panel_stride : 0;
        row_start_.assign(narrow.narrow_row_start, narrow.narrow_row_start + last_panel + narrow.rows + 1);
        csr_.row_start = row_start_.data();
        csr_.narrow_row_start = nullptr;
    }
    operator const Csr&() const { return csr_; }

private:
    std::vector<std::int64_t> row_start_;
    Csr csr_;
};
WideCsr readable(const Csr& argument) { return WideCsr(argument); }

// A kernel of the reference table that is queued.
template <auto member>
struct Queued;
template <class... Arguments, void (*Table::*member)(Arguments...)>
struct Queued<member> {
    static void call(Arguments... arguments) {
        EmulatedDevice::current->queue([values = std::tuple<std::decay_t<Arguments>...>(opened(arguments)...)] {
            std::apply([](const auto&... argument) { (spoil(argument), ...); }, values);
            std::apply([](const auto&... argument) { (kernels::reference_table().*member)(readable(argument)...); },
                       values);
        });
    }
};

constexpr Table queued_table = {
    .name = "emulated",
    .spmm = Queued<&Table::spmm>::call,
    .spmm_max = Queued<&Table::spmm_max>::call,
    .spmm_max_back = Queued<&Table::spmm_max_back>::call,
    .attend = Queued<&Table::attend>::call,
    .attend_back = Queued<&Table::attend_back>::call,
    .head_dot = Queued<&Table::head_dot>::call,
    .head_squares = Queued<&Table::head_squares>::call,
    .head_spread = Queued<&Table::head_spread>::call,
    .head_fold = Queued<&Table::head_fold>::call,
    .head_mean = Queued<&Table::head_mean>::call,
    .head_share = Queued<&Table::head_share>::call,
    .head_unit = Queued<&Table::head_unit>::call,
    .head_unit_back = Queued<&Table::head_unit_back>::call,
    .edge_dot = Queued<&Table::edge_dot>::call,
    .edge_totals = Queued<&Table::edge_totals>::call,
    .edge_softmax = Queued<&Table::edge_softmax>::call,
    .edge_softmax_back = Queued<&Table::edge_softmax_back>::call,
    .gemm = Queued<&Table::gemm>::call,
    .add = Queued<&Table::add>::call,
    .sum = Queued<&Table::sum>::call,
    .add_squares = Queued<&Table::add_squares>::call,
    .add_scaled = Queued<&Table::add_scaled>::call,
    .blend = Queued<&Table::blend>::call,
    .scale = Queued<&Table::scale>::call,
    .add_identity = Queued<&Table::add_identity>::call,
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
    .cross_entropy = Queued<&Table::cross_entropy>::call,
    .sigmoid_cross_entropy = Queued<&Table::sigmoid_cross_entropy>::call,
    .count_labels = Queued<&Table::count_labels>::call,
    .label_loss = Queued<&Table::label_loss>::call,
    .rank_sums = Queued<&Table::rank_sums>::call,
    .norm_moment = Queued<&Table::norm_moment>::call,
    .norm_rows = Queued<&Table::norm_rows>::call,
    .norm_sums = Queued<&Table::norm_sums>::call,
    .norm_back = Queued<&Table::norm_back>::call,
    .norm_rows_back = Queued<&Table::norm_rows_back>::call,
    .batch_moments = Queued<&Table::batch_moments>::call,
    .batch_finish = Queued<&Table::batch_finish>::call,
    .batch_known = Queued<&Table::batch_known>::call,
    .batch_scale = Queued<&Table::batch_scale>::call,
    .batch_sums = Queued<&Table::batch_sums>::call,
    .batch_back = Queued<&Table::batch_back>::call,
    .column_sum = Queued<&Table::column_sum>::call,
    .update = Queued<&Table::update>::call,
    .divide = Queued<&Table::divide>::call,
    .copy = Queued<&Table::copy>::call,
    .gather_rows = Queued<&Table::gather_rows>::call,
    .add_rows = Queued<&Table::add_rows>::call,
    .narrow = Queued<&Table::narrow>::call,
    .widen = Queued<&Table::widen>::call,
    .gather_rows_narrow = Queued<&Table::gather_rows_narrow>::call,
    .gather_rows_bf16 = Queued<&Table::gather_rows_bf16>::call,
    .add_widened = Queued<&Table::add_widened>::call,
    .add_rows_widened = Queued<&Table::add_rows_widened>::call,
    .scale_rows = Queued<&Table::scale_rows>::call,
    .zero = Queued<&Table::zero>::call,
    .copy_bits = Queued<&Table::copy_bits>::call,
};

EmulatedDevice::EmulatedDevice(const Emulation& emulation)
    : queues_(std::make_shared<TwoQueues>(emulation.order)), missing_(emulation.missing), free_(emulation.free) {
    ensure(current == nullptr, "a thread has one emulated device at a time");
    current = this;
    const std::lock_guard lock(all_devices().mutex);
    all_devices().devices.push_back(this);
}

const Table& EmulatedDevice::table() const { return queued_table; }

void EmulatedDevice::transfer_after(const kernels::Fence& fence) {
    TwoQueues::Point point = dynamic_cast<const EmulatedFence&>(fence).point;
    if (point.of != queues_) {
        if (missing_ == Ordering::read_after_peer) return;
    } else if (point.kind == TwoQueues::compute) {
        const std::size_t earlier = std::exchange(computed_before_last_transfer_, point.count);
        if (missing_ == Ordering::transfer_after_compute) return;
        if (missing_ == Ordering::reuse_after_compute) point.count = earlier;
    }
    queues_->add(TwoQueues::transfer, [] {}, {point});
}

void EmulatedDevice::compute_after(const kernels::Fence& fence) {
    const auto& after = dynamic_cast<const EmulatedFence&>(fence);
    const bool own = after.point.of == queues_;
    if (own && missing_ == Ordering::compute_after_transfer) return;
    if (own && missing_ == Ordering::overwrite_after_transfer && !after.receives) return;
    if (!own && missing_ == Ordering::overwrite_after_peer) return;
    queues_->add(TwoQueues::compute, [] {}, {after.point});
}

template <class Byte>
Byte* EmulatedDevice::reachable(Byte* address) const {
    for (const HostMemory* memory : host_memory_)
        if (address >= memory->data() && address < memory->data() + memory->size()) return address;
    const std::lock_guard lock(all_devices().mutex);
    for (const EmulatedDevice* device : all_devices().devices)
        if (device->has(address)) return device->opened(address);
    ensure(false, "an address that no device reaches is transferred");
    return nullptr;
}

void EmulatedDevice::copy(std::span<const std::byte> from, std::byte* to) {
    transfer([source = std::span(reachable(from.data()), from.size()),
              target = reachable(to)] { std::ranges::copy(source, target); },
             true);
}

class EmulatedLinks final : public kernels::Links {
public:
    EmulatedLinks(comm::Communicator& hosts, EmulatedDevice& device) : hosts_(hosts), device_(device) {}

    std::string name() const override { return "emulated links"; }
    void exchange(std::span<const comm::Send> sends, std::span<const comm::Receive> receives) override {
        std::vector<comm::Send> sent(sends.begin(), sends.end());
        std::vector<comm::Receive> received(receives.begin(), receives.end());
        for (comm::Send& send : sent) send.bytes = {device_.opened(send.bytes.data()), send.bytes.size()};
        for (comm::Receive& receive : received)
            receive.bytes = {device_.opened(receive.bytes.data()), receive.bytes.size()};
        device_.transfer([this, sent, received] { hosts_.exchange(sent, received); }, !receives.empty());
    }
    void sum(std::span<float> values) override { sum_on_hosts(values); }
    void sum(std::span<double> values) override { sum_on_hosts(values); }

private:
    template <class T>
    void sum_on_hosts(std::span<T> values) {
        device_.transfer(
            [this, open = std::span(device_.opened(values.data()), values.size())] { hosts_.all_reduce(open); }, true);
    }

    comm::Communicator& hosts_;
    EmulatedDevice& device_;
};

}  // namespace

std::unique_ptr<kernels::Device> emulated_device(const Emulation& emulation) {
    return std::make_unique<EmulatedDevice>(emulation);
}

std::unique_ptr<comm::Communicator> on_emulated_device(comm::Communicator& comm, kernels::Device& device) {
    return std::make_unique<comm::LinkedCommunicator>(
        comm, device, std::make_shared<EmulatedLinks>(comm, dynamic_cast<EmulatedDevice&>(device)));
}

}  // namespace gnnplan::testing
