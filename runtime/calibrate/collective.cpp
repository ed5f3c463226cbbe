#include "runtime/calibrate/collective.hpp"

#include "runtime/calibrate/array.hpp"
#include "runtime/calibrate/slots.hpp"
#include "runtime/comm/reduce_scatter.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/range.hpp>

#include <algorithm>
#include <numeric>

namespace gnnplan::calibrate {
namespace {

// Values of the device's memory.
template <class T>
void check_all(kernels::Device& device, std::span<const T> values, T expected, const char* kind) {
    const std::vector<T> here = downloaded(device, values);
    if (std::ranges::any_of(here, [&](T value) { return value != expected; }))
        throw Error(ErrorCode::internal, std::string(kind) + ": wrong result");
}

class Exchange : public Collective {
public:
    Exchange(comm::Communicator& comm, kernels::Device& device, std::vector<int> peers, std::int64_t bytes,
             std::int64_t cold_bytes)
        : comm_(comm),
          device_(device),
          peers_(std::move(peers)),
          part_(static_cast<std::size_t>(bytes)),
          out_(device, bytes * static_cast<std::int64_t>(peers_.size()), cold_bytes),
          in_(device, bytes * static_cast<std::int64_t>(peers_.size()), cold_bytes) {}

    void run() override {
        sends_.clear();
        receives_.clear();
        for (std::size_t i = 0; i < peers_.size(); ++i) {
            sends_.push_back({peers_[i], out_.current().subspan(i * part_, part_)});
            receives_.push_back({peers_[i], in_.current().subspan(i * part_, part_)});
        }
        comm_.exchange(sends_, receives_);
        out_.advance();
        in_.advance();
    }
    void check() override {
        fill(device_, out_.all(), static_cast<std::byte>(comm_.rank() + 1));
        fill(device_, in_.all(), std::byte{0});
        run();
        for (const comm::Receive& receive : receives_)
            check_all<std::byte>(device_, receive.bytes, static_cast<std::byte>(receive.peer + 1), "exchange");
    }

private:
    comm::Communicator& comm_;
    kernels::Device& device_;
    std::vector<int> peers_;
    std::size_t part_;
    Slots<std::byte> out_;
    Slots<std::byte> in_;
    std::vector<comm::Send> sends_;
    std::vector<comm::Receive> receives_;
};

class Broadcast : public Collective {
public:
    Broadcast(comm::Communicator& comm, kernels::Device& device, std::int64_t bytes, std::int64_t cold_bytes)
        : comm_(comm), device_(device), bytes_(device, bytes, cold_bytes) {}
    void run() override {
        comm_.broadcast(0, bytes_.current());
        bytes_.advance();
    }
    void check() override {
        fill(device_, bytes_.all(), comm_.rank() == 0 ? std::byte{7} : std::byte{0});
        const auto used = bytes_.current();
        run();
        check_all<std::byte>(device_, used, std::byte{7}, "broadcast");
    }

private:
    comm::Communicator& comm_;
    kernels::Device& device_;
    Slots<std::byte> bytes_;
};

class AllReduce : public Collective {
public:
    AllReduce(comm::Communicator& comm, kernels::Device& device, std::int64_t count, std::int64_t cold_bytes)
        : comm_(comm), device_(device), values_(device, count, cold_bytes) {}
    // From zeros, so that repeating never overflows.
    void run() override {
        comm_.all_reduce(values_.current());
        values_.advance();
    }
    void check() override {
        fill(device_, values_.all(), static_cast<float>(comm_.rank() + 1));
        const auto used = values_.current();
        run();
        const int sum = comm_.size() * (comm_.size() + 1) / 2;
        check_all<float>(device_, used, static_cast<float>(sum), "all_reduce");
        fill(device_, values_.all(), 0.0F);
    }

private:
    comm::Communicator& comm_;
    kernels::Device& device_;
    Slots<float> values_;
};

// From rows to columns: every rank gets its part of each row, this one too.
class Redistribution : public Collective {
public:
    Redistribution(comm::Communicator& comm, kernels::Device& device, std::int64_t bytes, std::int64_t cold_bytes)
        : comm_(comm),
          device_(device),
          row_bytes_(std::min(longest_row, static_cast<std::size_t>(bytes / comm.size()))),
          rows_(row_bytes_ == 0 ? 0 : static_cast<std::size_t>(bytes / comm.size()) / row_bytes_),
          out_(device, static_cast<std::int64_t>(rows_ * gap()), cold_bytes),
          in_(device, static_cast<std::int64_t>(rows_ * gap()), cold_bytes),
          staging_(device, static_cast<std::int64_t>(rows_ * gap())) {}
    void run() override {
        sends_.clear();
        receives_.clear();
        for (int peer = 0; peer < comm_.size(); ++peer) {
            const auto p = static_cast<std::size_t>(peer);
            sends_.push_back({peer, {out_.current().data() + p * row_bytes_, rows_, row_bytes_, gap()}, staging(p)});
            auto* target = in_.current().data() + p * rows_ * row_bytes_;
            receives_.push_back({peer, {target, rows_, row_bytes_, row_bytes_}, {}});
        }
        comm_.exchange_blocks(sends_, receives_);
        out_.advance();
        in_.advance();
    }
    void check() override {
        fill(device_, out_.all(), static_cast<std::byte>(comm_.rank() + 1));
        fill(device_, in_.all(), std::byte{0});
        run();
        for (const comm::ReceiveBlock& block : receives_) {
            check_all<std::byte>(device_, {block.rows.data, block.rows.bytes()}, static_cast<std::byte>(block.peer + 1),
                                 "redistribution");
        }
    }

private:
    static constexpr std::size_t longest_row = 256;  // 64 columns

