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

void check_all(const auto& values, auto expected, const char* kind) {
    if (std::any_of(values.begin(), values.end(), [&](auto value) { return value != expected; }))
        throw Error(ErrorCode::internal, std::string(kind) + ": wrong result");
}

class Exchange : public Collective {
public:
    Exchange(comm::Communicator& comm, std::vector<int> peers, std::int64_t bytes, std::int64_t cold_bytes)
        : comm_(comm),
          peers_(std::move(peers)),
          part_(static_cast<std::size_t>(bytes)),
          out_(bytes * static_cast<std::int64_t>(peers_.size()), cold_bytes),
          in_(bytes * static_cast<std::int64_t>(peers_.size()), cold_bytes) {}

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
        std::ranges::fill(out_.all(), static_cast<std::byte>(comm_.rank() + 1));
        std::ranges::fill(in_.all(), std::byte{0});
        run();
        for (const comm::Receive& receive : receives_)
            check_all(receive.bytes, static_cast<std::byte>(receive.peer + 1), "exchange");
    }

private:
    comm::Communicator& comm_;
    std::vector<int> peers_;
    std::size_t part_;
    Slots<std::byte> out_;
    Slots<std::byte> in_;
    std::vector<comm::Send> sends_;
    std::vector<comm::Receive> receives_;
};

class Broadcast : public Collective {
public:
    Broadcast(comm::Communicator& comm, std::int64_t bytes, std::int64_t cold_bytes)
        : comm_(comm), bytes_(bytes, cold_bytes) {}
    void run() override {
        comm_.broadcast(0, bytes_.current());
        bytes_.advance();
    }
    void check() override {
        std::ranges::fill(bytes_.all(), comm_.rank() == 0 ? std::byte{7} : std::byte{0});
        const auto used = bytes_.current();
        run();
        check_all(used, std::byte{7}, "broadcast");
    }

private:
    comm::Communicator& comm_;
    Slots<std::byte> bytes_;
};

class AllReduce : public Collective {
public:
    AllReduce(comm::Communicator& comm, std::int64_t count, std::int64_t cold_bytes)
        : comm_(comm), values_(count, cold_bytes) {}
    // From zeros, so that repeating never overflows.
    void run() override {
        comm_.all_reduce(values_.current());
        values_.advance();
    }
    void check() override {
        std::ranges::fill(values_.all(), static_cast<float>(comm_.rank() + 1));
        const auto used = values_.current();
        run();
        const int sum = comm_.size() * (comm_.size() + 1) / 2;
        check_all(used, static_cast<float>(sum), "all_reduce");
        std::ranges::fill(values_.all(), 0.0F);
    }

private:
    comm::Communicator& comm_;
    Slots<float> values_;
};

// From rows to columns: every rank gets its part of each row, this one too.
class Redistribution : public Collective {
public:
    Redistribution(comm::Communicator& comm, std::int64_t bytes, std::int64_t cold_bytes)
        : comm_(comm),
          row_bytes_(std::min(longest_row, static_cast<std::size_t>(bytes / comm.size()))),
          rows_(row_bytes_ == 0 ? 0 : static_cast<std::size_t>(bytes / comm.size()) / row_bytes_),
          out_(static_cast<std::int64_t>(rows_ * gap()), cold_bytes),
          in_(static_cast<std::int64_t>(rows_ * gap()), cold_bytes),
          staging_(static_cast<std::int64_t>(rows_ * gap())) {}
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
        std::ranges::fill(out_.all(), static_cast<std::byte>(comm_.rank() + 1));
        std::ranges::fill(in_.all(), std::byte{0});
        run();
        for (const comm::ReceiveBlock& block : receives_) {
            check_all(std::span(block.rows.data, block.rows.bytes()), static_cast<std::byte>(block.peer + 1),
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
    ReduceScatter(comm::Communicator& comm, const kernels::Table& kernels, std::int64_t count, std::int64_t cold_bytes)
        : comm_(comm), kernels_(kernels), values_(count, cold_bytes), group_(static_cast<std::size_t>(comm.size())) {
        std::iota(group_.begin(), group_.end(), 0);
        for (int i = 0; i < comm.size(); ++i) {
            offsets_.push_back(balanced_block({0, count}, i, comm.size()).begin);
        }
        offsets_.push_back(count);
        const auto block = [&](int i) {
            return static_cast<std::size_t>(balanced_block({0, count}, i, comm.size()).size());
        };
        mine_.resize(block(comm.rank()));
        scratch_.resize(block(0));
    }
    void run() override {
        comm::reduce_scatter(comm_, kernels_, group_, values_.current(), offsets_, mine_, scratch_);
        values_.advance();
    }
    void check() override {
        std::ranges::fill(values_.all(), static_cast<float>(comm_.rank() + 1));
        run();
        const int sum = comm_.size() * (comm_.size() + 1) / 2;
        check_all(mine_, static_cast<float>(sum), "reduce_scatter");
        std::ranges::fill(values_.all(), 0.0F);
    }

private:
    comm::Communicator& comm_;
    const kernels::Table& kernels_;
    Slots<float> values_;
    std::vector<int> group_;
    std::vector<std::int64_t> offsets_;
    std::vector<float> mine_;
    std::vector<float> scratch_;
};

}  // namespace

std::unique_ptr<Collective> make_exchange(comm::Communicator& comm, std::vector<int> peers, std::int64_t bytes,
                                          std::int64_t cold_bytes) {
    return std::make_unique<Exchange>(comm, std::move(peers), bytes, cold_bytes);
}

std::unique_ptr<Collective> make_collective(const std::string& kind, comm::Communicator& comm,
                                            const kernels::Table& kernels, std::int64_t bytes,
                                            std::int64_t cold_bytes) {
    if (kind == "exchange") {
        std::vector<int> others;
        for (int peer = 0; peer < comm.size(); ++peer) {
            if (peer != comm.rank()) others.push_back(peer);
        }
        return make_exchange(comm, std::move(others), bytes / comm.size(), cold_bytes);
    }
    if (kind == "broadcast") return std::make_unique<Broadcast>(comm, bytes, cold_bytes);
    const auto count = static_cast<std::int64_t>(static_cast<std::size_t>(bytes) / sizeof(float));
    if (kind == "all_reduce") return std::make_unique<AllReduce>(comm, count, cold_bytes);
    if (kind == "redistribute") return std::make_unique<Redistribution>(comm, bytes, cold_bytes);
    ensure(kind == "reduce_scatter", "no such collective");
    return std::make_unique<ReduceScatter>(comm, kernels, count, cold_bytes);
}

}  // namespace gnnplan::calibrate
