// Messages that travel while later steps and epochs run, on a communicator of their own.
#pragma once

#include "runtime/comm/communicator.hpp"

#include <gnnplan/base/error.hpp>

#include <deque>
#include <memory>
#include <span>
#include <utility>

namespace gnnplan::exec {

class Background {
public:
    // Collective. The world outlives the object.
    explicit Background(comm::Communicator& world) : channel_(world.split(0, world.rank())) {}

    // Begins to exchange what a step sends; the buffers belong to it until it is finished. Steps begin and finish in
    // one order.
    void start(std::size_t step, std::span<const comm::Send> sends, std::span<const comm::Receive> receives) {
        under_way_.emplace_back(step, channel_->start_exchange(sends, receives));
    }
    // Waits for the oldest of its exchanges.
    void finish(std::size_t step) {
        ensure(!under_way_.empty() && under_way_.front().first == step, "exchanges finish in the order they began");
        under_way_.front().second->wait();
        under_way_.pop_front();
    }
    // Collective: waits for all, whose messages nobody wants any more.
    void drain() {
        while (!under_way_.empty()) finish(under_way_.front().first);
    }

private:
    std::unique_ptr<comm::Communicator> channel_;
    std::deque<std::pair<std::size_t, std::unique_ptr<comm::PendingExchange>>> under_way_;
};

}  // namespace gnnplan::exec
