// Exchanges under way keep their order: what every communicator's PendingExchange has in common.
#pragma once

#include "runtime/comm/communicator.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::comm {

// A communicator's exchanges that have been started and neither waited for nor given up, oldest first.
using ExchangesUnderWay = std::vector<const PendingExchange*>;

// Throws ErrorCode::internal if there are any: an exchange that does not return before it is done comes alone.
inline void check_none_under_way(const ExchangesUnderWay& under_way) {
    ensure(under_way.empty(), "exchange: another one is under way");
}

class OrderedExchange : public PendingExchange {
public:
    explicit OrderedExchange(ExchangesUnderWay& under_way) : under_way_(under_way) { under_way_.push_back(this); }
    OrderedExchange(const OrderedExchange&) = delete;
    OrderedExchange& operator=(const OrderedExchange&) = delete;
    ~OrderedExchange() override { std::erase(under_way_, this); }

    void wait() final {
        ensure(!under_way_.empty() && under_way_.front() == this,
               "exchange: waited for twice, or before one that was started earlier");
        under_way_.erase(under_way_.begin());
        finish();
    }

private:
    // Moves what has not been moved yet, and returns when that is done.
    virtual void finish() = 0;

    ExchangesUnderWay& under_way_;
};

}  // namespace gnnplan::comm
