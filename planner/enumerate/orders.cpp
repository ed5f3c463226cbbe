#include "planner/enumerate/orders.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::enumerate {

std::vector<OrderPair> all_orders(int layers) {
    if (layers < 1 || layers > max_listed_layers) {
        throw Error(
            ErrorCode::usage,
            "orders are listed for 1.." + std::to_string(max_listed_layers) + " layers, not " + std::to_string(layers),
            "`layers`", "4^L orders grow too fast; pin them with `forward` and `backward`");
    }
    std::vector<OrderPair> pairs;
    const auto letter = [](std::int64_t id, int bit) {
        return ((id >> bit) & 1) != 0 ? Order::dense_first : Order::sparse_first;
    };
    for (std::int64_t id = 0; id < std::int64_t{1} << (2 * layers); ++id) {
        OrderPair pair;
        for (int bit = 2 * layers - 1; bit >= layers; --bit) pair.backward.push_back(letter(id, bit));
        for (int bit = layers - 1; bit >= 0; --bit) pair.forward.push_back(letter(id, bit));
        pairs.push_back(std::move(pair));
    }
    return pairs;
}

}  // namespace gnnplan::enumerate
