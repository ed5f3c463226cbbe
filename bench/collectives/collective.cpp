#include "bench/collectives/collective.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>

namespace gnnplan::bench {
namespace {

void check_all(const auto& values, auto expected, const char* kind) {
    if (std::any_of(values.begin(), values.end(), [&](auto value) { return value != expected; }))
        throw Error(ErrorCode::internal, std::string(kind) + ": wrong result");
}

class Exchange : public Collective {
public:
    Exchange(comm::Communicator& comm, std::int64_t bytes) : comm_(comm) {
        const auto ranks = static_cast<std::size_t>(comm.size());
        part_ = static_cast<std::size_t>(bytes) / ranks;
        out_.resize(part_ * ranks);
        in_.resize(part_ * ranks);
        for (std::size_t peer = 0; peer < ranks; ++peer) {
            sends_.push_back({static_cast<int>(peer), std::span(out_).subspan(peer * part_, part_)});
            receives_.push_back({static_cast<int>(peer), std::span(in_).subspan(peer * part_, part_)});
        }
    }
    void run() override { comm_.exchange(sends_, receives_); }
    void check() override {
        std::fill(out_.begin(), out_.end(), static_cast<std::byte>(comm_.rank() + 1));
        std::fill(in_.begin(), in_.end(), std::byte{0});
        run();
        for (const comm::Receive& receive : receives_)
            check_all(receive.bytes, static_cast<std::byte>(receive.peer + 1), "exchange");
    }

private:
    comm::Communicator& comm_;
    std::size_t part_ = 0;
    std::vector<std::byte> out_;
    std::vector<std::byte> in_;
    std::vector<comm::Send> sends_;
    std::vector<comm::Receive> receives_;
};

class Broadcast : public Collective {
public:
    Broadcast(comm::Communicator& comm, std::int64_t bytes) : comm_(comm), bytes_(static_cast<std::size_t>(bytes)) {}
    void run() override { comm_.broadcast(0, bytes_); }
    void check() override {
        std::fill(bytes_.begin(), bytes_.end(), comm_.rank() == 0 ? std::byte{7} : std::byte{0});
        run();
        check_all(bytes_, std::byte{7}, "broadcast");
    }

private:
    comm::Communicator& comm_;
    std::vector<std::byte> bytes_;
};

class AllReduce : public Collective {
public:
    AllReduce(comm::Communicator& comm, std::int64_t bytes)
        : comm_(comm), values_(static_cast<std::size_t>(bytes) / sizeof(float)) {}
    // From zeros, so that repeating never overflows.
    void run() override { comm_.all_reduce(std::span(values_)); }
    void check() override {
        std::fill(values_.begin(), values_.end(), static_cast<float>(comm_.rank() + 1));
        run();
        const int sum = comm_.size() * (comm_.size() + 1) / 2;
        check_all(values_, static_cast<float>(sum), "all_reduce");
        std::fill(values_.begin(), values_.end(), 0.0F);
    }

private:
    comm::Communicator& comm_;
    std::vector<float> values_;
};

}  // namespace

std::unique_ptr<Collective> make_collective(const std::string& kind, comm::Communicator& comm, std::int64_t bytes) {
    if (kind == "exchange") return std::make_unique<Exchange>(comm, bytes);
    if (kind == "broadcast") return std::make_unique<Broadcast>(comm, bytes);
    ensure(kind == "all_reduce", "no such collective");
    return std::make_unique<AllReduce>(comm, bytes);
}

double bus_factor(const std::string& kind, int ranks) {
    const double others = static_cast<double>(ranks - 1) / ranks;
    if (kind == "exchange") return others;
    if (kind == "all_reduce") return 2 * others;
    return ranks > 1 ? 1 : 0;
}

}  // namespace gnnplan::bench
