// A communicator that does its work through another one.
#pragma once

#include "runtime/comm/communicator.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::comm {

// A forwarding communicator has the ranks and the control channel of another one. The subclass decides about the data
// channel.
class ForwardingCommunicator : public Communicator {
public:
    int rank() const override { return inner_.rank(); }
    int size() const override { return inner_.size(); }
    std::int64_t host_bytes() const override { return inner_.host_bytes(); }
    std::vector<int> nodes() const override { return inner_.nodes(); }
    void barrier() override { inner_.barrier(); }
    std::vector<std::string> control_all_gather(const std::string& text) override {
        return inner_.control_all_gather(text);
    }
    void check_others() override { inner_.check_others(); }
    std::vector<Heartbeat*> heartbeats() override { return inner_.heartbeats(); }

protected:
    explicit ForwardingCommunicator(Communicator& inner) : inner_(inner) {}  // which outlives it
    explicit ForwardingCommunicator(std::unique_ptr<Communicator> inner) : owned_(std::move(inner)), inner_(*owned_) {}

    Communicator& inner() { return inner_; }
    const Communicator& inner() const { return inner_; }

private:
    std::unique_ptr<Communicator> owned_;  // null when the caller keeps the other one
    Communicator& inner_;
};

}  // namespace gnnplan::comm