    std::size_t gap() const { return row_bytes_ * static_cast<std::size_t>(comm_.size()); }
    std::span<std::byte> staging(std::size_t peer) {
        return staging_.span().subspan(peer * rows_ * row_bytes_, rows_ * row_bytes_);
    }

    comm::Communicator& comm_;
    kernels::Device& device_;
    std::size_t row_bytes_;
    std::size_t rows_;
    Slots<std::byte> out_;
    Slots<std::byte> in_;
    Array<std::byte> staging_;
    std::vector<comm::SendBlock> sends_;
    std::vector<comm::ReceiveBlock> receives_;
};

class ReduceScatter : public Collective {
public:
    ReduceScatter(comm::Communicator& comm, kernels::Device& device, std::int64_t count, std::int64_t cold_bytes)
        : comm_(comm),
          device_(device),
          values_(device, count, cold_bytes),
          group_(static_cast<std::size_t>(comm.size())) {
        std::iota(group_.begin(), group_.end(), 0);
        for (int i = 0; i < comm.size(); ++i) {
            offsets_.push_back(balanced_block({0, count}, i, comm.size()).begin);
        }
        offsets_.push_back(count);
        const auto block = [&](int i) {
            return Array<float>(device, balanced_block({0, count}, i, comm.size()).size());
        };
        mine_ = block(comm.rank());
        scratch_ = block(0);
    }
    void run() override {
        comm::reduce_scatter(comm_, device_.table(), group_, values_.current(), offsets_, mine_.span(),
                             scratch_.span());
        values_.advance();
    }
    void check() override {
        fill(device_, values_.all(), static_cast<float>(comm_.rank() + 1));
        run();
        const int sum = comm_.size() * (comm_.size() + 1) / 2;
        check_all<float>(device_, mine_.span(), static_cast<float>(sum), "reduce_scatter");
        fill(device_, values_.all(), 0.0F);
    }

private:
    comm::Communicator& comm_;
    kernels::Device& device_;
    Slots<float> values_;
    std::vector<int> group_;
    std::vector<std::int64_t> offsets_;
    Array<float> mine_;
    Array<float> scratch_;
};

}  // namespace

std::unique_ptr<Collective> make_exchange(comm::Communicator& comm, kernels::Device& device, std::vector<int> peers,
                                          std::int64_t bytes, std::int64_t cold_bytes) {
    return std::make_unique<Exchange>(comm, device, std::move(peers), bytes, cold_bytes);
}

std::unique_ptr<Collective> make_collective(const std::string& kind, comm::Communicator& comm, kernels::Device& device,
                                            std::int64_t bytes, std::int64_t cold_bytes) {
    if (kind == "exchange") {
        std::vector<int> others;
        for (int peer = 0; peer < comm.size(); ++peer) {
            if (peer != comm.rank()) others.push_back(peer);
        }
        return make_exchange(comm, device, std::move(others), bytes / comm.size(), cold_bytes);
    }
    if (kind == "broadcast") return std::make_unique<Broadcast>(comm, device, bytes, cold_bytes);
    const auto count = static_cast<std::int64_t>(static_cast<std::size_t>(bytes) / sizeof(float));
    if (kind == "all_reduce") return std::make_unique<AllReduce>(comm, device, count, cold_bytes);
    if (kind == "redistribute") return std::make_unique<Redistribution>(comm, device, bytes, cold_bytes);
    ensure(kind == "reduce_scatter", "no such collective");
    return std::make_unique<ReduceScatter>(comm, device, count, cold_bytes);
}

}  // namespace gnnplan::calibrate
