#include "kernels/cuda/nccl_links.hpp"

#include "kernels/cuda/error.hpp"
#include "kernels/cuda/nccl_library.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::kernels::cuda {
namespace {

// A text of two characters a byte.
std::string hexadecimal(const NcclId& id) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text;
    for (const char byte : id.bytes) {
        text += digits[static_cast<unsigned char>(byte) / 16];
        text += digits[static_cast<unsigned char>(byte) % 16];
    }
    return text;
}

NcclId id_of(const std::string& text) {
    NcclId id{};
    ensure(text.size() == 2 * sizeof id.bytes, "NCCL's id of a run has another length");
    for (std::size_t i = 0; i < sizeof id.bytes; ++i)
        id.bytes[i] = static_cast<char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
    return id;
}

class Connected final : public NcclLinks {
public:
    Connected(Device& device, Queue& queue, GpuTransfers& transfers, const Peers& peers)
        : nccl_(nccl_library()), queue_(queue), transfers_(transfers), peers_(peers) {
        // It is freed after connections that fail were given up: freeing memory waits for the GPU.
        const auto memory = device.allocate(sizeof(double) * (2 * static_cast<std::size_t>(peers.size) + 2));
        const NcclId id = agreed_id();
        nccl_.check(nccl_.init_rank(&comm_, peers.size, id, peers.rank), "connecting the GPUs of the ranks");
        look_ = device.look_while_waiting([this] { check_others(); });
        try {
            warm_up(*memory);
        } catch (...) {
            give_up();
            throw;
        }
    }
    Connected(const Connected&) = delete;
    Connected& operator=(const Connected&) = delete;
    ~Connected() override {
        if (std::uncaught_exceptions() > 0) give_up();
        if (comm_ != nullptr) nccl_.destroy(comm_);
    }

    std::string name() const override { return nccl_.name(); }

    void exchange(std::span<const Send> sends, std::span<const Receive> receives) override {
        const cudaStream_t stream = transfers_.stream();
        NcclCommunicator const with = comm();
        NcclResult first = nccl_.group_start();
        const auto note = [&](NcclResult result) { first = first == nccl_success ? result : first; };
        for (const auto& [peer, bytes] : sends)
            note(nccl_.send(bytes.data(), bytes.size(), nccl_bytes, peer, with, stream));
        for (const auto& [peer, bytes] : receives)
            note(nccl_.receive(bytes.data(), bytes.size(), nccl_bytes, peer, with, stream));
        note(nccl_.group_end());  // also after an error, so that no group stays open
        check(first, "an exchange between GPUs");
    }
    void sum(std::span<float> values) override { sum(values, nccl_float); }
    void sum(std::span<double> values) override { sum(values, nccl_double); }

    void give_up() override {
        if (comm_ != nullptr) nccl_.abort(std::exchange(comm_, nullptr));
    }

private:
    template <class T>
    void sum(std::span<T> values, NcclType type) {
        check(
            nccl_.all_reduce(values.data(), values.data(), values.size(), type, nccl_sum, comm(), transfers_.stream()),
            "an all-reduce");
    }
    NcclCommunicator comm() const {
        ensure(comm_ != nullptr, "the links between the GPUs were given up");
        return comm_;
    }
    void check(NcclResult result, const char* what) const { nccl_.check(result, what, comm_); }

    // Errors of other ranks, and of the way to them, come out here while the device waits.
    void check_others() {
        if (comm_ == nullptr) return;
        NcclResult error = nccl_success;
        check(nccl_.async_error(comm_, &error), "asking for errors");
        if (error != nccl_in_progress) check(error, "an exchange between GPUs");
    }

    // The first rank's, or its error on every rank.
    NcclId agreed_id() {
        NcclId id{};
        std::string text, why;
        if (peers_.rank == 0) {
            const NcclResult result = nccl_.unique_id(&id);
            if (result == nccl_success) text = hexadecimal(id);
            if (result != nccl_success) why = nccl_.last_error(nullptr);
        }
        text = peers_.all_gather(text).front();
        why = peers_.all_gather(why).front();
        if (text.empty())
            throw Error(ErrorCode::unavailable, "NCCL has no way to connect ranks: " + why, "NCCL",
                        "NCCL_DEBUG=INFO says more; NCCL_SOCKET_IFNAME names the network interface");
        return id_of(text);
    }

    void warm_up(const DeviceMemory& memory) {
        const auto ranks = static_cast<std::size_t>(peers_.size);
        check_cuda(cudaMemsetAsync(memory.data(), 0, memory.size(), transfers_.stream()));
        std::vector<Send> sends;
        std::vector<Receive> receives;
        for (std::size_t peer = 0; peer < ranks; ++peer) {
            if (static_cast<int>(peer) == peers_.rank) continue;
            const auto word = [&](std::size_t place) {
                return std::span(memory.data() + sizeof(double) * place, sizeof(double));
            };
            sends.push_back({static_cast<int>(peer), word(2 + peer)});
            receives.push_back({static_cast<int>(peer), word(2 + ranks + peer)});
        }
        exchange(sends, receives);
        auto* sums = reinterpret_cast<double*>(memory.data());
        sum(std::span(sums, 1));
        sum(std::span(reinterpret_cast<float*>(sums + 1), 1));
        check_cuda(wait_for(queue_, transfers_.stream()));
    }
    static void check_cuda(cudaError_t result) { cuda::check(result, "the first messages between the GPUs"); }

    const NcclLibrary& nccl_;
    Queue& queue_;
    GpuTransfers& transfers_;
    Peers peers_;
    NcclCommunicator comm_ = nullptr;
    std::shared_ptr<const Device::Look> look_;
};

}  // namespace

std::shared_ptr<NcclLinks> nccl_links(Device& device, Queue& queue, GpuTransfers& transfers, const Peers& peers) {
    return std::make_shared<Connected>(device, queue, transfers, peers);
}

std::string cannot_use_nccl() {
    try {
        nccl_library();
        return {};
    } catch (const Error& error) {
        return error.what();
    }
}

}  // namespace gnnplan::kernels::cuda
